"""What a Teams message replies to: Teams gives the beginning of it. Pure.

Source: https://learn.microsoft.com/en-us/graph/api/resources/chatmessage (the quotation in the HTML of a reply), and
the entity `quotedReply` of https://github.com/microsoft/teams.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.answers import Author
from domain.channels.messages import Quoted

MOST_HTML = 100_000
"""Characters of a message's HTML that are read."""
_UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_BEFORE, _INSIDE, _AFTER = range(3)
"""Where the parser is, seen from the quotation."""
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
    from lxml import etree

    parser = etree.HTMLParser(target=_Quotation(), no_network=True)
    parser.feed(f"<div>{_UNREADABLE.sub('', content[:MOST_HTML])}</div>")
    read: _Quotation = parser.close()
    return _quoted(activity, read.text_of("preview", "copy"), read.text_of("mri"), read.sender)


class _Quotation:
    """A parser target, which reads the first quotation. The properties of its elements hold their texts."""

    def __init__(self) -> None:
        self.sender = ""
        self._texts: dict[str, str] = {}
        self._open: list[str] = []
        self._state = _BEFORE

    def text_of(self, *names: str) -> str:
        return next((self._texts[name] for name in names if name in self._texts), "")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._state == _BEFORE and tag == "blockquote" and attributes.get("itemtype") == _REPLY:
            self._state = _INSIDE
            self._open.clear()
        name = attributes.get("itemprop", "")
        if self._state == _INSIDE and name == "mri":
            self.sender = attributes.get("itemid", "")
        self._open.append(name)

    def end(self, tag: str) -> None:
        if self._open:
            self._open.pop()
        if self._state == _INSIDE and not self._open:
            self._state = _AFTER

    def data(self, data: str) -> None:
        if self._state == _INSIDE:
            for name in filter(None, self._open):
                self._texts[name] = self._texts.get(name, "") + data

    def close(self) -> _Quotation:
        return self


def _quoted(activity: Mapping[str, Any], preview: str, name: str, sender: str) -> Quoted | None:
    is_own = sender.startswith(_BOT) and sender == text(activity, "recipient", "id")
    quoted = Quoted(preview.strip(), Author.RESOURCE if is_own else name.strip() or sender)
    return quoted if quoted.is_given else None
