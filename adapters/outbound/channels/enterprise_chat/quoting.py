"""What a Teams message replies to: Teams gives the beginning of it. Pure.

Source: https://learn.microsoft.com/en-us/graph/api/resources/chatmessage (the quotation in the HTML of a reply), and
the entity `quotedReply` of https://github.com/microsoft/teams.py.
"""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import Author, Quoted

_REPLY = "http://schema.skype.com/Reply"
_BOT = "28:"
"""Ids of bots begin with it."""


def quoted_in(activity: Mapping[str, Any]) -> Quoted | None:
    """By an entity of the activity, else by its HTML."""
    for entity in items(activity, "entities"):
        if text(entity, "type") == "quotedReply":
            reply = at(entity, "quotedReply")
            return _quoted(
                activity, text(reply, "preview"), text(reply, "senderName"), text(reply, "senderId")
            )
    for attachment in items(activity, "attachments"):
        content = text(attachment, "content")
        if text(attachment, "contentType") == "text/html" and _REPLY in content:
            return _in_html(activity, content)
    return None


def _in_html(activity: Mapping[str, Any], content: str) -> Quoted | None:
    from lxml import html

    quotations = html.fragment_fromstring(content, create_parent=True).xpath(
        "//blockquote[@itemtype=$type]", type=_REPLY
    )
    if not quotations:
        return None
    author = quotations[0].xpath(".//*[@itemprop='mri']")
    preview = quotations[0].xpath(".//*[@itemprop='preview' or @itemprop='copy']")
    name, sender = (author[0].text_content(), author[0].get("itemid", "")) if author else ("", "")
    return _quoted(activity, preview[0].text_content() if preview else "", name, sender)


def _quoted(activity: Mapping[str, Any], preview: str, name: str, sender: str) -> Quoted | None:
    is_own = sender.startswith(_BOT) and sender == text(activity, "recipient", "id")
    quoted = Quoted(preview.strip(), Author.RESOURCE if is_own else name.strip() or sender)
    return quoted if quoted.is_given else None
