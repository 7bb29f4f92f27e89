"""Gmail over its API."""

import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from email.policy import SMTP

from adapters.outbound.channels.common import addresses, files, outcomes
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.mail.compose import ADDRESS, compose_reply, mail_messages, opened_mail
from adapters.outbound.mail.guards import REASONS
from adapters.outbound.mail.mime import content_of
from adapters.outbound.net.google import TOKEN_URL, GoogleApi, GoogleError, platform_errors
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.system import Clock

from .config import CONFIG, DEFINITION, TARGET, THREAD_DOMAIN, GmailConfig, GmailTarget
from .gmail import Gmail, enclosed_content, from_base64url, message_of, parts_of
from .polling import GmailPoller

BASE = PlatformAddress("MAIL_API_URL", "https://gmail.googleapis.com")

PER_ACCOUNT = (Quota(150, 60.0, burst=10),)
"""250 quota units a second and user, of which a message takes 100
(https://developers.google.com/workspace/gmail/api/reference/quota)."""
_NO_ADDRESS = "Invalid To header"
"""What Gmail says of an address that is none."""
MAX_CONCURRENCY = 4
"""Calls of a user at a time; Gmail does not publish its limit."""
_GONE = "The file cannot be fetched: it is no longer part of the mail."
SENDING_SCOPES = (
    "https://mail.google.com/",
    "https://www.googleapis.com/auth/gmail.modify",
    "https://www.googleapis.com/auth/gmail.compose",
    "https://www.googleapis.com/auth/gmail.send",
)
"""Any of these lets mail be sent
(https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send)."""


@dataclass(frozen=True, slots=True)
class GmailChannel(addresses.NoDefaultAddress):
    """The capabilities of the channel but for polling."""

    api: GoogleApi
    gmail: Gmail
    clock: Clock
    address: str = ADDRESS

    def render(self, config: GmailConfig, target: GmailTarget, answer: Answer) -> Sequence[OutboundMessage]:
        return mail_messages(answer)

    def limits(self, config: GmailConfig, target: GmailTarget) -> Limits:
        return Limits(config.refresh_token, per_account=PER_ACCOUNT, max_concurrency=MAX_CONCURRENCY)

    async def open(self, config: GmailConfig, request: OpenRequest) -> Opened[GmailTarget]:
        return opened_mail(THREAD_DOMAIN, config.refresh_token, request, GmailTarget)

    async def send(
        self, config: GmailConfig, target: GmailTarget, message: OutboundMessage, key: str
    ) -> Sent:
        try:
            own = target.own_address or text(await self.gmail.profile(config), "emailAddress")
            mail = compose_reply(own, target, message, key, self.clock.now())
        except GoogleError as error:
            return outcomes.repeatable(error.sent)
        except (ValueError, IndexError) as failure:
            reason = f"the mail cannot be addressed: {failure}"
            return Sent(Outcome.PERMANENT, reason, of_recipient=True)
        raw = base64.urlsafe_b64encode(mail.as_bytes(policy=SMTP.clone(cte_type="7bit"))).decode()
        request = {"raw": raw, **({"threadId": target.thread_id} if target.thread_id else {})}
        try:
            return Sent(Outcome.SENT, ref=text(await self.gmail.send(config, request), "id"))
        except GoogleError as error:
            return replace(error.sent, of_recipient=_NO_ADDRESS in str(error))

    async def probe(self, config: GmailConfig) -> None:
        with platform_errors():
            await self.gmail.profile(config)
        if self.api.lacks(config, SENDING_SCOPES):
            raise PlatformError(
                "The refresh token may not send mail: grant it https://www.googleapis.com/auth/gmail.send too."
            )

    async def fetch(self, config: GmailConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        message_id, part_id = str(attachment.source["messageId"]), str(attachment.source.get("partId", ""))
        with platform_errors("The file cannot be fetched: "):
            parts = parts_of(message_of(await self.gmail.message(config, message_id)))
            part = next((part for part in parts if part.id == part_id), None)
            if part is None:
                raise PlatformError(_GONE)
            if part.attachment_id:
                file = await self.gmail.attachment(config, message_id, part.attachment_id)
                part.fill(from_base64url(text(file, "data")))
            if part.is_enclosed_mail and not part.attachment_id and not part.has_content:
                raw = from_base64url(text(await self.gmail.message(config, message_id, "raw"), "raw"))
                content = enclosed_content(raw, part_id)
            else:
                member = attachment.source.get("member")
                content = content_of(part, member if isinstance(member, int) else None)
        if content is None:
            raise PlatformError(_GONE)
        for piece in files.pieces(content):
            yield piece


def build(dependencies: ChannelDependencies) -> Channel[GmailConfig, GmailTarget]:
    api = GoogleApi.build("Gmail", dependencies, BASE)
    gmail = Gmail(api)
    channel = GmailChannel(api, gmail, dependencies.clock)
    return Channel(
        definition=DEFINITION,
        first_line_decides=True,
        addresses=(BASE, TOKEN_URL),
        config=CONFIG,
        target=TARGET,
        sender=channel,
        opener=channel,
        limits=channel,
        poller=GmailPoller(gmail),
        refusals=REASONS,
        probe=channel,
        fetcher=channel,
    )
