"""The set-up steps of a channel with this server's addresses in them, and which channels work from where. Pure."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from adapters.inbound.console.config_form import in_words
from domain.channels.model import ChannelDefinition
from domain.instances.model import Instance

LATER = "(the callback address, which the next page shows)"
PRIVATE_ENDINGS = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
_CALLBACK = re.compile(r"\{base_url\}\S*\{instance_id\}/\w+")
_LINK = re.compile(r"https?://[^\s,;'\")]*[^\s,;'\").:]")
_NO_PAGE = re.compile(
    r"http:.*|.*/api/agent/.*|https://www\.googleapis\.com/auth/.*|https://[\w.]*example\.(com|org).*"
)
"""Addresses in steps that name something and lead to no page."""


def callback_address(base: str, definition: ChannelDefinition, instance: Instance) -> str:
    path = f"/api/agent/channels/{instance.channel_id}/{instance.id}/{definition.setup.webhook_path}"
    return base.rstrip("/") + path


def has_callback(definition: ChannelDefinition) -> bool:
    """Whether there is an address that somebody has to know: a webhook, or the trigger of a schedule."""
    return definition.setup.webhook_required or definition.setup.webhook_path != "webhook"


def steps_of(definition: ChannelDefinition, address: str | None) -> list[Markup]:
    """The steps with links; `address` is the callback address, None before there is one."""
    steps = (_CALLBACK.sub(address or LATER, step) for step in definition.setup.steps)
    return [_linked(in_words(definition, step)) for step in steps]


def _linked(text: str) -> Markup:
    made, end = Markup(), 0
    for match in _LINK.finditer(text):
        made += escape(text[end : match.start()]) + _link(match[0])
        end = match.end()
    return made + escape(text[end:])


def _link(address: str) -> Markup:
    if _NO_PAGE.fullmatch(address):
        return Markup("<code>{}</code>").format(address)
    return Markup('<a href="{0}" target="_blank" rel="noopener noreferrer">{0}</a>').format(address)


def is_public(address: str) -> bool:
    """Whether a platform on the internet may be able to call an address, told without resolving its name."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        reachable = ip_address(host).is_global
    except ValueError:
        reachable = "." in host and not host.endswith(PRIVATE_ENDINGS)
    return parts.scheme == "https" and reachable


def works_from_here(definition: ChannelDefinition, base: str) -> bool:
    """Whether a channel works with this server at this address."""
    return not definition.setup.webhook_required or bool(definition.without_public_address) or is_public(base)
