"""Renders answers in the markup of their platform, long texts in a thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import ParamSpec, TypeVar

from domain.channels.answers import Answer, OutboundMessage
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.conversations.choices import numbered
from domain.feedback.model import thumbs
from ports.capabilities import ReplySender
from ports.channels import AnyChannel


async def render_answer(
    channel: AnyChannel, config: ChannelConfig, target: ChannelTarget, answer: Answer
) -> tuple[tuple[OutboundMessage, ...], bool]:
    """The messages, none if the channel cannot send, and whether the sender types which choice it picks: more choices
    than a message has buttons become a numbered list. Long texts are rendered in a thread."""
    is_numbered = bool(answer.choices) and len(answer.choices) > channel.buttons(config, target)
    is_typed = is_numbered and not answer.question
    sender: ReplySender[ChannelConfig, ChannelTarget] | None = channel.sender
    if sender is None:
        return (), is_typed
    if is_numbered:
        answer = numbered(answer)
    if answer.thumbs and channel.thumb_buttons:
        most = channel.buttons(config, target)
        choices = (*answer.choices, *thumbs(answer.thumbs))
        # two more buttons, where its last message has room for them
        is_shown = bool(answer.text.strip()) and len(choices) <= most
        answer = replace(answer, choices=choices) if is_shown else answer
    return tuple(await off_loop(len(answer.text), sender.render, config, target, answer)), is_typed


P = ParamSpec("P")
R = TypeVar("R")

SHORT = 2_000
"""Characters of a text that is worked on at once: a thread would cost more than the work."""

_THREADS = ThreadPoolExecutor(2, "texts")
"""Few, since all of them and the event loop share one interpreter lock."""


async def off_loop(size: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of `work` on a text of `size` characters: at once for a short text, else in a thread."""
    if size <= SHORT:
        return work(*args, **kwargs)
    context = copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        _THREADS, lambda: context.run(work, *args, **kwargs)
    )


MOST_MARKDOWN = 50_000
"""Characters. What a parser makes of more would hold the garbage collector, and with it all threads, up."""
MOST_MARKS = 5_000
_MARKS = ("\n", "[", "|", "`", "*", "_", "~", "<", ">", "&", "\\", "$", "- ", "+ ", ". ", ") ", "://")
"""What may begin a block, a list, a cell or a span: the work of parsing and rendering grows with their number."""

MOST_BRACKETS = 2_000
"""Opening ones, for each of which a parser seeks the closing one."""


def is_read_as_markdown(text: str) -> bool:
    """Return True if a text is short enough to be formatted. Longer ones are shown as they are written."""
    if len(text) > MOST_MARKDOWN or text.count("[") > MOST_BRACKETS:
        return False
    return sum(map(text.count, _MARKS)) <= MOST_MARKS
