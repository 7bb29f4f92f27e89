"""Splits a text into messages within a platform's limit; a fenced code block stays one across them."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.outbound.rendering.cutting import Break, Cutter, breaks_of, measure, within
from domain.channels.model import TextLimit

_FENCE = re.compile(
    r"^(?P<margin>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\r\n]*)\r?$",
    re.MULTILINE,
)
_LEAST_ROOM = 40
"""What must be left for code beside its fences, in the limit's unit, for the fences to be repeated."""


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fenced code block: the opening line is [start, code), [code_end, end) ends with the closing one."""

    start: int
    code: int
    code_end: int
    end: int
    opening: str
    closing: str


def split(text: str, limit: TextLimit | None) -> list[str]:
    """The text as messages, each within `limit`; none for a text of white space alone.

    Prefers to cut at the end of a paragraph, then of a line, a sentence, a word, and else between two
    grapheme clusters. A fenced code block that is cut is closed and opened again with its info string.
    Joined, the messages are the text, apart from white space at the cuts and the fences added there.
    A text that fits stays as it is. Only where a single cluster is longer than the limit is it cut, and
    only where the limit is smaller than one code point is it exceeded.
    """
    if not text.strip():
        return []
    if limit is None or within(text, limit):
        return [text]
    return _Splitter(text, limit).all()


class _Splitter:
    def __init__(self, text: str, limit: TextLimit) -> None:
        self._text = text
        self._limit = limit
        self._fences = [fence for fence in _fences(text) if self._leaves_room(fence)]
        self._starts = [fence.start for fence in self._fences]

    def all(self) -> list[str]:
        cutter = Cutter(self._text, self._breaks(), self._fits, self._limit.size, self._settle)
        messages = (self._message(start, end) for start, end in cutter.pieces())
        return [message for message in messages if message]

    def _fits(self, start: int, end: int) -> bool:
        return within(self._message(start, end), self._limit)

    def _message(self, start: int, end: int) -> str:
        opening = closing = ""
        first = self._fence_at(start)
        if first and start >= first.code_end:
            start = min(first.end, end)
        elif first and start >= first.code:
            opening = first.opening + "\n"
        last = self._fence_at(end)
        if last and last.code < end <= last.code_end:
            closing = "\n" + last.closing
        return opening + self._text[start:end] + closing

    def _breaks(self) -> Iterator[Break]:
        """The text's breaks, those inside a code block as such, none in or beside its fences."""
        for candidate in breaks_of(self._text):
            fence = self._fence_at(candidate.end)
            if fence is None or candidate.end == fence.end:
                yield candidate
            elif fence.code <= candidate.end < fence.code_end:
                yield Break(candidate.end, candidate.start, candidate.rank.in_code)

    def _settle(self, index: int) -> int:
        fence = self._fence_at(index)
        if fence is None or index == fence.end:
            return index
        return fence.start if index < fence.code else min(index, fence.code_end)

    def _fence_at(self, index: int) -> _Fence | None:
        """The fenced block that begins before `index` and does not end before it."""
        at = bisect_left(self._starts, index) - 1
        return self._fences[at] if at >= 0 and index <= self._fences[at].end else None

    def _leaves_room(self, fence: _Fence) -> bool:
        fences = f"{self._text[fence.start : fence.code]}\n{self._text[fence.code_end : fence.end]}"
        fences += fence.closing if fence.code_end == fence.end else ""
        return measure(fences, self._limit.unit) + _LEAST_ROOM <= self._limit.size


def _fences(text: str) -> Iterator[_Fence]:
    """The fenced code blocks of a Markdown text, also in quotes and lists (CommonMark 0.31.2, 4.5)."""
    opening: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            if line["mark"][0] == "~" or "`" not in line["info"]:
                opening = line
        elif _closes(line, opening):
            yield _fence(text, opening, line.start(), line.end())
            opening = None
    if opening is not None:
        yield _fence(text, opening, len(text), len(text))


def _closes(line: re.Match[str], opening: re.Match[str]) -> bool:
    return line["mark"].startswith(opening["mark"]) and not line["info"].strip()


def _fence(text: str, opening: re.Match[str], closing_start: int, end: int) -> _Fence:
    code = min(opening.end() + 1, len(text))
    code_end = closing_start
    while code_end > code and text[code_end - 1].isspace():
        code_end -= 1
    margin = re.sub(r"[^ \t>]", " ", opening["margin"])
    reopened = f"{margin}{opening['mark']}{opening['info'].rstrip()}"
    return _Fence(opening.start(), code, code_end, end, reopened, margin + opening["mark"])
