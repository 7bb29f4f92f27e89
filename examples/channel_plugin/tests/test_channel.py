"""The zulip channel keeps the contract of channels, and answers where it was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from zulip_channel.channel import build

from adapters.outbound.channels.tests.calls import ChannelCalls
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
