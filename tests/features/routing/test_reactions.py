"""The steps of reactions.feature."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.world import PATIENCE, World
from tests.features.routing.scene import EDGE_SETTING, Scene
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = EDGE_SETTING
scenarios("reactions.feature")

EYES = "\N{EYES}"


@pytest.fixture
def answered() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def open_scene(
    make_world: Callable[..., World], platform_driver: PlatformDriver, answered: threading.Event
) -> Iterator[Callable[[dict[str, Any]], Scene]]:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        answered.wait(PATIENCE)
        return {"text": "At nine."}

    with Receiver(answer) as resource:
        yield lambda config: Scene(make_world, resource, platform_driver, config)


@given("a bot that reacts with eyes, and a resource that takes its time", target_fixture="scene")
def slow(open_scene: Callable[[dict[str, Any]], Scene]) -> Scene:
    return open_scene({"ackReaction": EYES})


@given("a bot that reacts with eyes, which the messenger refuses", target_fixture="scene")
def refused(open_scene: Callable[[dict[str, Any]], Scene], answered: threading.Event) -> Scene:
    answered.set()
    scene = open_scene({"ackReaction": EYES})
    scene.platform.refuse["setMessageReaction"] = "Bad Request: REACTION_INVALID"
    return scene


@given("a bot that does not react", target_fixture="scene")
def silent(open_scene: Callable[[dict[str, Any]], Scene], answered: threading.Event) -> Scene:
    answered.set()
    return open_scene({})


@when(parsers.parse('Ada writes "{text}"'))
def writes(scene: Scene, text: str) -> None:
    scene.start_worker()
    scene.post(scene.message("Ada", text=text))


def _reactions(scene: Scene) -> list[list[str]]:
    return [
        [reaction["emoji"] for reaction in call["reaction"]]
        for call in scene.platform.of("setMessageReaction")
    ]


@then("Ada's message has the reaction while she waits")
def has_reaction(scene: Scene) -> None:
    until(lambda: _reactions(scene) == [[EYES]], "the reaction is shown")
    assert scene.platform.of("setMessageReaction")[0]["message_id"] == scene.sent[0]["message"]["message_id"]
    assert scene.platform.of("sendMessage") == []


@when("the resource has answered")
def has_answered(answered: threading.Event) -> None:
    answered.set()


@then("the reaction is gone")
def is_gone(scene: Scene) -> None:
    until(lambda: _reactions(scene) == [[EYES], []], "the reaction is taken away")


@then("Ada gets the answer")
def gets(scene: Scene) -> None:
    until(
        lambda: [call["text"] for call in scene.platform.of("sendMessage")] == ["At nine."],
        "the answer is sent",
    )


@then("her message never had a reaction")
def never(scene: Scene) -> None:
    assert _reactions(scene) == []
