"""Calls of A2A, and tasks as its events."""

import json
from typing import Any

import pytest

from adapters.outbound.channels.agent_protocol import webhook
from adapters.outbound.channels.agent_protocol.answering import Streamer, TaskWriter
from adapters.outbound.channels.agent_protocol.config import CARD, CONFIG
from adapters.outbound.channels.agent_protocol.tests.samples import BASE, SAMPLE, request
from adapters.outbound.channels.tests.support import NOW, call
from domain.call_streams import CallNotFound
from domain.channels.answers import Answer, Artifact, Choice
from domain.channels.messages import CallOutcome, Event, RawCall, Sender
from domain.refusals import Invalid, NotFound, TooMany, Unauthenticated

CLOCK = CONFIG.load(SAMPLE.config)
FILE = Artifact("plan.txt", "text/plain", "https://files.example/plan.txt")


def event(made: RawCall) -> Event:
    [event] = webhook.receive(CLOCK, made, {}, NOW).events
    return event


def events(piece: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in piece.decode().split("\n\n") if line]
    return [json.loads(line)["result"] for line in lines]


def streaming() -> TaskWriter:
    made = request("SendStreamingMessage", contextId="c")
    return TaskWriter(made, event(made))


def test_the_card_needs_no_key_and_names_the_public_address() -> None:
    made = call(method="GET", callback=CARD, url=f"{BASE}/{CARD}?x=1")
    card = json.loads(webhook.receive(CLOCK, made, {}, NOW).answer.body)
    assert card["supportedInterfaces"][0]["url"] == f"{BASE}/rpc"
    assert [skill["id"] for skill in card["skills"]] == ["time", "date"]
    plain = json.loads(webhook.receive(CONFIG.load({}), made, {}, NOW).answer.body)
    assert [(skill["id"], skill["description"]) for skill in plain["skills"]] == [
        ("answer", "Agent answers messages.")
    ]


def test_a_message_of_a_task_has_a_key_of_its_own() -> None:
    first = event(request(contextId="c"))
    second = event(request(contextId="c", taskId=first.key, messageId="m-2"))
    assert second.key is not None
    assert second.key.startswith(f"{first.key}/")
    assert (first.session_id, second.session_id) == ("c", "c")
    assert event(request()).session_id == event(request()).key


@pytest.mark.parametrize(
    "message",
    [
        {"parts": "x"},
        {"parts": [7]},
        {"parts": [{"url": "file:///etc/passwd"}]},
        {"parts": [{"raw": "***"}]},
        {"parts": [{"text": " "}]},
        {"parts": [{"raw": "aGVsbG8="}] * 21},
        {"messageId": "x" * 1001},
        {"contextId": "x" * 1001},
    ],
)
def test_messages_that_cannot_be_read_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        event(request(**message))


def test_what_is_no_id_of_a_task_is_that_of_an_unknown_one() -> None:
    with pytest.raises(CallNotFound):
        event(request(taskId="other"))


@pytest.mark.parametrize("params", [[], "x", 7, {"message": []}, {"message": None}])
def test_params_of_another_kind_are_refused(params: Any) -> None:
    with pytest.raises(Invalid):
        event(request(params=params))


def test_only_posts_are_requests() -> None:
    made = call(method="GET", callback="rpc", headers={"Authorization": f"Bearer {CLOCK.api_key}"})
    assert webhook.receive(CLOCK, made, {}, NOW).answer.status == 405
    with pytest.raises(NotFound):
        webhook.receive(CLOCK, call(callback="rpc/x"), {}, NOW)


def test_a_stream_appends_and_ends_with_files_and_a_status() -> None:
    writer = streaming()
    [task] = events(writer.begin())
    assert task["task"]["status"]["state"] == "TASK_STATE_WORKING"
    first, second = (events(writer.grown(text))[0]["artifactUpdate"] for text in ("It ", "is"))
    assert (first["append"], second["append"]) == (False, True)
    rest, file, status = events(writer.end(CallOutcome.ANSWERED, Answer("It is noon.", (FILE,)), "It is"))
    assert (rest["artifactUpdate"]["append"], rest["artifactUpdate"]["lastChunk"]) == (True, True)
    assert rest["artifactUpdate"]["artifact"]["parts"][0]["text"] == " noon."
    assert file["artifactUpdate"]["artifact"]["parts"][0]["url"] == FILE.url
    assert status["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_an_answer_that_begins_otherwise_replaces_what_was_shown() -> None:
    writer = streaming()
    writer.grown("Perhaps")
    rest, _ = events(writer.end(CallOutcome.ANSWERED, Answer("It is noon."), "Perhaps"))
    assert (rest["artifactUpdate"]["append"], rest["artifactUpdate"]["artifact"]["parts"][0]["text"]) == (
        False,
        "It is noon.",
    )


def test_a_stream_without_an_answer_ends_without_a_status() -> None:
    assert streaming().end(CallOutcome.TIMEOUT, None, "It") == b""


@pytest.mark.parametrize(
    ("outcome", "answer", "state"),
    [
        (CallOutcome.ANSWERED, None, "TASK_STATE_COMPLETED"),
        (CallOutcome.ANSWERED, Answer("?", choices=(Choice("A", "a"),)), "TASK_STATE_INPUT_REQUIRED"),
        (CallOutcome.ANSWERED, Answer("?", question="?"), "TASK_STATE_INPUT_REQUIRED"),
        (CallOutcome.FAILED, Answer("Sorry."), "TASK_STATE_FAILED"),
        (CallOutcome.TIMEOUT, None, "TASK_STATE_WORKING"),
        (CallOutcome.WITHDRAWN, None, "TASK_STATE_CANCELED"),
    ],
)
def test_states_of_tasks(outcome: CallOutcome, answer: Answer | None, state: str) -> None:
    made = request()
    body = json.loads(TaskWriter(made, event(made)).whole(outcome, answer).body)
    assert body["id"] == "1"
    assert body["result"]["task"]["status"]["state"] == state


def test_a_withdrawn_task_keeps_its_id() -> None:
    gone = Event("t-1", "", Sender(""), "", {}, request_id="t-1")
    made = request("GetTask", params={"id": "t-1"})
    task = json.loads(TaskWriter(made, gone).whole(CallOutcome.WITHDRAWN, None).body)["result"]
    assert (task["id"], task["status"]["state"]) == ("t-1", "TASK_STATE_CANCELED")


@pytest.mark.parametrize(
    ("refusal", "status", "code"),
    [
        (CallNotFound("no"), 200, -32001),
        (Invalid("no"), 200, -32602),
        (Unauthenticated("no"), 401, -32603),
        (NotFound("no"), 404, -32603),
        (TooMany("no", 5), 429, -32603),
    ],
)
def test_refusals_are_errors_of_json_rpc(refusal: Any, status: int, code: int) -> None:
    answer = Streamer().refused(request(), refusal)
    error = json.loads(answer.body)
    assert (answer.status, error["id"], error["error"]["code"]) == (status, "1", code)
    plain = Streamer().refused(call(callback=CARD), refusal)
    assert json.loads(plain.body) == {"error": "no"}
