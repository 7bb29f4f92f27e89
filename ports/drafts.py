"""DraftService: messages that show unfinished answers."""

from dataclasses import dataclass
from typing import Protocol

from domain.channels.answers import OutboundMessage
from domain.channels.messages import Sent, Target
from domain.instances.model import Instance
from ports.channels import AnyChannel


@dataclass(frozen=True, slots=True)
class DraftAddress:
    """Where a draft is shown. `key` is the idempotency key of sending it."""

    instance: Instance
    channel: AnyChannel
    session_key: str
    target: Target
    key: str


class DraftSender(Protocol):
    async def show(self, address: DraftAddress, message: OutboundMessage, draft: str) -> Sent:
        """Edits the message `draft`, or sends one where that is empty, if the platform's limits allow it now:
        `RETRY_AFTER` says when they do. Never raises."""
        ...


class DraftStore(Protocol):
    async def drafted(self, inbox_id: int, draft: str) -> None:
        """The answer to this event is shown in that message. Raises `Unavailable`."""
        ...
