"""Calls of Meta's Graph API for WhatsApp (https://developers.facebook.com/docs/whatsapp/cloud-api/reference)."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.channels.common import client, outcomes
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.net.urls import segment
from domain.channels.limits import Scope
from domain.channels.messages import Outcome, Sent
from domain.channels.model import PlatformAddress
from ports.channels import ChannelDependencies
from ports.http import FormFile, HttpAnswer, HttpRequest

from .config import DEFAULT_API_VERSION, WhatsAppConfig

BASE = PlatformAddress("BUSINESS_MESSAGING_API_URL", "https://graph.facebook.com")

SEND_TIMEOUT = 20.0
TRANSFER_TIMEOUT = 120.0
MAX_DOCUMENT = 100 * 1024 * 1024
PAIR_SECONDS = 6.0
"""To one person the API accepts a message every six seconds, after a burst of 45."""
_PAIR_RATE = 131056

_WAITS: Mapping[int, float] = {
    4: 60.0,
    17: 60.0,
    32: 60.0,
    613: 60.0,
    80007: 60.0,
    130429: 10.0,
    _PAIR_RATE: PAIR_SECONDS,
    131048: 3600.0,  # too much was reported as spam
}
"""Error codes of throttling, with the seconds to wait: the API gives no Retry-After
(https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes)."""
OF_RECIPIENT = frozenset({130472, 131021, 131026, 131049, 131050, _PAIR_RATE})
"""Error codes of what concerns one person: not on WhatsApp or has blocked the business, is the sender itself, gets no
more marketing messages, takes part in an experiment, or is written to too quickly."""
_REASONS = {
    "131047": "More than 24 hours have passed since the person last wrote: WhatsApp takes only a template now."
}
"""What to say of errors whose own text does not say what to do."""
_TRY_AGAIN = frozenset({1, 2, 131000, 131016, 131057, 133004, 135000})


class GraphApi:
    """Knows the addresses and the answers of the Graph API."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._client = client.PlatformClient(dependencies.http, "WhatsApp", error_of)

    async def node(self, config: WhatsAppConfig, node: str, **query: str) -> Mapping[str, Any]:
        """The fields of a node. Raises `PlatformError`."""
        url = self._url(config, node) + (f"?{urlencode(query)}" if query else "")
        return await self._client.read(
            HttpRequest("GET", url, client.bearer(config.access_token), timeout=15.0)
        )

    async def download(self, config: WhatsAppConfig, media_id: str) -> AsyncIterator[bytes]:
        """The bytes of a media file, whose address is valid for five minutes. Raises `PlatformError`."""
        media = await self.node(config, media_id, phone_number_id=config.phone_number_id)
        request = HttpRequest(
            "GET",
            text(media, "url"),
            client.bearer(config.access_token),
            timeout=TRANSFER_TIMEOUT,
            max_bytes=MAX_DOCUMENT,
        )
        async for piece in self._client.download(request):
            yield piece

    async def send(self, config: WhatsAppConfig, body: Mapping[str, Any]) -> Sent:
        sent, answer = await self._post(config, "messages", json=body, timeout=SEND_TIMEOUT)
        if sent.outcome is not Outcome.SENT:
            return sent
        ids = [text(message, "id") for message in items(answer, "messages")]
        return (
            Sent(Outcome.SENT, ref=ids[0]) if ids else Sent(Outcome.UNKNOWN, "WhatsApp gave no message id.")
        )

    async def typing(self, config: WhatsAppConfig, message_id: str) -> Sent:
        """Marks a message as read and shows 'typing' until it is answered, for up to 25 seconds."""
        body = {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        }
        return (await self._post(config, "messages", json=body, timeout=SEND_TIMEOUT))[0]

    async def upload(self, config: WhatsAppConfig, file: FormFile) -> tuple[Sent, str]:
        """Uploads a file; returns its media id. Nobody sees it yet, so that a broken upload can be repeated."""
        fields = {"messaging_product": "whatsapp", "type": file.mime_type}
        sent, answer = await self._post(
            config, "media", fields=fields, files=(file,), timeout=TRANSFER_TIMEOUT
        )
        media_id = text(answer, "id")
        if sent.outcome is Outcome.SENT and not media_id:
            return Sent(Outcome.PERMANENT, "WhatsApp gave no media id."), ""
        return outcomes.repeatable(sent), media_id

    async def _post(self, config: WhatsAppConfig, edge: str, **request: Any) -> tuple[Sent, Any]:
        url = f"{self._url(config, config.phone_number_id)}/{edge}"
        answer = await outcomes.exchange(
            self._dependencies.http,
            HttpRequest("POST", url, headers=client.bearer(config.access_token), **request),
        )
        return (answer, None) if isinstance(answer, Sent) else (outcome(answer), answer.json())

    def _url(self, config: WhatsAppConfig, node: str) -> str:
        base = self._dependencies.address(BASE).rstrip("/")
        return f"{base}/{segment(config.api_version or DEFAULT_API_VERSION)}/{segment(node)}"


def outcome(answer: HttpAnswer) -> Sent:
    """The outcome of sending: the error's code says more than the status."""
    if answer.ok:
        return Sent(Outcome.SENT)
    code = at(answer.json(), "error", "code")
    detail = error_of(answer)
    if isinstance(code, int) and code in _WAITS:
        scope = Scope.CONVERSATION if code == _PAIR_RATE else Scope.ACCOUNT
        wait = answer.retry_after or _WAITS[code]
        return Sent(Outcome.RETRY_AFTER, detail, wait, scope=scope, of_recipient=code in OF_RECIPIENT)
    passes = code in _TRY_AGAIN or at(answer.json(), "error", "is_transient") is True
    if passes and answer.status != 429:
        return Sent(Outcome.TRANSIENT, detail)
    return replace(outcomes.by_status(answer, detail), of_recipient=code in OF_RECIPIENT)


def error_of(answer: HttpAnswer) -> str:
    return error_text(at(answer.json(), "error"))


def error_text(error: object) -> str:
    """The code of an error and what it means, of an answer as of a status."""
    code = text(error, "code")
    detail = text(error, "error_data", "details") or text(error, "message") or text(error, "title")
    return " ".join(filter(None, (code, _REASONS.get(code) or detail)))
