"""The steps of edits.feature, with Telegram's edited messages."""

import re
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
scenarios("edits.feature")


class Pause:
    """Holds the resource back while it is `closed`."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.open.set()

    def pass_by(self) -> None:
        self.begun.set()
        self.open.wait(PATIENCE)


@pytest.fixture
def pause() -> Iterator[Pause]:
    pause = Pause()
    yield pause
    pause.open.set()


@pytest.fixture
def scene(make_world: Callable[..., World], platform_driver: PlatformDriver, pause: Pause) -> Iterator[Scene]:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        if body["text"].endswith("opne?"):
            pause.pass_by()
        return {"text": f"answer to {body['text']}"}

    with Receiver(answer) as resource:
        yield Scene(make_world, resource, platform_driver)


@given("a worker is at work, and the resource takes its time")
def at_work(scene: Scene, pause: Pause) -> None:
    pause.open.clear()
    scene.start_worker()


@when(parsers.parse('Ada writes "{text}"'))
def writes(scene: Scene, text: str) -> None:
    scene.post(scene.message("Ada", text=text))


@when("the resource has begun")
def has_begun(pause: Pause) -> None:
    assert pause.begun.wait(PATIENCE)


@when(parsers.parse('Ada edits it to "{text}"'))
def edits(scene: Scene, text: str) -> None:
    first = next(update["message"] for update in scene.sent if "message" in update)
    edited = scene.message("Ada") | {"edited_message": {**first, "edit_date": 1780000020, "text": text}}
    del edited["message"]
    scene.post(edited)


@when("the messenger delivers the edit again")
def delivers_again(scene: Scene) -> None:
    scene.post(scene.sent[-1])


@when("that is answered")
def is_answered(scene: Scene) -> None:
    scene.start_worker()
    until(lambda: scene.has_worked_off(1), "the message is answered")


@then(parsers.re("the resource is asked (?P<texts>.+)"))
def asked(scene: Scene, texts: str) -> None:
    expected = re.findall(r'"([^"]*)"', texts)
    scene.start_worker()
    until(lambda: scene.has_worked_off(len(expected)), "everything is answered")
    assert [body["text"] for body in scene.resource.bodies] == expected


@then(parsers.parse('Ada gets an answer to "{text}" alone'))
def gets(scene: Scene, text: str) -> None:
    assert [payload["text"] for payload in scene.platform.of("sendMessage")] == [f"answer to {text}"]
