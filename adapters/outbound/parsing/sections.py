"""Where in the outline of a document a block stands."""

from __future__ import annotations


class Sections:
    """The headings above the present place, one for each level."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """A heading of this level (1 is the outermost) begins; gives its path, itself included."""
        self._open = [(above, text) for above, text in self._open if above < level]
        self._open.append((level, title))
        return self.path

    @property
    def path(self) -> tuple[str, ...]:
        """The titles around the present place, the outermost first."""
        return tuple(title for _, title in self._open)
