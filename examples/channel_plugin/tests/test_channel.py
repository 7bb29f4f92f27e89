"""The zulip channel keeps the contract of channels, and answers where it was asked."""

from __future__ import annotations

import json
from pathlib import Path

from zulip_channel.channel import build

from adapters.outbound.channels.tests.contract import ChannelContract
from adapters.outbound.channels.tests.sample import Sample, Scripted
from adapters.outbound.channels.tests.support import call, dependencies
from domain.channels.messages import Answer, Outcome
from ports.http import HttpAnswer

MENTION = json.loads((Path(__file__).parent / "fixtures/mention.json").read_text())
CONFIG = {
    "site": "https://zulip.example",
    "botEmail": "agent-bot@zulip.example",
    "apiKey": "key-of-the-bot",
    "token": "token-of-the-bot",
}
TARGET = {"to": 5, "topic": "support"}


class TestContract(ChannelContract):
    build = staticmethod(build)
    sample = Sample(
        fields=(
            "site string R, botEmail string R, apiKey string R, token string R,"
            " identifyUsers boolean, accessMode string"
        ),
        config=CONFIG,
        genuine={"mention": call(as_json=MENTION)},
        forged={"token": call(as_json={**MENTION, "token": "another"}), "no token": call(as_json={})},
        target=TARGET,
        shown=lambda message: str(message.payload["content"]),
    )


async def test_an_answer_goes_to_the_topic_of_the_question() -> None:
    http = Scripted((), HttpAnswer(200, {}, b'{"id": 42, "msg": "", "result": "success"}'))
    channel = build(dependencies(http))
    assert channel.sender
    config, target = channel.config.load(CONFIG), channel.target.load(TARGET)
    (message,) = channel.sender.render(config, target, Answer("Two years."))
    sent = await channel.sender.send(config, target, message, "key-1")
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "42")
    assert http.requests[0].form == {
        "type": "stream",
        "topic": "support",
        "to": "5",
        "content": "Two years.",
    }
