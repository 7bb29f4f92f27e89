"""Of several workers one looks at once for what a notice tells of, the others a little later."""

import asyncio
from typing import Any

import pytest

from adapters.outbound.system.event_bus import EACH_SECONDS, EventBus, Turns


class _Woken:
    """What a worker was told."""

    def __init__(self) -> None:
        self.within: list[float] = []

    def wake(self) -> None:
        self.within.append(0.0)

    def wake_within(self, seconds: float) -> None:
        self.within.append(seconds)


def _worker(rank: int, workers: int) -> Turns:
    turns = Turns()
    turns.set_rank(rank, workers)
    return turns


@pytest.mark.parametrize("workers", [1, 2, 3, 100])
def test_each_notice_is_the_turn_of_one_worker(workers: int) -> None:
    every = [_worker(rank, workers) for rank in range(workers)]
    for number in range(2 * workers):
        told = [_Woken() for _ in every]
        for turns, woken in zip(every, told, strict=True):
            assert not turns.wake(woken, str(number), lambda: True)
        assert [woken.within for woken in told].count([0.0]) == 1
        assert [woken.within for woken in told].count([workers * EACH_SECONDS]) == workers - 1


@pytest.mark.parametrize("value", ["", "all"])
def test_a_notice_without_a_number_is_the_turn_of_all(value: str) -> None:
    for rank in range(3):
        woken = _Woken()
        assert not _worker(rank, 3).wake(woken, value, lambda: False)
        assert woken.within == [0.0]


def test_who_knows_no_others_looks_at_once() -> None:
    woken = _Woken()
    Turns().wake(woken, "7", lambda: True)
    assert woken.within == [0.0]


@pytest.mark.parametrize(("rank", "workers"), [(5, 3), (0, 0)])
def test_a_place_is_always_one_that_comes_round(rank: int, workers: int) -> None:
    turns, woken = _worker(rank, workers), _Woken()
    for number in range(3):
        turns.wake(woken, str(number), lambda: True)
    assert 0.0 in woken.within


@pytest.mark.parametrize("views", [(1, 1, 1), (2, 3, 3), (4, 3, 2), (100, 1, 7), (3, 3, 3)])
def test_workers_that_disagree_about_their_number_all_look(views: tuple[int, ...]) -> None:
    """At once, or after the time that each of them counts: none leaves a notice to another alone."""
    for number in range(2 * max(views)):
        for rank, workers in enumerate(views):
            woken = _Woken()
            _worker(rank, workers).wake(woken, str(number), lambda: True)
            assert woken.within in ([0.0], [workers * EACH_SECONDS])


@pytest.mark.parametrize("payload", ["in", "in:0", "in:1", "in:all"])
async def test_a_worker_is_woken_by_a_notice_of_any_version(payload: str) -> None:
    """Of the time before notices had numbers, its own turn and another's, and one that was passed on."""
    bus = EventBus(solitary=False)
    bus.turns.set_rank(1, 2)

    bus.on_notification(payload)

    async with asyncio.timeout(60):
        await bus.inbound.wait(600)


@pytest.mark.parametrize(
    ("rank", "notice", "passed"),
    [(0, "in:0", ["in:all"]), (0, "out:0", ["out:all"]), (1, "in:0", []), (0, "in:all", []), (0, "in", [])],
)
async def test_a_worker_without_capacity_passes_its_turn_on(
    rank: int, notice: str, passed: list[str]
) -> None:
    bus, notices = EventBus(solitary=False), list[str]()
    bus.broadcast = notices.append
    bus.may_take = dict.fromkeys(("in", "out"), lambda: False)
    bus.turns.set_rank(rank, 2)

    bus.on_notification(notice)

    assert notices == passed


async def test_who_was_woken_meanwhile_does_not_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, timers = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    bus, call_later = EventBus(solitary=False), loop.call_later

    def recorded(*arguments: Any) -> asyncio.TimerHandle:
        timers.append(call_later(*arguments))
        return timers[-1]

    bus.turns.set_rank(1, 2)
    with monkeypatch.context() as patched:
        patched.setattr(loop, "call_later", recorded)
        bus.on_notification("in:0")
        bus.on_notification("in:2")
    bus.on_notification("in:1")
    await bus.inbound.wait(60)

    assert [timer.cancelled() for timer in timers] == [True]
