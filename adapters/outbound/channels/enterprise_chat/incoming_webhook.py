"""Posting into a Teams channel through its incoming webhook.

Source: https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.common.outcomes import by_status, excerpt, send
from domain.channels.messages import Outcome, Sent
from ports.http import Http, HttpAnswer, HttpRequest

_LEGACY = (".webhook.office.com", "outlook.office.com", "outlook.office365.com")
_INNER_STATUS = re.compile(rb"HTTP error (\d{3})")
_FAILED = b"delivery failed"


def takes_message_cards(url: str) -> bool:
    """Whether the address is one of a legacy connector, which takes message cards."""
    host = urlsplit(url).hostname or ""
    return host.endswith(_LEGACY)


async def post(http: Http, url: str, body: Mapping[str, Any]) -> Sent:
    """Posts a card. The address is the user's, so the address policy applies."""
    return await send(http, HttpRequest("POST", url, json=body, user_address=True), outcome)


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer. Throttling and other refusals come as HTTP 200 with a text that names the status."""
    inner = _INNER_STATUS.search(answer.body)
    if answer.ok and inner:
        return by_status(HttpAnswer(int(inner[1]), answer.headers, answer.body), excerpt(answer))
    if answer.ok and _FAILED in answer.body:
        return Sent(Outcome.TRANSIENT, excerpt(answer))
    return by_status(answer)
