"""Calls of Meta's Graph API for WhatsApp (https://developers.facebook.com/docs/whatsapp/cloud-api/reference)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.http.paths import segment
from domain.channels.limits import Scope
from domain.channels.messages import Config, Outcome, Sent
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies
from ports.http import FormFile, HttpAnswer, HttpFailed, HttpRequest

from .definition import DEFAULT_API_VERSION

SEND_TIMEOUT = 20.0
UPLOAD_TIMEOUT = 120.0
PAIR_SECONDS = 6.0
"""To one person the API takes a message every six seconds, after a burst of 45."""
PAIR_RATE = 131056
SPAM_SECONDS = 3600.0

_WAITS: Mapping[int, float | None] = {
    4: 60.0,
    17: 60.0,
    32: 60.0,
    613: 60.0,
    80007: 60.0,
    130429: 10.0,
    PAIR_RATE: PAIR_SECONDS,
    131048: SPAM_SECONDS,
}
"""Throttles and the seconds to wait: the API gives no Retry-After
(https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes)."""
_TRY_AGAIN = frozenset({1, 2, 131000, 131016, 131057, 133004, 135000})


class GraphApi:
    """Knows the addresses and the answers of the Graph API."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies

    async def ask(self, config: Config, node: str, timeout: float = 15.0, **query: str) -> Mapping[str, Any]:
        """The fields of a node. Raises `PlatformError`."""
        more = f"?{urlencode(query)}" if query else ""
        request = HttpRequest("GET", self._address(config, node) + more, bearer(config), timeout=timeout)
        try:
            answer = await self._dependencies.http.send(request)
        except HttpFailed as error:
            raise PlatformError(f"WhatsApp: {error}") from None
        body = answer.json()
        if not answer.ok or not isinstance(body, dict):
            raise PlatformError(f"WhatsApp: {_words(answer) or f'HTTP {answer.status}'}")
        return body

    async def message(self, config: Config, body: Mapping[str, Any]) -> Sent:
        """Sends a message."""
        sent, answer = await self._post(config, "messages", json=body, timeout=SEND_TIMEOUT)
        ids = [text(each, "id") for each in items(answer, "messages")]
        if sent.outcome is Outcome.SENT:
            return (
                Sent(Outcome.SENT, ref=ids[0])
                if ids
                else Sent(Outcome.UNKNOWN, "WhatsApp gave no message id.")
            )
        return sent

    async def typing(self, config: Config, message_id: str) -> Sent:
        """Marks a message as read and shows 'typing' until it is answered, for up to 25 seconds."""
        body = {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        }
        sent, _ = await self._post(config, "messages", json=body, timeout=SEND_TIMEOUT)
        return sent

    async def upload(self, config: Config, file: FormFile) -> tuple[Sent, str]:
        """Uploads a file; gives its media id. Nobody sees it yet, so a broken upload can be repeated."""
        fields = {"messaging_product": "whatsapp", "type": file.mime_type}
        sent, answer = await self._post(config, "media", fields=fields, files=(file,), timeout=UPLOAD_TIMEOUT)
        if sent.outcome is Outcome.UNKNOWN:
            sent = Sent(Outcome.TRANSIENT, sent.detail)
        media_id = text(answer, "id")
        if sent.outcome is Outcome.SENT and not media_id:
            sent = Sent(Outcome.PERMANENT, "WhatsApp gave no media id.")
        return sent, media_id

    async def _post(
        self,
        config: Config,
        edge: str,
        *,
        timeout: float,
        json: Mapping[str, Any] | None = None,
        fields: Mapping[str, str] | None = None,
        files: Sequence[FormFile] = (),
    ) -> tuple[Sent, Mapping[str, Any]]:
        request = HttpRequest(
            "POST",
            f"{self._address(config, text(config, 'phoneNumberId'))}/{edge}",
            headers=bearer(config),
            json=json,
            fields=fields,
            files=files,
            timeout=timeout,
        )
        answer = await exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            return answer, {}
        body = answer.json()
        return judged(answer), body if isinstance(body, dict) else {}

    def _address(self, config: Config, node: str) -> str:
        base = self._dependencies.address("BUSINESS_MESSAGING_API_URL").rstrip("/")
        version = text(config, "apiVersion") or DEFAULT_API_VERSION
        return f"{base}/{segment(version)}/{segment(node)}"


def bearer(config: Config) -> dict[str, str]:
    return {"authorization": f"Bearer {text(config, 'accessToken')}"}


def judged(answer: HttpAnswer) -> Sent:
    """How an answer ends a sending: the error's code says more than the status."""
    if answer.ok:
        return Sent(Outcome.SENT)
    code = at(answer.json(), "error", "code")
    words = _words(answer)
    if isinstance(code, int) and code in _WAITS:
        scope = Scope.CONVERSATION if code == PAIR_RATE else Scope.ACCOUNT
        return Sent(Outcome.RETRY_AFTER, words, retry_after=answer.retry_after or _WAITS[code], scope=scope)
    passes = code in _TRY_AGAIN or at(answer.json(), "error", "is_transient") is True
    if passes and answer.status != 429:
        return Sent(Outcome.TRANSIENT, words)
    return by_status(answer, words)


def _words(answer: HttpAnswer) -> str:
    error = at(answer.json(), "error")
    words = text(error, "error_data", "details") or text(error, "message")
    return " ".join(filter(None, (text(error, "code"), words)))
