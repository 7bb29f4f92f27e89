"""The steps of routes.feature."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from tests.drivers.ways import Reply
from tests.drivers.world import World
from tests.features.routing_rules.conftest import GROUP, OFFERS, OPENS_VALVE, Scene

EDGE = samples.SETTING
scenarios("routes.feature")

PEOPLE = range(1001, 1013)


FLAGS = {
    "verified": ("verified", True),
    "in a group": ("group", True),
    "not in a group": ("group", False),
}


def _condition(sentence: str, *, lists: bool = False) -> dict[str, Any]:
    """The conditions of a sentence as REST has them; `lists`: single texts as lists, as they are shown."""
    when: dict[str, Any] = {}
    for part in sentence.split("; "):
        name, _, rest = part.partition(" ")
        entries = rest.split(" or ")
        if part in FLAGS:
            flag, is_so = FLAGS[part]
            when[flag] = is_so
        elif name == "hours":
            times, _, days = rest.partition(" on ")
            start, _, end, *zone = times.split()
            more = {"days": days.split(", ")} if days else {}
            when[name] = {**more, "from": start, "to": end, **({"timeZone": zone[0]} if zone else {})}
        elif name == "share":
            when[name] = float(rest)
        elif name != "always":
            when[name] = entries if lists or len(entries) > 1 else rest
    return when


def _routes(datatable: list[list[str]], *, lists: bool = False) -> list[dict[str, Any]]:
    return [{"when": _condition(sentence, lists=lists), "to": to} for to, sentence in datatable[1:]]


@pytest.fixture
def moved_clock(world: World) -> Iterator[None]:
    """The clock goes back to the real time when the scenario is over."""
    before = world.clock.now()
    started = datetime.now(before.tzinfo)
    yield
    world.clock.go_on()
    world.clock.advance(before + (datetime.now(before.tzinfo) - started) - world.clock.now())


@given(parsers.parse('a bot of "{resource}" with these routes'))
def bot(scene: Scene, resource: str, datatable: list[list[str]]) -> None:
    reply = scene.create(resource, routes=_routes(datatable), fallback=["agent::spare"])
    assert reply.outcome == "created", reply


@given(parsers.parse("it is {time} in Berlin"))
def is_time(scene: Scene, moved_clock: None, time: str) -> None:
    moment = datetime.fromisoformat(time).replace(tzinfo=ZoneInfo("Europe/Berlin"))
    scene.world.clock.stop()
    scene.world.clock.advance(moment - scene.world.clock.now() + timedelta(seconds=1))


@given("its resources ask whether they may open a valve")
def ask_for_tool(scene: Scene) -> None:
    scene.resources.asks = OPENS_VALVE


@given('its resources offer "Small" and "Large"')
def offer(scene: Scene) -> None:
    scene.resources.asks = OFFERS


@when(
    parsers.re(
        r'Ada, whose language is "(?P<language>[^"]+)", writes "(?P<text>[^"]+)"'
        r" (?P<place>to the bot alone|in the group)"
    )
)
def writes(scene: Scene, language: str, text: str, place: str) -> None:
    scene.write(text, language=language, chat=GROUP if place == "in the group" else None)
    scene.settle()


@when(parsers.parse('she replies "{text}"'))
def replies(scene: Scene, text: str) -> None:
    scene.write(text)
    scene.settle()


@when(parsers.parse('she presses "{label}"'))
def presses(scene: Scene, label: str) -> None:
    scene.press(label)
    scene.settle()


@when("the routes are taken away")
def taken_away(scene: Scene) -> None:
    scene.change(routes=[])


@when("the instance is changed without a word on routes")
def changed(scene: Scene) -> None:
    scene.change()


@when("the instance is changed with empty lists")
def changed_with_empty_lists(scene: Scene) -> None:
    scene.change(routes=[], fallback=[])


@when("12 people write twice each")
def people_write(scene: Scene) -> None:
    for text in ("first", "second"):
        for person in PEOPLE:
            scene.write(text, sender=person)
        scene.settle()


@when(
    parsers.re(r'a bot is made whose second route is to "(?P<to>[^"]+)" when (?P<condition>.+)'),
    target_fixture="reply",
)
def made(scene: Scene, to: str, condition: str) -> Reply:
    routes = [{"to": "agent::fine", "when": {}}, {"to": to, "when": _condition(condition)}]
    return scene.create("agent::general", routes=routes)


@then(parsers.parse('it is refused, and the error names "{field}"'))
def refused(reply: Reply, field: str) -> None:
    assert reply.outcome == "invalid"
    assert f"{field}: " in reply.error


@then(parsers.parse('"{resource}" answers, and no other'))
def answers(scene: Scene, resource: str) -> None:
    assert scene.resources.asked == [resource]
    assert [call["text"] for call in scene.platform.of("sendMessage")] == [f"{resource} says hello"]


@then(parsers.parse('"{resource}" is asked twice, and no other'))
def asked_twice(scene: Scene, resource: str) -> None:
    assert scene.resources.asked == [resource] * 2


@then(parsers.parse('the resources "{first}" and "{second}" are asked, in this order'))
def asked_in_order(scene: Scene, first: str, second: str) -> None:
    assert scene.resources.asked == [first, second]


@then(parsers.re(r'the timeline says that "(?P<resource>[^"]+)" was asked by (no route|"(?P<route>[^"]+)")'))
def timeline(scene: Scene, resource: str, route: str | None) -> None:
    assert scene.asked(scene.messages()[0]["id"]) == [(resource, route, None)]


@then(parsers.parse('the answer in the history is of "{resource}" by "{route}"'))
def history(scene: Scene, resource: str, route: str) -> None:
    question, answer = scene.messages()
    assert (answer["resource"], answer["route"]) == (resource, route)
    assert "resource" not in question


@then("each of them is answered twice by the same resource")
def answered_by_the_same(scene: Scene) -> None:
    answers = scene.answers_by_person()
    assert len(answers) == len(PEOPLE)
    assert all(list(texts.values()) == [2] for texts in answers.values()), answers


@then(parsers.parse('both "{one}" and "{other}" have answered'))
def both(scene: Scene, one: str, other: str) -> None:
    assert set(scene.resources.asked) == {one, other}


@then("the instance has these routes")
def has_routes(scene: Scene, datatable: list[list[str]]) -> None:
    assert scene.read("")["routes"] == _routes(datatable, lists=True)


@then("the instance has 1 route and 1 fallback")
def has_both(scene: Scene) -> None:
    instance = scene.read("")
    assert (len(instance["routes"]), instance["fallback"]) == (1, ["agent::spare"])


@then("the instance shows neither routes nor a fallback")
def has_neither(scene: Scene) -> None:
    assert {"routes", "fallback"}.isdisjoint(scene.read(""))
