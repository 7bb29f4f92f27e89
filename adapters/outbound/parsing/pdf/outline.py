"""The bookmarks of a PDF file."""

import re
from typing import Any

from adapters.outbound.parsing.cleaning import one_line

_NUMBERING = re.compile(r"(?:[A-Z]|\d{1,3})(?:\.\d{1,3})*[.)]?\s*")


class Outline:
    """The bookmarks: which sections begin on which page."""

    def __init__(self, document: Any) -> None:
        self._begins: dict[int, list[tuple[int, str]]] = {}
        self._path: list[str] = []
        for mark in document.get_toc():
            target = mark.get_dest()
            page = target.get_index() if target is not None else None
            if page is not None:
                self._begins.setdefault(page + 1, []).append((mark.level, one_line(mark.get_title())))

    @property
    def titles(self) -> list[str]:
        """The titles of all sections that have not begun."""
        return [title for begins in self._begins.values() for _, title in begins]

    def begins_on(self, page: int) -> bool:
        """Whether a section that has not begun begins on this page."""
        return page in self._begins

    def take(self, line: str, page: int) -> tuple[tuple[str, ...], int] | None:
        """The path and level of the section that begins with this line, when one does."""
        waiting = self._begins.get(page, [])
        for position, (level, title) in enumerate(waiting):
            if title and _names(line, title):
                self._enter(waiting[: position + 1])
                del waiting[: position + 1]
                return tuple(self._path), min(level + 1, 6)
        return None

    def advance_to(self, page: int) -> None:
        """Enters what should have begun on earlier pages, where no line was its title."""
        for earlier in [number for number in self._begins if number < page]:
            self._enter(self._begins.pop(earlier))

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(self._path)

    def _enter(self, marks: list[tuple[int, str]]) -> None:
        for level, title in marks:
            self._path = [*self._path[:level], title]


def _names(line: str, title: str) -> bool:
    """Whether a line is a section's title; the number in front of it need not stand in the bookmark."""
    line = one_line(line)
    return line == title or (line.endswith(title) and bool(_NUMBERING.fullmatch(line[: -len(title)])))
