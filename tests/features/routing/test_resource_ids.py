"""The steps of resource_ids.feature. Steps are synchronous: reading an id is pure."""

from dataclasses import dataclass

import pytest
from pytest_bdd import parsers, scenarios, then, when

from domain.refusals import Invalid
from domain.routing.model import Resource
from domain.routing.resource import parse_resource

scenarios("resource_ids.feature")


@dataclass
class World:
    resource: Resource | None = None
    refusal: Invalid | None = None


@pytest.fixture
def world() -> World:
    return World()


@when(parsers.re(r'the resource id "(?P<text>.*)" is read'))
def _read(world: World, text: str) -> None:
    try:
        world.resource = parse_resource(text)
    except Invalid as refusal:
        world.refusal = refusal


@then(parsers.parse('it names the {kind} "{id_}" with expert {expert}'))
def _names(world: World, kind: str, id_: str, expert: str) -> None:
    assert world.resource is not None
    index = None if expert == "none" else int(expert)
    assert (str(world.resource.kind), world.resource.id, world.resource.expert_index) == (kind, id_, index)


@then(parsers.parse('its canonical form is "{text}"'))
def _canonical(world: World, text: str) -> None:
    assert str(world.resource) == text


@then(parsers.parse("it is refused because it {reason}"))
def _refused(world: World, reason: str) -> None:
    assert world.resource is None
    assert world.refusal is not None
    assert reason in world.refusal.message


@then("the refusal names the field and the accepted forms")
def _told(world: World) -> None:
    assert world.refusal is not None
    assert [fault.field for fault in world.refusal.faults] == ["downStreamResourceId"]
    for form in ("agent::<agent_id>_<expert_index>", "workflow::<workflow_id>", "function::<function_id>"):
        assert form in world.refusal.message
