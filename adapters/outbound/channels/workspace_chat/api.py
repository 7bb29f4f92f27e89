"""Slack's Web API (https://docs.slack.dev/apis/web-api/): calls, and what they read and open in a workspace."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common import addresses, client, contents, outcomes
from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.limits import Scope
from domain.channels.messages import Attachment, ChannelMetadata, Event, Outcome, Quoted, Sent, ThreadMessage
from domain.channels.model import PlatformAddress
from ports.capabilities import Opened, OpenRequest, PlatformError
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

from .config import SlackConfig, SlackTarget
from .events import attachment_of, posted, session_of

BASE = PlatformAddress("WORKSPACE_CHAT_API_URL", "https://slack.com/api")
RESPONSE_URL = "response_url"
SEND_TIMEOUT = 15.0
READ_TIMEOUT = 5.0
OPEN_SECONDS = 1.5
"""Slack waits three seconds for the acknowledgement."""
DOMAINS = ("slack.com", "slack-files.com", "slack-gov.com")
"""Slack's own hosts, and those below them."""
SENDING_SCOPES = ("chat:write", "files:write")
MAX_DOWNLOAD = 1_000_000_000
PAGE = 200
MOST_PAGES = 5
"""Slack lists a thread from its beginning: messages of longer ones come from the first pages."""
_ADDRESS = re.compile(r"(?:([CGD][A-Z0-9]{2,20})(?::([0-9]{10}\.[0-9]{6}))?)|([UW][A-Z0-9]{2,20})")
_TRY_AGAIN = frozenset({
    "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org",
    "accesslimited", "external_channel_migrating", "org_login_required",
})  # fmt: skip
_OF_RECIPIENT = frozenset({
    "user_not_found", "users_not_found", "user_disabled", "user_not_visible", "cannot_dm_bot",
    "channel_not_found", "not_in_channel", "is_archived", "is_inactive", "thread_not_found",
    "thread_locked", "cannot_reply_to_message",
})  # fmt: skip
"""A person who left, or a channel that is gone or from which the bot was removed."""
_WORKSPACE_LIMIT = "message_limit_exceeded"
_TOO_OFTEN = frozenset({"ratelimited", "rate_limited", _WORKSPACE_LIMIT})


class WebApi:
    """Slack answers most errors with status 200 and 'ok': false."""

    metadata_seconds = 3600.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self.client = client.PlatformClient(
            dependencies.http, "Slack", _reason, lambda answer: at(answer.json(), "ok") is True
        )
        self._address = dependencies.address

    async def read(
        self, config: SlackConfig, method: str, timeout: float = SEND_TIMEOUT, **form: str
    ) -> dict[str, Any]:
        """The answer of a method, form-encoded. Raises `PlatformError`."""
        return await self.client.read(self._request(config, method, timeout=timeout, form=form))

    async def call(self, config: SlackConfig, method: str, **content: Any) -> tuple[Sent, Mapping[str, Any]]:
        """The outcome of a method, and Slack's answer. `content`: `json` or `form`, and `timeout`."""
        answer = await outcomes.exchange(self.client.http, self._request(config, method, **content))
        if isinstance(answer, Sent):
            return answer, {}
        body = answer.json()
        return outcome(answer), body if isinstance(body, dict) else {}

    async def post(self, config: SlackConfig, method: str, **body: Any) -> Sent:
        sent, _ = await self.call(config, method, json=body)
        return sent

    async def respond(self, url: str, body: Mapping[str, Any]) -> Sent:
        """Posts to a response_url; details of failures begin with its name."""
        answer = await outcomes.exchange(
            self.client.http, HttpRequest("POST", url, json=body, user_address=True)
        )
        if isinstance(answer, HttpAnswer):
            if at(answer.json(), "ok") is not False:
                return outcomes.by_status(answer, detail=f"{RESPONSE_URL} was refused")
            answer = outcome(answer)
        return replace(answer, detail=f"{RESPONSE_URL}: {answer.detail}")

    async def fetch_metadata(self, config: SlackConfig) -> ChannelMetadata:
        """The bot's own user id, by which it is mentioned."""
        me = await self.read(config, "auth.test", timeout=2.0)
        return {"user_id": text(me, "user_id")}

    async def probe(self, config: SlackConfig) -> None:
        """Raises `PlatformError` if the token is refused, or lacks a scope that answers need.

        Each answer of Slack has a header with the scopes of the token; classic apps have the scope `bot`.
        """
        answer = await self.client.answer(self._request(config, "auth.test", form={}))
        granted = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",")} - {""}
        missing = [scope for scope in SENDING_SCOPES if scope not in granted]
        if granted and missing and "bot" not in granted:
            raise PlatformError(
                f"Slack: the token lacks {' and '.join(missing)}, so that answers or their files are refused; add it"
                " under OAuth & Permissions, and reinstall the app"
            )
        if config.app_token:
            await self.open_connection(config)

    async def open_connection(self, config: SlackConfig) -> str:
        """The address of a new connection in Socket Mode. Raises `PlatformError`."""
        method = "apps.connections.open"
        request = HttpRequest(
            "POST", f"{self.base}/{method}", headers=client.bearer(config.app_token), form={}
        )
        try:
            address = text(await self.client.read(request), "url")
        except PlatformError as error:
            raise PlatformError(f"{error} ({method} with appToken)", retry_after=error.retry_after) from None
        if not client.is_address_of(address.replace("ws", "http", 1), self.base, DOMAINS):
            raise PlatformError("Slack: the address for Socket Mode is not Slack's; it is not connected to.")
        return address

    async def direct_messages(self, config: SlackConfig, person: str) -> str:
        """The id of the channel of direct messages with a person, empty if Slack names none. Raises `PlatformError`.

        Source: https://docs.slack.dev/reference/methods/conversations.open
        """
        return text(await self.read(config, "conversations.open", users=person), "channel", "id")

    @property
    def base(self) -> str:
        return self._address(BASE).rstrip("/")

    def _request(
        self, config: SlackConfig, method: str, *, timeout: float = SEND_TIMEOUT, **content: Any
    ) -> HttpRequest:
        return HttpRequest(
            "POST",
            f"{self.base}/{method}",
            headers=client.bearer(config.bot_token),
            timeout=timeout,
            **content,
        )


