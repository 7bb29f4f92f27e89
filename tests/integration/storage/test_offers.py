"""What messages have offered is found again, by its instance alone, and as long as it is kept."""

from adapters.outbound.storage.conversations.earlier import PostgresEarlierMessages
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import Answer, Choice
from domain.channels.messages import Event, Sender
from domain.conversations.choices import Offer, offered
from domain.conversations.model import MessageId, MessageKind, answer_to
from ports.queue import Capacity, EventOutcome

OWNER = 1
CHOICES = (Choice("Small", "s"), Choice("Large", "l" * 2000))


class AnsweredConversation:
    """Answers messages of one conversation."""

    def __init__(self, database: Database, instance: int) -> None:
        leases = LeaseStore(database, OWNER, PostgresHealth(database))
        nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))
        self.inbox = PostgresInbox(database, lambda: None)
        self.instance = instance
        self.seen: str | None = None

    async def answer(self, key: str, answer: Answer | None, *, error: str | None = None) -> MessageId:
        """The id of the answer; `seen` is what the conversation was leased with."""
        await self.inbox.add(self.instance, [Event(key, "s", Sender("x"), key, {}, request_id="r")])
        [conversation] = (await self.conversations.lease(Capacity(10, 10, 10))).leased
        self.seen = conversation.offered
        [queued] = conversation.queued
        message = answer_to(queued.id)
        if answer:
            answer = offered(answer, message, "secret", "")
        outcome = EventOutcome(
            conversation.key,
            queued.id,
            {},
            error=error,
            answer=answer,
            last=True,
            numbered=answer is not None and bool(answer.choices),
        )
        assert await self.conversations.record(outcome)
        return message


async def test_an_offer_is_found_by_its_instance_alone(database: Database, instance: int) -> None:
    offers, answering = PostgresEarlierMessages(database), AnsweredConversation(database, instance)
    message = await answering.answer("a", Answer("Which?", choices=CHOICES))
    offer = await offers.offer(instance, message)
    expected = offered(Answer("Which?", choices=CHOICES), message, "secret", "")
    assert offer == Offer("Which?", expected.choices)
    assert await offers.offer(instance + 1, message) is None
    assert await offers.offer(instance, MessageId(MessageKind.INBOUND, message.row)) is None
    assert await offers.offer(instance, MessageId(MessageKind.SENT_FIRST, message.row)) is None
    assert await offers.offer(instance, answer_to(10**18 - 1)) is None


async def test_an_offer_that_is_not_kept_any_more_is_unknown(database: Database, instance: int) -> None:
    offers, answering = PostgresEarlierMessages(database), AnsweredConversation(database, instance)
    message = await answering.answer("a", Answer("Which?", choices=CHOICES))
    await database.execute("UPDATE inbox SET answer = NULL WHERE id = %s", (message.row,))
    assert await offers.offer(instance, message) is None
    assert await offers.latest_offer(instance, message) is None


async def test_only_the_latest_answer_offers_numbers(database: Database, instance: int) -> None:
    offers, answering = PostgresEarlierMessages(database), AnsweredConversation(database, instance)
    message = await answering.answer("a", Answer("Which?", choices=CHOICES))
    await answering.answer("b", None)
    assert answering.seen == str(message)
    await answering.answer("c", Answer("Sorry."), error="the resource failed")
    assert await offers.latest_offer(instance, message) is not None
    await answering.answer("d", Answer("Two years."))
    assert answering.seen == str(message)
    assert await offers.latest_offer(instance, message) is None
    await answering.answer("e", None)
    assert answering.seen is None
    assert await offers.offer(instance, message) is not None


async def test_an_outcome_that_is_not_recorded_offers_nothing(database: Database, instance: int) -> None:
    offers, answering = PostgresEarlierMessages(database), AnsweredConversation(database, instance)
    message = await answering.answer("a", Answer("Which?", choices=CHOICES))
    await answering.inbox.add(instance, [Event("b", "s", Sender("x"), "b", {}, request_id="r")])
    [conversation] = (await answering.conversations.lease(Capacity(10, 10, 10))).leased
    again = EventOutcome(conversation.key, message.row, {}, answer=Answer("Which?"), last=True, numbered=True)
    assert not await answering.conversations.record(again)
    assert await offers.latest_offer(instance, message) is not None
