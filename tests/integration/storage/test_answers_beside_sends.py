"""An answer and a message sent first at the same time: whichever is committed first goes first, and is told first."""

import asyncio

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.sends import PostgresSends
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Sender
from domain.events import EventKind
from ports.outbox import NewSend
from ports.queue import Capacity, EventOutcome
from tests.support.event_log import events_of, listening

ROOM = Capacity(100, 100, 100)
WAITS = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


async def deliver(outbox: PostgresOutbox) -> list[str]:
    """Sends what can be leased; the texts in the order in which the platform gets them."""
    sent = []
    for queue in (await outbox.lease(ROOM)).leased:
        for message in queue.messages:
            await outbox.sent(queue.key, message, "", last=message is queue.messages[-1])
            sent.append(str(message.message.payload["text"]))
    return sent


async def test_an_answer_whose_commit_takes_longer_goes_behind_a_message_that_was_stored_later(
    database: Database, instance: int
) -> None:
    log = await listening(database)
    leases = LeaseStore(database, 1, PostgresHealth(database))
    nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
    conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))
    outbox, sends = PostgresOutbox(database, leases, lambda: None), PostgresSends(database, lambda: None)
    inbox = PostgresInbox(database, lambda: None)

    async def outcomes(text: str, *sessions: str) -> list[EventOutcome]:
        for session in sessions:
            event = Event(f"{text} {session}", session, Sender("x"), text, {}, request_id=f"{text} {session}")
            await inbox.add(instance, [event])
        return [
            EventOutcome(leased.key, leased.queued[0].id, {}, [OutboundMessage({"text": text})], last=True)
            for leased in (await conversations.lease(ROOM)).leased
        ]

    async def send(text: str, session: str) -> None:
        answer, message = Answer(text, request_id=text), OutboundMessage({"text": text})
        new = NewSend(
            id=await sends.next_id(),
            instance_id=instance,
            session_id=session,
            answer=answer,
            target={},
            messages=[message],
        )
        assert await sends.add(new)

    await conversations.flush(await outcomes("first", "a"))
    assert await deliver(outbox) == ["first"]
    both = await outcomes("answer", "a", "b")
    async with database.transaction() as holding:
        await holding.execute("SELECT FROM queue WHERE kind = 1 AND session_key = 'a' FOR UPDATE")
        answering = asyncio.create_task(conversations.flush(both))
        while not await database.fetch_value(WAITS):
            await asyncio.sleep(0)
        await send("news", "b")
        assert await deliver(outbox) == ["news"]
    await answering
    assert await deliver(outbox) == ["answer", "answer"]

    of_b = [event for event in await events_of(log) if event.session_id == "b"]
    delivered = [
        int(str(event.data["deliveryId"])) for event in of_b if event.kind == EventKind.DELIVERY_SENT
    ]
    assert len(delivered) == 2
    assert delivered[0] > delivered[1], "the numbers are given before the commits"
