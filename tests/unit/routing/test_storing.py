"""How the work on a message ends that cannot be done: once, with an apology, a record and a word in health."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Sender
from domain.channels.provenance import Usage
from domain.conversations.forwarding import ForwardingService
from domain.instances.model import Instance
from domain.refusals import Invalid, StorageAway, Unavailable
from domain.routing.conversation import PROCESSING_FAILED, Withdrawals
from domain.routing.events import EventService
from domain.routing.indicators import LingeringTyping
from domain.routing.service import RETRIES, ConversationService
from domain.usage.model import RunUsage
from ports.queue import Conversation, EventOutcome, QueuedEvent, QueueKey

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEY = QueueKey(7, "s")
INSTANCE = Instance(7, "ann", "x", "n", {}, None, NOW, NOW)


class Channel:
    """Cannot render texts that hold "odd"; with `mute` none at all."""

    mute = False

    def render(self, config: object, target: object, answer: Answer) -> Sequence[OutboundMessage]:
        if self.mute or "odd" in answer.text:
            raise ZeroDivisionError("no")
        return [OutboundMessage({"text": answer.text})]

    async def send(self, *_: object) -> None:
        return None


class World:
    """Everything around the service. Each of `refused` is raised once by the store, `failure` by the resource."""

    def __init__(self, *refused: Exception, failure: Exception | None = None, text: str = "hi") -> None:
        self.refused = list(refused)
        self.failure = failure
        self.text = text
        self.forgetful = False
        self.instance: Instance | Exception | None = INSTANCE
        self.channel = Channel()
        self.asked = 0
        self.tried: list[EventOutcome] = []
        self.recorded: list[EventOutcome] = []
        self.retried: list[tuple[int, str, float]] = []
        self.uncountable: Exception | None = None
        self.removed: list[EventOutcome] = []
        self.removals_refused: list[Exception] = []
        self.released: list[QueueKey] = []
        self.failed: list[str] = []
        self.kept: list[RunUsage] = []
        anything: Any = self
        health: Any = SimpleNamespace(failed=self._failed, succeeded=self._succeeded)
        invocation: Any = SimpleNamespace(answer=self.answer)
        clock: Any = SimpleNamespace(now=lambda: NOW)
        meter: Any = SimpleNamespace(processed=lambda *_: None)
        self.rounds: Any = None
        rounds: Any = SimpleNamespace(
            count=lambda *arguments: self.rounds.count(*arguments),
            replied=lambda *arguments: self.rounds.replied(*arguments),
        )
        events = EventService(
            invocation, anything, rounds, health, clock, meter, anything, verification_address=""
        )
        self.service = ConversationService(
            anything,
            anything,
            anything,
            events,
            health,
            ForwardingService(anything, anything, health),
            Withdrawals(),
            LingeringTyping(),
            anything,
            anything,
        )

    async def cached(self, instance_id: int) -> Instance | None:
        if isinstance(self.instance, Exception):
            raise self.instance
        return self.instance

    def find(self, channel_id: str) -> Any:
        screening = self.channel if hasattr(self.channel, "is_bot") else None
        return a_channel(sender=self.channel, sender_filter=screening)

    async def answer(self, *_: object) -> Answer:
        self.asked += 1
        if self.failure:
            raise self.failure
        return Answer(self.text)

    async def record(self, processed: EventOutcome) -> bool:
        self.tried.append(processed)
        if self.refused:
            raise self.refused.pop(0)
        self.recorded.append(processed)
        return not self.forgetful

    async def remove(self, processed: EventOutcome) -> bool:
        if self.removals_refused:
            raise self.removals_refused.pop(0)
        self.removed.append(processed)
        return True

    async def retry(self, key: QueueKey, inbox_id: int, error: str, delay: float) -> None:
        if self.uncountable:
            raise self.uncountable
        self.retried.append((inbox_id, error, delay))

    def note(self, instance_id: int, runs: Sequence[RunUsage]) -> None:
        return None

    def keep(self, instance_id: int, runs: Sequence[RunUsage]) -> None:
        self.kept += runs

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        self.released.append(key)

    async def _failed(self, *arguments: object) -> None:
        self.failed.append(str(arguments[-1]))

    async def _succeeded(self, *_: object) -> None:
        return None

    async def work(self, *waiting: QueuedEvent) -> None:
        await self.service.work(Conversation(KEY, waiting or (event(5),)))

    @property
    def outcome(self) -> tuple[list[str], str | None]:
        """What the sender is told and what is on record, of the only event."""
        [processed] = self.recorded
        return [part.payload["text"] for part in processed.messages], processed.error


def event(number: int, failures: int = 0) -> QueuedEvent:
    return QueuedEvent(number, Event(f"k{number}", "s", Sender("x"), "hi", {}), 0, NOW, failures=failures)


async def test_what_was_leased_is_worked_off_and_given_back_with_the_last_outcome() -> None:
    world = World()
    await world.work(event(5), event(6))
    assert [(each.inbox_id, each.last, each.error) for each in world.recorded] == [
        (5, False, None),
        (6, True, None),
    ]
    assert world.released == []


async def test_where_an_outcome_of_before_is_missing_the_rest_is_left_for_later() -> None:
    world = World()
    world.forgetful = True
    await world.work(event(5), event(6))
    assert [each.inbox_id for each in world.tried] == [5]
    assert world.released == [KEY]


async def test_an_answer_that_cannot_be_stored_becomes_an_apology() -> None:
    world = World(Invalid("no"))
    await world.work()
    assert world.outcome == ([PROCESSING_FAILED], "no on storing the outcome")
    assert world.failed == ["no on storing the outcome"]
    assert world.asked == 1


async def test_an_answer_that_cannot_be_rendered_becomes_an_apology() -> None:
    world = World(text="odd")
    await world.work()
    assert world.outcome == (
        [PROCESSING_FAILED],
        "an internal error; the log has the details on storing the outcome",
    )
    assert world.failed
    assert (world.asked, world.retried) == (1, [])


async def test_without_any_apology_the_event_is_on_record_as_failed() -> None:
    world = World()
    world.channel.mute = True
    await world.work()
    assert world.outcome == ([], "an internal error; the log has the details on storing the outcome")

    world = World(Invalid("no"), Invalid("no"))
    await world.work()
    assert world.outcome == ([], "no on storing the outcome")


async def test_an_outage_leaves_it_for_later_and_counts_nothing() -> None:
    for world in (World(StorageAway("away")), World(failure=StorageAway("away"))):
        with pytest.raises(StorageAway):
            await world.work()
        assert (world.recorded, world.retried, world.failed) == ([], [], [])


@pytest.mark.parametrize("failures", range(len(RETRIES)))
async def test_work_that_fails_for_the_moment_is_tried_again_ever_later(failures: int) -> None:
    world = World(failure=Unavailable("the file store: it is closed"))
    await world.work(event(5, failures), event(6))
    assert world.retried == [(5, "the file store: it is closed", RETRIES[failures])]
    assert world.failed == ["the file store: it is closed"]
    assert (world.recorded, world.released) == ([], [])


async def test_work_that_keeps_failing_is_given_up_with_an_apology() -> None:
    world = World(failure=Unavailable("the file store: it is closed"))
    await world.work(event(5, len(RETRIES)), event(6))
    reason = "given up after 5 tries: the file store: it is closed"
    assert world.outcome == ([PROCESSING_FAILED], reason)
    assert world.recorded[0].last, "the conversation is given back with it"
    assert world.failed == [reason]
    assert world.retried == []


async def test_an_instance_that_cannot_be_read_ends_its_messages_too() -> None:
    world = World()
    world.instance = ValueError("encrypted with another key")
    await world.work()
    assert world.retried == [(5, "an internal error; the log has the details", RETRIES[0])]
    await world.work(event(5, len(RETRIES)))
    assert world.outcome == ([], "given up after 5 tries: an internal error; the log has the details")


async def test_a_message_that_cannot_be_read_costs_the_next_one_nothing() -> None:
    world = World()
    bad = replace(event(5), event=replace(event(5).event, unreadable="it is no JSON"))
    await world.work(bad, event(6))
    assert [(each.inbox_id, each.error) for each in world.recorded] == [(5, "it is no JSON"), (6, None)]
    assert world.failed == ["it is no JSON"]


async def test_any_other_error_ends_with_an_apology_at_once() -> None:
    world = World(failure=ZeroDivisionError("a secret"))
    await world.work()
    assert world.outcome == ([PROCESSING_FAILED], "an internal error; the log has the details")


class RefusingWorld(World):
    """The database takes neither an outcome nor a failure of the message down."""

    def __init__(self, refusal: Exception, **given: Any) -> None:
        super().__init__(**given)
        self.uncountable = refusal

    async def record(self, processed: EventOutcome) -> bool:
        assert self.uncountable
        raise self.uncountable


@pytest.mark.parametrize("refusal", [ValueError("no"), Invalid("no"), Unavailable("busy")])
async def test_a_message_that_takes_no_record_is_removed_with_an_apology_in_the_end(
    refusal: Exception,
) -> None:
    world = RefusingWorld(refusal)
    for _ in RETRIES:
        await world.work()
        assert world.removed == []
    assert len(world.released) == len(RETRIES)

    await world.work()

    [removed] = world.removed
    assert ([part.payload["text"] for part in removed.messages], removed.last) == ([PROCESSING_FAILED], True)
    assert world.failed[-1].startswith("given up after 5 tries: ")
    assert world.asked == (5 if isinstance(refusal, Unavailable) else 1), "it is not asked in vain"


async def test_without_an_apology_such_a_message_is_removed_all_the_same() -> None:
    world = RefusingWorld(ValueError("no"))
    world.removals_refused = [ValueError("no")]
    for _ in range(len(RETRIES) + 1):
        await world.work()
    [removed] = world.removed
    assert list(removed.messages) == []


async def test_a_message_that_takes_no_record_costs_others_with_its_number_nothing() -> None:
    world = RefusingWorld(ValueError("no"))
    for _ in RETRIES:
        await world.work()
    other = replace(event(5), event=replace(event(5).event, request_id="another"))
    await world.work(other)
    assert world.removed == []
    assert world.asked == 2


class SpendingWorld(World):
    """The resource takes tokens for each message."""

    async def answer(self, *arguments: object) -> Answer:
        context: Any = arguments[0]
        context.usage_meter.end_run("agent::a", "ann", Usage(9, 4), 1.0)
        return await super().answer(*arguments)


async def test_what_was_spent_is_stored_with_the_outcome() -> None:
    world = SpendingWorld()
    await world.work(event(5), event(6))
    assert [[run.usage for run in outcome.usage] for outcome in world.recorded] == [[Usage(9, 4)]] * 2
    assert world.kept == []


async def test_what_was_spent_before_an_error_counts_without_an_outcome() -> None:
    world = SpendingWorld(failure=Unavailable("busy"))
    await world.work()
    assert (world.recorded, [run.usage for run in world.kept]) == ([], [Usage(9, 4)])


async def test_what_was_spent_for_an_answer_that_cannot_be_stored_counts_with_the_apology() -> None:
    world = SpendingWorld(ValueError("no"))
    await world.work()
    assert [[run.usage for run in outcome.usage] for outcome in world.recorded] == [[Usage(9, 4)]]
    assert world.kept == []
