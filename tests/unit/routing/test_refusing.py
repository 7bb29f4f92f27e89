"""Senders who are not verified, and bots: their messages are listed, and answered once they are released."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.registry import Registry
from adapters.outbound.channels.tests.calls import a_channel
from adapters.outbound.channels.tests.sample import Scripted
from adapters.outbound.channels.tests.support import dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Change, Event, Merge, Sender
from domain.channels.model import ACCESS_MODE
from domain.instances.model import Instance
from domain.routing.conversation import ConversationContext, not_served
from domain.routing.events import EventService
from ports.channels import AnyChannel
from ports.http import HttpAnswer
from ports.queue import QueuedEvent, QueueKey

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WITH_ACCESS_MODE = [
    channel
    for channel in Registry.build(dependencies(Scripted((), HttpAnswer(200, {}, b"{}")))).all()
    if channel.definition.field_named(ACCESS_MODE.name)
]
EVENT = Event(
    "k1",
    "s1",
    Sender("u1", "Ada"),
    "Is it hot?",
    {},
    request_id="r1",
    awaits_reply=True,
    merge=Merge("k1"),
    change=Change.EDITED,
)


class World:
    """Knows no user; answers whatever it is asked, and keeps what is refused."""

    def __init__(self, channel: AnyChannel, **config: object) -> None:
        self.refused: list[Event] = []
        self.counted: list[str] = []
        self.asked: list[Event] = []
        self.automated: list[bool] = []
        instance = Instance(7, "ann", channel.definition.id, "Works", config, None, NOW, NOW)
        self.context = ConversationContext(instance, channel, False)
        everything: Any = self
        invocation: Any = SimpleNamespace(answer=self.answer)
        meter: Any = SimpleNamespace(processed=lambda *_: None, received=self.received)
        clock: Any = SimpleNamespace(now=lambda: NOW)
        rounds: Any = SimpleNamespace(count=self.count)
        self.service = EventService(
            invocation, everything, rounds, everything, clock, meter, everything, "https://verify.example"
        )

    async def add(self, instance_id: int, event: Event) -> bool:
        self.refused.append(event)
        return True

    async def resolve(self, *_: object) -> None:
        return None

    async def may_notify(self, *_: object) -> bool:
        return True

    async def count(self, *_: object) -> Any:
        return SimpleNamespace(count=1, echo=False)

    async def answer(self, context: ConversationContext, queued: QueuedEvent, _: object) -> Answer:
        self.asked.append(queued.event)
        self.automated.append(context.automated)
        return Answer("It is.")

    def received(self, channel_id: str, kind: str) -> None:
        self.counted.append(kind)

    def process(self, event: Event) -> Answer | None:
        queued = QueuedEvent(5, event, 0, NOW)
        answer, error = asyncio.run(self.service.process(QueueKey(7, "s1"), queued, self.context))
        assert error is None
        return answer


@pytest.mark.parametrize("channel", WITH_ACCESS_MODE, ids=lambda channel: channel.definition.id)
def test_who_is_not_verified_is_listed_on_every_channel_with_an_access_mode(channel: AnyChannel) -> None:
    world = World(replace(channel, sender_filter=None), accessMode="allowlist")
    assert world.process(EVENT) == Answer(not_served("https://verify.example"))
    [refused] = world.refused
    assert (refused.refused, refused.text, world.asked) == ("not-verified", "Is it hot?", [])
    assert world.counted == ["ignored:not-verified"]
    assert refused.key != EVENT.key, "the event itself is on record"
    assert (refused.request_id, refused.awaits_reply, refused.merge, refused.change) == (
        "",
        False,
        None,
        None,
    )
    assert world.process(refused) == Answer("It is."), "once it is released"


def test_what_has_no_words_is_not_listed() -> None:
    world = World(replace(WITH_ACCESS_MODE[0], sender_filter=None), accessMode="allowlist")
    world.process(replace(EVENT, text="", reaction="x"))
    assert world.refused == []


class Bots:
    async def is_bot(self, *_: object) -> bool:
        return True


def test_another_bot_is_listed_and_once_released_answered_as_a_machine() -> None:
    world = World(a_channel(sender_filter=Bots()))
    assert world.process(EVENT) is None
    [refused] = world.refused
    assert (refused.refused, world.counted) == ("bot", ["ignored:bot"])
    assert world.process(refused) == Answer("It is.")
    assert world.automated == [True], "so that two bots do not go on for ever"
