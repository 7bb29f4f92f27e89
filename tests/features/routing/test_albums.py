"""The steps of albums.feature: pictures are accepted by one service, and worked on by another on its database."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing import bursts as albums
from tests.drivers.platform import PlatformDriver
from tests.drivers.world import World
from tests.features.routing.scene import EDGE_SETTING, PEOPLE, Scene
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = EDGE_SETTING
scenarios("albums.feature")

GROUP = -100777
LONG = 3600.0
"""Seconds that lie between no two pictures that are sent at once, however busy this machine is."""


@pytest.fixture
def scene(make_world: Callable[..., World], platform_driver: PlatformDriver) -> Iterator[Scene]:
    with Receiver(lambda body: {"text": f"answer to {body['text'] or 'pictures'}"}) as resource:
        yield Scene(make_world, resource, platform_driver, {"requireMention": False})


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    def set_seconds(seconds: float) -> None:
        monkeypatch.setattr(albums, "QUIET_SECONDS", seconds)
        monkeypatch.setattr(albums, "LONGEST_SECONDS", seconds)

    return set_seconds


@given("a worker is at work")
def at_work(scene: Scene, quiet: Callable[[float], None]) -> None:
    quiet(LONG)
    scene.start_worker()


@when(parsers.parse('{who} sends an album of {count:d} pictures with the caption "{caption}"'))
def sends(scene: Scene, who: str, count: int, caption: str) -> None:
    for place in range(1, count + 1):
        scene.post(scene.picture(who, f"{who} {caption}", place, caption if place == 1 else ""))


@when(parsers.re(r"(?P<who>\w+) sends the pictures (?P<places>[\d, ]+) of (an|that) album"))
def sends_some(scene: Scene, who: str, places: str) -> None:
    for place in places.split(", "):
        scene.post(scene.picture(who, f"{who} album", int(place)))


@when("the messenger delivers the first picture again")
def delivers_again(scene: Scene) -> None:
    scene.post(scene.sent[0])


@when(parsers.parse('she edits the caption to "{caption}"'))
def edits(scene: Scene, caption: str) -> None:
    edited = scene.message("Ada") | {"edited_message": {**scene.sent[0]["message"], "caption": caption}}
    del edited["message"]
    scene.post(edited)


@when(parsers.parse('{who} writes "{text}"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.message(who, text=text))


@when("the album has been answered")
def answered(scene: Scene) -> None:
    scene.start_worker()
    until(lambda: scene.has_worked_off(1), "the album is answered")


@when(parsers.parse("Ada and Bob each send an album of {count:d} pictures to their group at the same time"))
def both_send(scene: Scene, count: int) -> None:
    for place in range(1, count + 1):
        for who in PEOPLE:
            scene.post(scene.picture(who, f"{who} at once", place, who if place == 1 else "", GROUP))


@when("a worker leased the conversation and died")
def leased_and_died(scene: Scene) -> None:
    scene.execute("UPDATE queue SET owner = 4711, due_at = now() + interval '1 hour'")


@then("the resource is asked in this order")
def asked(scene: Scene, quiet: Callable[[float], None], datatable: Sequence[Sequence[str]]) -> None:
    scene.wait_until_released()
    quiet(0.0)
    scene.start_worker()
    until(lambda: scene.has_worked_off(len(datatable) - 1), "everything is answered")
    found = [
        [body["sender"]["displayName"], body["text"], ", ".join(scene.places(body))]
        for body in scene.resource.bodies
    ]
    assert found == [list(row) for row in datatable[1:]]


@then("each of them is answered once")
def each_answered(scene: Scene) -> None:
    texts = [payload["text"] for payload in scene.platform.of("sendMessage")]
    assert texts == [f"answer to {body['text'] or 'pictures'}" for body in scene.resource.bodies]
