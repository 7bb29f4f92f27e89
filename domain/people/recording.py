"""Gives the senders of stored messages people."""

import logging
from dataclasses import dataclass

from domain import limits
from domain.channels.messages import Sender
from domain.people.model import SeenSender, StoredSender
from domain.refusals import Unavailable
from ports.access import IdentityStore
from ports.channels import AnyChannel, Channels
from ports.conversations import MessageStore
from ports.instances import InstanceStore
from ports.persons import SeenSenders

log = logging.getLogger(__name__)


@dataclass(eq=False)
class PeopleRecorder:
    """Follows the stored messages. A sender belongs to the person who has the same sender id in the same instance, or
    one of the proved identities, or is the same verified user; people of two owners have nothing in common."""

    senders: SeenSenders
    messages: MessageStore
    instances: InstanceStore
    channels: Channels
    users: IdentityStore

    async def record(self) -> None:
        """Looks through the messages that came in since the last round, unless another process does just now."""
        position = await self.senders.claim()
        is_settled = True
        while position is not None:
            senders, settled, following = await self.senders.following(position)
            for sender in senders:
                await self._try_record(sender)
            if is_settled and settled is not None:
                await self.senders.advance(settled)
            is_settled = is_settled and settled == following
            position = following

    async def _try_record(self, stored: StoredSender) -> None:
        """A sender who cannot be stored does not keep others out."""
        try:
            await self._record(stored)
        except Unavailable:
            raise
        except Exception:
            log.exception("a sender was given no person", extra={"instance": stored.instance_id})

    async def _record(self, stored: StoredSender) -> None:
        channel = self.channels.find(stored.channel_id)
        if channel is None or channel.sender is None:
            return  # such as a schedule: nobody writes there
        event = await self.messages.event(stored.instance_id, stored.inbox_id)
        if event is None or not event.sender.external_id:
            return
        user_id = await self._user(channel, stored.instance_id, event.sender)
        language = str(event.context.get("language") or "")[: limits.LANGUAGE]
        await self.senders.record(
            SeenSender(stored, event.session_id, event.sender, language or None, user_id)
        )

    async def _user(self, channel: AnyChannel, instance_id: int, sender: Sender) -> str | None:
        """The user that one of the identities is verified for, where the instance asks for that."""
        instance = await self.instances.cached(instance_id) if sender.identities else None
        if instance is None or not channel.definition.identifies(instance.config):
            return None
        return await self.users.resolve(sender.identities, instance.only_user(sender.proof))
