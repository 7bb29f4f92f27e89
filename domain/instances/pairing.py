"""Pairing codes: requested here, made by the process that keeps the connection."""

import asyncio
from dataclasses import dataclass

from domain.instances.model import Instance, Pairing
from domain.refusals import TooMany
from ports.channels import Channels
from ports.connections import ConnectionStore

PAIRING_WAIT = 20.0
"""Seconds that a request waits for its code."""
POLL_SECONDS = 0.2
"""Seconds between two queries for the answer."""


@dataclass(eq=False)
class PairingService:
    requests: ConnectionStore
    channels: Channels
    wait: float = PAIRING_WAIT

    def pairs(self, channel_id: str) -> bool:
        channel = self.channels.find(channel_id)
        return channel is not None and channel.pairing is not None

    async def saved(self, instance: Instance) -> None:
        channel = self.channels.find(instance.channel_id)
        if channel is not None and (pairing := channel.pairing) is not None:
            await self.requests.prepare(instance.id, pairing.status_field, pairing.initial_status)

    async def request(self, instance: Instance) -> Pairing:
        channel = self.channels.find(instance.channel_id)
        if channel is None or channel.pairing is None:
            return Pairing(False, None, f"No pairing code can be made: {instance.channel_id} has no pairing")
        if lacking := channel.connector and channel.connector.lacks():
            return Pairing(False, None, f"No pairing code can be made: {lacking}")
        number = await self.requests.request(instance.id)
        if number is None:
            raise TooMany("too many pairing codes were asked for within the hour; try again later", 600)
        try:
            async with asyncio.timeout(self.wait):
                while (answer := await self.requests.answer(instance.id, number)) is None:  # noqa: ASYNC110 - of another process
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            return Pairing(False, None, f"No pairing code could be made within {self.wait:g} seconds.")
        if answer.code is None:
            return Pairing(False, None, f"No pairing code could be made: {answer.error}")
        return Pairing(True, answer.code, channel.pairing.steps)
