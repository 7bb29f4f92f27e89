"""Checks the routes and the fallback of an instance. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence

from domain import limits
from domain.refusals import Fault, Invalid
from domain.routing.resource import parse_resource
from domain.routing.routes import DAYS, Condition, Hours, Route
from domain.routing.word_patterns import pattern_fault
from domain.time_zones import time_zone_fault

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,8}", re.ASCII)
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]|24:00", re.ASCII)


def routing_faults(routes: Sequence[Route], fallback: Sequence[str]) -> Iterator[Fault]:
    """Yields the faults, each with the field as REST names it."""
    if len(routes) > limits.ROUTES:
        yield Fault("routes", f"must have at most {limits.ROUTES} entries")
    for number, route in enumerate(routes[: limits.ROUTES]):
        yield from condition_faults(route.when, f"routes[{number}].when")
        yield from _resource_faults(route.to, f"routes[{number}].to")
    if len(fallback) > limits.FALLBACKS:
        yield Fault("fallback", f"must name at most {limits.FALLBACKS} resources")
    for number, resource_id in enumerate(fallback[: limits.FALLBACKS]):
        yield from _resource_faults(resource_id, f"fallback[{number}]")


def _resource_faults(resource_id: str, field: str) -> Iterator[Fault]:
    try:
        parse_resource(resource_id)
    except Invalid as invalid:
        yield from (Fault(field, fault.message) for fault in invalid.faults)


def condition_faults(when: Condition, field: str) -> Iterator[Fault]:
    lists = {
        "language": (when.language, _language_fault),
        "matches": (when.matches, pattern_fault),
        "group": (when.groups, _name_fault),
        "label": (when.label, _name_fault),
    }
    for name, (entries, fault_of) in lists.items():
        yield from _list_faults(entries, fault_of, f"{field}.{name}")
    if when.hours is not None:
        yield from hours_faults(when.hours, f"{field}.hours")
    if when.share is not None and not 0 <= when.share <= 1:
        yield Fault(
            f"{field}.share", "must be a number from 0 to 1, such as 0.1 for a tenth of the conversations"
        )


def _list_faults(
    entries: Sequence[str], fault_of: Callable[[str], str | None], field: str
) -> Iterator[Fault]:
    if len(entries) > limits.CONDITION_ENTRIES:
        yield Fault(field, f"must have at most {limits.CONDITION_ENTRIES} entries")
        return
    for number, entry in enumerate(entries):
        if fault := limits.text_fault(entry, limits.CONDITION_TEXT) or fault_of(entry):
            yield Fault(f"{field}[{number}]", fault)


def _language_fault(tag: str) -> str | None:
    return None if _LANGUAGE.fullmatch(tag) else "must be a language tag, such as de or pt-BR"


def _name_fault(name: str) -> str | None:
    return None if name.strip() else "must not be empty"


def hours_faults(hours: Hours, field: str) -> Iterator[Fault]:
    """Yields the faults of hours that a caller gives."""
    if any(day not in DAYS for day in hours.days):
        yield Fault(f"{field}.days", f"must be days of {', '.join(DAYS)}")
    for name, time in (("from", hours.start), ("to", hours.end)):
        if name == "from" and time == "24:00":
            yield Fault(f"{field}.from", "must be a time from 00:00 to 23:59")
        elif not _TIME.fullmatch(time):
            yield Fault(
                f"{field}.{name}", "must be a time from 00:00 to 23:59, or 24:00 for the end of a day"
            )
    if hours.start == hours.end:
        yield Fault(f"{field}.to", "must not be the same as from; a whole day is 00:00 to 24:00")
    if fault := time_zone_fault(hours.time_zone):
        yield Fault(f"{field}.timeZone", fault)
