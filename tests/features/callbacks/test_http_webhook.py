"""The steps of http_webhook.feature."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when
from standardwebhooks import Webhook

from domain.channels.answers import Choice
from domain.channels.messages import RawCall
from domain.routing.model import RunRequest, RunResult
from tests.drivers.receiver import Receiver
from tests.drivers.resource import Resource
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.features.callbacks.calls import body_of
from tests.support.waiting import until

scenarios("http_webhook.feature")

BODY = b'{"message": "signed", "sessionId": "s"}'
SECRETS = {
    'the secret "s3cret"': "s3cret",
    "a secret of Standard Webhooks": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
}
UNREADABLE = {
    "cut off": b'{"message":',
    "plain words": b"plain words",
    "empty": b"",
    'a message that is "not a number"': b'{"message": NaN}',
}


@dataclass
class Hook:
    """The instance under test and how its calls ended."""

    rest: Rest
    instance_id: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    body: bytes = b""
    """What it was last called with."""

    @property
    def reply(self) -> Reply:
        return self.replies[-1]

    def create(self, settings: dict[str, Any], resource: str = "agent::echo") -> None:
        self.settings = settings
        body = {
            "channelId": "http-webhook",
            "channelName": "Hook",
            "config": settings,
            "downStreamResourceId": resource,
        }
        self.instance_id = self.rest.create("ann", body).body["instanceId"]

    def call(self, body: bytes, headers: dict[str, str] | None = None, callback: str = "webhook") -> None:
        self.body = body
        self.replies.append(self.rest.call("http-webhook", self.instance_id, body, headers or {}, callback))


@pytest.fixture
def hook(rest: Rest) -> Hook:
    return Hook(rest)


@given(parsers.re(r"a webhook that answers later(, with (?P<secret>[^,]+))?,?( and (?P<option>.+))?"))
def answers_later(hook: Hook, receiver: Receiver, secret: str | None, option: str | None) -> None:
    hook.create({"responseWebhookUrl": receiver.url, **_secret(secret), **_option(option)})


def _secret(words: str | None) -> dict[str, str]:
    return {"webhookSecret": SECRETS[words]} if words else {}


def _option(words: str | None) -> dict[str, str]:
    """A setting in words: which header the answer gets, or where the message or the session is looked for."""
    if words is None:
        return {}
    if header := re.fullmatch(r'adds the header "(.+)" with "(.+)"', words):
        return {"responseHeaders": json.dumps({header[1]: header[2]})}
    path = re.fullmatch(r'looks for the (message|session) at "(.+)"', words)
    assert path, words
    return {{"message": "messageField", "session": "sessionIdField"}[path[1]]: path[2]}


@given("a webhook that answers in the call")
def synchronous(hook: Hook) -> None:
    hook.create({"syncResponse": True})


@given("a webhook that answers in the call, whose resource fails")
@given("a webhook that answers in the call, whose resource fails once")
def synchronous_failing(world: World, hook: Hook, receiver: Receiver) -> None:
    receiver.script = [(400, {}), (204, {})]
    runners = world.container.resources()
    runners.router.default = runners_for(world, receiver)
    hook.create({"syncResponse": True}, "agent::somewhere")


@given(
    'a webhook that answers in the call, whose resource offers "Small" for "size-s"',
    target_fixture="resource",
)
def synchronous_offering(world: World, hook: Hook) -> Resource:
    choices = (Choice("Small", "size-s"), Choice("Large", "size-l"))
    hook.create({"syncResponse": True}, "agent::shop")
    return Resource(world, lambda request: RunResult("Which one?", choices=() if request.choice else choices))


@when(
    parsers.re(r'the choice "(?P<value>.+)" is made in the session "(?P<session>\w+)", (?P<times>once|twice)')
)
def picked(hook: Hook, value: str, session: str, times: str) -> None:
    for _ in range({"once": 1, "twice": 2}[times]):
        hook.call(json.dumps({"message": value, "sessionId": session, "choice": True}).encode())


@then(parsers.re(r'the resource gets "(?P<text>.+)" as a (?P<kind>choice|message) once'))
def gets_once(resource: Resource, text: str, kind: str) -> None:
    got = [(request.text, request.choice) for request in resource.requests]
    assert got == [("a shirt", False), (text, kind == "choice")]


@given("a webhook that answers in the call, whose resource does not answer yet")
def synchronous_waiting(world: World, hook: Hook, silent: Silent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("domain.callbacks.LOOK_AGAIN", 0.05)
    monkeypatch.setattr(world.container.resources().router, "default", silent)
    hook.create({"syncResponse": True}, "agent::somewhere")


class Silent:
    """A resource that does not answer until it is released."""

    def __init__(self) -> None:
        self._released = asyncio.Event()

    async def run(self, request: RunRequest) -> RunResult:
        await self._released.wait()
        return RunResult("")

    async def release(self) -> None:
        self._released.set()


@pytest.fixture
def silent() -> Silent:
    return Silent()


@when("it is called and ann deletes it meanwhile")
def called_and_deleted(world: World, hook: Hook, silent: Silent) -> None:
    calling = threading.Thread(target=hook.call, args=(BODY,))
    calling.start()
    query = "SELECT 1 FROM inbox WHERE instance_id = %s"
    until(lambda: world.run(world.container.database().fetch(query, (hook.instance_id,))), "it is stored")
    assert hook.rest.delete("ann", hook.instance_id).outcome == "done"
    calling.join()
    world.run(silent.release())


@then("its health says that it works")
def works(hook: Hook) -> None:
    def health() -> dict[str, Any]:
        return dict(hook.rest.health("ann", hook.instance_id).body)

    until(lambda: health()["healthy"], "the success is noted")
    assert health()["lastError"]
    assert health()["lastSuccess"] > health()["lastErrorAt"]


def runners_for(world: World, receiver: Receiver) -> Any:
    from adapters.outbound.resources.http_runner import HttpRunner

    return HttpRunner(world.container.foundation().http, receiver.url)


@when(parsers.parse("it is called where {words}"))
def called(hook: Hook, words: str) -> None:
    hook.call(body_of(words))


@when(parsers.parse("it is called with a body that is {words}"))
def called_unreadable(hook: Hook, words: str) -> None:
    hook.call(UNREADABLE[words])


@when(parsers.parse("it is called with a message that names another address as {key}"))
def called_elsewhere(hook: Hook, receiver: Receiver, key: str) -> None:
    other = receiver.url.replace("/answers", "/other")
    hook.call(json.dumps({"message": "hello", key: other}).encode())


def _signature(body: bytes, secret: str = "s3cret") -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@when(parsers.re(r"it is called with a (?P<form>plain|prefixed|shouted) signature in (?P<header>\S+)"))
def called_signed(hook: Hook, form: str, header: str) -> None:
    signature = _signature(BODY)
    shown = {"plain": signature, "prefixed": f"sha256={signature}", "shouted": f"SHA256={signature.upper()}"}
    hook.call(BODY, {header: shown[form]})


@when("it is called with no signature")
def called_unsigned(hook: Hook) -> None:
    hook.call(BODY)


@when("it is called with a signature of another body")
def called_other_body(hook: Hook) -> None:
    hook.call(BODY, {"X-Signature": _signature(BODY + b" ")})


@when("it is called with a signature by another key")
def called_other_key(hook: Hook) -> None:
    hook.call(BODY, {"X-Signature": _signature(BODY, "another")})


@when("it is called with a signature of garbage")
def called_garbage(hook: Hook) -> None:
    hook.call(BODY, {"X-Signature": "\x7f=zz", "X-Webhook-Signature": "sha256="})


@when("it is called as the Standard Webhooks library signs")
def called_standard(hook: Hook) -> None:
    _call_standard(hook, datetime.now(UTC))


@when("it is called as the Standard Webhooks library signed six minutes ago")
def called_standard_late(hook: Hook) -> None:
    _call_standard(hook, datetime.now(UTC) - timedelta(minutes=6))


def _call_standard(hook: Hook, at: datetime) -> None:
    signature = Webhook(hook.settings["webhookSecret"]).sign("msg_1", at, BODY.decode())
    stamp = str(int(at.timestamp()))
    hook.call(BODY, {"webhook-id": "msg_1", "webhook-timestamp": stamp, "webhook-signature": signature})


@when("it is called twice with the same idempotency key")
def called_twice(hook: Hook) -> None:
    for _ in range(2):
        hook.call(b'{"message": "once", "sessionId": "s"}', {"Idempotency-Key": "k-1"})


@when("it is called twice with the same idempotency key, once with a query")
def called_with_query(world: World, hook: Hook) -> None:
    for query in ("", "?try=2"):
        call = RawCall(
            id=str(uuid.uuid4()),
            method="POST",
            callback="webhook",
            url=f"http://here/api/agent/channels/http-webhook/{hook.instance_id}/webhook{query}",
            headers={"idempotency-key": "k-1"},
            body=b'{"message": "once", "sessionId": "s"}',
        )
        handled = world.container.use_cases().callbacks.handle("http-webhook", hook.instance_id, call)
        hook.replies.append(Reply("done", json.loads(world.run(handled).body)))


@when("it is called with two idempotency keys of 1001 characters")
def called_long(hook: Hook) -> None:
    for end in "ab":
        hook.call(b'{"message": "each", "sessionId": "s"}', {"Idempotency-Key": "k" * 1000 + end})


@then("the response address gets two answers")
def two_answers(receiver: Receiver) -> None:
    assert len(receiver.wait_for(2)) == 2


@when(parsers.parse('its callback "{callback}" is called'))
def called_callback(hook: Hook, callback: str) -> None:
    hook.call(BODY, callback=callback)


@when(parsers.parse('it is called as if it were "{channel}"'))
def called_as(hook: Hook, channel: str) -> None:
    hook.replies.append(hook.rest.call(channel, hook.instance_id, BODY, {}, "webhook"))


@then(parsers.re('the resource is asked "(?P<message>.*)"'))
def asked(receiver: Receiver, message: str) -> None:
    assert receiver.wait_for(1)[0].json["response"] == message


@then("the resource is asked the whole body")
def asked_body(hook: Hook, receiver: Receiver) -> None:
    assert receiver.wait_for(1)[0].json["response"] == hook.body.decode()


@then(parsers.parse('the answer belongs to the session "{session}"'))
def belongs(receiver: Receiver, session: str) -> None:
    assert receiver.wait_for(1)[0].json["sessionId"] == session


@then("the answer belongs to a session named after the request")
def own_session(hook: Hook, receiver: Receiver) -> None:
    answer = receiver.wait_for(1)[0].json
    assert answer["sessionId"] == answer["requestId"] == hook.reply.body["requestId"]


@then("the call is accepted with a request id")
def accepted(hook: Hook) -> None:
    assert hook.reply.outcome == "done"
    assert set(hook.reply.body) == {"status", "requestId", "message"}
    assert hook.reply.body["status"] == "accepted"
    uuid.UUID(hook.reply.body["requestId"])


@then(parsers.parse('the response address gets the answer "{text}" of that request'))
def gets_answer(hook: Hook, receiver: Receiver, text: str) -> None:
    assert receiver.wait_for(1)[0].json == {
        "status": "success",
        "requestId": hook.reply.body["requestId"],
        "sessionId": "s",
        "response": text,
        "artifacts": [],
    }


@then("the other address gets the answer")
def other_address(receiver: Receiver) -> None:
    assert receiver.wait_for(1)[0].path == "/other"


@then(parsers.parse('the answer carries the header "{name}" with "{value}"'))
def carries(receiver: Receiver, name: str, value: str) -> None:
    assert receiver.wait_for(1)[0].headers[name] == value


@then(parsers.parse('the call is "{outcome}"'))
def call_is(hook: Hook, outcome: str) -> None:
    assert hook.reply.outcome == outcome, hook.reply.body


@then(parsers.parse('the call itself gets the answer "{text}"'))
def in_call(hook: Hook) -> None:
    assert hook.reply.outcome == "done"
    assert set(hook.reply.body) == {"status", "requestId", "response"}
    assert hook.reply.body["status"] == "success"
    assert hook.reply.body["response"] == "hello"


@then("the caller is told of an error, with a request id and an explanation")
def told_of_error(hook: Hook) -> None:
    assert set(hook.reply.body) == {"status", "requestId", "message"}
    assert hook.reply.body["status"] == "error"
    assert hook.reply.body["message"]


@then("nothing is stored")
def nothing_stored(world: World) -> None:
    row = world.run(world.container.database().fetch_one("SELECT count(*) FROM inbox"))
    assert row == (0,)


@then("the answer's X-Webhook-Signature proves its origin")
def proves(receiver: Receiver) -> None:
    answer = receiver.wait_for(1)[0]
    assert answer.headers["x-webhook-signature"] == "sha256=" + _signature(answer.body)


@then("the Standard Webhooks library takes the answer")
def library_takes(hook: Hook, receiver: Receiver) -> None:
    answer = receiver.wait_for(1)[0]
    Webhook(hook.settings["webhookSecret"]).verify(answer.body, answer.headers)


@then("both calls are accepted with the same request id")
def both_accepted(hook: Hook) -> None:
    first, second = hook.replies
    assert first.outcome == second.outcome == "done"
    assert first.body["requestId"] == second.body["requestId"]


@then("the response address gets one answer")
def one_answer(world: World, receiver: Receiver) -> None:
    receiver.wait_for(1)
    rows = world.run(world.container.database().fetch("SELECT 1 FROM outbox"))
    assert len(rows) == 1


@then("both calls get the same answer")
def same_answer(world: World, hook: Hook) -> None:
    assert hook.replies[0].body == hook.replies[1].body
    assert hook.replies[0].body["response"] == "once"
    assert world.run(world.container.database().fetch("SELECT count(*) FROM inbox")) == [(1,)]
