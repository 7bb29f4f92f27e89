"""Notifies the owner of an instance through a verified identity."""

import logging
from collections.abc import Collection

from domain.verification.model import Provider
from ports.access import IdentityStore, Mailer, MailFailed, VerificationBot
from ports.instances import InstanceStore

log = logging.getLogger(__name__)


class OwnerNotifier:
    """`ports.connections.Notifier`: to the verified mail address, else to the messenger through the bot."""

    def __init__(
        self,
        instances: InstanceStore,
        identities: IdentityStore,
        mailer: Mailer,
        bot: VerificationBot,
        offered: Collection[Provider],
    ) -> None:
        self._instances = instances
        self._identities = identities
        self._mailer = mailer
        self._bot = bot
        self._offered = frozenset(offered)

    async def pairing_code(self, instance_id: int, code: str) -> None:
        instance = await self._instances.find(instance_id)
        if instance is None:
            return
        addresses = {
            identity.field: identity.value for identity in await self._identities.of_user(instance.user_id)
        }
        text = (
            f"The pairing code for '{instance.channel_name}' is {code}\n\nOn the phone open WhatsApp > Settings >"
            " Linked devices > Link a device > Link with phone number instead, and enter it soon.\n"
        )
        if "email" in addresses and Provider.EMAIL in self._offered:
            await self._by_mail(addresses["email"], text)
        elif "bot-messenger" in addresses and Provider.BOT_MESSENGER in self._offered:
            await self._bot.say(addresses["bot-messenger"], text)

    async def _by_mail(self, address: str, text: str) -> None:
        try:
            await self._mailer.send(address, "Pairing code for WhatsApp", text)
        except MailFailed as failure:
            log.warning("the pairing code was not mailed: %s", failure)
