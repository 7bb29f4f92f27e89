"""What a cron expression may be: five fields, each within its range. Says which field is wrong, and why.

The grammar is that of crontab (POSIX.1-2024, `crontab`) with the usual additions: steps (`*/15`, `1-30/2`,
`5/20`), names (`mon-fri`, `jan`), Sunday as 0 or 7, ranges of weekdays over Sunday (`sat-sun`, `fri-mon`), `L`
and `LW` for the last day and the last working day of the month, `5L` for the last Friday and `5#2` for the second
Friday of the month.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = 7
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five: its name in messages, its range, and the names that stand for numbers."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    is_weekday: bool = False

    def fault(self, term: str, why: str) -> ValueError:
        hint = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return ValueError(f"{self.name} '{term}' {why} (allowed: {self.low}-{self.high}{hint})")

    def number(self, text: str, term: str) -> int:
        """The number that `text` stands for, within the range of the field."""
        if text.lower() in self.names:
            return self.names.index(text.lower()) + self.low
        if not (text.isascii() and text.isdigit()):
            raise self.fault(term, "is not a number")
        value = int(text) if len(text) < 9 else -1
        if not self.low <= value <= self.high:
            raise self.fault(term, "is out of range")
        return value

    def values(self, term: str) -> set[int]:
        """The numbers that one term of a list names; empty where the calendar decides (`L`, `5#2`)."""
        if term.upper() in self.last:
            return set()
        if self.is_weekday and self._names_a_day_of_the_month(term):
            return set()
        span, slash, step = term.partition("/")
        start, end = self._span(span, term)
        if not slash:
            return set(self._run(start, end))
        if not (step.isascii() and step.isdigit() and len(step) < 9) or int(step) == 0:
            raise self.fault(term, "has a step that is not a number above 0")
        return set(self._run(start, self.high if start == end else end)[:: int(step)])

    def spelt_out(self, term: str) -> str:
        """The term without a range that runs over the end of the week, which not everybody reads."""
        span = term.partition("/")[0]
        if "-" not in span:
            return term
        start, end = self._span(span, term)
        return term if start <= end else ",".join(str(each) for each in sorted(self.values(term)))

    def _run(self, start: int, end: int) -> Sequence[int]:
        """The numbers from start to end, over the end of the week where they have to."""
        if end >= start:
            return range(start, end + 1)
        return [(start + each) % _DAYS for each in range((end - start) % _DAYS + 1)]

    def _span(self, span: str, term: str) -> tuple[int, int]:
        if span == "*":
            return self.low, self.high
        first, dash, last = span.partition("-")
        start = self.number(first, term)
        end = self.number(last, term) if dash else start
        if end < start and not self.is_weekday:
            raise self.fault(term, "runs backwards")
        return start, end

    def _names_a_day_of_the_month(self, term: str) -> bool:
        if term[-1:] in ("L", "l"):
            if not (term[:-1].isascii() and term[:-1].isdigit()):
                raise self.fault(term, "needs the number of a weekday before L")
            self.number(term[:-1], term)
            return True
        day, hash_sign, nth = term.partition("#")
        if not hash_sign:
            return False
        self.number(day, term)
        if nth not in ("1", "2", "3", "4", "5"):
            raise self.fault(term, "needs a number from 1 to 5 after #")
        return True


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31, last=("L", "LW")),
    _Field("month", 1, 12, names=_MONTHS),
    _Field("weekday", 0, 7, names=_WEEKDAYS, is_weekday=True),
)


def fault(expression: str) -> str | None:
    """What is wrong with a cron expression, in words that name the field and its range; None if nothing."""
    parts = expression.split()
    if len(parts) != len(_FIELDS):
        return f"must have 5 fields (minute hour day month weekday), has {len(parts)}"
    try:
        values = [_values(field, part) for field, part in zip(_FIELDS, parts, strict=True)]
    except ValueError as error:
        return str(error)
    return _never_comes(parts, values)


def fires_every_hour(expression: str) -> bool:
    """Whether a good expression leaves the hour open: it says how often in an hour, not when in a day."""
    return len(_values(_FIELDS[1], expression.split()[1])) == _FIELDS[1].high + 1


def spelt_out(expression: str) -> str:
    """A good expression with its weekdays listed where a range runs over Sunday: `fri-mon` as `0,1,5,6`."""
    *others, weekday = expression.split()
    return " ".join([*others, ",".join(_FIELDS[-1].spelt_out(term) for term in weekday.split(","))])


def _values(field: _Field, part: str) -> set[int]:
    found: set[int] = set()
    for term in part.split(","):
        if not term:
            raise field.fault(part, "has an empty item")
        found |= field.values(term)
    return found


def _never_comes(parts: Sequence[str], values: Sequence[set[int]]) -> str | None:
    """Whether the day of month lies beyond every month named (the 30th of February).

    A weekday that is restricted as well is another way to match, unless one of the two begins with a star.
    """
    _, _, day, _, weekday = parts
    _, _, days, months, _ = values
    both_must_match = day.startswith("*") or weekday.startswith("*")
    by_calendar = any(term.upper() in ("L", "LW") for term in day.split(","))
    if not both_must_match or by_calendar:
        return None
    longest = max(_LONGEST_MONTH[month - 1] for month in months)
    if min(days) > longest:
        return f"day of month '{day}' never comes in month '{parts[3]}' (its last day is {longest})"
    return None
