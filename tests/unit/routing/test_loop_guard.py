"""Whose messages count as rounds, and what becomes of an event beyond them."""

from dataclasses import replace

import pytest

from domain.channels.messages import Sender
from domain.routing.model import MOST_ROUNDS, STOPPED
from ports.queue import QueuedEvent, QueueKey, Round
from tests.unit.routing.test_storing import Channel, World, event


class Screened(Channel):
    """A platform that says whether a sender is a bot; None where it does not tell."""

    def __init__(self, says: bool | None) -> None:
        super().__init__()
        self.says = says

    async def is_bot(self, config: object, sender: Sender) -> bool | None:
        return self.says


class Rounds:
    def __init__(self, count: int, *, echo: bool = False) -> None:
        self.found = Round(count, echo)
        self.counted = 0
        self.answered: list[str] = []

    async def count(self, key: QueueKey, waiting: QueuedEvent, most: int, window: float) -> Round:
        self.counted += 1
        return self.found

    async def replied(self, key: QueueKey, correspondent: str) -> None:
        self.answered.append(correspondent)


def world_of(rounds: Rounds, channel: Channel | None = None) -> World:
    world = World()
    world.rounds = rounds
    world.channel = channel or world.channel
    return world


def automated() -> QueuedEvent:
    waiting = event(5)
    return replace(waiting, event=replace(waiting.event, automated=True))


@pytest.mark.parametrize("channel", [Channel(), Screened(says=False)])
async def test_messages_of_people_are_not_counted_however_many_they_are(channel: Channel) -> None:
    rounds = Rounds(1000)
    world = world_of(rounds, channel)
    await world.work(*(event(number) for number in range(1, 41)))
    assert (rounds.counted, world.asked) == (0, 40)
    assert all(each.by_person and each.messages for each in world.recorded)


async def test_a_message_of_an_unknown_sender_is_counted() -> None:
    rounds = Rounds(1)
    world = world_of(rounds, Screened(says=None))
    await world.work()
    assert (rounds.counted, world.asked, world.recorded[0].by_person) == (1, 1, False)


@pytest.mark.parametrize(("count", "is_answered"), [(MOST_ROUNDS, True), (MOST_ROUNDS + 1, False)])
async def test_rounds_beyond_the_most_are_not_answered(count: int, is_answered: bool) -> None:
    world = world_of(Rounds(count))
    await world.work(automated())
    [processed] = world.recorded
    assert (bool(processed.messages), world.asked) == (is_answered, int(is_answered))
    assert (processed.error, world.failed) == ((None, []) if is_answered else (STOPPED, [STOPPED]))


async def test_an_echo_that_shows_late_is_not_handed_on() -> None:
    world = world_of(Rounds(MOST_ROUNDS + 1, echo=True))
    await world.work(automated())
    assert (world.asked, world.recorded[0].messages, world.recorded[0].error) == (0, (), None)


async def test_a_reply_to_a_correspondent_is_told() -> None:
    rounds = Rounds(1)
    mail = automated()
    mail = replace(mail, event=replace(mail.event, correspondent="ann@shop.example"))
    await world_of(rounds).work(mail)
    assert rounds.answered == ["ann@shop.example"]


async def test_a_mail_that_is_not_answered_is_no_reply_to_its_sender() -> None:
    rounds = Rounds(MOST_ROUNDS + 1)
    mail = automated()
    mail = replace(mail, event=replace(mail.event, correspondent="ann@shop.example"))
    await world_of(rounds).work(mail)
    assert rounds.answered == []
