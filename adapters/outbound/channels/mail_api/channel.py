"""Gmail over its API."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from email.policy import SMTP
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import pieces
from adapters.outbound.channels.mail_api.definition import DEFINITION
from adapters.outbound.channels.mail_api.gmail import Gmail
from adapters.outbound.channels.mail_api.limits import limits
from adapters.outbound.channels.mail_api.messages import from_base64url, parts_of
from adapters.outbound.channels.mail_api.polling import Poller
from adapters.outbound.mail.compose import compose_reply, mail_messages
from adapters.outbound.oauth.google import GoogleApi, GoogleError, platform_errors
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Attachment, Config, OutboundMessage, Outcome, Sent, Target
from domain.channels.typed import RAW
from ports.capabilities import PlatformError, Polled
from ports.channels import Channel, ChannelDependencies

SENDING_SCOPES = (
    "https://mail.google.com/",
    "https://www.googleapis.com/auth/gmail.modify",
    "https://www.googleapis.com/auth/gmail.compose",
    "https://www.googleapis.com/auth/gmail.send",
)
"""Any of these lets mail be sent (https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send)."""


class MailApi:
    """Polls, Replies, Probed and Fetches of `ports.channels`."""

    default_interval_minutes = 5.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._clock = dependencies.clock
        self._api = GoogleApi.build("Gmail", dependencies, "MAIL_API_URL")
        self._gmail = Gmail(self._api)
        self._poller = Poller(self._gmail)

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await self._poller.step(config, cursor, now, since)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return mail_messages(answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        try:
            mail = compose_reply(str(target["from"]), target, part, key, self._clock.now())
        except (ValueError, IndexError, KeyError) as failure:
            return Sent(Outcome.PERMANENT, f"the mail cannot be addressed: {failure}")
        raw = base64.urlsafe_b64encode(mail.as_bytes(policy=SMTP.clone(cte_type="7bit"))).decode()
        request = {"raw": raw, **({"threadId": target["threadId"]} if target.get("threadId") else {})}
        try:
            return Sent(Outcome.SENT, ref=text(await self._gmail.send(config, request), "id"))
        except GoogleError as error:
            return error.sent

    async def probe(self, config: Config) -> None:
        with platform_errors():
            await self._gmail.profile(config)
        if self._api.lacks(config, SENDING_SCOPES):
            raise PlatformError(
                "The refresh token may not send mail: grant it https://www.googleapis.com/auth/gmail.send too."
            )

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        with platform_errors("The file cannot be fetched: "):
            content = await self._content(config, attachment)
        for piece in pieces(content):
            yield piece

    async def _content(self, config: Config, attachment: Attachment) -> bytes:
        message_id = str(attachment.source["messageId"])
        parts = parts_of(await self._gmail.message(config, message_id))
        part = next((part for part in parts if part.id == attachment.source["partId"]), None)
        if part is None:
            raise PlatformError("The file cannot be fetched: it is no longer part of the mail.")
        if not part.attachment_id:
            return part.data or b""
        file = await self._gmail.attachment(config, message_id, part.attachment_id)
        return from_base64url(text(file, "data"))


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = MailApi(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        sender=channel,
        limits=channel,
        poller=channel,
        probe=channel,
        fetcher=channel,
    )
