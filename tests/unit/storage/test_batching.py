"""Group commit: what happens to a batch that cannot be stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from adapters.outbound.storage.batching import Batcher
from domain.refusals import Invalid, Unavailable


class Table:
    """Stores texts; refuses batches that hold "bad" as a whole, as a database does."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.away = False

    async def flush(self, batch: Sequence[str]) -> Sequence[int]:
        self.batches.append(list(batch))
        await asyncio.sleep(0)
        if self.away:
            raise Unavailable("away")
        if "bad" in batch:
            raise Invalid("no")
        return [len(text) for text in batch]


async def submitted(table: Table, *texts: str) -> list[int | BaseException]:
    batcher: Batcher[str, int] = Batcher(table.flush, writers=1)
    return await asyncio.gather(*(batcher.submit(0, text) for text in texts), return_exceptions=True)


async def test_those_that_wait_share_a_batch() -> None:
    table = Table()
    assert await submitted(table, "a", "bb", "ccc") == [1, 2, 3]
    assert len(table.batches) < 3


async def test_one_that_cannot_be_stored_does_not_cost_the_others() -> None:
    table = Table()
    first, second, third, fourth = await submitted(table, "a", "bb", "bad", "dddd")
    assert (first, second, fourth) == (1, 2, 4)
    assert isinstance(third, Invalid)


async def test_an_outage_is_told_to_all_without_trying_each() -> None:
    table = Table()
    table.away = True
    assert all(isinstance(each, Unavailable) for each in await submitted(table, "a", "bb", "ccc"))
    assert len(table.batches) <= 2


async def test_a_lone_one_is_tried_once() -> None:
    table = Table()
    batcher: Batcher[str, int] = Batcher(table.flush, writers=1)
    with pytest.raises(Invalid):
        await batcher.submit(0, "bad")
    assert table.batches == [["bad"]]
