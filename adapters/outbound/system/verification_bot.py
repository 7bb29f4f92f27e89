"""The Telegram bot that asks users to share their contact (https://core.telegram.org/bots/api), and notices to the
owner of an instance through a verified identity.
"""

import hashlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.outbound.channels.common.bodies import at, json_object, same, text
from domain.refusals import Unauthenticated
from domain.verification.model import BotMessage, Provider
from ports.access import IdentityStore, Mailer, MailFailed, VerificationBot
from ports.capabilities import PlatformError
from ports.http import Http, HttpFailed, HttpRequest
from ports.instances import InstanceStore

log = logging.getLogger(__name__)

WEBHOOK_PATH = "/api/agent/verification/bot-messenger-bot-webhook"


class TelegramVerificationBot:
    """`ports.access.VerificationBot`; `api_url` is the Bot API's base address."""

    def __init__(self, http: Http, api_url: str, token: str, username: str) -> None:
        self._http = http
        self._api_url = api_url.rstrip("/")
        self._token = token
        self._username = username
        self._secret = hashlib.sha256(token.encode()).hexdigest()

    def deep_link(self, token: str) -> str:
        return f"https://t.me/{self._username}?start={token}"

    def read(self, headers: Mapping[str, str], body: bytes) -> BotMessage | None:
        if not same(headers.get("x-telegram-bot-api-secret-token", ""), self._secret):
            raise Unauthenticated("X-Telegram-Bot-Api-Secret-Token is missing or wrong")
        message = at(json_object(body), "message")
        sender, chat = text(message, "from", "id"), text(message, "chat", "id")
        if not sender or not chat or text(message, "chat", "type") != "private":
            return None
        phone = text(message, "contact", "phone_number")
        if phone:
            own = text(message, "contact", "user_id") == sender
            return BotMessage(sender, chat, phone=phone, own_contact=own)
        command, _, rest = text(message, "text").partition(" ")
        token = rest.strip() if command.split("@")[0] == "/start" else ""
        return BotMessage(sender, chat, link_token=token or None)

    async def ask_for_contact(self, chat_id: str, text: str) -> None:
        button = {"text": "Share my contact", "request_contact": True}
        keyboard = {"keyboard": [[button]], "one_time_keyboard": True, "resize_keyboard": True}
        await self._tell({"chat_id": chat_id, "text": text, "reply_markup": keyboard})

    async def say(self, chat_id: str, text: str) -> None:
        await self._tell({"chat_id": chat_id, "text": text, "reply_markup": {"remove_keyboard": True}})

    async def register(self, agent_url: str) -> None:
        """Sets the webhook. Raises `PlatformError`."""
        await self._call(
            "setWebhook",
            {
                "url": f"{agent_url.rstrip('/')}{WEBHOOK_PATH}",
                "secret_token": self._secret,
                "allowed_updates": ["message"],
            },
        )

    async def _tell(self, message: Mapping[str, Any]) -> None:
        try:
            await self._call("sendMessage", message)
        except PlatformError as failure:
            log.warning("the verification bot could not answer: %s", failure)

    async def _call(self, method: str, body: Mapping[str, Any]) -> None:
        try:
            answer = await self._http.send(
                HttpRequest("POST", f"{self._api_url}/bot{self._token}/{method}", json=body, timeout=10)
            )
        except HttpFailed as failure:
            # The client's words may name the address, and the address holds the token.
            raise PlatformError(str(failure).replace(self._token, "…")) from failure
        if not answer.ok or at(answer.json(), "ok") is not True:
            description = text(answer.json(), "description")[:300]
            raise PlatformError(f"{method}: HTTP {answer.status} {description}".strip())


@dataclass(frozen=True, slots=True)
class OwnerNotifier:
    """`ports.connections.Notifier`: to the verified mail address, else to the messenger through the bot."""

    instances: InstanceStore
    identities: IdentityStore
    mailer: Mailer
    bot: VerificationBot
    offered: Collection[Provider]

    async def pairing_code(self, instance_id: int, code: str) -> None:
        instance = await self.instances.find(instance_id)
        if instance is None:
            return
        addresses = {
            identity.field: identity.value for identity in await self.identities.of_user(instance.user_id)
        }
        text = (
            f"The pairing code for '{instance.channel_name}' is {code}\n\nOn the phone open WhatsApp > Settings >"
            " Linked devices > Link a device > Link with phone number instead, and enter it soon.\n"
        )
        if "email" in addresses and Provider.EMAIL in self.offered:
            try:
                await self.mailer.send(addresses["email"], "Pairing code for WhatsApp", text)
            except MailFailed as failure:
                log.warning("the pairing code was not mailed: %s", failure)
        elif "bot-messenger" in addresses and Provider.BOT_MESSENGER in self.offered:
            await self.bot.say(addresses["bot-messenger"], text)
