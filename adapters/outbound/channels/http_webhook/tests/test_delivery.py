"""How the answers of an HTTP webhook leave."""

import json
from typing import Any

import pytest

from adapters.outbound.channels.http_webhook.channel import build
from adapters.outbound.channels.http_webhook.tests.samples import signature
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, call, dependencies
from domain.channels.answers import Answer, Artifact, Choice
from domain.channels.messages import CallOutcome, Event, Outcome, Sender
from ports.http import AddressRefused, HttpAnswer, HttpFailed, HttpRequest

TARGET = {"url": "https://app.example/answers"}
ANSWER = Answer(
    "At nine.", (Artifact("plan.pdf", "application/pdf", "https://x.example/f"),), (), "r-1", "s-1"
)
EVENT = Event("k", "s-1", Sender("s-1"), "hello", TARGET, request_id="r-1")


class Recorder:
    """An HTTP client that keeps what it was asked and answers as scripted."""

    def __init__(self, *outcomes: HttpAnswer | HttpFailed) -> None:
        self.requests: list[HttpRequest] = []
        self._outcomes = list(outcomes)

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.requests.append(request)
        outcome = self._outcomes.pop(0) if self._outcomes else HttpAnswer(200, {}, b"")
        if isinstance(outcome, HttpFailed):
            raise outcome
        return outcome

    def stream(self, request: HttpRequest) -> Any:
        raise AssertionError("nothing is streamed")


async def test_an_answer_names_its_request_session_and_files() -> None:
    http = Recorder()
    channel = ChannelCalls(build(dependencies(http)))
    [part] = channel.render({}, TARGET, ANSWER)

    sent = await channel.send({}, TARGET, part, "key-1")

    assert sent.outcome is Outcome.SENT
    [request] = http.requests
    assert (request.method, request.url) == ("POST", "https://app.example/answers")
    assert request.user_address
    assert not request.follow_redirects
    assert isinstance(request.content, bytes)
    assert json.loads(request.content) == {
        "status": "success",
        "requestId": "r-1",
        "sessionId": "s-1",
        "response": "At nine.",
        "artifacts": [{"name": "plan.pdf", "mimeType": "application/pdf", "url": "https://x.example/f"}],
    }


async def test_the_same_part_is_signed_over_its_bytes_and_keeps_its_key() -> None:
    http = Recorder()
    channel = ChannelCalls(build(dependencies(http)))
    config = {"webhookSecret": "whsec_c2VjcmV0", "responseHeaders": '{"X-Team": "a", "Host": "evil.example"}'}
    [part] = channel.render(config, TARGET, ANSWER)

    for _ in range(2):
        await channel.send(config, TARGET, part, "key-1")

    first, second = http.requests
    assert isinstance(first.content, bytes)
    assert first.headers["X-Webhook-Signature"] == f"sha256={signature(first.content, 'whsec_c2VjcmV0')}"
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"] == "key-1"
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == "key-1"
    assert first.headers["X-Team"] == "a"
    assert "Host" not in first.headers


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (HttpAnswer(204, {}, b""), Outcome.SENT),
        (HttpAnswer(301, {"location": "https://other.example"}, b""), Outcome.PERMANENT),
        (HttpAnswer(400, {}, b"no"), Outcome.PERMANENT),
        (HttpAnswer(410, {}, b""), Outcome.PERMANENT),
        (HttpAnswer(429, {"retry-after": "7"}, b""), Outcome.RETRY_AFTER),
        (HttpAnswer(500, {}, b""), Outcome.TRANSIENT),
        (HttpAnswer(503, {"retry-after": "7"}, b""), Outcome.RETRY_AFTER),
        (HttpFailed("refused", before_request=True), Outcome.TRANSIENT),
        (HttpFailed("no answer", before_request=False), Outcome.UNKNOWN),
        (AddressRefused("not allowed"), Outcome.PERMANENT),
    ],
)
async def test_what_the_address_answers_decides(outcome: HttpAnswer | HttpFailed, expected: Outcome) -> None:
    channel = ChannelCalls(build(dependencies(Recorder(outcome))))
    [part] = channel.render({}, TARGET, ANSWER)

    sent = await channel.send({}, TARGET, part, "key-1")

    assert sent.outcome is expected
    assert sent.retry_after == (7.0 if expected is Outcome.RETRY_AFTER else None)


def test_without_an_address_nothing_is_sent() -> None:
    assert ChannelCalls(build(dependencies(Recorder()))).render({}, {"url": None}, ANSWER) == []


@pytest.mark.parametrize(
    ("outcome", "answer", "status", "keys"),
    [
        (CallOutcome.ANSWERED, Answer("At nine."), 200, {"status", "requestId", "response"}),
        (CallOutcome.TIMEOUT, None, 504, {"status", "requestId", "message"}),
        (CallOutcome.FAILED, Answer("Sorry"), 502, {"status", "requestId", "message"}),
        (CallOutcome.FAILED, None, 502, {"status", "requestId", "message"}),
    ],
)
def test_the_answer_in_the_call(
    outcome: CallOutcome, answer: Answer | None, status: int, keys: set[str]
) -> None:
    raw = ChannelCalls(build(dependencies(Recorder()))).answer_in_call({}, EVENT, outcome, answer)

    assert raw.status == status
    body = json.loads(raw.body)
    assert set(body) == keys
    assert body["requestId"] == "r-1"


def test_choices_are_told_and_picked_by_their_value() -> None:
    channel = ChannelCalls(build(dependencies(Recorder())))
    answer = Answer("Which?", choices=(Choice("Large", "size-l", "choice:out-1:0:a"),))
    told = [{"label": "Large", "value": "size-l"}]
    [part] = channel.render({}, TARGET, answer)
    assert part.payload["choices"] == told
    raw = channel.answer_in_call({}, EVENT, CallOutcome.ANSWERED, answer)
    assert json.loads(raw.body)["choices"] == told

    for picked, choice in ((True, "size-l"), (False, None), ("true", None)):
        body = {"message": "size-l", "sessionId": "s-1", "choice": picked}
        [event] = channel.receive({}, call(as_json=body), {}, NOW).events
        assert (event.text, event.choice) == ("size-l", choice)
