"""Slack's way of writing messages (https://docs.slack.dev/messaging/formatting-message-text), read plainly."""

from __future__ import annotations

import re

GREETING = "Hello! Write your question behind the command, mention me, or send me a direct message."

_MARK = re.compile(r"<([^<>\s][^<>]*)>")
_TYPED = re.compile(r"<(?![@#!][^<>]|https?://|mailto:)([^<>]*)>")
_LEADING_MENTION = re.compile(r"\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>")


def mentions(text: str, user: str) -> bool:
    """Whether the text names the user."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def leading_mention(text: str) -> str:
    """The id of the user that the text begins with, empty where it begins with none."""
    found = _LEADING_MENTION.match(text)
    return found[1] if found else ""


def without_mention(text: str, user: str) -> str:
    """The text without the user's name, wherever it stands."""
    return re.sub(rf"<@{re.escape(user)}(?:\|[^<>]*)?>[,:]?\s*", "", text).strip()


def plain(text: str) -> str:
    """Links, names and escaped characters as a person sees them."""
    unfolded = _MARK.sub(lambda found: _unfolded(found[1]), text)
    return unfolded.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def plain_command(text: str) -> str:
    """As `plain`, for the text of a slash command. There names and addresses are marked only where the command was
    set to escape them, so that other words in angle brackets are what somebody typed."""
    return plain(_TYPED.sub(r"&lt;\1&gt;", text))


def _unfolded(inner: str) -> str:
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return f"@{label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return f"{label} ({target})" if label and label != target else target
