"""The steps of voice.feature, with the recogniser that comes with the service."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.world import World
from tests.features.routing.scene import EDGE_SETTING, Scene
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = EDGE_SETTING
scenarios("voice.feature")

SPEECH = Path("tests/samples/speech.ogg").read_bytes()
SERVICES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "that recognises speech": ({}, {"VOICE_TRANSCRIPTION": "built-in"}),
    "without a speech model": ({}, {}),
    "that recognises speech, and a bot that does not transcribe": (
        {"transcribe": False},
        {"VOICE_TRANSCRIPTION": "built-in"},
    ),
}


@pytest.fixture
def resource() -> Iterator[Receiver]:
    with Receiver(lambda body: {"text": "Understood."}) as receiver:
        yield receiver


@given(parsers.parse("a service {kind}"), target_fixture="scene")
def service(
    kind: str, make_world: Callable[..., World], platform_driver: PlatformDriver, resource: Receiver
) -> Scene:
    config, settings = SERVICES[kind]
    return Scene(make_world, resource, platform_driver, config, **settings)


@when(parsers.re('Ada sends a voice message about a market( with the caption "(?P<caption>[^"]*)")?'))
def sends(scene: Scene, caption: str | None) -> None:
    scene.post(scene.voice("Ada", SPEECH, caption or ""))


@when("Ada sends a voice message that is damaged")
def sends_damaged(scene: Scene) -> None:
    scene.post(scene.voice("Ada", SPEECH[:100]))


def _request(scene: Scene) -> dict[str, Any]:
    scene.start_worker()
    until(lambda: scene.has_worked_off(1), "the message is answered")
    [body] = scene.resource.bodies
    [file] = body["files"]
    assert file["mimeType"] == "audio/ogg"
    return body


@then("the resource is asked with what she said, and with the recording")
def text_and_recording(scene: Scene) -> None:
    assert "people went to the market" in _request(scene)["text"].lower()


@then(parsers.parse('the text begins with "{caption}", and what she said follows'))
def caption_and_text(scene: Scene, caption: str) -> None:
    written, said = _request(scene)["text"].split("\n\n")
    assert written == caption
    assert "people went to the market" in said.lower()


@then("the resource is asked with the recording alone")
def recording_alone(scene: Scene) -> None:
    assert _request(scene)["text"] == ""
