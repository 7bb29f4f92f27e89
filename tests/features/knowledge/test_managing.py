"""The steps of managing knowledge bases."""

import re

from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send
from tests.drivers.ways import Rest

scenarios("managing.feature")

WRONG_BASES = {
    "no name": b"{}",
    "an empty name": b'{"name": ""}',
    "a name of spaces": b'{"name": "  "}',
    "a number as its name": b'{"name": 7}',
    "a list as its manifest": b'{"name": "a", "kb_manifest": [1]}',
    "a number as its description": b'{"name": "a", "description": 1}',
    "an infinite number in its manifest": b'{"name": "a", "kb_manifest": {"a": 1e999}}',
    "a NUL character in its name": rb'{"name": "a\u0000b"}',
    "text that is no object": b"not json",
}


@when(parsers.parse('ann creates the base "{name}" described as "{description}"'))
def create(rest: Rest, scene: Scene, name: str, description: str) -> None:
    send(rest, scene, "POST", KB, json={"name": name, "description": description})


@when(parsers.parse("ann creates a base with {what}"))
def create_with(rest: Rest, scene: Scene, what: str) -> None:
    send(rest, scene, "POST", KB, content=WRONG_BASES[what], headers={"content-type": "application/json"})


@when("ann asks for the base")
def ask_base(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/{scene.base}")


@when(parsers.parse('ann renames the base to "{name}"'))
def rename(rest: Rest, scene: Scene, name: str) -> None:
    send(rest, scene, "PUT", f"{KB}/{scene.base}", json={"name": name})


@when("ann deletes the base")
def delete(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "DELETE", f"{KB}/{scene.base}")


@then(
    parsers.parse(
        'the body says name "{name}", description "{description}", type "{kind}" and status "{status}"'
    )
)
def created_body(scene: Scene, name: str, description: str, kind: str, status: str) -> None:
    body = scene.answer.json()
    assert isinstance(body.pop("id"), int)
    assert body == {"name": name, "description": description, "type": kind, "status": status}


@then(parsers.parse('the base is named "{name}" and was created by ann'))
def base_named(scene: Scene, name: str) -> None:
    base = scene.answer.json()["knowledgeBase"]
    assert list(base) == ["id", "name", "description", "created_by", "created_at", "updated_at"]
    assert (base["name"], base["created_by"]) == (name, "ann")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", base["created_at"])
