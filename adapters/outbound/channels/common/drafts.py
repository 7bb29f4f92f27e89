"""Unfinished answers in a message that is edited, and the finished answers that take its place."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from adapters.outbound.rendering import GrowingText, Markup
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit

WITHDRAWN = "withdrawn"
"""The kind of a message that deletes a draft."""
_MORE = " …"
_MORE_ROOM = 8
"""In any unit of limits."""


def preview(markup: Markup, limit: TextLimit, seconds: float) -> Preview:
    """Shows what fits into one message, as `text` and `plain`, with a sign that it goes on."""
    growing = GrowingText(markup, TextLimit(limit.size - _MORE_ROOM, limit.unit))

    def rendered(markdown: str) -> OutboundMessage | None:
        shown = growing.rendered(markdown.encode("utf-8", "replace").decode().replace("\0", ""))
        if not shown.text.strip():
            return None
        return OutboundMessage({"text": shown.text + _MORE, "plain": shown.plain + _MORE})

    return Preview(seconds, limit.size * 5 // 4, rendered)


def in_place_of_draft(
    payloads: Sequence[dict[str, Any]], draft: str, *, has_text: bool
) -> list[dict[str, Any]]:
    """The first payload takes the draft's place; without text to show, the draft is deleted first."""
    if not draft:
        return list(payloads)
    if not has_text:
        return [{"kind": WITHDRAWN, "draft": draft}, *payloads]
    return [{**payloads[0], "draft": draft}, *payloads[1:]]


async def replaced(
    edit: Callable[[], Awaitable[Sent]],
    withdraw: Callable[[], Awaitable[Sent]],
    post: Callable[[], Awaitable[Sent]],
) -> Sent:
    """The outcome of showing an answer in place of its draft. Where the draft cannot be edited, as a person deleted
    it or the bot may not, it is deleted if that is possible, and a new message is sent."""
    sent = await edit()
    if sent.outcome is not Outcome.PERMANENT:
        return sent
    await withdraw()
    return await post()
