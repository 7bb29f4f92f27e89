"""Pairing of channels that link a device with a code."""

from typing import Protocol

from domain.instances.model import Instance, Pairing


class Pairings(Protocol):
    def pairs(self, channel_id: str) -> bool:
        """Whether the channel pairs at all."""
        ...

    async def saved(self, instance: Instance) -> None:
        """An instance was created or updated; a new one of a pairing channel begins to pair."""
        ...

    async def removed(self, instance: Instance) -> None:
        """An instance is about to be removed; its device is unlinked and its stored state cleared."""
        ...

    async def request(self, instance: Instance) -> Pairing:
        """Forces a new code, waiting up to 20 seconds. Raises `TooMany`."""
        ...
