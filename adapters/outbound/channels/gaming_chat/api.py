"""Calls of Discord's HTTP API (https://docs.discord.com/developers/reference)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import orjson

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.http.paths import segment
from domain.channels.limits import Scope
from domain.channels.messages import Config, Outcome, Sent
from ports.channels import ChannelDependencies, PlatformError
from ports.http import FormFile, HttpAnswer, HttpFailed, HttpRequest

SEND_TIMEOUT = 15.0
UPLOAD_TIMEOUT = 120.0
OVERLOADED = 130000
"""The code of "API resource is currently overloaded. Try again a little later"."""
USER_AGENT = "DiscordBot (https://switchboard.invalid, 1)"


@dataclass(frozen=True, slots=True)
class Tried:
    """How a call ended; `code` is Discord's own code of the error, 0 for none."""

    sent: Sent
    status: int = 0
    code: int = 0


class DiscordApi:
    """Knows the addresses and the answers; an interaction's token in an address never leaves here."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    async def ask(self, config: Config, path: str, timeout: float = 15.0) -> Mapping[str, Any]:
        """A resource, read in the bot's name. Raises `PlatformError`."""
        request = HttpRequest("GET", self._base() + path, headers=bot(config), timeout=timeout)
        try:
            answer = await self._dependencies.http.send(request)
        except HttpFailed as error:
            raise PlatformError(f"Discord: {error}") from None
        body = answer.json()
        if not answer.ok or not isinstance(body, dict):
            raise PlatformError(f"Discord: {_words(answer) or f'HTTP {answer.status}'}")
        return body

    async def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        file: FormFile | None = None,
        secret: str = "",
    ) -> Tried:
        """Sends or changes something. `secret` is what of the path must not be told."""
        request = HttpRequest(
            method,
            self._base() + path,
            headers=headers or {"user-agent": USER_AGENT},
            json=None if file or method == "DELETE" else dict(body),
            fields={"payload_json": orjson.dumps(body).decode()} if file else None,
            files=(file,) if file else (),
            timeout=UPLOAD_TIMEOUT if file else SEND_TIMEOUT,
        )
        answer = await exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            detail = answer.detail.replace(segment(secret), "***") if secret else answer.detail
            return Tried(Sent(answer.outcome, detail, answer.retry_after))
        return _judged(answer)

    def _base(self) -> str:
        return self._dependencies.address("GAMING_CHAT_API_URL").rstrip("/")


def bot(config: Config) -> dict[str, str]:
    return {"authorization": f"Bot {text(config, 'botToken')}", "user-agent": USER_AGENT}


def _judged(answer: HttpAnswer) -> Tried:
    body = answer.json()
    code = at(body, "code")
    sent = by_status(answer, _words(answer), ref=text(body, "id"))
    if answer.status == 429:
        wait = at(body, "retry_after")  # in seconds, with fractions
        known = [each for each in (wait, answer.retry_after) if isinstance(each, int | float) and each >= 0]
        scope = Scope.ACCOUNT if at(body, "global") is True else Scope.PLACE
        sent = Sent(Outcome.RETRY_AFTER, sent.detail, retry_after=max(known, default=None), scope=scope)
    elif code == OVERLOADED and sent.outcome is Outcome.PERMANENT:
        sent = replace(sent, outcome=Outcome.TRANSIENT)
    elif sent.outcome is Outcome.SENT and answer.headers.get("x-ratelimit-remaining") == "0":
        sent = replace(sent, retry_after=_seconds(answer.headers.get("x-ratelimit-reset-after", "")))
    return Tried(sent, answer.status, code if isinstance(code, int) else 0)


def _seconds(words: str) -> float | None:
    """Seconds with fractions, as in X-RateLimit-Reset-After; None where there are none."""
    try:
        seconds = float(words)
    except ValueError:
        return None
    return seconds if 0 <= seconds < inf else None


def _words(answer: HttpAnswer) -> str:
    body = answer.json()
    return " ".join(filter(None, (text(body, "code"), text(body, "message"))))
