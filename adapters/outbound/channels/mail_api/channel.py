"""Gmail over its API."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from datetime import datetime
from email.policy import SMTP
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.outcomes import by_status, failed
from adapters.outbound.channels.mail_api.definition import DEFINITION
from adapters.outbound.channels.mail_api.gmail import Gmail, words_of
from adapters.outbound.channels.mail_api.limits import limits
from adapters.outbound.channels.mail_api.messages import from_base64url, parts_of
from adapters.outbound.channels.mail_api.polling import DEFAULT_WAIT, Poller
from adapters.outbound.mail.compose import Body, compose_reply, render_body
from adapters.outbound.oauth.google import GoogleTokens
from adapters.outbound.oauth.google_api import is_rate_limit
from adapters.outbound.oauth.tokens import TokenRefused, TokenUnavailable
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Attachment, Config, OutboundMessage, Outcome, Sent, Target
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies, PlatformError, Polled
from ports.http import HttpAnswer, HttpFailed

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
        self._tokens = GoogleTokens(dependencies.http, dependencies.clock, dependencies.address)
        self._gmail = Gmail(dependencies.http, self._tokens, dependencies.address)
        self._poller = Poller(self._gmail)

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await self._poller.step(config, cursor, now, since)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        body = render_body(answer)
        return [OutboundMessage({"plain": body.plain, "html": body.html})] if body else []

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        body = Body(str(part.payload["plain"]), str(part.payload["html"]))
        try:
            mail = compose_reply(str(target["from"]), target, body, key, self._clock.now())
        except (ValueError, IndexError, KeyError) as failure:
            return Sent(Outcome.PERMANENT, f"the mail cannot be addressed: {failure}")
        raw = base64.urlsafe_b64encode(mail.as_bytes(policy=SMTP.clone(cte_type="7bit"))).decode()
        request = {"raw": raw, **({"threadId": target["threadId"]} if target.get("threadId") else {})}
        try:
            return _sent(await self._gmail.send(config, request))
        except TokenRefused as failure:
            return Sent(Outcome.PERMANENT, f"Google no longer takes the credentials: {failure}")
        except TokenUnavailable as failure:
            return Sent(Outcome.TRANSIENT, str(failure))
        except HttpFailed as failure:
            return failed(failure)

    async def probe(self, config: Config) -> None:
        answer = await self._asked(self._gmail.profile(config))
        if not answer.ok:
            raise PlatformError(words_of(answer))
        if self._tokens.lacks(config, SENDING_SCOPES):
            raise PlatformError(
                "The refresh token may not send mail: grant it https://www.googleapis.com/auth/gmail.send too."
            )

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        message_id = str(attachment.source["messageId"])
        answer = await self._asked(self._gmail.message(config, message_id))
        parts = parts_of(answer.json()) if answer.ok else []
        part = next((each for each in parts if each.id == attachment.source["partId"]), None)
        if part is None:
            raise PlatformError(f"the file cannot be fetched: {words_of(answer)}")
        content = part.data or b""
        if part.attachment_id:
            file = await self._asked(self._gmail.attachment(config, message_id, part.attachment_id))
            if not file.ok:
                raise PlatformError(f"the file cannot be fetched: {words_of(file)}")
            content = from_base64url(text(file.json(), "data"))
        for start in range(0, len(content), 65536):
            yield content[start : start + 65536]

    @staticmethod
    async def _asked(call: Awaitable[HttpAnswer]) -> HttpAnswer:
        try:
            return await call
        except (TokenRefused, TokenUnavailable, HttpFailed) as failure:
            raise PlatformError(str(failure)) from failure


def _sent(answer: HttpAnswer) -> Sent:
    if is_rate_limit(answer):
        return Sent(Outcome.RETRY_AFTER, words_of(answer), retry_after=answer.retry_after or DEFAULT_WAIT)
    return by_status(answer, words_of(answer), ref=text(answer.json(), "id"))


def build(dependencies: ChannelDependencies) -> MailApi:
    """The channel, wired with what the kit holds."""
    return MailApi(dependencies)
