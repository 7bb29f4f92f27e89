"""Renders the beginning of a text that grows: blocks that are finished are rendered once."""

import re

from adapters.outbound.rendering.cutting import measure
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.rendering import render
from domain.channels.model import TextLimit

_NEW_BLOCK = re.compile(r"\n[ \t]*\n(?=[^\s\-*+>\d|`~])")
"""Between a block and a paragraph or heading that does not continue it, as items of a list, quotes and rows do."""
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_GAP = "\n\n"
_LEAST_ROOM = 40
"""What must be left for another block, in the limit's unit."""


class GrowingText:
    """The text shown is that of one message within `limit`; `render` of the whole may join blocks otherwise."""

    def __init__(self, markup: Markup, limit: TextLimit) -> None:
        self._markup = markup
        self._limit = limit
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._source = ""
        self._finished = Rendered("", "")
        self._is_full = False

    def rendered(self, markdown: str) -> Rendered:
        """The beginning of the text; one that does not continue the text before begins anew."""
        if not markdown.startswith(self._source):
            self._begin_anew()
        end = self._end_of_finished(markdown)
        if end > len(self._source):
            self._finished, self._is_full = self._followed_by(markdown[len(self._source) : end])
            self._source = markdown[:end]
        return self._followed_by(markdown[end:])[0]

    def _followed_by(self, markdown: str) -> tuple[Rendered, bool]:
        """The finished blocks followed by another one, and whether the message is full."""
        before = self._finished
        gap = _GAP if before.text else ""
        room = self._limit.size - max(self._size(before.text + gap), self._size(before.plain + gap))
        if self._is_full or (before.text and room < _LEAST_ROOM):
            return before, True
        pieces = render(self._markup, markdown, TextLimit(room, self._limit.unit))
        if not pieces:
            return before, False
        shown = Rendered(f"{before.text}{gap}{pieces[0].text}", f"{before.plain}{gap}{pieces[0].plain}")
        return shown, len(pieces) > 1

    def _size(self, text: str) -> int:
        return measure(text, self._limit.unit)

    def _end_of_finished(self, markdown: str) -> int:
        """Where the last block ends that is finished and not within a fenced one."""
        start = len(self._source)
        ends = [boundary.end() for boundary in _NEW_BLOCK.finditer(markdown, start)]
        for end in reversed(ends):
            if len(_FENCE.findall(markdown, start, end)) % 2 == 0:
                return end
        return start
