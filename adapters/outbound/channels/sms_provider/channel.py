"""The Twilio SMS channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.outcomes import excerpt
from adapters.outbound.channels.sms_provider import delivery, webhook
from adapters.outbound.channels.sms_provider.definition import DEFINITION
from adapters.outbound.channels.sms_provider.limits import limits
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpFailed, HttpRequest

BASE = "SMS_PROVIDER_API_URL"


class TwilioSms:
    """Webhook in, Messages resource out. Has no buttons and no sign of typing: choices are typed."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return delivery.parts(answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        """Twilio has no idempotency key for messages, but calls back with the key of a message that it took."""
        return await delivery.send(
            self._dependencies.http, self._dependencies.address(BASE), config, target, part, key
        )

    async def probe(self, config: Config) -> None:
        """Reads the account. Raises `PlatformError` when it cannot be read, or is closed."""
        url = f"{delivery.account_url(self._dependencies.address(BASE), config)}.json"
        headers = {"authorization": delivery.credentials(config)}
        try:
            answer = await self._dependencies.http.send(HttpRequest("GET", url, headers=headers))
        except HttpFailed as error:
            raise PlatformError(f"Twilio cannot be reached: {error}") from error
        body = answer.json()
        if not answer.ok:
            raise PlatformError(
                f"Twilio answered {answer.status}: {text(body, 'message') or excerpt(answer)}"
            )
        if text(body, "status") not in ("", "active"):
            raise PlatformError(f"The Twilio account is {text(body, 'status')}.")

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        """The media of a message; the credentials go to Twilio alone."""
        url = str(attachment.source["url"])
        is_twilio = self._is_twilio(url)
        headers = {"authorization": delivery.credentials(config)} if is_twilio else {}
        return self._dependencies.http.stream(
            HttpRequest("GET", url, headers=headers, user_address=not is_twilio, follow_redirects=True)
        )

    def _is_twilio(self, url: str) -> bool:
        ours, theirs = urlsplit(self._dependencies.address(BASE)), urlsplit(url)
        if (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc):
            return True
        return theirs.scheme == "https" and (theirs.hostname or "").endswith(".twilio.com")


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = TwilioSms(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
    )
