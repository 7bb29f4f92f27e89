"""A call that waits hears how its answer grows, also in another process."""

import asyncio

import pytest

from adapters.outbound.system.event_bus import EventBus
from domain.routing import growing
from domain.routing.growing import LONGEST_PIECE, MOST_PIECES, Growing

MESSAGE = 7


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "LOOK_SECONDS", 0.001)


class Pieces:
    """What was told, put together; `wait_for` waits for a text."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []
        self._news = asyncio.Event()

    def grew(self, inbox_id: int, offset: int, piece: str) -> None:
        assert inbox_id == MESSAGE
        self.told.append((offset, piece))
        self._news.set()

    @property
    def text(self) -> str:
        return "".join(piece for _, piece in self.told)

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(30):
            while self.text != text:
                self._news.clear()
                await self._news.wait()


async def test_pieces_go_on_from_each_other() -> None:
    pieces = Pieces()
    answer = Growing(pieces.grew, MESSAGE)
    for text in ("It ", "It is\n", "It is noon."):
        answer.update(lambda text=text: text)  # type: ignore[misc]
        await pieces.wait_for(text.strip())
    await answer.close()
    assert [offset for offset, _ in pieces.told] == [0, 2, 5]


async def test_a_text_that_begins_anew_is_not_told() -> None:
    pieces = Pieces()
    answer = Growing(pieces.grew, MESSAGE)
    answer.update(lambda: "It is")
    await pieces.wait_for("It is")
    answer.update(lambda: "Sorry")
    await asyncio.sleep(0.02)
    answer.update(lambda: "It is noon.")
    await pieces.wait_for("It is noon.")
    await answer.close()


async def test_a_long_text_is_told_in_pieces_that_a_notice_holds() -> None:
    bus, notices = EventBus(solitary=False), list[str]()
    bus.broadcast = notices.append
    text = '\N{PILE OF POO}\0"' * LONGEST_PIECE * MOST_PIECES
    answer = Growing(bus.grew, MESSAGE)
    answer.update(lambda: text)
    async with asyncio.timeout(30):
        while len(notices) < 2 * MOST_PIECES:
            await asyncio.sleep(0.001)
    await answer.close()
    assert max(len(notice.encode()) for notice in notices) < 7900
    other = EventBus(solitary=False)
    with other.follow(MESSAGE) as more:
        for notice in notices:
            other.on_notification(notice)
        heard = await more(30)
    assert text.startswith(heard)
    assert len(heard) >= 2 * MOST_PIECES * LONGEST_PIECE


async def test_who_follows_here_is_told_without_a_notice() -> None:
    bus, notices = EventBus(solitary=False), list[str]()
    bus.broadcast = notices.append
    with bus.follow(MESSAGE) as first, bus.follow(MESSAGE) as second:
        bus.grew(MESSAGE, 0, "It is")
        bus.answered(MESSAGE)
        assert [await more(30) for more in (first, second)] == ["It is", "It is"]
        assert [await more(30) for more in (first, second)] == ["", ""]
        assert await first(0.001) == ""
    assert notices == []
    bus.grew(MESSAGE, 5, " noon.")
    assert notices == [f'grew:{MESSAGE}:5:" noon."']


async def test_a_piece_behind_a_gap_is_not_shown_and_none_is_shown_twice() -> None:
    bus = EventBus(solitary=False)
    with bus.follow(MESSAGE) as more:
        for notice in ('0:"It "', '0:"It "', '10:"noon."', '3:"is"'):
            bus.on_notification(f"grew:{MESSAGE}:{notice}")
        assert await more(30) == "It is"
        assert await more(0.001) == ""


async def test_an_answer_or_a_withdrawal_wakes_at_once() -> None:
    bus = EventBus(solitary=False)
    bus.on_notification(f"answer:{MESSAGE}")
    with bus.follow(MESSAGE) as more:
        assert await more(30) == ""
        bus.on_notification(f"withdrawn:{MESSAGE}")
        assert await more(30) == ""
