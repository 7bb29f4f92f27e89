"""The steps of hostile_visitors.feature."""

import asyncio
import base64
import json
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import WORDS
from tests.drivers.web_chat import Page, Stream
from tests.features.web_chat.conftest import Scene
from tests.support.waiting import until

scenarios("hostile_visitors.feature")

OTHER = "203.0.113.7"
LARGE = base64.b64encode(b"x" * 6 * 1024 * 1024).decode()
BODIES: dict[str, dict[str, Any]] = {
    "a text of 1 MB": {"text": "x" * 1_000_000},
    "no text and no file": {"text": " "},
    "an id that is a path": {"id": "../../etc/passwd"},
    "half a character": {"text": "\ud83d"},
    "a file of 6 MB": {"files": [{"name": "a", "mimeType": "text/plain", "dataBase64": LARGE[:7_500_000]}]},
    "a file name of 10 KB": {"files": [{"name": "n" * 10_000, "mimeType": "", "dataBase64": ""}]},
    "a list in place of a text": {"text": ["hello"]},
}
RAW = {"a body that is no JSON": b"{", "a deeply nested body": b"[" * 100_000}


@pytest.fixture
def answers() -> list[httpx.Response]:
    return []


def flood(
    scene: Scene, page: Page, method: str, path: str, bodies: list[dict[str, Any]]
) -> list[httpx.Response]:
    """Many calls at once."""

    async def call(body: dict[str, Any]) -> httpx.Response:
        headers = page.headers() | body.pop("headers", {})
        return await scene.rest.client.request(method, page.base + path, headers=headers, json=body)

    async def all_calls() -> list[httpx.Response]:
        return list(await asyncio.gather(*map(call, bodies)))

    return scene.world.run(all_calls())


@when(parsers.parse("a visitor sends {count:d} messages at once"))
def _(scene: Scene, answers: list[httpx.Response], count: int) -> None:
    scene.page.open()
    bodies = [{"id": str(uuid4()), "text": f"message {number}"} for number in range(count)]
    answers += flood(scene, scene.page, "POST", "/messages", bodies)


@then("few of them are taken, and the others are told when to try again")
def _(scene: Scene, answers: list[httpx.Response]) -> None:
    taken = [answer for answer in answers if answer.status_code == 202]
    assert 1 <= len(taken) < 30
    check_refused([answer for answer in answers if answer not in taken])


def check_refused(refused: list[httpx.Response]) -> None:
    for answer in refused:
        assert answer.status_code == 429, answer.text
        assert int(answer.headers["retry-after"]) >= 1
        assert len(answer.json()["error"].split()) > 4
        assert answer.headers["access-control-allow-origin"] == "https://www.example.com"


@then("most of them are refused, and are told when to try again")
def _(scene: Scene) -> None:
    refused = [stream for stream in scene.streams if stream.status == 429]
    assert len(refused) > len(scene.streams) / 2
    assert all("retry-after" in stream.headers for stream in refused)


@when(parsers.parse("a visitor opens {count:d} streams"))
def _(scene: Scene, count: int) -> None:
    scene.page.open()
    for _ in range(count):
        scene.look()
    for stream in scene.streams:
        stream.begun()


@when(parsers.parse("one address calls {count:d} times with tokens that are made up"))
def _(scene: Scene, answers: list[httpx.Response], count: int) -> None:
    bodies = [
        {"id": str(uuid4()), "text": "hello", "headers": {"authorization": f"Bearer {number}x"}}
        for number in range(count)
    ]
    answers += flood(scene, scene.page, "POST", "/messages", bodies)


@then("all of them are refused")
def _(answers: list[httpx.Response]) -> None:
    assert {answer.status_code for answer in answers} == {401}


@then("another visitor is answered")
def _(scene: Scene) -> None:
    other = Page(scene.rest, scene.instance["publicId"], address=OTHER)
    other.open()
    scene.ask("Hello?", other)
    scene.look(other).wait_for("visitor: Hello?", "agent: You said: Hello?")


@given("a visitor reads nothing of the stream that is open")
def _(scene: Scene) -> None:
    scene.page.open()
    path = f"{scene.page.base}/stream"
    headers = scene.page.headers()
    scene.streams.append(Stream(scene.world, scene.rest.app, path, "after=0", headers, takes=False))


@when(parsers.parse("the visitor writes {count:d} messages"))
def _(scene: Scene, count: int) -> None:
    for number in range(count):
        scene.ask(f"message {number} {'x' * 9000}")


@then("what the first visitor did not take waits nowhere but in the database")
def _(scene: Scene) -> None:
    reader = scene.streams[0]
    assert reader.body == b""
    reader.take()
    until(lambda: len(reader.messages) == 10, "the reader catches up")


@when(parsers.parse("a visitor writes a message with {content}"))
def _(scene: Scene, answers: list[httpx.Response], content: str) -> None:
    scene.page.open()
    if content in RAW:
        sent = scene.page.call(
            "POST", "/messages", content=RAW[content], headers={"content-type": "application/json"}
        )
    else:
        body = json.dumps({"id": str(uuid4()), **BODIES[content]})
        sent = scene.page.call(
            "POST", "/messages", content=body, headers={"content-type": "application/json"}
        )
    answers.append(sent)


@then(parsers.parse('it is refused as "{outcome}", with a sentence that names "{name}"'))
def _(answers: list[httpx.Response], outcome: str, name: str) -> None:
    (answer,) = answers
    assert (WORDS[answer.status_code], name in answer.json()["error"]) == (outcome, True), answer.text
    assert len(answer.text) < 1000


@then("nothing is stored of the visitor")
def _(scene: Scene) -> None:
    database = scene.world.container.database()
    for table in ("web_chat", "web_chat_message", "inbox", "queue", "message_file"):
        assert scene.world.run(database.fetch_value(f"SELECT count(*) FROM {table}")) == 0


@when(parsers.parse('a visitor writes "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.page.open()
    scene.ask(text)
    scene.look()


@then("the panel shows these letters, as text alone")
def _(scene: Scene) -> None:
    text = "<script>alert(1)</script> <img src=x onerror=alert(1)>"
    until(lambda: len(scene.stream.texts) == 2, "it is answered")
    assert scene.stream.texts[0] == f"visitor: {text}"
    for message in scene.stream.shown():
        ((tag, attributes, *nodes),) = message["content"]
        assert (tag, attributes) == ("p", {})
        assert all(isinstance(node, str) for node in nodes)


@when("two visitors write different messages under the same id")
def _(scene: Scene) -> None:
    id = str(uuid4())
    for number in range(2):
        page = scene.visitor()
        page.open()
        assert page.write(f"I am visitor {number}", id).status_code == 202
        scene.look(page)


@then("each of them is answered in their own conversation")
def _(scene: Scene) -> None:
    for number, stream in enumerate(scene.streams):
        stream.wait_for(f"visitor: I am visitor {number}", f"agent: You said: I am visitor {number}")
