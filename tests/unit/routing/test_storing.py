"""Outcomes that the database does not take."""

from __future__ import annotations

from typing import Any

import pytest

from domain.channels.messages import Part
from domain.refusals import Invalid, Unavailable
from domain.routing.service import ConversationService
from ports.storage import Lane, Processed

OUTCOME = Processed(Lane(7, "s"), 5, {"chat": 1}, (Part({"text": "hi"}),), last=True)


class Store:
    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.tried: list[Processed] = []

    async def record(self, processed: Processed) -> None:
        self.tried.append(processed)
        if self.failures:
            raise self.failures.pop(0)


def service(store: Store) -> ConversationService:
    unused: Any = None
    names = ConversationService.__init__.__annotations__
    others = {name: unused for name in names if name not in ("conversations", "return")}
    return ConversationService(conversations=store, **others)  # type: ignore[arg-type]


async def test_an_outcome_that_cannot_be_stored_is_not_worked_out_again_for_ever() -> None:
    store = Store(Invalid("no"))
    await service(store)._record(OUTCOME)
    lost = store.tried[1]
    assert (lost.lane, lost.inbox_id, lost.last, lost.parts) == (OUTCOME.lane, 5, True, ())
    assert lost.error == "internal error: Invalid on storing the outcome"


async def test_an_outage_leaves_it_for_later() -> None:
    store = Store(Unavailable("away"))
    with pytest.raises(Unavailable):
        await service(store)._record(OUTCOME)
    assert store.tried == [OUTCOME]
