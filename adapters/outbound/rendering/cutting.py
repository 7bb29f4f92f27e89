"""Cuts a text into pieces that fit, at the best place there is: the rules that all splitting shares.

Messages of a text that is too long to be formatted.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

from adapters.outbound.rendering.model import Rendered
from domain.channels.model import TextLimit, Unit


class Rank(IntEnum):
    """What ends at a break, best first."""

    PARAGRAPH = 0
    LINE = 1
    CODE_PARAGRAPH = 2
    CODE_LINE = 3
    SENTENCE = 4
    WORD = 5

    @property
    def in_code(self) -> Rank:
        return _IN_CODE.get(self, Rank.WORD)


_IN_CODE = {Rank.PARAGRAPH: Rank.CODE_PARAGRAPH, Rank.LINE: Rank.CODE_LINE}


class Break(NamedTuple):
    """A place to cut: the part before ends at `end`, the one after begins at `start`."""

    end: int
    start: int
    rank: Rank


Fits = Callable[[int, int], bool]
"""Whether the piece of a text between two indexes fits into one message."""


_GAP = re.compile(
    r"[^\S\u00a0\u2007\u202f]+"
    r"|(?<=[\u3002\uff01\uff1f])(?=[^\s\u3002\uff01\uff1f\u300d\u300f\uff09\u201d\u2019])"
)
"""White space where a line may be broken (no-break spaces are not), or the end of a CJK sentence."""
_SENTENCE_END = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][)\]\"'\u201d\u2019\xbb\u300d\u300f\uff09]*$")
_LAST_OF_SENTENCE = ".!?\u2026\u3002\uff01\uff1f)]\"'\u201d\u2019\xbb\u300d\u300f\uff09"
_LIST_NUMBER = re.compile(r"(?:^|\n)[ \t>]*\d{1,4}[.)]$")
_LOOK_BACK = 8


def breaks_of(text: str) -> Iterator[Break]:
    """Every break of a text, in order. Indentation after a line end belongs to the part after."""
    for gap in _GAP.finditer(text):
        end, start = gap.span()
        blank = gap.group()
        if blank == "\n":
            yield Break(end, start, Rank.LINE)
            continue
        blank = blank.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
        lines = blank.count("\n")
        if lines:
            rank = Rank.LINE if lines == 1 else Rank.PARAGRAPH
            start = end + max(gap.group().rfind(char) for char in "\n\r\u2028") + 1
        elif "\u2029" in blank:
            rank = Rank.PARAGRAPH
        else:
            rank = Rank.SENTENCE if _ends_sentence(text, end) else Rank.WORD
        yield Break(end, start, rank)


def _ends_sentence(text: str, end: int) -> bool:
    if text[end - 1 : end] not in _LAST_OF_SENTENCE:
        return False
    low = max(0, end - _LOOK_BACK)
    tail = text[low:end]
    if not _SENTENCE_END.search(tail):
        return False
    return not _LIST_NUMBER.search(tail) or (low > 0 and "\n" not in tail)


def cut(text: str, breaks: Iterable[Break], fits: Fits, reach: int) -> Iterator[tuple[int, int]]:
    """Start and end of each piece of a text, in order; between two of them stands nothing but white space.

    `fits` must hold for the beginnings of a piece that fits, small deviations aside; `reach` is the most
    characters that a piece can have. `breaks` are not asked for if the text fits.
    """
    by_rank: list[list[Break]] = []
    start, last = 0, len(text.rstrip())
    while start < last:
        most = min(max(1, reach), last - start)
        if start + most == last and fits(start, last):
            end = after = last
        else:
            if not by_rank:
                by_rank = [[] for _ in Rank]
                for candidate in breaks:
                    by_rank[candidate.rank].append(candidate)
            end, after = _best_cut(text, by_rank, fits, start, most)
        if text[start:end].strip():
            yield start, end
        start = after


def _best_cut(text: str, by_rank: list[list[Break]], fits: Fits, start: int, most: int) -> tuple[int, int]:
    """Where the piece of at most `most` characters ends that begins at `start`, and where the one after it begins.

    Where the text offers no break: after a cluster, or inside one longer than a message.
    """
    longest = bisect_left(range(1, most + 1), True, key=lambda length: not fits(start, start + length))
    furthest = start + max(1, longest)
    for rank in by_rank:
        at = bisect_right(rank, furthest, key=attrgetter("end")) - 1
        while at >= 0 and rank[at].end > start:
            if fits(start, rank[at].end):
                return rank[at].end, rank[at].start
            at -= 1
    end = boundary_at_or_before(text, furthest, start)
    if end == start:
        end = furthest
        if "\ud800" <= text[end - 1] <= "\udbff" and "\udc00" <= text[end : end + 1] <= "\udfff":
            end += 1 if end - 1 == start else -1
    return end, end


def boundary_at_or_before(text: str, index: int, start: int) -> int:
    """The last boundary of grapheme clusters (UAX 29) in `(start, index]`; `start` if one cluster fills all of it."""
    import regex

    clusters = regex.finditer(r"[\ud800-\udbff][\udc00-\udfff]|\X", text[start : index + 1])
    ends: list[int] = [start + cluster.end() for cluster in clusters]
    return max((end for end in ends if end <= index), default=start)


def measure(text: str, unit: Unit) -> int:
    if unit is Unit.UTF16:
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    if unit is Unit.BYTES:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text)


_BREAKS = ("\n\n", "\n", ". ", "\u3002", " ")
"""Where such a text is cut, the best first: to look for every break would take too long."""
_LONGEST_CLUSTER = 100
"""Characters before a cut that are looked at where a text offers no break."""


def as_written(
    text: str, limit: TextLimit | None, write: Callable[[str], str], source_limit: TextLimit | None
) -> Iterator[Rendered]:
    """The text in pieces within `limit`, each of which `write` escapes. Where that makes a piece longer than
    `source_limit`, it is divided further: to look for the longest one that fits would escape the text many times."""
    if limit is None or source_limit is None:
        yield Rendered(write(text.rstrip()), text.rstrip())
        return
    start = 0
    while start < len(text):
        end = _end(text, start, limit)
        piece = text[start:end].lstrip("\r\n").rstrip()
        start = end
        if not piece:
            continue
        source = write(piece)
        length = measure(source, source_limit.unit)
        if length <= source_limit.size or limit.size <= 1:
            yield Rendered(source, piece)
        else:
            share = min(source_limit.size / length, 0.9)
            smaller = TextLimit(max(1, int(limit.size * share)), limit.unit)
            yield from as_written(piece, smaller, write, source_limit)


def _end(text: str, start: int, limit: TextLimit) -> int:
    """Where the piece ends that begins at `start`."""
    end = start + max(1, limit.size)
    while end > start + 1 and (length := measure(text[start:end], limit.unit)) > limit.size:
        end = start + max(1, (end - start) * limit.size // length)
    if end >= len(text):
        return len(text)
    for mark in _BREAKS:
        at = text.rfind(mark, start + 1, end)
        if at > 0:
            return at + len(mark)
    boundary = boundary_at_or_before(text, end, max(start, end - _LONGEST_CLUSTER))
    return boundary if boundary > start else end
