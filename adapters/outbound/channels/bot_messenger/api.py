"""Calls of the Telegram Bot API (https://core.telegram.org/bots/api#making-requests)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.http.paths import segment
from domain.channels.messages import Config, Outcome, Sent
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import FormFile, HttpAnswer, HttpFailed, HttpRequest

from .webhook import bot_token

SEND_TIMEOUT = 15.0
UPLOAD_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Refused:
    """What Telegram said when it did not do what was asked."""

    status: int
    description: str
    migrated_to: int | None = None

    @property
    def for_its_content(self) -> bool:
        """Whether other content might be taken: neither the bot nor the chat is what is wrong."""
        return self.status in (400, 413) and not self.says("chat not found", "not enough rights")

    def says(self, *words: str) -> bool:
        return any(each in self.description.lower() for each in words)


class BotApi:
    """Knows the addresses and the answers of the Bot API; the token in an address never leaves here."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    def file_address(self, config: Config, path: str) -> str:
        return f"{self._base()}/file/bot{_token(config)}/{quote(path, errors='replace')}"

    async def ask(
        self, config: Config, method: str, payload: Mapping[str, Any] | None = None, timeout: float = 15.0
    ) -> Any:
        """The result of a method. Raises `PlatformError`."""
        request = HttpRequest("POST", self._method(config, method), json=dict(payload or {}), timeout=timeout)
        try:
            answer = await self._dependencies.http.send(request)
        except HttpFailed as error:
            raise PlatformError(self._safe(config, f"Telegram: {error}")) from None
        body = answer.json()
        if at(body, "ok") is not True:
            raise PlatformError(self._safe(config, f"Telegram: {_description(answer)}"))
        return at(body, "result")

    async def deliver(
        self,
        config: Config,
        method: str,
        payload: Mapping[str, Any],
        files: Sequence[FormFile] = (),
    ) -> tuple[Sent, Refused | None]:
        """Sends a message; what was refused stands beside a permanent outcome."""
        url = self._method(config, method)
        if files:
            request = HttpRequest("POST", url, fields=_fields(payload), files=files, timeout=UPLOAD_TIMEOUT)
        else:
            request = HttpRequest("POST", url, json=dict(payload), timeout=SEND_TIMEOUT)
        answer = await exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            return Sent(answer.outcome, self._safe(config, answer.detail), answer.retry_after), None
        return self._judged(config, answer)

    def _judged(self, config: Config, answer: HttpAnswer) -> tuple[Sent, Refused | None]:
        body = answer.json()
        code = at(body, "error_code")
        if answer.ok and at(body, "ok") is False and isinstance(code, int):  # a proxy that hides the status
            answer = replace(answer, status=code)
        if answer.ok and at(body, "ok") is True:
            return Sent(Outcome.SENT, ref=text(body, "result", "message_id")), None
        description = self._safe(config, text(body, "description"))
        wait = at(body, "parameters", "retry_after")
        if answer.status == 429:
            known = wait if isinstance(wait, int | float) and wait >= 0 else answer.retry_after
            return Sent(Outcome.RETRY_AFTER, description or "HTTP 429", retry_after=known), None
        sent = by_status(answer, description)
        if sent.outcome is Outcome.SENT:
            return Sent(Outcome.UNKNOWN, f"Telegram gave an answer that is none: {description}"), None
        moved = at(body, "parameters", "migrate_to_chat_id")
        return sent, Refused(answer.status, description, moved if isinstance(moved, int) else None)

    def _method(self, config: Config, method: str) -> str:
        return f"{self._base()}/bot{_token(config)}/{method}"

    def _base(self) -> str:
        return self._dependencies.address("BOT_MESSENGER_API_URL").rstrip("/")

    def _safe(self, config: Config, words: str) -> str:
        for token in filter(None, (bot_token(config), _token(config))):
            words = words.replace(token, "***")
        return words


def _token(config: Config) -> str:
    """The bot token as the part of a path."""
    return segment(bot_token(config), safe=":")


def _description(answer: HttpAnswer) -> str:
    return text(answer.json(), "description") or f"HTTP {answer.status}"


def _fields(payload: Mapping[str, Any]) -> dict[str, str]:
    """A form holds texts: objects in it are JSON-serialized, as the Bot API documents."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in payload.items()
    }
