"""The steps of erasure.feature."""

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.resources.messages import result_of
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from adapters.outbound.storage.feedback import PostgresFeedback
from domain.feedback.model import Rating, Voter
from domain.routing.model import AgentTask, Confirmation, ResultArtifact, RunRequest, RunResult
from domain.routing.resource import parse_resource
from ports.resources import Role, Turn
from tests.features.conversations.scene import PEOPLE, Scene
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("erasure.feature")

WORD = "Schnabeltier"
"""Stands in every text and every file of ada's."""
BYTES = f"{WORD} in a file".encode() * 50
DOCUMENT = {
    "document": {
        "file_id": "AgDoc",
        "file_unique_id": "u",
        "file_name": f"{WORD}.txt",
        "mime_type": "text/plain",
        "file_size": len(BYTES),
    }
}
KEPT_BESIDE = {
    "queue.form",
    "queue.labels",
    "queue.assignee",
    "conversation_note.text",
    "feedback.sender_name",
    "agent_task.task_id",
    "resource_state.state",
    "chat_history.content",
}
"""What is kept of a conversation beside its messages, and holds the word before the erasure."""
COLUMNS = """
SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
"""


def remains(scene: Scene, word: str) -> list[str]:
    """The columns of all tables, and the files, that hold a word."""

    async def search() -> list[str]:
        database = scene.world.container.database()
        found = []
        for table, column in await database.fetch(COLUMNS):
            holds = f'position(%s IN "{column}"::text) > 0'
            query = f'SELECT count(*) FROM "{table}" WHERE {holds} OR {holds}'
            if await database.fetch_value(query, (word, word.encode().hex())):
                found.append(f"{table}.{column}")
        return found

    folder = scene.world.settings.data_dir
    files = [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return [*scene.world.run(search()), *(str(path) for path in files)]


def rich(request: RunRequest) -> RunResult:
    """An answer with a file and a question about a tool."""
    artifact = ResultArtifact(f"{WORD}.bin", "application/octet-stream", data=BYTES + b"answer")
    return RunResult(f"a {WORD} answers", (artifact,), Confirmation("shell", {"command": f"rm {WORD}"}))


def remember(scene: Scene, inbox_id: int | None = None) -> None:
    history = scene.world.container.storage().chat_history
    session = str(PEOPLE["ada"][2])
    turns = [Turn(Role.USER, f"{WORD} was mentioned")]
    scene.world.run(history.append(scene.bots["ann"], session, "r", turns, inbox_id))
    states, resource = scene.world.container.storage().resource_states, parse_resource("agent::helper")
    scene.world.run(states.save(scene.bots["ann"], session, resource, {"thread": WORD}, inbox_id))
    task = AgentTask(
        instance_id=scene.bots["ann"],
        session_id=session,
        resource=resource,
        request_id="r",
        task_id=WORD,
        inbox_id=inbox_id,
    )
    scene.world.run(scene.world.container.storage().agent_tasks.add(task))


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


@given("ada has sent a document and got a file, an answer and a question about a tool")
def everything(scene: Scene) -> None:
    scene.platform.files["AgDoc"] = BYTES
    scene.resource.script = rich
    scene.write("ada", f"my {WORD}", caption=f"{WORD} as a caption", **DOCUMENT)
    scene.settle()
    assert scene.platform.of("sendDocument")


@given("a message of ada's was given up, and an answer to her was not taken")
def given_up(scene: Scene) -> None:
    scene.fails = True
    scene.resource.script = lambda request: (_ for _ in ()).throw(RuntimeError("no"))
    scene.write("ada", f"a {WORD} fails")
    scene.settle()
    scene.resource.script = lambda request: RunResult(f"the {WORD} is not taken")
    scene.platform.refuse["sendMessage"] = "Bad Request: chat not found"
    scene.write("ada", f"a {WORD} is dead")
    scene.settle()
    assert {message["status"] for message in scene.failed()} == {"failed", "dead"}


@given("a model remembers what ada said")
def remembers(scene: Scene) -> None:
    remember(scene)


@given("ann has written to ada first, with a file")
def written_first(scene: Scene) -> None:
    scene.platform.refuse.clear()
    file = {"name": "f.txt", "mimeType": "text/plain", "dataBase64": b64encode(BYTES + b"first").decode()}
    body = {"sessionId": str(PEOPLE["ada"][2]), "text": f"hello {WORD}", "files": [file]}
    response = scene.ask("POST", f"{scene.path}/messages", json=body)
    assert response.status_code == 202, response.text
    scene.settle()


@given("ada has answered the first question of a form, in a conversation with a label and an assignee")
def form_and_state(scene: Scene) -> None:
    scene.platform.refuse.clear()
    fields = [{"name": "size", "label": "Size"}, {"name": "remark", "label": "Remark"}]
    form = {"title": f"{WORD} order", "fields": fields}
    answer = {"text": "ok", "form": form, "labels": [WORD]}
    scene.resource.script = lambda request: result_of(answer)
    for text in ("order", f"a {WORD}"):
        scene.write("ada", text)
        scene.settle()
    scene.resource.script = lambda request: RunResult("ok")


@given("ada has voted on an answer")
def voted(scene: Scene) -> None:
    ref = scene.value(
        "SELECT o.ref FROM outbox o JOIN inbox i ON i.id = o.inbox_id"
        ' WHERE i.answer LIKE \'%%"author":"resource"}\' AND o.ref IS NOT NULL ORDER BY o.id DESC LIMIT 1'
    )
    votes = PostgresFeedback(scene.world.container.database())
    scene.world.run(votes.vote_on(scene.bots["ann"], ref, Rating.DOWN, Voter("101", f"Ada {WORD}")))


@given("ada's next message waits")
def waits(scene: Scene) -> None:
    assert scene.hand_over("ada").status_code == 204
    note = {"text": f"@{WORD}: she has a {WORD}"}
    assert scene.ask("POST", f"{scene.of('ada')}/notes", json=note).status_code == 201
    named_by_resource = f"UPDATE queue SET assignee = 'user:{WORD}' WHERE kind = 0"
    scene.world.run(scene.world.container.database().execute(named_by_resource))
    scene.write("ada", f"the {WORD} waits")


@given("somebody follows what happens")
def follows(scene: Scene) -> None:
    """What is recorded while somebody listens is recorded from here on."""
    listening = "INSERT INTO event_listener (id, until) VALUES ('x', now() + interval '1 day')"
    scene.world.run(scene.world.container.database().execute(listening))
    scene.write("ada", f"the {WORD} waits again")
    found = remains(scene, WORD)
    assert len(found) >= 8, found
    assert set(found) >= KEPT_BESIDE, KEPT_BESIDE - set(found)


@given("ada and bert have sent the same document")
def same(scene: Scene) -> None:
    scene.platform.files["AgDoc"] = BYTES
    for who in ("ada", "bert"):
        scene.write(who, "take this", **DOCUMENT)
    scene.settle()


@given("a bot of ann whose resource takes its time")
def takes_time(scene: Scene, held: None) -> None:
    scene.create("ann")
    scene.platform.files["AgDoc"] = BYTES


@given("ada has asked it something")
def has_asked(scene: Scene) -> None:
    scene.write("ada", f"a {WORD}, please", **DOCUMENT)
    scene.resource.wait_for(1)


@given(parsers.parse("a bot of ann that keeps texts for {days:d} days"), target_fixture="days")
def keeps(scene: Scene, days: int) -> int:
    scene.create("ann")
    return days


@given("a bot of ann that keeps no texts", target_fixture="days")
def keeps_none(scene: Scene) -> int:
    scene.create("ann")
    return 0


@given("ada's conversation is with a person")
def with_person(scene: Scene) -> None:
    scene.write("ada", f"{WORD} hello")
    scene.settle()
    scene.hand_over("ada")


@given("the platform takes no answers")
def takes_none(scene: Scene) -> None:
    scene.platform.refuse["sendMessage"] = "Bad Request: chat not found"


@when(parsers.re(r'ada writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, text: str) -> None:
    scene.write("ada", f"{text} {WORD}")
    scene.settle()


@when("ann erases ada's conversation")
def erases(scene: Scene) -> None:
    response = scene.ask("DELETE", scene.of("ada"))
    assert response.status_code == 204, response.text


@when("the resource answers with a file and a question about a tool, and remembers")
def answers_late(scene: Scene) -> None:
    [request] = scene.resource.requests

    scene.resource.script = rich
    remember(scene, request.inbox_id)
    go_on(scene)
    until(lambda: not scene.world.works(), "the work is over")


@when(parsers.parse("nothing was said for {days:d} days"))
def silence(scene: Scene, days: int) -> None:
    statements = (
        "UPDATE queue SET touched_at = touched_at - make_interval(days => %s)",
        "UPDATE inbox SET received_at = received_at - make_interval(days => %s)",
        "UPDATE inbox SET finished_at = finished_at - make_interval(days => %s)",
    )
    database = scene.world.container.database()
    for statement in statements:
        scene.world.run(database.execute(statement, (days,)))


@when("old rows are cleaned")
def cleaned(scene: Scene, days: int) -> None:
    scene.world.run(ConversationExpiry(scene.world.container.database(), days).clean())


@when("the platform delivers ada's message again")
@then("the platform delivers ada's message again")
def again(scene: Scene) -> None:
    scene.deliver(replace_number(scene))


def replace_number(scene: Scene) -> dict[str, Any]:
    """The same update as the first."""
    first, last, id = PEOPLE["ada"]
    return {
        "update_id": 1,
        "message": {
            "message_id": 1,
            "date": 1780000001,
            "chat": {"id": id, "type": "private"},
            "from": {"id": id, "is_bot": False, "first_name": first, "last_name": last},
            "text": "once",
        },
    }


@then("no table and no file holds a word of it")
def nothing_left(scene: Scene) -> None:
    assert remains(scene, WORD) == []


@then("ann's bot has no conversations")
def none_listed(scene: Scene) -> None:
    assert scene.conversations() == []


@then("ada's conversation is not found")
def not_found(scene: Scene) -> None:
    for name in ("ada", "sha256:"):
        assert scene.ask("GET", f"{scene.of(name)}/messages").status_code == 404
    assert scene.ask("DELETE", scene.of("ada")).status_code == 404


@then("bert's document can still be fetched")
def still_there(scene: Scene) -> None:
    [message, _] = scene.messages("bert")
    [file] = message["files"]
    fetched = scene.rest.request("GET", urlsplit(file["url"]).path)
    assert (fetched.status_code, fetched.content) == (200, BYTES)


@then("ada's conversation has only the new words")
def only_new(scene: Scene) -> None:
    texts = [message["text"] for message in scene.messages("ada")]
    assert texts == [f"new words {WORD}", f"You said: new words {WORD}"]


@then("ada gets nothing")
def gets_nothing(scene: Scene) -> None:
    assert scene.got("ada") == []
    assert scene.platform.of("sendDocument") == []


@then("the resource is not asked again")
def not_asked_again(scene: Scene) -> None:
    scene.settle()
    assert len(scene.resource.requests) == 1


@then(parsers.parse("ada's conversation still has {number:d} messages"))
def still_has(scene: Scene, number: int) -> None:
    assert len(scene.messages("ada")) == number


@then("the dead letter can still be sent")
def dead_letter(scene: Scene) -> None:
    [message] = scene.failed()
    assert (message["status"], message["text"]) == ("dead", "")
    scene.platform.refuse.clear()
    assert scene.ask("POST", f"{scene.path}/messages/{message['id']}/rerun").status_code == 202
    scene.settle()
    assert scene.got("ada") == [f"You said: hello {WORD}"] * 2  # refused, and taken
