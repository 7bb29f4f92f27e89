"""Numbers and dates as a spreadsheet shows them, by their formats (ISO/IEC 29500-1, 18.8.30 and 18.8.31). Pure."""

import datetime as dt
import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00',
    8: '"$"#,##0.00', 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: "#,##0", 42: '"$"#,##0', 43: "#,##0.00", 44: '"$"#,##0.00', 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((32, 33, 34, 35), "h:mm:ss"),
}  # fmt: skip
"""Formats that have a number instead of a code. Those that each country shows in its own way (14, 22, those of East
Asia) are dates in the form of ISO 8601."""
GENERAL = "General"

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<half>AM/PM|A/P|上午/下午)|(?P<general>General)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+|b+|g+)|(?P<digits>[0#?.,/]+)|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"(h+|m+|s+)\Z", re.IGNORECASE)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)\Z")
_CURRENCY = re.compile(r"\$([^-\]]*)(?:-([0-9a-f]+))?\Z", re.IGNORECASE)
_LONGEST = 255
"""Characters of a format code."""
_EXACT = Context(prec=700)
"""Room for the largest number with as many decimals as a code may ask for."""
_LAST_SERIAL = 2_958_466
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COMMA_AND_DOT = (0x07, 0x10, 0x0A, 0x16, 0x13, 0x06, 0x1F, 0x08, 0x1A, 0x24, 0x18, 0x21, 0x2A, 0x2D)
_COMMA_AND_BLANK = (
    0x0C, 0x15, 0x05, 0x19, 0x22, 0x1D, 0x0B, 0x14, 0x0E, 0x1B, 0x02, 0x25, 0x26, 0x27, 0x23, 0x37, 0x3F,
)  # fmt: skip
"""Primary languages ([MS-LCID]) that write a comma before decimals, and a dot or a blank between thousands."""
_SEPARATORS = {
    **dict.fromkeys(_COMMA_AND_DOT, str.maketrans(",.", ".,")),
    **dict.fromkeys(_COMMA_AND_BLANK, str.maketrans(",.", " ,")),
}
_HOLDS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    tokens: Sequence[_Token]
    condition: tuple[str, float] | None
    language: int

    @property
    def is_date(self) -> bool:
        return any(token.kind in ("date", "elapsed") for token in self.tokens)


def displayed(value: float, code: str, *, from_1904: bool = False) -> str:
    """The number as the format shows it; as it is where the format shows nothing, or cannot show it."""
    sections = _sections(code[:_LONGEST])
    section, shown = _chosen(value, sections)
    if not math.isfinite(value) or section is None:
        return general(value)
    kinds = {token.kind for token in section.tokens}
    if section.is_date:
        text = _date(value, section, from_1904=from_1904)
    elif "digits" in kinds:
        text = _number(shown, section)
    else:
        own = {"general": general(shown), "text": general(value)}
        text = "".join(own.get(token.kind, token.text) for token in section.tokens)
    return " ".join(text.split()) or general(value)


def with_text(text: str, code: str) -> str:
    """A text as the format shows it: with the words around its `@`."""
    if "@" not in code or code == "@":
        return text
    tokens = _sections(code[:_LONGEST])[-1].tokens
    shown = "".join(text if token.kind == "text" else token.text for token in tokens)
    return shown if any(token.kind == "text" for token in tokens) else text


def general(value: float) -> str:
    """A number without a format: 15 digits, which is what a cell holds."""
    if math.isfinite(value) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    matches: list[re.Match[str]] = []
    for match in _TOKEN.finditer(code):
        if match["other"] == ";":
            sections.append(_section(matches))
            matches = []
        else:
            matches.append(match)
    return (*sections, _section(matches))


def _section(matches: Sequence[re.Match[str]]) -> _Section:
    tokens: list[_Token] = []
    condition: tuple[str, float] | None = None
    language = 0
    for match in matches:
        kind, text = match.lastgroup, match[match.lastgroup or 0]
        if kind == "bracket":
            if comparison := _CONDITION.match(text):
                condition = comparison[1], float(comparison[2])
            elif _ELAPSED.match(text):
                tokens.append(_Token("elapsed", text.lower()))
            elif currency := _CURRENCY.match(text):
                language = int(currency[2] or "0", 16) & 0x3FF
                tokens.append(_Token("other", currency[1]))
        elif kind:
            tokens.append(_Token(kind, text.lower() if kind == "date" else text))
    return _Section(_with_minutes(tokens), condition, language)


def _with_minutes(tokens: list[_Token]) -> list[_Token]:
    """An `m` behind hours or in front of seconds stands for minutes."""
    places = [index for index, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    for number, index in enumerate(places):
        if tokens[index].kind != "date" or tokens[index].text not in ("m", "mm"):
            continue
        before = tokens[places[number - 1]].text if number else ""
        after = tokens[places[number + 1]].text if number + 1 < len(places) else ""
        if before.startswith("h") or after.startswith("s"):
            tokens[index] = _Token("date", tokens[index].text.replace("m", "n"))
    return tokens


def _chosen(value: float, sections: Sequence[_Section]) -> tuple[_Section | None, float]:
    """The section for a value, and the number that it shows: the sign belongs to the section of negative numbers."""
    numbers = sections[:3]
    if any(section.condition for section in numbers):
        for section in numbers:
            if section.condition is None:
                return section, value
            sign, limit = section.condition
            if _HOLDS[sign](value, limit):
                return section, value
        return None, value
    if value < 0 and len(numbers) > 1:
        return numbers[1], -value
    return numbers[2 if not value and len(numbers) > 2 else 0], value


def _text(tokens: Iterable[_Token]) -> str:
    return "".join(token.text for token in tokens)


def _number(value: float, section: _Section) -> str:
    tokens = section.tokens
    kinds = [token.kind for token in tokens]
    places = [index for index, kind in enumerate(kinds) if kind == "digits"]
    pattern = _text(tokens[index] for index in places)
    exponent = kinds.index("exponent") if "exponent" in kinds else 0
    if "/" in pattern:
        number = _fraction(value)
    elif exponent:
        mantissa = _text(tokens[index] for index in places if index < exponent)
        number = f"{value:.{len(mantissa.partition('.')[2])}E}"
    else:
        number = _decimal(value, pattern, tokens.count(_Token("other", "%")))
    number = number.translate(_SEPARATORS.get(section.language, {}))
    if len(places) > 1 and "exponent" not in kinds and "." not in pattern:
        return _interleaved(number, tokens)
    sign, digits = number[: number.startswith("-")], number.removeprefix("-")
    return f"{sign}{_text(tokens[: places[0]])}{digits}{_text(tokens[places[-1] + 1 :])}"


def _decimal(value: float, pattern: str, percent: int) -> str:
    integers, _, decimals = pattern.partition(".")
    scale = len(pattern) - len(pattern.rstrip(","))
    most = sum(char in "0#?" for char in decimals)
    exact = Decimal(repr(value)).scaleb(2 * percent - 3 * scale, _EXACT)
    rounded = exact.quantize(Decimal(1).scaleb(-most, _EXACT), ROUND_HALF_UP, _EXACT)
    least = sum(char in "0?" for char in decimals.rstrip(",").rstrip("#"))
    sign, (integer, _, fraction) = "-" if rounded < 0 else "", f"{abs(rounded):f}".partition(".")
    fraction = fraction[:least] + fraction[least:].rstrip("0")
    integer = integer.lstrip("0").zfill(integers.count("0")) if integers else integer
    if integer and "," in integers.rstrip(","):
        integer = f"{int(integer):,}".zfill(len(integer))
    return f"{sign}{integer}{'.' if '.' in pattern and fraction else ''}{fraction}"


def _fraction(value: float) -> str:
    integer = int(value)
    part = Fraction(abs(value - integer)).limit_denominator(99)
    if not part:
        return str(integer)
    return f"{integer} {part}" if integer else f"{'-' if value < 0 else ''}{part}"


def _interleaved(number: str, tokens: Sequence[_Token]) -> str:
    """Digits with signs among them, such as those of phone numbers: placed from the right."""
    digits = list(number.removeprefix("-"))
    pieces: list[str] = []
    groups = [index for index, token in enumerate(tokens) if token.kind == "digits"]
    for index in range(len(tokens) - 1, -1, -1):
        if index not in groups:
            pieces.append(tokens[index].text)
            continue
        count = len(digits) if index == groups[0] else min(len(tokens[index].text), len(digits))
        pieces.append("".join(digits[len(digits) - count :]))
        del digits[len(digits) - count :]
    return ("-" if number.startswith("-") else "") + "".join(reversed(pieces))


def _date(value: float, section: _Section, *, from_1904: bool) -> str:
    if not 0 <= value < _LAST_SERIAL:
        return general(value)
    decimals = max((len(token.text.partition(".")[2]) for token in section.tokens), default=0)
    seconds = round(value * 86400, decimals if decimals else None)
    begin = dt.datetime(1904, 1, 1) if from_1904 else dt.datetime(1899, 12, 30)  # noqa: DTZ001 - without a zone
    if not from_1904 and seconds < 60 * 86400:
        # Day 60 of the calendar from 1900, 29 February, did not exist; the days before it are one further.
        begin += dt.timedelta(days=1)
    moment = begin + dt.timedelta(seconds=seconds)
    is_half = any(token.kind == "half" for token in section.tokens)
    return "".join(_part(token, moment, seconds, is_half=is_half) for token in section.tokens)


def _part(token: _Token, moment: dt.datetime, seconds: float, *, is_half: bool) -> str:
    if token.kind == "elapsed":
        unit = {"h": 3600, "m": 60, "s": 1}[token.text[0]]
        return str(int(seconds // unit)).zfill(len(token.text))
    if token.kind == "half":
        return "AM" if moment.hour < 12 else "PM"
    if token.kind != "date":
        return token.text
    hour = moment.hour % 12 or 12 if is_half else moment.hour
    length = len(token.text)
    if token.text.startswith("s"):
        integers, _, decimals = token.text.partition(".")
        text = str(moment.second).zfill(len(integers))
        return f"{text}.{moment.microsecond:06}"[: len(text) + 1 + len(decimals)] if decimals else text
    texts = {
        "y": f"{moment.year % 100:02}" if length < 3 else str(moment.year),
        "e": str(moment.year),
        "b": str(moment.year + 543),
        "g": "",
        "m": _named(_MONTHS, moment.month - 1, moment.month, length),
        "d": _named(_DAYS, moment.weekday(), moment.day, length),
        "h": str(hour).zfill(min(length, 2)),
        "n": str(moment.minute).zfill(length),
    }
    return texts[token.text[0]]


def _named(names: Sequence[str], index: int, number: int, length: int) -> str:
    if length < 3:
        return str(number).zfill(length)
    return names[index][: {3: 3, 5: 1}.get(length, 99)]
