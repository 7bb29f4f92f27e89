"""A subscription begins behind all that happened before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from domain.access.model import Caller
from domain.subscriptions.model import Subscription, SubscriptionFields
from domain.subscriptions.service import SubscriptionService
from ports.instances import HealthRecord

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANN = Caller("ann")


class Log:
    """Seven events, the latest two of which have no ids yet."""

    newest = 5

    async def listen(self, listener: str) -> None:
        pass

    async def publish(self) -> int:
        self.newest = 7
        return 2

    async def position(self) -> int:
        return self.newest


class Unaudited:
    @asynccontextmanager
    async def change(self, *_: object) -> AsyncIterator[dict[str, Any]]:
        yield {}


class Store:
    """One subscription, and the events behind which it began."""

    def __init__(self) -> None:
        self.since: list[int] = []
        self.subscription = Subscription(1, "ann", "https://a.example", (), (), NOW, NOW)

    async def add(self, user_id: str, fields: Any, since: int, most: int, **_: Any) -> Subscription:
        self.since.append(since)
        return self.subscription

    async def change(self, subscription_id: int, fields: Any, since: int) -> None:
        self.since.append(since)

    async def find(self, subscription_id: int) -> Subscription:
        return self.subscription


async def health(_: int) -> HealthRecord:
    return HealthRecord()


async def nothing(_: object) -> dict[str, int]:
    return {}


def service(store: Store) -> SubscriptionService:
    unused: Any = None
    reads: Any = SimpleNamespace(find=health, queue=nothing)
    addresses: Any = SimpleNamespace(fault=nothing)
    ids: Any = SimpleNamespace(token=lambda _: "x" * 43)
    clock: Any = SimpleNamespace(now=lambda: NOW)
    stored: Any = store
    return SubscriptionService(
        stored, unused, reads, unused, Log(), unused, addresses, ids, clock, Unaudited()
    )  # type: ignore[arg-type]


async def test_events_without_an_id_happened_before_a_new_subscription() -> None:
    store = Store()
    await service(store).create(ANN, SubscriptionFields("https://a.example"))
    assert store.since == [7]


async def test_events_without_an_id_happened_before_one_that_is_switched_on_again() -> None:
    store = Store()
    await service(store).change(ANN, 1, SubscriptionFields(status="active"))
    assert store.since == [7]
