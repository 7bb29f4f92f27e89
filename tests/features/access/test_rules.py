"""Who may do what: every route, every RPC and every tool for people of all kinds, by `tests.support.access_rules`."""

import inspect
import re
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest

from adapters.inbound.grpc.interceptors import OPEN_METHODS, OPEN_SERVICES
from adapters.rpc.tables import SERVICES
from domain.access.model import Role
from domain.use_cases import GROUPS, UseCases
from tests.drivers.access import TOOLS, Everybody, Person
from tests.drivers.world import World
from tests.support.access_rules import RULES, SUCCESS, Rule

WORKER = False
SETTINGS = {"OUTBOUND_ALLOW": "127.0.0.0/8", "DATABASE_URL": "postgresql://elsewhere"}
REFUSED, HIDDEN = 403, 404
"""Whether a file of that hash is anywhere is told to nobody who may not read it."""
CLOSED = [rule for rule in RULES if rule.needs != "no key"]


@pytest.fixture(scope="module")
def everybody(module_world: World) -> Everybody:
    return Everybody(module_world)


def is_permitted(person: Person, needs: str) -> bool:
    """Return True if the role, or the levels, of a person are enough. A service that acts for no user may act on all,
    and makes nothing."""
    if " and " in needs:
        return all(is_permitted(person, need) for need in needs.split(" and "))
    kind, _, level = needs.partition(" ")
    if kind in ("instance", "agent", "base") and needs != "base 0":
        return person.level >= int(level.split()[0])
    return {
        "nothing": True,
        "user": True,
        "member": person.role is not Role.RESPONDER,
        "no responder": person.role is not Role.RESPONDER,
        "base 0": person.role is not Role.RESPONDER or person.level > 0,
        "file": person.role is not Role.RESPONDER or person.level > 0,
        "in the team": person.in_team or person.is_admin,
        "leads the team": person.leads or person.is_admin,
        "owner": person.owns or person.is_admin,
        "admin": person.is_admin,
        "browser": False,
        "service": "service" in person.name,
    }[needs]


def expected(person: Person, rule: Rule) -> int:
    if person.is_out:
        return 403 if "x-user-id" in person.headers else 401
    if rule.scopes and not any(person.has(scope) for scope in rule.scopes):
        return REFUSED
    if person.is_nobody and re.search(r"\b(user|member)\b", rule.needs):
        return 400
    if is_permitted(person, rule.needs):
        return rule.then
    return HIDDEN if "file" in rule.needs else REFUSED


def is_as_expected(status: int, wanted: int) -> bool:
    return status == wanted or (wanted == SUCCESS and 200 <= status < 300)


@pytest.mark.parametrize("rule", CLOSED, ids=lambda rule: rule.use_case)
def test_a_use_case_is_for_those_whom_its_rule_names(everybody: Everybody, rule: Rule) -> None:
    async def wrong() -> list[str]:
        faults = []
        for number, call in enumerate(rule.calls):
            # Scopes are those of the use case, however it is called.
            people = [person for person in everybody.people if person.scopes is None or number == 0]
            for person in people:
                status, is_written = await everybody.call(person, call)
                wanted = expected(person, rule)
                if not is_as_expected(status, wanted):
                    faults.append(f"{call} by {person.name}: {status}, not {wanted}")
                elif wanted in (401, REFUSED, HIDDEN) and wanted != rule.then and is_written:
                    faults.append(f"{call} by {person.name}: is refused, and writes")
        return faults

    assert everybody.world.run(wrong()) == []


def test_every_route_rpc_and_tool_stands_in_a_rule(everybody: Everybody) -> None:
    document = everybody.rest.request("GET", "/openapi.json").json()
    routes = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    rpcs = {
        f"{service.descriptor.name}/{name}"
        for service in SERVICES
        for name in service.descriptor.methods_by_name
    }
    ruled = [call for rule in RULES for call in rule.calls]
    shapes = {shape(call) for call in ruled}
    assert {route for route in routes if shape(route) not in shapes} == set()
    assert rpcs - {call.partition(" ")[0] for call in ruled} == set()
    assert set(TOOLS) - {call.split()[1] for call in ruled if call.startswith("tool ")} == set()


def shape(call: str) -> str:
    """A route without the names of its parameters."""
    method, _, path = call.partition(" ")
    path = re.sub(r"[? ].*", "", path)
    return f"{method} {re.sub(r'{[^}]*}', '{}', path)}"


def test_what_is_open_needs_no_key_and_all_else_does(everybody: Everybody) -> None:
    """The core ends a call without a key before it looks at it: `test_every_route` calls it."""
    document = everybody.rest.request("GET", "/openapi.json").json()
    is_closed = {
        shape(f"{method.upper()} {path}"): bool(operation["security"])
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    for rule in RULES:
        for call in rule.calls:
            name = call.partition(" ")[0]
            if name.isupper():
                assert is_closed[shape(call)] == (rule.needs != "no key"), call
            elif "/" in name:
                [service] = [each for each in SERVICES if each.descriptor.name == name.partition("/")[0]]
                full = service.path(name.partition("/")[2])
                is_open = full.startswith(OPEN_SERVICES) or full in OPEN_METHODS
                assert is_open == (rule.needs == "no key"), call


def use_cases(group: type) -> Iterator[type]:
    for hint in get_type_hints(group).values():
        if hint in GROUPS:
            yield from use_cases(hint)
        elif hint.__name__ != "AccessService":  # who calls is what it finds out
            yield hint


def test_every_method_of_a_use_case_says_which_scope_it_needs() -> None:
    methods: list[Any] = [
        method
        for use_case in use_cases(UseCases)
        for name, method in inspect.getmembers(use_case, inspect.isfunction)
        if not name.startswith("_") and "caller" in inspect.signature(method).parameters
    ]
    assert len(methods) > 100
    assert [method.__qualname__ for method in methods if not hasattr(method, "scopes")] == []