class Workspace:
    """Files, threads and conversations. For threads the bot needs the scopes channels:history and groups:history."""

    address = (
        "the id of a channel such as C0123456789, with a thread behind it C0123456789:1767225600.000100, or of a"
        " person such as U0123456789"
    )

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def default_address(self, config: SlackConfig) -> str:
        return config.default_channel

    async def open(self, config: SlackConfig, request: OpenRequest) -> Opened[SlackTarget]:
        """Messages go to channels that the bot is a member of, and to people, whose direct messages have an id of
        their own."""
        channel, thread, person = addresses.read_address(_ADDRESS, request.to, self.address).groups()
        if person:
            channel = await self._api.direct_messages(config, person)
            if not channel:
                raise addresses.no_address(f"Slack gives no direct messages with {person}")
        return Opened(session_of(channel, thread or ""), SlackTarget(channel=channel, thread_ts=thread or ""))

    async def placed(self, config: SlackConfig, event: Event) -> Event:
        """The event of a global shortcut in the direct messages of the person, so that what the person writes there
        continues the conversation. If Slack does not answer in time, the answer goes to the id of the person, in a
        session of its own."""
        person = text(event.target, "user")
        if not person or text(event.target, "channel") != person:
            return event
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                channel = await self._api.direct_messages(config, person)
        except (PlatformError, TimeoutError):
            return event
        if not channel:
            return event
        return replace(event, session_id=channel, target={**event.target, "channel": channel})

    async def fetch(self, config: SlackConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        """The bytes of a file, for which the bot needs the scope files:read. The token is sent to Slack's own hosts
        alone. Raises `PlatformError`."""
        url = text((await self.described(config, attachment)).source, "url")
        if not client.is_address_of(url, self._api.base, DOMAINS):
            raise PlatformError("Slack: the file lies at an address that is not Slack's; it is not fetched.")
        request = HttpRequest(
            "GET",
            url,
            headers=client.bearer(config.bot_token),
            timeout=client.DOWNLOAD_TIMEOUT,
            max_bytes=MAX_DOWNLOAD,
            user_address=True,
        )
        # Without the scope, Slack answers with its sign-in page and status 200.
        may_be_sign_in = "html" not in attachment.mime_type
        async for piece in self._api.client.download(request):
            if may_be_sign_in and piece[:200].lstrip().lower().startswith((b"<!doctype html", b"<html")):
                raise PlatformError("Slack: the file is not given out; the bot needs the scope files:read.")
            may_be_sign_in = False
            yield piece

    async def described(self, config: SlackConfig, attachment: Attachment) -> Attachment:
        """Files of other organizations come as an id alone
        (https://docs.slack.dev/reference/objects/file-object/#slack_connect_files). Raises `PlatformError`."""
        if text(attachment.source, "url"):
            return attachment
        info = await self._api.read(config, "files.info", file=text(attachment.source, "id"))
        return attachment_of(at(info, "file")) or attachment

    async def read_quoted(self, config: SlackConfig, target: SlackTarget, quoted: Quoted) -> Quoted | None:
        page = await self._api.read(
            config, "conversations.replies", READ_TIMEOUT, channel=target.channel, ts=quoted.ref, limit="1"
        )
        messages = (message for message in items(page, "messages") if text(message, "ts") == quoted.ref)
        return next((posted(message, target.bot) for message in messages), None)

    async def read_thread(
        self, config: SlackConfig, target: SlackTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        form = {"channel": target.channel, "ts": target.thread_ts, "latest": before, "limit": str(PAGE)}
        latest: list[ThreadMessage] = []
        for _ in range(MOST_PAGES):
            page = await self._api.read(config, "conversations.replies", READ_TIMEOUT, **form)
            for message in items(page, "messages"):
                content, ts = posted(message, target.bot), text(message, "ts")
                written_at = contents.moment(ts)
                if written_at and content.text and ts != before:
                    latest.append(ThreadMessage(content.text, content.author, written_at))
            latest = latest[-most:]
            cursor = text(page, "response_metadata", "next_cursor")
            if not cursor:
                break
            form["cursor"] = cursor
        return latest


def outcome(answer: HttpAnswer) -> Sent:
    if not answer.ok:
        return outcomes.by_status(answer, _reason(answer))
    body = answer.json()
    if at(body, "ok") is True:
        return Sent(Outcome.SENT, ref=text(body, "ts"))
    error = text(body, "error")
    if error in _TOO_OFTEN:
        scope = Scope.ACCOUNT if error == _WORKSPACE_LIMIT else None
        return Sent(Outcome.RETRY_AFTER, error, retry_after=answer.retry_after, scope=scope)
    if error in _TRY_AGAIN:
        return Sent(Outcome.TRANSIENT, error)
    if not error:
        return Sent(
            Outcome.UNKNOWN, "Slack's answer could not be read: it names neither success nor an error."
        )
    of_recipient = error in _OF_RECIPIENT or error.startswith("restricted_action")
    return Sent(Outcome.PERMANENT, _reason(answer), of_recipient=of_recipient)


def _reason(answer: HttpAnswer) -> str:
    body = answer.json()
    error, needed = text(body, "error"), text(body, "needed")
    return f"{error} (needed: {needed})" if needed else error
