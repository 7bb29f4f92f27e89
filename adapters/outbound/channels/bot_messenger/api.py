"""Calls of the Telegram Bot API (https://core.telegram.org/bots/api#making-requests)."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from adapters.outbound.channels.common import client, outcomes
from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.net.urls import segment
from domain.channels.messages import Outcome, Sent
from domain.channels.model import PlatformAddress
from domain.refusals import TooLarge
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import FormFile, HttpAnswer, HttpRequest

BASE = PlatformAddress("BOT_MESSENGER_API_URL", "https://api.telegram.org")

SEND_TIMEOUT = 15.0
TRANSFER_TIMEOUT = 120.0
_TOO_LARGE = "file is too big"
"""https://core.telegram.org/bots/api#getfile"""
_OF_CHAT = (
    "chat not found", "user not found", "peer_id_invalid", "user_is_blocked", "user_deactivated", "rights",
    "chat_write_forbidden", "chat_restricted", "chat_admin_required", "chat_send_", "topic_closed",
    "topic_deleted", "thread not found", "deactivated", "was kicked", "messages_forbidden",
)  # fmt: skip
"""Descriptions, in lower case, of what concerns one chat: Telegram gives it the status 400 beside 403."""
MAX_DOWNLOAD = 2_000_000_000
"""Bytes that a Bot API server of one's own gives out; Telegram's gives out files of 20 MB."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How sending ended. The other fields say why Telegram did not take the message, if it answered that."""

    sent: Sent
    status: int = 0
    description: str = ""
    migrated_to: int | None = None

    @property
    def is_of_content(self) -> bool:
        """Return True if other content might be taken: neither the bot nor the chat is at fault."""
        return self.status in (400, 413) and not self.contains("chat not found", "not enough rights")

    @property
    def is_of_recipient(self) -> bool:
        """Return True if this person or chat alone is at fault: it blocked or removed the bot, or is gone."""
        return self.status == 403 or (self.status == 400 and self.contains(*_OF_CHAT))

    def contains(self, *phrases: str) -> bool:
        return any(phrase in self.description.lower() for phrase in phrases)


class BotApi:
    """Calls methods of a bot; the token in the addresses never leaves here."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._client = client.PlatformClient(
            dependencies.http,
            "Telegram",
            reason=lambda answer: text(answer.json(), "description"),
            succeeded=lambda answer: at(answer.json(), "ok") is True,
            wait=_wait,
        )

    async def call(
        self,
        token: str,
        method: str,
        payload: Mapping[str, Any] | None = None,
        timeout: float = SEND_TIMEOUT,
        *,
        long_poll: bool = False,
    ) -> Any:
        """The result of a method. Raises `PlatformError`."""
        url, body = self._url(token, method), dict(payload or {})
        request = HttpRequest("POST", url, json=body, timeout=timeout, long_poll=long_poll)
        return (await self._client.read(request, _secrets(token))).get("result")

    async def download(self, token: str, file_id: str) -> AsyncIterator[bytes]:
        """The bytes of a file. Raises `PlatformError`, `TooLarge`."""
        try:
            path = text(await self.call(token, "getFile", {"file_id": file_id}), "file_path")
        except PlatformError as error:
            if _TOO_LARGE in str(error):
                raise TooLarge("Telegram gives bots files of up to 20 MB") from error
            raise
        url = f"{self._base()}/file/bot{_in_path(token)}/{quote(path, errors='replace')}"
        request = HttpRequest("GET", url, timeout=TRANSFER_TIMEOUT, max_bytes=MAX_DOWNLOAD)
        async for piece in self._client.download(request, _secrets(token)):
            yield piece

    async def send(
        self, token: str, method: str, payload: Mapping[str, Any], files: Sequence[FormFile] = ()
    ) -> Attempt:
        url = self._url(token, method)
        if files:  # a form, whose values that are not text are JSON-serialized, as the Bot API documents
            fields = {
                name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                for name, value in payload.items()
            }
            request = HttpRequest("POST", url, fields=fields, files=files, timeout=TRANSFER_TIMEOUT)
        else:
            request = HttpRequest("POST", url, json=dict(payload), timeout=SEND_TIMEOUT)
        answer = await outcomes.exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            return Attempt(replace(answer, detail=client.masked(answer.detail, _secrets(token))))
        return outcome(answer, client.masked(text(answer.json(), "description"), _secrets(token)))

    @property
    def is_own_server(self) -> bool:
        """Return True if the operator named a Bot API server of their own."""
        return self._base() != BASE.default

    def _url(self, token: str, method: str) -> str:
        return f"{self._base()}/bot{_in_path(token)}/{method}"

    def _base(self) -> str:
        return self._dependencies.address(BASE).rstrip("/")


def outcome(answer: HttpAnswer, description: str) -> Attempt:
    body = answer.json()
    code = at(body, "error_code")
    if answer.ok and at(body, "ok") is False and isinstance(code, int):  # a proxy that hides the status
        answer = replace(answer, status=code)
    if answer.ok and at(body, "ok") is True:
        return Attempt(Sent(Outcome.SENT, ref=text(body, "result", "message_id")))
    if answer.status == 429:
        return Attempt(Sent(Outcome.RETRY_AFTER, description or "HTTP 429", retry_after=_wait(answer)))
    if answer.ok:
        detail = f"Telegram's answer does not say whether it succeeded: {description}"
        return Attempt(Sent(Outcome.UNKNOWN, detail))
    chat = at(body, "parameters", "migrate_to_chat_id")
    sent = outcomes.by_status(answer, description)
    attempt = Attempt(sent, answer.status, description, chat if isinstance(chat, int) else None)
    return replace(attempt, sent=replace(sent, of_recipient=attempt.is_of_recipient))


def _wait(answer: HttpAnswer) -> float | None:
    wait = at(answer.json(), "parameters", "retry_after")
    return wait if isinstance(wait, int | float) and wait >= 0 else answer.retry_after


def _in_path(token: str) -> str:
    return segment(token, safe=":")


def _secrets(token: str) -> tuple[str, str]:
    return token, _in_path(token)
