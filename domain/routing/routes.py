"""Routes of an instance: which resource answers which message. Pure.

The first route whose conditions all hold wins; without one the instance's own resource answers.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from domain.routing.word_patterns import SearchedText
from domain.time_zones import time_zone

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of some days by the clocks of a place. `start` and `end` are times as '09:00'; an `end` before `start` is
    on the next day. No days: all."""

    start: str
    end: str
    days: tuple[str, ...] = ()
    time_zone: str = "UTC"

    def hold(self, now: datetime) -> bool:
        local = now.astimezone(time_zone(self.time_zone))
        days = self.days or DAYS
        minute, start, end = local.hour * 60 + local.minute, minutes(self.start), minutes(self.end)
        today, yesterday = DAYS[local.weekday()] in days, DAYS[local.weekday() - 1] in days
        if start < end:
            return today and start <= minute < end
        return (today and minute >= start) or (yesterday and minute < end)

    def next_start(self, now: datetime) -> datetime:
        """The present moment within the hours, else the moment at which they begin next."""
        if self.hold(now):
            return now
        zone, start = time_zone(self.time_zone), minutes(self.start)
        local = now.astimezone(zone)
        for ahead in range(9):
            day = local.date() + timedelta(days=ahead)
            begin = datetime(day.year, day.month, day.day, start // 60, start % 60, tzinfo=zone)
            if begin > local and DAYS[day.weekday()] in (self.days or DAYS):
                return begin.astimezone(UTC)
        return now

    def __str__(self) -> str:
        days = f"{', '.join(self.days)} " if self.days else ""
        return f"{days}{self.start} to {self.end} {self.time_zone}"


def minutes(time: str) -> int:
    """Minutes from midnight to a time as '09:00'."""
    hours, _, rest = time.partition(":")
    return int(hours) * 60 + int(rest)


@dataclass(frozen=True, slots=True)
class Condition:
    """Conditions of a route. One that is empty or None does not count, and of a list one entry is enough.

    `language`: language tags that the sender's language begins with. `matches`: patterns of words in the text.
    `verified`: the sender is known as a platform user, or is not. `in_group`: the message was written in a group, or
    to the bot alone. `groups`: ids or names of groups. `label`: labels of the conversation. `share`: the part of the
    conversations, from 0 to 1; a conversation stays on its side.
    """

    language: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    hours: Hours | None = None
    verified: bool | None = None
    in_group: bool | None = None
    groups: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    share: float | None = None

    @property
    def group(self) -> bool | tuple[str, ...] | None:
        """Both conditions on groups, as REST has them."""
        return self.groups or self.in_group


@dataclass(frozen=True, slots=True)
class Route:
    """Messages for which `when` holds are answered by the resource `to`."""

    when: Condition
    to: str


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts about a message when its resource is chosen. `context` is that of the request."""

    instance_id: int
    session_id: str
    now: datetime
    text: str = ""
    context: Mapping[str, object] = field(default_factory=dict)
    in_group: bool = False
    verified: bool = False
    labels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """The resource that a message goes to, and by which route, in words; empty for the instance's own resource."""

    resource_id: str
    route: str = ""


def choose(routes: Sequence[Route], situation: Situation) -> Chosen | None:
    """The first route that fits; None if none does. Takes a time that grows with the text alone."""
    searched = SearchedText(situation.text if any(route.when.matches for route in routes) else "")
    for number, route in enumerate(routes, 1):
        reasons = _reasons(route, situation, searched)
        if reasons is not None:
            return Chosen(route.to, ", ".join([f"route {number}", *reasons]))
    return None


def _reasons(route: Route, situation: Situation, searched: SearchedText) -> Sequence[str] | None:
    """The conditions that hold, in words; None if one does not hold."""
    reasons: list[str] = []
    for is_set, reason in _CHECKS:
        if not is_set(route.when):
            continue
        if not (text := reason(route, situation, searched)):
            return None
        reasons.append(text)
    return reasons


_Reason = Callable[[Route, Situation, SearchedText], str]
"""Why a condition of a route holds, in words; empty if it does not hold."""


def _language(route: Route, situation: Situation, _: SearchedText) -> str:
    spoken = f"{_tag(str(situation.context.get('language') or ''))}-"
    return next((f"language {tag}" for tag in route.when.language if spoken.startswith(f"{_tag(tag)}-")), "")


def _tag(language: str) -> str:
    return language.replace("_", "-").casefold()


def _matches(route: Route, _: Situation, searched: SearchedText) -> str:
    return next((f"matches {pattern}" for pattern in route.when.matches if searched.holds(pattern)), "")


def _hours(route: Route, situation: Situation, _: SearchedText) -> str:
    hours = route.when.hours
    return f"hours {hours}" if hours and hours.hold(situation.now) else ""


def _verified(route: Route, situation: Situation, _: SearchedText) -> str:
    if route.when.verified is not situation.verified:
        return ""
    return "verified" if situation.verified else "not verified"


def _in_group(route: Route, situation: Situation, _: SearchedText) -> str:
    if route.when.in_group is not situation.in_group:
        return ""
    return "in a group" if situation.in_group else "in no group"


def _groups(route: Route, situation: Situation, _: SearchedText) -> str:
    group = situation.context.get("group")
    names = {str(name).casefold() for name in group.values()} if isinstance(group, Mapping) else set()
    return next((f"group {name}" for name in route.when.groups if name.casefold() in names), "")


def _label(route: Route, situation: Situation, _: SearchedText) -> str:
    labels = {label.casefold() for label in situation.labels}
    return next((f"label {label}" for label in route.when.label if label.casefold() in labels), "")


def _share(route: Route, situation: Situation, _: SearchedText) -> str:
    """A conversation has a place between 0 and 1 that depends on nothing but itself and the resource: it stays
    where it is when other routes are added, and when the share grows."""
    share = route.when.share or 0.0
    named = f"{situation.instance_id}\n{route.to}\n{situation.session_id}".encode("utf-8", "surrogatepass")
    place = int.from_bytes(hashlib.sha256(named).digest()[:7]) / 2**56
    return f"share {share:.4g}" if place < share else ""


_CHECKS: Sequence[tuple[Callable[[Condition], bool], _Reason]] = (
    (lambda when: bool(when.language), _language),
    (lambda when: bool(when.matches), _matches),
    (lambda when: when.hours is not None, _hours),
    (lambda when: when.verified is not None, _verified),
    (lambda when: when.in_group is not None, _in_group),
    (lambda when: bool(when.groups), _groups),
    (lambda when: bool(when.label), _label),
    (lambda when: when.share is not None, _share),
)
