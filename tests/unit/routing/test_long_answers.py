"""Rendering a long answer holds nobody else up."""

import threading
from datetime import UTC, datetime

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Sender
from domain.instances.model import Instance
from domain.rendering import SHORT, render_answer
from domain.routing.conversation import ConversationContext

NOW = datetime(2026, 11, 20, tzinfo=UTC)
INSTANCE = Instance(1, "ann", "x", "n", {}, None, NOW, NOW)
EVENT = Event("k", "s", Sender("x"), "hello", {"chat": 1})


class Channel:
    """Notes in which thread it renders."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def render(self, config: object, target: object, answer: Answer) -> list[OutboundMessage]:
        self.thread = threading.current_thread()
        return [OutboundMessage({"length": len(answer.text), "target": target})]


@pytest.mark.parametrize(("length", "beside"), [(SHORT, False), (SHORT + 1, True)])
async def test_a_long_answer_is_rendered_in_a_thread(length: int, beside: bool) -> None:
    channel = Channel()
    context = ConversationContext(INSTANCE, a_channel(sender=channel), has_open_approval=False)
    messages, _ = await render_answer(
        context.channel, context.config, context.target(EVENT), Answer("x" * length)
    )
    assert [message.payload for message in messages] == [{"length": length, "target": {"chat": 1}}]
    assert (channel.thread is not threading.main_thread()) is beside
