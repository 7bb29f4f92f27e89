"""Subscriptions of several processes on one database."""

from __future__ import annotations

from adapters.outbound.security.encryption import ConfigCipher, new_key
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.subscriptions import PostgresSubscriptions
from domain.subscriptions.model import SubscriptionFields


async def test_a_change_counts_though_its_notice_was_lost(database: Database) -> None:
    """The process that made it may be killed before it tells the others."""
    cipher = ConfigCipher(new_key())
    told: list[int] = []
    ours, other = (PostgresSubscriptions(database, cipher, told.append) for _ in range(2))
    fields = SubscriptionFields("https://events.example/a", secret="s")
    for number in range(1, 3):
        added = await other.add("ann", fields, 0, 9, all_users=False)
        assert added is not None
        assert len(await ours.active()) == number
    await other.change(added.id, SubscriptionFields(kinds=("message.failed",)), 0)
    assert [subscription.kinds for subscription in await ours.active()] == [(), ("message.failed",)]
    await other.switch_off(added.id, "it is gone")
    [left] = await ours.active()
    await other.remove(left.id)
    assert await ours.active() == []
