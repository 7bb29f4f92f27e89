"""Renders answers in the markup of their platform."""

import asyncio

from domain.channels.messages import Answer, OutboundMessage
from domain.channels.typed import ChannelConfig, ChannelTarget
from ports.reply_capabilities import ReplySender

LONG_TEXT = 50_000
"""Characters of an answer from which on it is rendered in a thread."""


async def render_answer(
    sender: ReplySender[ChannelConfig, ChannelTarget],
    config: ChannelConfig,
    target: ChannelTarget,
    answer: Answer,
) -> tuple[OutboundMessage, ...]:
    """Long texts are rendered in a thread: others' work goes on meanwhile."""
    if len(answer.text) < LONG_TEXT:
        return tuple(sender.render(config, target, answer))
    return tuple(await asyncio.to_thread(sender.render, config, target, answer))
