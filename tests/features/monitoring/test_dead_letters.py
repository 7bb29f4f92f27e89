"""The steps of dead_letters.feature."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import Scene
from tests.support.receiver import Receiver

EDGE = samples.SETTING
scenarios("dead_letters.feature")

PATH = "/api/agent/dead-letters"


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, rest, platform_driver)


@pytest.fixture
def answers(world: World) -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@given("ann has a bot whose platform refuses answers", target_fixture="failing")
def refusing(scene: Scene) -> int | None:
    scene.create("ann")
    scene.platform.refuse["sendMessage"] = "Bad Request: chat not found"
    return None


@given("ann has a bot whose platform refuses answers, and one whose resource fails", target_fixture="failing")
def both(scene: Scene, answers: Receiver) -> int | None:
    refusing(scene)
    body = {
        "channelId": "http-webhook",
        "channelName": "failing",
        "config": {"responseWebhookUrl": answers.url},
        "downStreamResourceId": "agent::parrot",
    }
    return int(scene.rest.create("ann", body).body["instanceId"])


@given("somebody has written to each")
@when("somebody writes to each")
def write(scene: Scene, failing: int | None) -> None:
    scene.write("ada", "hello")
    scene.settle()
    if failing is not None:
        scene.fails = True
        body = json.dumps({"message": "help", "sessionId": "s"}).encode()
        headers = {"content-type": "application/json"}
        scene.rest.call("http-webhook", failing, body, headers, "webhook")
        scene.settle()


def letters(scene: Scene, **query: Any) -> list[dict[str, Any]]:
    return [letter for page in scene.pages(PATH, "deadLetters", **query) for letter in page]


def ids(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"instanceId": each["instance"]["id"], "messageId": each["message"]["id"]} for each in found]


def act(scene: Scene, action: str, items: list[dict[str, Any]], user: str = "ann") -> list[dict[str, Any]]:
    response = scene.ask("POST", f"{PATH}/{action}", user, json={"items": items})
    assert response.status_code == 200, response.text
    results: list[dict[str, Any]] = response.json()["results"]
    assert [{name: each[name] for name in items[0]} for each in results] == items
    return results


@then("ann sees both messages with their reasons, the latest first")
def sees_both(scene: Scene, failing: int) -> None:
    question, answer = letters(scene)
    assert question["instance"] == {
        "id": failing,
        "userId": "ann",
        "channelId": "http-webhook",
        "channelName": "failing",
    }
    assert (question["message"]["text"], question["message"]["direction"]) == ("help", "in")
    assert "the model is away" in question["message"]["error"]
    assert (answer["instance"]["id"], answer["message"]["direction"]) == (scene.bots["ann"], "out")
    assert "chat not found" in answer["message"]["error"]


@then("she can see those of one bot alone, or of one direction alone")
def alone(scene: Scene, failing: int) -> None:
    question, answer = letters(scene)
    assert letters(scene, instanceId=failing) == letters(scene, direction="in") == [question]
    assert letters(scene, instanceId=scene.bots["ann"]) == letters(scene, direction="out") == [answer]
    assert letters(scene, instanceId=failing, direction="out") == []


@then("the list comes in pages")
def in_pages(scene: Scene) -> None:
    assert letters(scene, limit=1) == letters(scene)


@then("ann sees what was to be sent")
def payload(scene: Scene) -> None:
    [letter] = letters(scene)
    found = scene.read(f"{PATH}/{letter['instance']['id']}/{letter['message']['id']}")
    for each in (found["deadLetter"]["message"], letter["message"]):
        del each["at"]  # when it was answered, and when that was given up
    assert found["deadLetter"] == letter
    [part] = found["parts"]
    assert "You said: hello" in part["payload"]
    assert json.loads(part["payload"])
    assert part["attempts"] == 1
    assert "chat not found" in part["error"]


@then("bob sees no dead letters, and an admin sees that of ann")
def owners(scene: Scene) -> None:
    for user, number in (("bob", 0), ("admin", 1)):
        assert len(scene.ask("GET", PATH, user).json()["deadLetters"]) == number


@then("bob can neither look at it, nor replay it, nor drop it")
def not_bob(scene: Scene) -> None:
    items = ids(letters(scene))
    path = f"{PATH}/{items[0]['instanceId']}/{items[0]['messageId']}"
    assert scene.ask("GET", path, "bob").status_code == 403
    assert scene.ask("GET", PATH, "bob", params={"instanceId": items[0]["instanceId"]}).status_code == 403
    for action in ("replay", "drop"):
        [result] = act(scene, action, items, "bob")
        assert (result["success"], result["error"]) == (False, "the instance belongs to another user")
    assert ids(letters(scene)) == items


@when("platform and resource work again and ann replays all dead letters", target_fixture="replayed")
def replay(scene: Scene) -> list[dict[str, Any]]:
    scene.fails = False
    scene.platform.refuse.clear()
    items = ids(letters(scene))
    assert all(result["success"] for result in act(scene, "replay", items))
    return items


@then("each was replayed and no dead letters are left")
def replayed_all(scene: Scene) -> None:
    scene.resource.wait_for(3)
    scene.settle()
    assert scene.got("ada")[-1] == "You said: hello"
    assert letters(scene) == []


@then("replaying one of them once more is refused, and the reason says why")
def refused(scene: Scene, replayed: list[dict[str, Any]]) -> None:
    for result in act(scene, "replay", replayed):
        assert not result["success"]
        assert "is not given up" in result["error"]


@when("ann drops all dead letters and one that does not exist", target_fixture="dropped")
def drop(scene: Scene) -> list[dict[str, Any]]:
    items = [*ids(letters(scene)), {"instanceId": scene.bots["ann"], "messageId": "out-999999"}]
    return act(scene, "drop", items)


@then("only the one that does not exist is refused")
def only_one(dropped: list[dict[str, Any]]) -> None:
    assert [result["success"] for result in dropped] == [True, True, False]
    assert dropped[-1]["error"] == "the instance has no dead letter out-999999"


@then("no dead letters are left, and none can be replayed")
def none_left(scene: Scene, dropped: list[dict[str, Any]]) -> None:
    assert letters(scene) == []
    items = [{name: each[name] for name in ("instanceId", "messageId")} for each in dropped]
    assert not any(result["success"] for result in act(scene, "replay", items))
    assert not any(result["success"] for result in act(scene, "drop", items))
    path = f"{PATH}/{items[0]['instanceId']}/{items[0]['messageId']}"
    assert scene.ask("GET", path).status_code == 404


@then("replaying nothing, 201 messages or nonsense names what is wrong")
def wrong(scene: Scene) -> None:
    one = {"instanceId": scene.bots["ann"], "messageId": "in-1"}
    for items in ([], [one] * 201):
        response = scene.ask("POST", f"{PATH}/replay", json={"items": items})
        assert response.status_code == 400
        assert response.json()["error"].startswith("items: ")
    [result] = act(scene, "replay", [{**one, "messageId": "nonsense"}])
    assert result["error"] == "the instance has no dead letter nonsense"
    for query in ({"direction": "up"}, {"instanceId": "0"}, {"limit": "0"}, {"cursor": "!"}):
        response = scene.ask("GET", PATH, params=query)
        assert response.status_code == 400
        assert response.json()["error"].startswith(f"{next(iter(query))}: ")
