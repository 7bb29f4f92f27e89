"""The sms-provider channel: Twilio. It has no buttons and no typing indicator: choices are typed.

https://www.twilio.com/docs/messaging/api/message-resource and the error dictionary,
https://www.twilio.com/docs/api/errors
"""

import base64
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.channels.common import addresses, client, outcomes
from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.net.urls import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import PlatformAddress
from domain.channels.rich import RichKind
from domain.conversations.rich_text import with_text
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

from . import webhook
from .config import CONFIG, DEFINITION, KEY, OF_RECIPIENT, TARGET, TEXT_LIMIT, SmsConfig, SmsTarget

BASE = PlatformAddress("SMS_PROVIDER_API_URL", "https://api.twilio.com")

API_VERSION = "2010-04-01"
MAX_MEDIA_BYTES = 5 * 1024 * 1024
STATUS_SECONDS = 20.0
"""Within which a status callback arrives for a message that Twilio accepted."""
_WAIT = frozenset({14107, 20429, 21611, 30001, 63018})
"""Too many requests, or the sender's queue is full."""
_TRY_AGAIN = frozenset({20500, 20503, 20504})
"""Twilio's own failures: internal error, service unavailable, gateway timeout."""
_ADDRESS = re.compile(rf"(?:whatsapp:)?{addresses.PHONE.pattern}")
_MEDIA_REFUSED = frozenset({"12300", "21620", "21623"})
"""Twilio does not accept the picture (its type, its address, too many): a link replaces it."""


