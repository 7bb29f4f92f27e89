"""The zulip channel keeps the contract of channels, and answers where it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from zulip_channel import webhook
from zulip_channel.channel import build
from zulip_channel.config import CONFIG as CONFIG_MODEL

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.contract import ChannelContract
from adapters.outbound.channels.tests.openings import OpeningContract
from adapters.outbound.channels.tests.sample import Opening, Sample, Scripted
from adapters.outbound.channels.tests.support import NOW, call, dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Event, Outcome
from ports.http import HttpAnswer

MENTION = json.loads((Path(__file__).parent / "fixtures/mention.json").read_text())
CONFIG = {
    "site": "https://zulip.example",
    "botEmail": "agent-bot@zulip.example",
    "apiKey": "key-of-the-bot",
    "token": "token-of-the-bot",
}
TARGET = {"to": 5, "topic": "support"}


DIRECT = {**MENTION, "message": {**MENTION["message"], "stream_id": None, "subject": ""}}


def answered() -> Event:
    config = CONFIG_MODEL.load(CONFIG)
    return webhook.receive(config, call(as_json=DIRECT), {}, NOW).events[0]


SAMPLE = Sample(
    fields=(
        "site string R, botEmail string R, apiKey string R, token string R,"
        " identifyUsers boolean, accessMode string"
    ),
    config=CONFIG,
    genuine={"mention": call(as_json=MENTION)},
    forged={"token": call(as_json={**MENTION, "token": "another"}), "no token": call(as_json={})},
    target=TARGET,
    shown=lambda message: str(message.payload["content"]),
    openings=[Opening("10", "10::10", lambda request: request.form["to"] == "[10]", answered=answered)],
    no_addresses=["0", "ann@example.com", "Ann"],
)


class TestContract(ChannelContract):
    build = staticmethod(build)
    sample = SAMPLE


class TestOpenings(OpeningContract):
    build = staticmethod(build)
    sample = SAMPLE


@pytest.mark.parametrize(
    ("target", "place"),
    [
        (TARGET, {"type": "stream", "to": "5", "topic": "support"}),
        ({"to": 5}, {"type": "stream", "to": "5", "topic": ""}),
        ({"to": 10, "direct": True}, {"type": "direct", "to": "[10]"}),
    ],
)
async def test_an_answer_goes_where_the_question_was(
    target: dict[str, object], place: dict[str, str]
) -> None:
    http = Scripted((), HttpAnswer(200, {}, b'{"id": 42, "msg": "", "result": "success"}'))
    channel = ChannelCalls(build(dependencies(http)))
    (message,) = channel.render(CONFIG, target, Answer("Two years."))
    sent = await channel.send(CONFIG, target, message, "key-1")
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "42")
    assert http.requests[0].form == {**place, "content": "Two years."}
