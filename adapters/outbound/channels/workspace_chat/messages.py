"""The JSON of Slack's messages: text, blocks with buttons, and the id of a repeated one. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from adapters.outbound.channels.common.messages import cut_labels
from domain.channels.model import TextLimit

BLOCK_LIMIT = TextLimit(3000)
"""Of the text in one section block (https://docs.slack.dev/reference/block-kit/blocks/section-block)."""
LONGEST_LABEL = 75
"""Of a button (https://docs.slack.dev/reference/block-kit/block-elements/button-element)."""


ACTION = "choice_"
"""With which the ids of our buttons begin."""


def message_of(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The text, and with choices the blocks of a message."""
    message: dict[str, Any] = {"text": payload["text"]}
    if choices := payload.get("choices"):
        message["blocks"] = [section(payload["text"]), {"type": "actions", "elements": _buttons(choices)}]
    return message


def section(markup: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": markup}}


def _buttons(choices: list[list[str]]) -> list[dict[str, Any]]:
    labels = cut_labels([label for label, _ in choices], LONGEST_LABEL)
    return [
        {
            "type": "button",
            "text": {"type": "plain_text", "text": label},
            "action_id": f"{ACTION}{number}",
            "value": value,
        }
        for number, (label, (_, value)) in enumerate(zip(labels, choices, strict=True), start=1)
    ]


def posted(channel: str, thread: str, message: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The body of chat.postMessage. Its client_msg_id, a UUID, is the same for every try."""
    message_id = str(UUID(bytes=hashlib.sha256(key.encode()).digest()[:16], version=4))
    body = {"channel": channel, **message, "client_msg_id": message_id}
    return {**body, "thread_ts": thread} if thread else body
