"""Calls of Slack's Web API (https://docs.slack.dev/apis/web-api/)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from domain.channels.limits import Scope
from domain.channels.messages import Config, Outcome, Sent
from ports.channels import ChannelDependencies, PlatformError
from ports.http import HttpAnswer, HttpFailed, HttpRequest

SEND_TIMEOUT = 15.0
SENDING_SCOPES = ("chat:write", "files:write")
_TRY_AGAIN = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
        "accesslimited",
        "external_channel_migrating",
        "org_login_required",
    }
)
_WORKSPACE_LIMIT = "message_limit_exceeded"
_TOO_OFTEN = frozenset({"ratelimited", "rate_limited", _WORKSPACE_LIMIT})


class WebApi:
    """Slack answers most errors with status 200 and 'ok': false."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    async def ask(
        self, config: Config, method: str, timeout: float = 15.0, **fields: str
    ) -> Mapping[str, Any]:
        """The answer of a method, form-encoded. Raises `PlatformError`."""
        body: Mapping[str, Any] = (await self._asked(config, method, timeout, fields)).json()
        return body

    async def check_scopes(self, config: Config) -> None:
        """Raises `PlatformError` where the token is not good, or was not granted what answers need.

        Slack names the scopes of a token in a header of each answer; `bot` is the one of classic apps.
        """
        answer = await self._asked(config, "auth.test", SEND_TIMEOUT, {})
        granted = {each.strip() for each in answer.headers.get("x-oauth-scopes", "").split(",")} - {""}
        missing = [each for each in SENDING_SCOPES if each not in granted]
        if granted and missing and "bot" not in granted:
            raise PlatformError(
                f"Slack: the token lacks {' and '.join(missing)}, so that answers or their files are refused; add it"
                " under OAuth & Permissions, and reinstall the app"
            )

    async def _asked(
        self, config: Config, method: str, timeout: float, fields: Mapping[str, str]
    ) -> HttpAnswer:
        try:
            answer = await self._dependencies.http.send(
                self.request(config, method, form=fields, timeout=timeout)
            )
        except HttpFailed as error:
            raise PlatformError(f"Slack: {error}") from None
        body = answer.json()
        if at(body, "ok") is not True or not isinstance(body, dict):
            raise PlatformError(f"Slack: {_reason(answer) or f'HTTP {answer.status}'}")
        return answer

    async def deliver(self, request: HttpRequest) -> tuple[Sent, Mapping[str, Any]]:
        """How a call ended, and Slack's answer to it."""
        answer = await exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            return answer, {}
        body = answer.json()
        return judged(answer), body if isinstance(body, dict) else {}

    def request(
        self,
        config: Config,
        method: str,
        *,
        json: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> HttpRequest:
        """A call of a method in the bot's name."""
        return HttpRequest(
            "POST",
            f"{self._dependencies.address('WORKSPACE_CHAT_API_URL').rstrip('/')}/{method}",
            headers=bearer(config),
            json=json,
            form=form,
            timeout=timeout or SEND_TIMEOUT,
        )


def bearer(config: Config) -> dict[str, str]:
    return {"authorization": f"Bearer {text(config, 'botToken')}"}


def judged(answer: HttpAnswer) -> Sent:
    """How an answer of the Web API ends a sending."""
    if not answer.ok:
        return by_status(answer, _reason(answer))
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
        return Sent(Outcome.UNKNOWN, "Slack gave an answer that is none.")
    return Sent(Outcome.PERMANENT, _reason(answer))


def _reason(answer: HttpAnswer) -> str:
    body = answer.json()
    words = text(body, "error")
    needed = text(body, "needed")
    return f"{words} (needed: {needed})" if needed else words
