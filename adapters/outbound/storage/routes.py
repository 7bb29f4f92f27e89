"""Routes and approval policies of instances as JSON texts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import orjson

from adapters.outbound.storage.codec import dump
from domain.confirmations.policy import ApprovalRule, policy_json
from domain.routing.routes import Condition, Hours, Route


def dump_routes(routes: Sequence[Route] | None) -> str | None:
    """None stays None."""
    if routes is None:
        return None
    return dump([{"when": _set_fields(asdict(route.when)), "to": route.to} for route in routes])


def _set_fields(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if value not in (None, ())}


def load_routes(text: str | None) -> tuple[Route, ...]:
    """A condition that a newer version has added makes a route one that never fits, as nobody can check it."""
    return tuple(Route(_condition(route["when"]), route["to"]) for route in orjson.loads(text or "[]"))


_CONDITIONS = frozenset(field.name for field in fields(Condition))
_NEVER = Condition(share=0.0)


def _condition(stored: Mapping[str, Any]) -> Condition:
    if not stored.keys() <= _CONDITIONS:
        return _NEVER
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    if hours := stored.get("hours"):
        values["hours"] = _hours(hours)
    return Condition(**values)


def dump_policy(policy: Sequence[ApprovalRule] | None) -> str | None:
    """None stays None."""
    return None if policy is None else dump(policy_json(policy))


def load_policy(text: str | None) -> tuple[ApprovalRule, ...]:
    """What a newer version has added to a rule is left out."""
    stored = orjson.loads(text or "[]")
    return tuple(ApprovalRule(rule["tool"], rule["by"], rule.get("minutes")) for rule in stored)


def dump_hours(hours: Hours | None) -> str | None:
    """None stays None."""
    return None if hours is None else dump(asdict(hours))


def load_hours(text: str | None) -> Hours | None:
    return _hours(orjson.loads(text)) if text else None


def _hours(stored: Mapping[str, Any]) -> Hours:
    return Hours(**{**stored, "days": tuple(stored["days"])})
