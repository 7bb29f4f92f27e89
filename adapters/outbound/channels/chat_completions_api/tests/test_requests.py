"""Requests of the chat-completions protocol, and answers as its chunks."""

import base64
import json
from typing import Any

import pytest

from adapters.outbound.channels.chat_completions_api import webhook
from adapters.outbound.channels.chat_completions_api.answering import CompletionWriter, Streamer
from adapters.outbound.channels.chat_completions_api.config import CONFIG, TARGET, key_fault, model_fault
from adapters.outbound.channels.chat_completions_api.tests.samples import SAMPLE, request
from adapters.outbound.channels.tests.support import NOW
from domain.channels.answers import Answer, Artifact, Choice
from domain.channels.messages import CallOutcome, Event
from domain.channels.provenance import Usage
from domain.refusals import Invalid, NotFound, TooLarge, TooMany, Unauthenticated, Unavailable

CLOCK = CONFIG.load(SAMPLE.config)
HELLO = {"role": "user", "content": "Hello"}


def event(**body: Any) -> Event:
    [event] = webhook.receive(CLOCK, request(**body), {}, NOW).events
    return event


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def writer(**body: Any) -> CompletionWriter:
    return CompletionWriter(CLOCK, request(**body), event(**body))


def chunks(piece: bytes) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in piece.decode().split("\n\n") if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def test_parts_of_a_message_are_text_and_files() -> None:
    data = base64.b64encode(b"%PDF").decode()
    made = event(
        messages=[
            user(
                {"type": "text", "text": "These"},
                {"type": "image_url", "image_url": {"url": "https://example.com/a/b.png?c"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
                {
                    "type": "file",
                    "file": {"filename": "../plan.pdf", "file_data": f"data:application/pdf;base64,{data}"},
                },
                {"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "wav"}},
                {"type": "text", "text": "please"},
            )
        ]
    )
    assert made.text == "These\n\nplease"
    assert [(file.name, file.mime_type, file.size, file.is_voice) for file in made.attachments] == [
        ("b.png", "image/*", None, False),
        ("file.png", "image/png", 5, False),
        ("plan.pdf", "application/pdf", 4, False),
        ("recording.wav", "audio/wav", 5, True),
    ]


@pytest.mark.parametrize(
    "part",
    [
        7,
        {"type": "video"},
        {"type": "image_url", "image_url": {"url": "ftp://example.com/a"}},
        {"type": "image_url", "image_url": {"url": "data:image/png,plain"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,***"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/" + "x" * 5000}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ],
)
def test_a_part_that_cannot_be_read_is_named(part: Any) -> None:
    with pytest.raises(Invalid, match=r"messages\[0\].content\[0\]"):
        event(messages=[user(part)])


def test_too_many_files_are_refused() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    with pytest.raises(Invalid, match="20 are the most"):
        event(messages=[user(*[part] * 21)])


@pytest.mark.parametrize(
    "messages", [[{"role": "user"}], ["x"], [{"content": "a"}], {"role": "user"}, [HELLO, {"role": "tool"}]]
)
def test_messages_that_cannot_be_read_are_refused(messages: Any) -> None:
    with pytest.raises(Invalid, match="messages"):
        event(messages=messages)


def test_what_was_said_before_is_bounded() -> None:
    long = [{"role": "user", "content": "x" * 10_000} for _ in range(30)]
    thread = TARGET.load(event(messages=[*long, HELLO]).target).thread
    assert sum(len(text) for _, text in thread) <= webhook.LONGEST_EARLIER
    assert {len(text) for _, text in thread} == {4000}


def test_instructions_may_follow_the_last_message() -> None:
    made = event(messages=[HELLO, {"role": "system", "content": "Be brief."}])
    assert (made.text, TARGET.load(made.target).thread) == ("Hello", (["system", "Be brief."],))


def test_options_that_change_nothing_here_are_ignored() -> None:
    assert event(temperature=0.1, seed=1, tools=[], tool_choice="none", n=1, response_format={"type": "text"})


def test_sessions_of_calls() -> None:
    named = request(user="ann", metadata={"session_id": "m"})
    [by_metadata] = webhook.receive(CLOCK, named, {}, NOW).events
    assert (by_metadata.session_id, by_metadata.sender.external_id) == ("m", "ann")
    with pytest.raises(Invalid, match="1000"):
        event(user="x" * 1001)


def test_a_stream_says_how_it_goes_on_and_ends() -> None:
    stream = writer(stream=True, stream_options={"include_usage": True})
    assert stream.head is not None
    assert stream.head.headers["content-type"].startswith("text/event-stream")
    answer = Answer(
        "It is noon.",
        (Artifact("plan (1).txt", "text/plain", "https://files.example/a b"),),
        usage=Usage(2, 3),
    )
    [first] = chunks(stream.begin())
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    [grown] = chunks(stream.grown("It is"))
    rest, stop, usage, done = chunks(stream.end(CallOutcome.ANSWERED, answer, "It is"))
    assert grown["choices"][0]["delta"] == {"content": "It is"}
    assert rest["choices"][0]["delta"] == {
        "content": " noon.\n\n[plan (1)\\.txt](https://files.example/a%20b)"
    }
    assert stop["choices"][0]["finish_reason"] == "stop"
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 5)
    assert done == "[DONE]"
    assert len({chunk["id"] for chunk in (first, grown, rest, stop, usage)}) == 1


def test_choices_are_listed_and_a_question_of_ours_stands_alone() -> None:
    offered = Answer("Which?", choices=(Choice("A", "a"),))
    assert whole(offered) == "Which?\n\n1. A"
    question = "May I? Reply yes or no."
    assert whole(Answer(question, choices=(Choice("Yes", "c:1"),), question=question)) == question
    assert whole(None) == ""


def whole(answer: Answer | None) -> str:
    body = json.loads(writer().whole(CallOutcome.ANSWERED, answer).body)
    text: str = body["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize(
    ("outcome", "status", "code"),
    [
        (CallOutcome.TIMEOUT, 504, "timeout"),
        (CallOutcome.FAILED, 502, "resource_failed"),
        (CallOutcome.WITHDRAWN, 502, "resource_failed"),
    ],
)
def test_a_failure_is_not_tried_again_by_clients(outcome: CallOutcome, status: int, code: str) -> None:
    answer = writer().whole(outcome, None)
    assert (answer.status, answer.headers["x-should-retry"]) == (status, "false")
    assert json.loads(answer.body)["error"]["code"] == code
    [error] = chunks(writer(stream=True).end(outcome, Answer("It failed."), "It"))
    assert error["error"]["code"] == code


@pytest.mark.parametrize(
    ("refusal", "status", "kind", "header"),
    [
        (Unauthenticated("no"), 401, "invalid_request_error", ("www-authenticate", "Bearer")),
        (NotFound("no"), 404, "invalid_request_error", None),
        (TooLarge("no"), 413, "invalid_request_error", None),
        (TooMany("no", 4.2), 429, "rate_limit_error", ("retry-after", "5")),
        (Unavailable("no"), 503, "server_error", ("retry-after", "2")),
    ],
)
def test_refusals_have_the_form_of_the_protocol(
    refusal: Any, status: int, kind: str, header: tuple[str, str] | None
) -> None:
    answer = Streamer().refused(request(), refusal)
    assert (answer.status, json.loads(answer.body)["error"]["type"]) == (status, kind)
    assert header is None or answer.headers[header[0]] == header[1]


def test_only_posts_ask() -> None:
    received = webhook.receive(CLOCK, request(method="GET"), {}, NOW)
    assert (received.answer.status, received.events) == (405, ())


def test_the_model_is_found_by_its_name() -> None:
    answer = webhook.receive(CLOCK, request("v1/models/clock", method="GET"), {}, NOW).answer
    assert json.loads(answer.body)["id"] == "clock"
    with pytest.raises(NotFound, match="clock"):
        webhook.receive(CLOCK, request("v1/models/other", method="GET"), {}, NOW)


@pytest.mark.parametrize("key", ["short", "x" * 201, "with blanks in the key", "key-with-\N{SNOWMAN}-in-it-"])
def test_keys_that_no_header_carries_or_that_are_short_are_refused(key: str) -> None:
    assert key_fault(key)
    assert model_fault("a/b")
