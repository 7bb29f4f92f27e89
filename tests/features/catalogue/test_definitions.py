"""The steps of definitions.feature."""

import json
from typing import Any

import pytest
from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.ways import Reply, Rest

WORKER = False
scenarios("definitions.feature")


@when("a user looks at the catalogue", target_fixture="reply")
def look(rest: Rest) -> Reply:
    return rest.definitions("ann")


@when(parsers.parse('a user looks at the channel "{channel_id}"'), target_fixture="reply")
def look_at(rest: Rest, channel_id: str) -> Reply:
    return rest.definition("ann", channel_id)


@then("it shows these channels in order")
def in_order(reply: Reply, datatable: list[list[str]]) -> None:
    assert [[each["id"], each["name"]] for each in reply.body] == datatable[1:]


@then(parsers.parse('the answer is "{outcome}"'))
def the_answer(reply: Reply, outcome: str) -> None:
    assert reply.outcome == outcome


@pytest.fixture
def fields(reply: Reply) -> list[dict[str, Any]]:
    assert set(reply.body) == {"id", "name", "description", "configDefinition", "type", "setupInstructions"}
    parsed: list[dict[str, Any]] = json.loads(reply.body["configDefinition"])
    return parsed


def _shown(fields: list[dict[str, Any]], required: bool) -> set[str]:
    return {f"{each['name']}:{each['type']}" for each in fields if each["required"] is required}


@then(parsers.re('its required fields are "(?P<expected>.*)"'))
def required_fields(fields: list[dict[str, Any]], expected: str) -> None:
    assert _shown(fields, required=True) == set(expected.split())


@then(parsers.re('its optional fields are "(?P<expected>.*)"'))
def optional_fields(fields: list[dict[str, Any]], expected: str) -> None:
    assert _shown(fields, required=False) == set(expected.split())


@then("each field has a description")
def described(fields: list[dict[str, Any]]) -> None:
    assert all(set(each) == {"name", "type", "description", "required"} for each in fields)
    assert all(len(each["description"]) > 10 for each in fields)


@then("its set-up has a title, steps and a page of the platform's documentation")
def set_up(reply: Reply) -> None:
    setup = reply.body["setupInstructions"]
    assert set(setup) == {"webhookRequired", "webhookPath", "title", "steps", "docsUrl"}
    assert setup["title"]
    assert len(setup["steps"]) >= 2
    assert setup["docsUrl"].startswith("https://")
