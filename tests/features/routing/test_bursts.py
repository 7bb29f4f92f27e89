"""The steps of bursts.feature: nobody is silent for longer than the test says, however slow this machine is."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing import bursts
from tests.drivers.platform import PlatformDriver
from tests.drivers.world import World
from tests.features.routing.scene import EDGE_SETTING, Scene
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = EDGE_SETTING
scenarios("bursts.feature")

GROUP = -100888


@pytest.fixture
def open_scene(
    make_world: Callable[..., World], platform_driver: PlatformDriver
) -> Iterator[Callable[[dict[str, Any]], Scene]]:
    with Receiver(lambda body: {"text": f"answer to {body['text']}"}) as resource:
        yield lambda config: Scene(make_world, resource, platform_driver, {"requireMention": False, **config})


@given(parsers.parse("the bot joins what is written within {seconds:d} seconds"), target_fixture="scene")
def joins(open_scene: Callable[[dict[str, Any]], Scene], seconds: int) -> Scene:
    return open_scene({"mergeSeconds": seconds})


@given("the bot does not join messages", target_fixture="scene")
def does_not_join(open_scene: Callable[[dict[str, Any]], Scene]) -> Scene:
    return open_scene({})


@given("a worker is at work")
def at_work(scene: Scene) -> None:
    scene.start_worker()


@when(parsers.re(r'(?P<who>\w+) writes "(?P<text>[^"]*)"(?P<group> in the group)?'))
def writes(scene: Scene, who: str, text: str, group: str | None) -> None:
    scene.post(scene.message(who, GROUP if group else None, text=text))


@when(parsers.parse('{who} presses a button "{value}"'))
def presses(scene: Scene, who: str, value: str) -> None:
    scene.post(scene.pressed(who, value))


@when("the messenger delivers the last message again")
def delivers_again(scene: Scene) -> None:
    scene.post(scene.sent[-1])


@when("a worker leased the conversation and died")
def leased_and_died(scene: Scene) -> None:
    scene.execute("UPDATE queue SET owner = 4711, due_at = now() + interval '1 hour'")


@when(parsers.re("(Ada|everybody) is silent"))
def is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "LONGEST", 0)


@then(parsers.re("the resource is asked (?P<texts>.+)"))
def asked(scene: Scene, texts: str) -> None:
    expected = [text.replace(" / ", "\n") for text in re.findall(r'"([^"]*)"', texts)]
    scene.start_worker()
    until(lambda: scene.has_worked_off(len(expected)), "everything is answered")
    assert [body["text"] for body in scene.resource.bodies] == expected


@then("each request is answered once")
def answered_once(scene: Scene) -> None:
    texts = [payload["text"] for payload in scene.platform.of("sendMessage")]
    assert texts == [f"answer to {body['text']}" for body in scene.resource.bodies]