class Delivery(addresses.NoDefaultAddress):
    address = f"{addresses.PHONE_EXAMPLE}, or whatsapp:+4915112345678 for WhatsApp through Twilio"

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._client = client.PlatformClient(
            dependencies.http,
            "Twilio",
            lambda answer: (
                f"HTTP {answer.status}: {text(answer.json(), 'message') or outcomes.excerpt(answer)}"
            ),
        )

    async def open(self, config: SmsConfig, request: OpenRequest) -> Opened[SmsTarget]:
        """The address is the session of the messages that come from there (`From`)."""
        to = addresses.read_address(_ADDRESS, request.to, self.address)[0]
        return Opened(to, SmsTarget(to=to, callback=request.callback_address))

    def render(self, config: SmsConfig, target: SmsTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """The text split within the limit, pictures as MMS, other files as links."""
        cards = answer.rich.cards if answer.rich else ()
        answer = with_text(_without_pictures(answer))
        texts = render(Markup.PLAIN, answer.text, TEXT_LIMIT)
        messages = [OutboundMessage({"body": piece.text}) for piece in texts]
        for artifact in answer.artifacts:
            payload = {"body": _link(artifact.name, artifact.url)}
            if artifact.is_image and (artifact.size is None or artifact.size <= MAX_MEDIA_BYTES):
                payload = {"body": "", "media": artifact.url, "name": artifact.name}
            messages.append(OutboundMessage(payload))
        media = ({"body": "", "media": card.picture, "name": card.title} for card in cards if card.picture)
        return [*messages, *map(OutboundMessage, media)]

    def limits(self, config: SmsConfig, target: SmsTarget) -> Limits:
        """Twilio queues messages at the pace of the account's numbers; it answers 429 only to too many requests at
        a time (https://www.twilio.com/docs/api/errors/20429)."""
        return Limits(config.account_sid)

    async def send(self, config: SmsConfig, target: SmsTarget, message: OutboundMessage, key: str) -> Sent:
        """Twilio has no idempotency key for messages, but calls back with the key of a message that it accepted."""
        payload = message.payload
        sent = await self._post(config, _fields(config, target, payload, key))
        code = sent.detail.partition("[")[2].partition("]")[0]
        is_refused = sent.outcome is Outcome.PERMANENT and code in _MEDIA_REFUSED
        if is_refused and "media" in payload:
            link = {"body": _link(text(payload, "name"), text(payload, "media"))}
            return await self._post(config, _fields(config, target, link, key))
        return sent

    async def _post(self, config: SmsConfig, fields: Mapping[str, str]) -> Sent:
        url = f"{self._account(config)}/Messages.json"
        request = HttpRequest("POST", url, headers=_credentials(config), form=fields)
        sent = await outcomes.send(self._dependencies.http, request, outcome)
        has_callback = sent.outcome is Outcome.UNKNOWN and "StatusCallback" in fields
        return replace(sent, retry_after=STATUS_SECONDS) if has_callback else sent

    async def probe(self, config: SmsConfig) -> None:
        """Raises `PlatformError` when the account cannot be read, or is closed."""
        url = f"{self._account(config)}.json"
        account = await self._client.read(HttpRequest("GET", url, headers=_credentials(config)))
        if text(account, "status") not in ("", "active"):
            raise PlatformError(f"The Twilio account is {text(account, 'status')}.")

    def fetch(self, config: SmsConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """The media of a message; the credentials are sent to Twilio alone."""
        url = str(attachment.source["url"])
        is_twilio = client.is_address_of(url, self._base(), ("twilio.com",))
        headers = _credentials(config) if is_twilio else {}
        return self._client.download(
            HttpRequest("GET", url, headers=headers, user_address=not is_twilio, follow_redirects=True)
        )

    def _account(self, config: SmsConfig) -> str:
        return f"{self._base()}/{API_VERSION}/Accounts/{segment(config.account_sid)}"

    def _base(self) -> str:
        return self._dependencies.address(BASE).rstrip("/")


def _without_pictures(answer: Answer) -> Answer:
    """The answer whose cards have no picture: those are sent as MMS."""
    if answer.rich is None:
        return answer
    cards = tuple(replace(card, picture="") for card in answer.rich.cards)
    return replace(answer, rich=replace(answer.rich, cards=cards))


def _link(name: str, url: str) -> str:
    return f"{name[: TEXT_LIMIT.size // 4]}: {url}" if len(url) < TEXT_LIMIT.size // 2 else url


def _fields(config: SmsConfig, target: SmsTarget, payload: Mapping[str, Any], key: str) -> dict[str, str]:
    network, separator, _ = target.to.rpartition(":")  # such as whatsapp:
    fields = {
        "To": target.to,
        "MessagingServiceSid": config.messaging_service_sid,
        "From": "" if config.messaging_service_sid else f"{network}{separator}{config.provider_phone_number}",
        "Body": payload.get("body", ""),
        "MediaUrl": payload.get("media", ""),
    }
    host = addresses.named_host(target.callback, "http", "https")
    if host and "_" not in host:  # what Twilio accepts
        fields["StatusCallback"] = f"{target.callback}?{urlencode({KEY: key})}"
    return {name: value for name, value in fields.items() if value}


def outcome(answer: HttpAnswer) -> Sent:
    body = answer.json()
    if answer.ok:
        return Sent(Outcome.SENT, ref=text(body, "sid"))
    code = at(body, "code")
    detail = f"[{code}] {text(body, 'message')}" if code else ""
    if code in _WAIT:
        return Sent(Outcome.RETRY_AFTER, detail, retry_after=answer.retry_after)
    if code in _TRY_AGAIN and not answer.retry_after:
        return Sent(Outcome.TRANSIENT, detail)
    return replace(outcomes.by_status(answer, detail), of_recipient=code in OF_RECIPIENT)


def _credentials(config: SmsConfig) -> dict[str, str]:
    """Basic authentication (RFC 7617)."""
    pair = base64.b64encode(f"{config.account_sid}:{config.auth_token}".encode()).decode()
    return {"authorization": f"Basic {pair}"}


def build(dependencies: ChannelDependencies) -> Channel[SmsConfig, SmsTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        rich_kinds=frozenset({RichKind.CARDS}),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=delivery,
        takes_opt_outs=True,
        opener=delivery,
        limits=delivery,
        probe=delivery,
        fetcher=delivery,
    )
