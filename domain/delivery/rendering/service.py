"""Renders answers in the markup of their platform."""

import asyncio

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.conversations.choices import numbered
from ports.channels import AnyChannel
from ports.reply_capabilities import ReplySender

LONG_TEXT = 50_000
"""Characters of an answer from which on it is rendered in a thread."""


async def render_answer(
    channel: AnyChannel, config: ChannelConfig, target: ChannelTarget, answer: Answer
) -> tuple[OutboundMessage, ...]:
    """None where the channel sends nothing. More choices than a message has buttons become a numbered list.
    Long texts are rendered in a thread: others' work goes on meanwhile."""
    sender: ReplySender[ChannelConfig, ChannelTarget] | None = channel.sender
    if sender is None:
        return ()
    if answer.choices and len(answer.choices) > channel.buttons(config, target):
        answer = numbered(answer)
    if len(answer.text) < LONG_TEXT:
        return tuple(sender.render(config, target, answer))
    return tuple(await asyncio.to_thread(sender.render, config, target, answer))
