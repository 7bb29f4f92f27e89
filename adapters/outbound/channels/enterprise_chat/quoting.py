"""What a Teams message replies to, of which Teams gives the beginning, and what it forwards. Pure.

Source: https://learn.microsoft.com/en-us/graph/api/resources/chatmessage (the quotation in the HTML of a reply),
https://learn.microsoft.com/en-us/graph/api/resources/chatmessageattachment (references to messages), and the entity
`quotedReply` of https://github.com/microsoft/teams.py.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import at, frame_object, items, text
from adapters.outbound.channels.common.contents import card_text, forwarded
from adapters.outbound.mail.html_text import html_to_text
from adapters.outbound.system.links import address_behind
from domain.channels.answers import Author
from domain.channels.messages import Quoted

MOST_HTML = 100_000
"""Characters of a message's HTML that are read."""
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_REPLY = "http://schema.skype.com/Reply"
_FORWARD = "http://schema.skype.com/Forward"
_EMOJI = "http://schema.skype.com/Emoji"
_MENTION = "http://schema.skype.com/Mention"
_FORWARDED, _REPLIED = "forwardedMessageReference", "messageReference"
"""Types of attachments that hold another message as JSON."""
CARDS = ("application/vnd.microsoft.card.", "application/vnd.microsoft.teams.card.")
_BOT = "28:"
"""Ids of bots begin with it."""


@dataclass(frozen=True, slots=True)
class HtmlPart:
    """What the HTML of a message says beyond its text. `written` are the sender's own words, `forwarded` those of the
    forwarded message, `label_only` the same without addresses; `links` are labels and addresses."""

    written: str = ""
    forwarded: str = ""
    label_only: str = ""
    links: Sequence[tuple[str, str]] = ()


def read_html(activity: Mapping[str, Any]) -> HtmlPart:
    """The HTML part of an activity. Teams gives the text without addresses, and without a forwarded message."""
    content = _html(activity)
    if not content:
        return HtmlPart()
    from lxml import html

    root = _parsed(content)
    for unread in root.xpath(f"//blockquote[@itemtype='{_REPLY}'] | //img[not(@itemtype='{_EMOJI}')]"):
        unread.drop_tree()
    own = text(activity, "recipient", "name")
    for mention in root.xpath(f"//at | //span[@itemtype='{_MENTION}']"):
        if own and mention.text_content().strip() == own:
            mention.drop_tree()
    forwarded = []
    for quotation in root.xpath(f"//blockquote[@itemtype='{_FORWARD}']"):
        forwarded.append(
            (html_to_text(html.tostring(quotation, encoding="unicode")), quotation.text_content())
        )
        quotation.drop_tree()
    links = [(link.text_content(), link.get("href", "")) for link in root.iter("a")]
    return HtmlPart(
        html_to_text(html.tostring(root, encoding="unicode")),
        "\n\n".join(written for written, _ in forwarded),
        " ".join(label_only for _, label_only in forwarded),
        links,
    )


def _html(activity: Mapping[str, Any]) -> str:
    """The HTML of an activity, empty if it adds nothing to the text."""
    parts = (part for part in items(activity, "attachments") if text(part, "contentType") == "text/html")
    content = next((text(part, "content") for part in parts), "")
    adds = _FORWARD in content or "href" in content or not text(activity, "text").strip()
    return content if adds else ""


def quoted_in(activity: Mapping[str, Any], part: HtmlPart) -> Quoted | None:
    """By an entity or an attachment of the activity, else by its HTML."""
    for entity in items(activity, "entities"):
        if text(entity, "type") == "quotedReply":
            reply = at(entity, "quotedReply")
            return _quoted(
                activity, text(reply, "preview"), text(reply, "senderName"), text(reply, "senderId")
            )
    for attachment in items(activity, "attachments"):
        kind, content = text(attachment, "contentType"), text(attachment, "content")
        if kind in (_FORWARDED, _REPLIED):
            return _referenced(activity, frame_object(content))
        if kind == "text/html" and _REPLY in content:
            return _in_html(activity, content)
    is_forward = any(_FORWARD in text(attachment, "content") for attachment in items(activity, "attachments"))
    shown = "\n\n".join(filter(None, (part.forwarded, cards_of(activity) if is_forward else "")))
    return Quoted(shown) if shown else None


def cards_of(activity: Mapping[str, Any]) -> str:
    """What the cards of a message show, as those of programs that people forward."""
    cards = (part for part in items(activity, "attachments") if text(part, "contentType").startswith(CARDS))
    return "\n".join(filter(None, (card_text(at(card, "content")) for card in cards)))


def forwarded_in(activity: Mapping[str, Any]) -> dict[str, object]:
    """The `context` of a forwarded message; where it stands in the HTML, Teams does not name its author."""
    for attachment in items(activity, "attachments"):
        if text(attachment, "contentType") == _FORWARDED:
            message = frame_object(text(attachment, "content"))
            author = text(message, "originalMessageSender", "user", "displayName")
            return forwarded(author, text(message, "originalSentDateTime"))
    return {}


def _referenced(activity: Mapping[str, Any], message: Mapping[str, Any]) -> Quoted | None:
    forwarded = text(message, "originalMessageContent")[:MOST_HTML]
    sender = at(message, "originalMessageSender" if forwarded else "messageSender")
    written = html_to_text(forwarded) if forwarded else text(message, "messagePreview")
    user = at(sender, "user") or at(sender, "application")
    return _quoted(activity, written, text(user, "displayName"), text(user, "id"))


def _in_html(activity: Mapping[str, Any], content: str) -> Quoted | None:
    """The first quotation. The properties of its elements hold their texts."""
    for quotation in _parsed(content).xpath(f"//blockquote[@itemtype='{_REPLY}']"):
        for link in quotation.iter("a"):
            link.tail = address_behind(link.text_content(), link.get("href", "")) + (link.tail or "")
        texts = dict.fromkeys(("preview", "copy", "mri"), "")
        for element in quotation.xpath(".//*[@itemprop]"):
            name = element.get("itemprop")
            texts[name] = texts.get(name, "") + element.text_content()
        sender = "".join(quotation.xpath(".//*[@itemprop='mri']/@itemid")[-1:])
        return _quoted(activity, texts["preview"] or texts["copy"], texts["mri"], sender)
    return None


def _parsed(content: str) -> Any:
    from lxml import html

    return html.document_fromstring(f"<div>{_UNREADABLE.sub('', content[:MOST_HTML])}</div>")


def _quoted(activity: Mapping[str, Any], preview: str, name: str, sender: str) -> Quoted | None:
    is_own = sender.startswith(_BOT) and sender == text(activity, "recipient", "id")
    quoted = Quoted(preview.strip(), Author.RESOURCE if is_own else name.strip() or sender)
    return quoted if quoted.is_given else None
