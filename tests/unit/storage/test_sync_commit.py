"""Which outcomes are committed without waiting for the disk."""

from collections.abc import Mapping
from typing import Any

import pytest

from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from ports.queue import EventOutcome, QueueKey


class Statements:
    """Keeps how each statement was to be committed; finds nothing."""

    def __init__(self) -> None:
        self.asynchronous: list[bool] = []

    async def fetch(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        self.asynchronous.append(parameters["async"])
        return []


@pytest.mark.parametrize(
    ("parts", "require_sync_commit", "asynchronous"),
    [
        ((OutboundMessage({"text": "hi"}),), False, True),
        ((OutboundMessage({"text": "hi"}),), True, False),
        ((), False, False),
    ],
)
async def test_only_what_can_be_made_again_may_be_forgotten(
    parts: tuple[OutboundMessage, ...], require_sync_commit: bool, asynchronous: bool
) -> None:
    statements: Any = Statements()
    nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
    conversations = PostgresConversations(
        statements, LeaseStore(statements, 1, statements), nobody, PostgresUsage(statements)
    )

    await conversations.record(
        EventOutcome(QueueKey(7, "s"), 5, {}, parts, last=True, require_sync_commit=require_sync_commit)
    )

    assert statements.asynchronous == [asynchronous]
