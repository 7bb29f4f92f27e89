"""Connections that are kept for instances: who keeps them, and what is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.channels.linked_device import LinkStatus
from ports.linked_device import LinkRecorder


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """How a request for a pairing code ended: with a code or with the reason for none."""

    code: str | None
    error: str


class Links(Protocol):
    """One keeper at a time per instance, over any number of processes."""

    async def hold(self, channel_ids: Sequence[str]) -> Sequence[int]:
        """Takes and renews leases: the instances whose connections this process keeps from now on."""
        ...

    async def elsewhere(self, channel_ids: Sequence[str]) -> Sequence[int]:
        """The instances whose connections other processes keep."""
        ...

    async def let_go(self) -> None:
        """Gives all leases back."""
        ...

    async def gone(self, instance_ids: Sequence[int]) -> Sequence[int]:
        """Those of these instances that were removed. One that never was here is not gone: the state may
        belong to another database."""
        ...

    async def note(self, instance_id: int) -> LinkStatus:
        """Makes an instance's link known, and writes its status into config.waStatus."""
        ...

    async def ask(self, instance_id: int) -> int | None:
        """Asks for a new pairing code: the number of the request, None when too many were made in the hour."""
        ...

    async def answer(self, instance_id: int, number: int) -> CodeAnswer | None:
        """The answer to a request, None while there is none."""
        ...

    def desk(self, instance_id: int) -> LinkRecorder:
        """Where the keeper of an instance's connection puts things on record."""
        ...


class Notifier(Protocol):
    """Tells the owner of an instance."""

    async def pairing_code(self, instance_id: int, code: str) -> None:
        """Best effort, to the owner's verified e-mail or messenger identity."""
        ...
