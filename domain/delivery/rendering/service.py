"""Renders answers in the markup of their platform."""

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.conversations.choices import numbered
from domain.long_texts.service import off_loop
from ports.channels import AnyChannel
from ports.reply_capabilities import ReplySender


async def render_answer(
    channel: AnyChannel, config: ChannelConfig, target: ChannelTarget, answer: Answer
) -> tuple[OutboundMessage, ...]:
    """None where the channel sends nothing. More choices than a message has buttons become a numbered list.
    Others' work goes on while a long text is rendered."""
    sender: ReplySender[ChannelConfig, ChannelTarget] | None = channel.sender
    if sender is None:
        return ()
    if answer.choices and len(answer.choices) > channel.buttons(config, target):
        answer = numbered(answer)
    return tuple(await off_loop(len(answer.text), sender.render, config, target, answer))
