"""Outcomes that the database does not take."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from domain.channels.messages import Event, Part, Sender
from domain.refusals import Invalid, StorageAway
from domain.routing.service import ConversationService
from ports.storage import Conversation, Lane, Processed, Waiting

OUTCOME = Processed(Lane(7, "s"), 5, {"chat": 1}, (Part({"text": "hi"}),), last=True)


class Store:
    """Fails as told; `forgetful` takes no outcome, as one of before is missing. It knows no instance."""

    def __init__(self, *failures: Exception, forgetful: bool = False) -> None:
        self.failures = list(failures)
        self.forgetful = forgetful
        self.tried: list[Processed] = []
        self.released: list[Lane] = []

    async def record(self, processed: Processed) -> bool:
        self.tried.append(processed)
        if self.failures:
            raise self.failures.pop(0)
        return not self.forgetful

    async def release(self, lane: Lane) -> None:
        self.released.append(lane)

    async def cached(self, instance_id: int) -> None:
        return None


def service(store: Store) -> ConversationService:
    unused: Any = None
    names = ConversationService.__init__.__annotations__
    others = {name: unused for name in names if name not in ("conversations", "instances", "return")}
    return ConversationService(conversations=store, instances=store, **others)  # type: ignore[arg-type]


def conversation() -> Conversation:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    waiting = [Waiting(number, Event(f"k{number}", "s", Sender("x"), "hi", {}), 0, at) for number in (5, 6)]
    return Conversation(OUTCOME.lane, waiting)


async def test_an_outcome_that_cannot_be_stored_is_not_worked_out_again_for_ever() -> None:
    store = Store(Invalid("no"))
    await service(store)._record(OUTCOME)
    lost = store.tried[1]
    assert (lost.lane, lost.inbox_id, lost.last, lost.parts) == (OUTCOME.lane, 5, True, ())
    assert lost.error == "internal error: Invalid on storing the outcome"


async def test_an_outage_leaves_it_for_later() -> None:
    store = Store(StorageAway("away"))
    with pytest.raises(StorageAway):
        await service(store)._record(OUTCOME)
    assert store.tried == [OUTCOME]


async def test_what_was_leased_is_worked_off_and_given_back_with_the_last_outcome() -> None:
    store = Store()
    await service(store).work(conversation())
    assert [(each.inbox_id, each.last) for each in store.tried] == [(5, False), (6, True)]
    assert store.released == []


async def test_where_an_outcome_of_before_is_missing_the_rest_is_left_for_later() -> None:
    store = Store(forgetful=True)
    await service(store).work(conversation())
    assert [each.inbox_id for each in store.tried] == [5]
    assert store.released == [OUTCOME.lane]
