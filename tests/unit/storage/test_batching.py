"""Group commit: what happens to a batch that cannot be stored."""

import asyncio
from collections.abc import Sequence

import pytest

from adapters.outbound.storage.queue.batching import Batcher
from domain.refusals import Invalid, StorageAway


class Table:
    """Stores texts; refuses batches that hold "bad" as a whole, as a database does."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.away = False

    async def flush(self, batch: Sequence[str]) -> Sequence[int]:
        self.batches.append(list(batch))
        await asyncio.sleep(0)
        if self.away:
            raise StorageAway("away")
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
    assert all(isinstance(each, StorageAway) for each in await submitted(table, "a", "bb", "ccc"))
    assert len(table.batches) <= 2


async def test_a_lone_one_is_tried_once() -> None:
    table = Table()
    batcher: Batcher[str, int] = Batcher(table.flush, writers=1)
    with pytest.raises(Invalid):
        await batcher.submit(0, "bad")
    assert table.batches == [["bad"]]


class Barrier:
    """Commits that end when they are told to."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self._open: list[asyncio.Event] = []

    async def flush(self, batch: Sequence[int]) -> Sequence[int]:
        self.batches.append(list(batch))
        gate = asyncio.Event()
        self._open.append(gate)
        await gate.wait()
        return batch

    async def pass_through(self, number: int) -> None:
        self._open[number].set()
        await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_few_wait_for_the_commit_that_runs_and_share_the_next() -> None:
    gate = Barrier()
    batcher: Batcher[int, int] = Batcher(gate.flush, crowd=4)
    waiting = [asyncio.create_task(batcher.submit(0, 0))]
    await settled()
    waiting += [asyncio.create_task(batcher.submit(n, n)) for n in (1, 2, 3)]
    await settled()
    assert gate.batches == [[0]]
    await gate.pass_through(0)
    assert gate.batches == [[0], [1, 2, 3]]
    await gate.pass_through(1)
    assert await asyncio.gather(*waiting) == [0, 1, 2, 3]


async def test_a_crowd_gets_a_commit_of_its_own_without_those_whose_shard_is_in_one() -> None:
    gate = Barrier()
    batcher: Batcher[int, int] = Batcher(gate.flush, crowd=4)
    waiting = [asyncio.create_task(batcher.submit("a", 0))]
    await settled()
    waiting += [asyncio.create_task(batcher.submit("a" if n % 2 else n, n)) for n in range(1, 6)]
    await settled()
    assert gate.batches == [[0], [2, 4]]
    await gate.pass_through(1)
    assert gate.batches == [[0], [2, 4]]
    await gate.pass_through(0)
    assert gate.batches == [[0], [2, 4], [1, 3, 5]]
    await gate.pass_through(2)
    assert await asyncio.gather(*waiting) == [0, 1, 2, 3, 4, 5]


async def test_no_more_commits_run_at_once_than_there_are_writers() -> None:
    gate = Barrier()
    batcher: Batcher[int, int] = Batcher(gate.flush, writers=2, max_batch=4, crowd=4)
    waiting = [asyncio.create_task(batcher.submit(n, n)) for n in range(40)]
    await settled()
    assert [len(batch) for batch in gate.batches] == [4, 4]
    for number in range(10):
        await gate.pass_through(number)
        assert len(gate.batches) <= number + 3
    assert await asyncio.gather(*waiting) == list(range(40))


async def test_each_shard_keeps_its_order_and_nothing_is_left_behind() -> None:
    seen: dict[int, list[int]] = {}
    under_way: set[int] = set()

    async def flush(batch: Sequence[tuple[int, int]]) -> Sequence[int]:
        shards = {shard for shard, _ in batch}
        assert not shards & under_way
        under_way.update(shards)
        for _ in range(len(batch) % 5):
            await asyncio.sleep(0)
        for shard, number in batch:
            seen.setdefault(shard, []).append(number)
        under_way.difference_update(shards)
        return [number for _, number in batch]

    batcher: Batcher[tuple[int, int], int] = Batcher(flush, writers=3, max_batch=8, crowd=4)

    async def one(number: int) -> int:
        for _ in range(number % 7):
            await asyncio.sleep(0)
        return await batcher.submit(number % 11, (number % 11, number))

    assert await asyncio.gather(*(one(number) for number in range(500))) == list(range(500))
    assert sum(map(len, seen.values())) == 500
    for numbers in seen.values():
        for pace in range(7):  # those that waited equally long before they were submitted
            alike = [number for number in numbers if number % 7 == pace]
            assert alike == sorted(alike)
    await batcher.close()
