"""The bot-messenger channel: Telegram (https://core.telegram.org/bots/api)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    ClosedPrompt,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import PlatformError, Registration
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpFailed, HttpRequest

from . import webhook
from .api import BotApi
from .definition import DEFINITION
from .delivery import Delivery, render_answer
from .limits import limits

FETCH_TIMEOUT = 120.0
MAX_DOWNLOAD = 2_000_000_000
"""What a Bot API server of one's own gives out; Telegram's gives out files of 20 MB."""


class BotMessenger:
    """Telegram, as the faces of `ports.channels` see it."""

    metadata_seconds = 3600.0
    typing_seconds = 4.0
    """Telegram shows it for five seconds."""

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._dependencies = dependencies
        self._api = BotApi(dependencies)
        self._delivery = Delivery(self._api, dependencies.artifacts)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, known)

    async def fetch_metadata(self, config: Config) -> ChannelMetadata:
        """The bot's own username, by which it is mentioned in groups."""
        me = await self._api.ask(config, "getMe", timeout=2.0)
        return {"username": text(me, "username")}

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return render_answer(config, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await self._delivery.send(config, target, part)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        place = {name: target[name] for name in ("chat_id", "message_thread_id") if name in target}
        sent, _ = await self._api.deliver(config, "sendChatAction", {**place, "action": "typing"})
        return sent

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        """A pressed button shows that it is being waited for until its query is answered."""
        await self._answer_press(config, target, words)

    async def _answer_press(self, config: Config, target: Target, words: str) -> None:
        if query := text(target, "callback_query_id"):
            said = {"text": words[:200]} if words else {}
            await self._try(config, "answerCallbackQuery", {"callback_query_id": query, **said})

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Tells who pressed what came of it, and replaces the prompt."""
        await self._answer_press(config, target, closed.outcome)
        if at(target, "prompt_id"):
            await self._delivery.close(config, target, closed)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        if not part.payload.get("choices") or not ref.isdigit():
            return None
        return {**(press or {}), "chat_id": target.get("chat_id"), "prompt_id": int(ref)}

    async def _try(self, config: Config, method: str, payload: dict[str, object]) -> None:
        try:
            await self._api.ask(config, method, payload)
        except PlatformError:
            return

    async def register(self, config: Config, address: str, kept: Registration) -> Registration:
        secret = webhook.secret_of(webhook.bot_token(config))
        await self._api.ask(
            config,
            "setWebhook",
            {"url": address, "secret_token": secret, "allowed_updates": list(webhook.ALLOWED_UPDATES)},
        )
        return {}

    async def unregister(self, config: Config, kept: Registration) -> None:
        await self._api.ask(config, "deleteWebhook")

    def supersedes(self, old: Config, new: Config) -> bool:
        """Another bot: the one before would go on calling."""
        return webhook.bot_token(old) != webhook.bot_token(new)

    async def registered(self, config: Config, address: str) -> bool:
        info = await self._api.ask(config, "getWebhookInfo")
        told_of = items(info, "allowed_updates") or webhook.ALLOWED_UPDATES
        return text(info, "url") == address and all(each in told_of for each in webhook.ALLOWED_UPDATES)

    async def probe(self, config: Config) -> None:
        await self._api.ask(config, "getMe")

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        file_id = text(attachment.source, "file_id")
        file = await self._api.ask(config, "getFile", {"file_id": file_id})
        address = self._api.file_address(config, text(file, "file_path"))
        request = HttpRequest("GET", address, timeout=FETCH_TIMEOUT, max_bytes=MAX_DOWNLOAD)
        try:
            async for piece in self._dependencies.http.stream(request):
                yield piece
        except HttpFailed as error:
            words = str(error).replace(webhook.bot_token(config), "***")
            raise PlatformError(f"Telegram: {words}") from None


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = BotMessenger(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        metadata=channel,
        sender=channel,
        limits=channel,
        registrar=channel,
        probe=channel,
        fetcher=channel,
        typing=channel,
        button_ack=channel,
        prompt_closer=channel,
    )
