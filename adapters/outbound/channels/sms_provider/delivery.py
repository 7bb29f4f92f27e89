"""Sends answers through Twilio's Messages resource.

Source: https://www.twilio.com/docs/messaging/api/message-resource and the error dictionary,
https://www.twilio.com/docs/api/errors
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.channels.sms_provider.definition import SMS_LIMIT
from adapters.outbound.http.paths import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Answer, Artifact, Config, OutboundMessage, Outcome, Sent, Target
from ports.http import Http, HttpAnswer, HttpRequest

API_VERSION = "2010-04-01"
MAX_MEDIA_BYTES = 5 * 1024 * 1024

KEY = "part"
"""The query parameter by which a status callback says which part it is about."""
STATUS_SECONDS = 20.0
"""Within which a message that Twilio took shows itself by a status callback."""

_WAIT = frozenset({14107, 20429, 21611, 30001, 63018})
"""Too many requests, or the sender's queue is full."""
_TRY_AGAIN = frozenset({20500, 20503, 20504})
"""Twilio's own failures: internal error, service unavailable, gateway timeout."""

_MEDIA_REFUSED = frozenset({12300, 21620, 21623})
"""Twilio does not take the picture (its type, its address, too many): a link goes in its place."""


def parts(answer: Answer) -> Sequence[OutboundMessage]:
    """The answer as messages: the text split within the limit, pictures as MMS, other files as links."""
    rendered = render(Markup.PLAIN, answer.text, SMS_LIMIT) if answer.text.strip() else []
    messages = [OutboundMessage({"body": each.text}) for each in rendered]
    return [*messages, *(_file(artifact) for artifact in answer.artifacts)]


def _file(artifact: Artifact) -> OutboundMessage:
    fits = artifact.size is None or artifact.size <= MAX_MEDIA_BYTES
    if artifact.is_image and fits:
        return OutboundMessage({"body": "", "media": artifact.url, "name": artifact.name})
    return OutboundMessage({"body": _link(artifact.name, artifact.url)})


def _link(name: str, url: str) -> str:
    return f"{name[: SMS_LIMIT.size // 4]}: {url}" if len(url) < SMS_LIMIT.size // 2 else url


async def send(
    http: Http, base: str, config: Config, target: Target, part: OutboundMessage, key: str
) -> Sent:
    """Sends one message; a refused picture is sent again as a link."""
    sent = await _post(http, base, config, _fields(config, target, part.payload, key))
    if sent.outcome is Outcome.PERMANENT and "media" in part.payload and _code(sent.detail) in _MEDIA_REFUSED:
        link = {"body": _link(part.payload["name"], part.payload["media"])}
        return await _post(http, base, config, _fields(config, target, link, key))
    return sent


def _fields(config: Config, target: Target, payload: Mapping[str, Any], key: str) -> dict[str, str]:
    fields = {"To": str(target["to"])}
    if config.get("messagingServiceSid"):
        fields["MessagingServiceSid"] = config["messagingServiceSid"]
    else:
        fields["From"] = config["providerPhoneNumber"]
    if payload.get("body"):
        fields["Body"] = payload["body"]
    if payload.get("media"):
        fields["MediaUrl"] = payload["media"]
    callback = str(target.get("callback", ""))
    if _can_be_called(callback):
        fields["StatusCallback"] = f"{callback}?{urlencode({KEY: key})}"
    return fields


def _can_be_called(url: str) -> bool:
    """Whether Twilio takes the address as a status callback: a full host name without an underscore."""
    try:
        parsed = urlsplit(url)
        host = parsed.hostname or ""
    except ValueError:
        return False
    is_name = "." in host and "_" not in host and not host.rpartition(".")[2].isdigit()
    return parsed.scheme in ("http", "https") and is_name


async def _post(http: Http, base: str, config: Config, fields: Mapping[str, str]) -> Sent:
    sent = await exchange(
        http,
        HttpRequest(
            "POST",
            f"{account_url(base, config)}/Messages.json",
            headers={"authorization": credentials(config)},
            form=fields,
        ),
    )
    if not isinstance(sent, Sent):
        return _outcome(sent)
    told = sent.outcome is Outcome.UNKNOWN and "StatusCallback" in fields
    return replace(sent, retry_after=STATUS_SECONDS) if told else sent


def _outcome(answer: HttpAnswer) -> Sent:
    body = answer.json()
    if answer.ok:
        return Sent(Outcome.SENT, ref=text(body, "sid"))
    code = at(body, "code")
    detail = f"[{code}] {text(body, 'message')}" if code else ""
    if code in _WAIT:
        return Sent(Outcome.RETRY_AFTER, detail, retry_after=answer.retry_after)
    if code in _TRY_AGAIN and not answer.retry_after:
        return Sent(Outcome.TRANSIENT, detail)
    return by_status(answer, detail)


def _code(detail: str) -> int:
    number = detail.partition("[")[2].partition("]")[0]
    return int(number) if number.isdigit() else 0


def account_url(base: str, config: Config) -> str:
    """The address of the account's resources."""
    return f"{base.rstrip('/')}/{API_VERSION}/Accounts/{segment(config['accountSid'])}"


def credentials(config: Config) -> str:
    """The value of the Authorization header: Basic, account SID and auth token (RFC 7617)."""
    pair = f"{config['accountSid']}:{config['authToken']}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
