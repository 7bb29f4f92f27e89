"""The steps of taking_over.feature."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.model import RunResult
from tests.features.conversations.scene import PEOPLE, Scene
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("taking_over.feature")

PASS = """
UPDATE queue SET held_until = held_until - make_interval(mins => %s), due_at = due_at - make_interval(mins => %s)
"""


@pytest.fixture
def held(scene: Scene) -> Iterator[None]:
    async def event() -> asyncio.Event:
        return asyncio.Event()

    scene.resource.hold = scene.world.run(event())
    yield
    go_on(scene)


def go_on(scene: Scene) -> None:
    async def release() -> None:
        if scene.resource.hold is not None:
            scene.resource.hold.set()

    scene.world.run(release())


@given("ada has written before")
def before(scene: Scene) -> None:
    scene.write("ada", "hello")
    scene.settle()


@given("a bot of ann whose resource takes its time")
def takes_time(scene: Scene, held: None) -> None:
    scene.create("ann")


@given(parsers.parse('a bot of ann whose resource asks for a person with "{text}"'))
def asks_for_person(scene: Scene, text: str) -> None:
    scene.create("ann")
    scene.resource.script = lambda _: RunResult(text, wants_person=True)


@given(parsers.parse('ada has asked it "{text}"'))
def has_asked(scene: Scene, text: str) -> None:
    scene.write("ada", text)
    scene.resource.wait_for(1)


@when("ann takes ada's conversation over")
def takes_over(scene: Scene) -> None:
    assert scene.hand_over("ada").status_code == 204


@when(parsers.parse("ann takes ada's conversation over for {minutes:d} minutes"))
def takes_over_for(scene: Scene, minutes: int) -> None:
    assert scene.hand_over("ada", minutes=minutes).status_code == 204


DOCUMENT = {
    "document": {
        "file_id": "AgDoc",
        "file_unique_id": "u",
        "file_name": "bill.txt",
        "mime_type": "text/plain",
        "file_size": 4,
    }
}


@when("ada sends a document")
def sends_document(scene: Scene) -> None:
    scene.platform.files["AgDoc"] = b"bill"
    scene.write("ada", "", caption="my bill", **DOCUMENT)


@when("ada sends a document that the platform loses")
def sends_lost(scene: Scene) -> None:
    scene.write("ada", "", caption="my bill", **DOCUMENT)


@then("ann can open the document")
def opens(scene: Scene) -> None:
    message = scene.messages("ada")[-1]
    assert [(file["name"], file["url"]) for file in message["files"]] == [("bill.txt", "")]
    [file] = scene.read(f"{scene.path}/messages/{message['id']}")["files"]
    assert scene.rest.request("GET", urlsplit(file["url"]).path).content == b"bill"
    [listed] = scene.messages("ada")[-1]["files"]
    assert scene.rest.request("GET", urlsplit(listed["url"]).path).content == b"bill"


@then("ann sees its name alone")
def name_alone(scene: Scene) -> None:
    message = scene.messages("ada")[-1]
    [file] = scene.read(f"{scene.path}/messages/{message['id']}")["files"]
    assert (file["name"], file["url"]) == ("bill.txt", "")


@when("ann hands it back")
def hands_back(scene: Scene) -> None:
    assert scene.hand_over("ada", "resource").status_code == 204


@when(parsers.parse('ann writes "{text}" to ada'))
def ann_writes(scene: Scene, text: str) -> None:
    response = answer(scene, text=text)
    assert response.status_code == 202, response.text


def answer(scene: Scene, **body: Any) -> httpx.Response:
    body = {"sessionId": str(PEOPLE["ada"][2]), **body}
    return scene.ask("POST", f"{scene.path}/messages", json=body)


@when(parsers.parse('a program of ann writes "{text}" to ada and takes nothing over'))
def program_writes(scene: Scene, text: str) -> None:
    assert answer(scene, text=text, takeOver=False).status_code == 202


@when("ann answers ada without any text, which is refused")
def refused_answer(scene: Scene) -> None:
    assert answer(scene, text="").status_code == 400


@when(parsers.parse("{minutes:d} minutes pass"))
def minutes_pass(scene: Scene, minutes: int) -> None:
    scene.world.run(scene.world.container.database().execute(PASS, (minutes, minutes)))


@when("the time of the person is over")
def time_over(scene: Scene) -> None:
    minutes_pass(scene, 61)


@when("the resource answers")
def resource_answers(scene: Scene) -> None:
    go_on(scene)


@then("ada's message waits, and the conversation is with a person")
def message_waits(scene: Scene) -> None:
    [found] = [each for each in scene.conversations() if each["sender"]["displayName"] == "Ada Lovelace"]
    assert (found["waiting"], found["handler"]) == (True, "person")
    assert scene.messages("ada")[-1]["status"] == "waiting"


@then(parsers.parse('the resource was not asked about "{text}"'))
def not_asked(scene: Scene, text: str) -> None:
    assert text not in [request.text for request in scene.resource.requests]


@then("other conversations are answered by the resource")
def others(scene: Scene) -> None:
    scene.write("bert", "and me")
    gets(scene, "bert", "You said: and me")


@then(parsers.re(r'(?P<who>ada|bert) gets "(?P<text>[^"]+)"'))
def gets(scene: Scene, who: str, text: str) -> None:
    until(lambda: text in scene.got(who), f"{who} gets {text}")
    scene.settle()


@then("ada's question counts as answered, by a person")
def answered(scene: Scene) -> None:
    question, answer = scene.messages("ada")[-2:]
    assert (question["text"], question["status"]) == ("is anybody there", "done")
    assert (answer["text"], answer["author"]) == ("yes, me", "person")
    assert not scene.conversations()[0]["waiting"]


@then(parsers.parse('only "{text}" waits for a person'))
def only_waits(scene: Scene, text: str) -> None:
    until(lambda: not scene.world.works(), "the work is over")
    waiting = [message["text"] for message in scene.messages("ada") if message["status"] == "waiting"]
    assert waiting == [text]
    not_asked(scene, text)


@then("the conversation is with a person")
def with_person(scene: Scene) -> None:
    [found] = scene.conversations()
    assert found["handler"] == "person"
    assert found["handlerUntil"] > found["lastAt"]


@then("ann has the conversation")
def has_conversation(scene: Scene) -> None:
    [conversation] = scene.conversations()
    assert (conversation["handler"], conversation["handledBy"]) == ("person", "ann")


@then("the conversation is with the resource")
def with_resource(scene: Scene) -> None:
    [found] = scene.conversations()
    assert (found["handler"], found["handlerUntil"], found["waiting"]) == ("resource", None, False)


@then(parsers.parse("the person has it for {minutes:d} minutes more"))
def has_it(scene: Scene, minutes: int) -> None:
    [found] = scene.conversations()
    now: datetime = scene.value("SELECT now()")
    left = datetime.fromisoformat(found["handlerUntil"]) - now
    assert minutes - 1 < left.total_seconds() / 60 <= minutes


@then(parsers.parse("taking it over for {minutes:d} minutes is refused, and the field is named"))
def refused(scene: Scene, minutes: int) -> None:
    response = scene.hand_over("ada", minutes=minutes)
    assert response.status_code == 400
    assert response.json()["error"].startswith("minutes: ")
    with_resource(scene)
