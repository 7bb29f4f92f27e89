"""What the features of people have in common."""

from typing import Any

import pytest
from pytest_bdd import given, parsers, then, when

from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.people.scene import PEOPLE, Scene, channels_of


@pytest.fixture
def scene(world: World, rest: Rest) -> Scene:
    return Scene(world, rest)


@given(
    parsers.re(
        r'(?P<who>ada|bert) (?:has written|wrote) (?P<owner>ann|bob) "(?P<text>[^"]+)" by (?P<channel>\w+)'
    )
)
@when(parsers.re(r'(?P<who>ada|bert) writes (?P<owner>ann|bob) "(?P<text>[^"]+)" by (?P<channel>\w+)'))
def writes(scene: Scene, who: str, owner: str, text: str, channel: str) -> None:
    scene.write(who, channel, text, owner)


@given(parsers.parse('ada has written ann "{text}" by Slack in the channel {session}'))
@when(parsers.parse('ada writes ann "{text}" by Slack in the channel {session}'))
def in_channel(scene: Scene, text: str, session: str) -> None:
    scene.write("ada", "Slack", text, session=session)


@then(parsers.parse("{owner} has one person, with conversations by {channels}"), target_fixture="person")
def one_person(scene: Scene, owner: str, channels: str) -> dict[str, Any]:
    [person] = scene.people(owner)
    assert sorted(channels_of(person)) == sorted(channels.split(", "))
    assert person["conversationCount"] == len(channels_of(person))
    assert scene.read(f"{PEOPLE}/{person['id']}", owner) == person
    return person


@then(parsers.parse("ann has the people {names}"))
def has_people(scene: Scene, names: str) -> None:
    assert [person["name"] for person in scene.people()] == names.split(", ")


@then("ann has no people")
def has_none(scene: Scene) -> None:
    assert scene.people() == []
    assert scene.value("SELECT count(*) FROM person") == 0


@then(parsers.re(r"ann finds (?P<name>[\w ]+?) by (?P<queries>\".*)"))
def finds(scene: Scene, name: str, queries: str) -> None:
    for query in queries.split('"')[1::2]:
        assert [person["name"] for person in scene.people(query=query)] == (
            [] if name == "nobody" else [name]
        ), query
