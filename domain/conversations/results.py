"""Sends what resources answer after their messages were worked on."""

from dataclasses import dataclass

from domain.channels.answers import Answer
from domain.conversations.forwarding import ASKS, DestinationService
from domain.conversations.sending import SendingService
from domain.instances.lookup import known_channel
from domain.instances.model import ACTIVE, Instance
from domain.refusals import Invalid
from ports.channels import Channels


@dataclass(eq=False)
class ResultService:
    channels: Channels
    destinations: DestinationService
    sending: SendingService

    async def send(self, instance: Instance, session_id: str, answer: Answer, key: str) -> None:
        """Sends to the conversation, or where the instance wants its answers to go; once for each key, which no
        caller's key may equal. Nothing is sent where the channel cannot. Raises `Refusal`."""
        if not answer.text.strip() and not answer.artifacts and answer.rich is None:
            return
        if instance.status != ACTIVE:
            raise Invalid("the instance is not active")
        channel, destination = known_channel(self.channels, instance.channel_id), None
        if channel.forwarding:
            destination = channel.forwarding.destination(channel.config.load(instance.config))
        if destination is None and channel.sender is None:
            return
        if destination is None:
            await self.sending.send_result(instance, session_id, answer, key)
        elif answer.question:
            raise Invalid(ASKS)
        else:
            instance = await self.destinations.instance(instance.user_id, destination)
            await self.sending.forward(instance, destination.to, answer, key)
