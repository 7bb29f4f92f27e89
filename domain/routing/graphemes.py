"""Grapheme clusters: where a text may be cut without taking a character apart for its reader.

The rules are those of Unicode Standard Annex 29, section 3.1.1 (https://www.unicode.org/reports/tr29/),
GB3 to GB13 with GB9c. The standard library has no table of the properties that they use, so these are
derived from the general category, and listed here where that does not tell.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from enum import IntEnum
from functools import lru_cache


class _Kind(IntEnum):
    OTHER = 0
    CR = 1
    LF = 2
    CONTROL = 3
    EXTEND = 4
    ZWJ = 5
    REGIONAL = 6
    PREPEND = 7
    SPACING = 8
    L = 9
    V = 10
    T = 11
    LV = 12
    LVT = 13
    HIGH_SURROGATE = 14
    LOW_SURROGATE = 15


_ZWNJ = 0x200C
_ZWJ = 0x200D

_EXTEND_BY_HAND = ((_ZWNJ, _ZWNJ), (0xFF9E, 0xFF9F), (0x1F3FB, 0x1F3FF), (0xE0020, 0xE007F))
"""Extend although the general category is not a mark: joiner, voicing marks, skin tones, tags."""

_PREPEND = (
    (0x0600, 0x0605),
    (0x06DD, 0x06DD),
    (0x070F, 0x070F),
    (0x0890, 0x0891),
    (0x08E2, 0x08E2),
    (0x0D4E, 0x0D4E),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x111C2, 0x111C3),
    (0x1193F, 0x1193F),
    (0x11941, 0x11941),
    (0x11A3A, 0x11A3A),
    (0x11A84, 0x11A89),
    (0x11D46, 0x11D46),
    (0x11F02, 0x11F02),
)

_PICTOGRAPHS = (
    (0x00A9, 0x00A9),
    (0x00AE, 0x00AE),
    (0x203C, 0x203C),
    (0x2049, 0x2049),
    (0x2122, 0x2122),
    (0x2139, 0x2139),
    (0x2194, 0x2199),
    (0x21A9, 0x21AA),
    (0x231A, 0x231B),
    (0x2328, 0x2328),
    (0x2388, 0x2388),
    (0x23CF, 0x23CF),
    (0x23E9, 0x23F3),
    (0x23F8, 0x23FA),
    (0x24C2, 0x24C2),
    (0x25AA, 0x25AB),
    (0x25B6, 0x25B6),
    (0x25C0, 0x25C0),
    (0x25FB, 0x25FE),
    (0x2600, 0x2767),
    (0x2795, 0x2797),
    (0x27A1, 0x27A1),
    (0x27B0, 0x27B0),
    (0x27BF, 0x27BF),
    (0x2934, 0x2935),
    (0x2B05, 0x2B07),
    (0x2B1B, 0x2B1C),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x3030, 0x3030),
    (0x303D, 0x303D),
    (0x3297, 0x3297),
    (0x3299, 0x3299),
    (0x1F000, 0x1F0FF),
    (0x1F10D, 0x1F10F),
    (0x1F12F, 0x1F12F),
    (0x1F16C, 0x1F171),
    (0x1F17E, 0x1F17F),
    (0x1F18E, 0x1F18E),
    (0x1F191, 0x1F19A),
    (0x1F1AD, 0x1F1E5),
    (0x1F201, 0x1F20F),
    (0x1F21A, 0x1F21A),
    (0x1F22F, 0x1F22F),
    (0x1F232, 0x1F23A),
    (0x1F23C, 0x1F23F),
    (0x1F249, 0x1F3FA),
    (0x1F400, 0x1FAFF),
    (0x1FC00, 0x1FFFD),
)
"""Extended_Pictographic, rounded up: too wide a range only keeps more together after a joiner."""

_CONJUNCT_LINKERS = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0d4d")
"""The viramas that join two consonants into one (GB9c)."""


@lru_cache(maxsize=8192)
def _kind(char: str) -> _Kind:
    code = ord(char)
    if 0x1100 <= code <= 0xD7FB:
        hangul = _hangul(code)
        if hangul is not _Kind.OTHER:
            return hangul
    special = _SPECIAL.get(code)
    if special is not None:
        return special
    if 0xD800 <= code <= 0xDFFF:
        return _Kind.HIGH_SURROGATE if code < 0xDC00 else _Kind.LOW_SURROGATE
    if 0x1F1E6 <= code <= 0x1F1FF:
        return _Kind.REGIONAL
    if _within(code, _EXTEND_BY_HAND):
        return _Kind.EXTEND
    if _within(code, _PREPEND):
        return _Kind.PREPEND
    return _BY_CATEGORY.get(unicodedata.category(char), _Kind.OTHER)


_SPECIAL = {
    0x0D: _Kind.CR,
    0x0A: _Kind.LF,
    _ZWJ: _Kind.ZWJ,
    0x0E33: _Kind.SPACING,
    0x0EB3: _Kind.SPACING,
}

_BY_CATEGORY = {
    "Mn": _Kind.EXTEND,
    "Me": _Kind.EXTEND,
    "Mc": _Kind.SPACING,
    "Cc": _Kind.CONTROL,
    "Cf": _Kind.CONTROL,
    "Zl": _Kind.CONTROL,
    "Zp": _Kind.CONTROL,
}


def _hangul(code: int) -> _Kind:
    if 0xAC00 <= code <= 0xD7A3:
        return _Kind.LV if (code - 0xAC00) % 28 == 0 else _Kind.LVT
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return _Kind.L
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return _Kind.V
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return _Kind.T
    return _Kind.OTHER


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    at = bisect_right(ranges, (code, 0x110000)) - 1
    return at >= 0 and code <= ranges[at][1]


_ALWAYS_TOGETHER = frozenset(
    [
        (_Kind.CR, _Kind.LF),
        (_Kind.HIGH_SURROGATE, _Kind.LOW_SURROGATE),
        *((_Kind.L, after) for after in (_Kind.L, _Kind.V, _Kind.LV, _Kind.LVT)),
        *((before, after) for before in (_Kind.LV, _Kind.V) for after in (_Kind.V, _Kind.T)),
        *((before, _Kind.T) for before in (_Kind.LVT, _Kind.T)),
    ]
)
_CONTROLS = frozenset((_Kind.CR, _Kind.LF, _Kind.CONTROL))
_TRAILING = frozenset((_Kind.EXTEND, _Kind.ZWJ, _Kind.SPACING))


def is_boundary(text: str, index: int, start: int = 0) -> bool:
    """Whether a grapheme cluster ends just before `text[index]`, reading the text from `start` on."""
    if index <= start or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before < "\u0300" and after < "\u0300" and after != "\n":
        return True
    left, right = _kind(before), _kind(after)
    if (left, right) in _ALWAYS_TOGETHER:
        return False
    if left in _CONTROLS or right in _CONTROLS:
        return True
    if right in _TRAILING or left is _Kind.PREPEND:
        return False
    if left is _Kind.REGIONAL and right is _Kind.REGIONAL:
        return _regionals_before(text, index, start) % 2 == 0
    if left is _Kind.ZWJ and _within(ord(after), _PICTOGRAPHS):
        return not _pictograph_before(text, index - 1, start)
    if left in (_Kind.EXTEND, _Kind.ZWJ) and _is_conjunct_consonant(after):
        return not _linked_consonant_before(text, index, start)
    return True


def boundary_at_or_before(text: str, index: int, start: int) -> int:
    """The last boundary in `(start, index]`, or `start` when one cluster fills all of it."""
    while index > start and not is_boundary(text, index, start):
        index -= 1
    return index


def _regionals_before(text: str, index: int, start: int) -> int:
    at = index
    while at > start and _kind(text[at - 1]) is _Kind.REGIONAL:
        at -= 1
    return index - at


def _pictograph_before(text: str, index: int, start: int) -> bool:
    """Whether a pictograph, with marks after it, ends just before `index` (GB11)."""
    while index > start and _kind(text[index - 1]) is _Kind.EXTEND:
        if _within(ord(text[index - 1]), _PICTOGRAPHS):
            return True
        index -= 1
    return index > start and _within(ord(text[index - 1]), _PICTOGRAPHS)


def _linked_consonant_before(text: str, index: int, start: int) -> bool:
    """Whether a consonant and marks with a linker among them end just before `index` (GB9c)."""
    linked = False
    while index > start and _kind(text[index - 1]) in (_Kind.EXTEND, _Kind.ZWJ):
        linked = linked or text[index - 1] in _CONJUNCT_LINKERS
        index -= 1
    return linked and index > start and _is_conjunct_consonant(text[index - 1])


@lru_cache(maxsize=2048)
def _is_conjunct_consonant(char: str) -> bool:
    """A letter of a script that joins consonants by a virama: Devanagari to Malayalam, less Tamil."""
    code = ord(char)
    in_script = 0x0900 <= code <= 0x0D7F and not 0x0B80 <= code <= 0x0BFF
    return in_script and unicodedata.category(char) == "Lo"
