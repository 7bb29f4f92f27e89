"""Messages that answer none in PostgreSQL: stored once, found again, and moved on by what platforms say."""

import asyncio

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.sends import PostgresSends
from domain.channels.answers import Answer, Artifact, Author, OutboundMessage
from domain.channels.messages import DeliveryStatus
from domain.conversations.model import Message, MessageState, parse_message_id
from ports.outbox import NewSend, QueuedMessage, StoredSend
from ports.queue import Capacity, QueueKey
from tests.support.database import conversations_of, messages_of


class Store:
    """The store of one instance."""

    def __init__(self, database: Database, instance: int) -> None:
        self.database = database
        self.instance = instance
        self.woken: list[str] = []
        self.sends = PostgresSends(database, lambda: self.woken.append("outbound"))
        self.outbox = PostgresOutbox(
            database, LeaseStore(database, 5, PostgresHealth(database)), lambda: None
        )

    async def add(
        self,
        key: str = "",
        digest: str = "",
        session: str = "s",
        parts: int = 1,
        author: Author = Author.PERSON,
    ) -> StoredSend | None:
        answer = Answer(
            "hello", (Artifact("a.txt", "text/plain", "https://a"),), request_id="r1", author=author
        )
        return await self.sends.add(
            NewSend(
                id=await self.sends.next_id(),
                instance_id=self.instance,
                session_id=session,
                answer=answer,
                target={"to": session},
                messages=[OutboundMessage({"part": part}) for part in range(parts)],
                idempotency_key=key,
                digest=digest,
            )
        )

    async def message(self, stored: StoredSend | None) -> Message:
        assert stored
        message_id = parse_message_id(f"send-{stored.id}")
        assert message_id
        message = await messages_of(self.database).find(self.instance, message_id)
        assert message
        return message

    async def state(self, stored: StoredSend | None) -> MessageState:
        return (await self.message(stored)).status

    async def lease(self) -> tuple[QueueKey, list[QueuedMessage]]:
        [leased] = (await self.outbox.lease(Capacity(10, 10, 10))).leased
        return leased.key, list(leased.messages)

    async def tell(self, state: str, *, ref: str = "wamid.1", key: str = "", failed: bool = False) -> bool:
        status = DeliveryStatus(ref, state, failed, "undeliverable" if failed else "", key)
        return await self.outbox.record_status(self.instance, status)


@pytest.fixture
async def store(database: Database, instance: int) -> Store:
    return Store(database, instance)


async def sent(store: Store, ref: str = "wamid.1") -> StoredSend | None:
    """A message of one part that the platform took."""
    stored = await store.add()
    key, [message] = await store.lease()
    await store.outbox.sent(key, message, ref, last=True)
    return stored


async def test_a_message_and_its_parts_are_stored_together(store: Store) -> None:
    stored = await store.add(parts=3)
    assert store.woken == ["outbound"]
    key, messages = await store.lease()
    assert [message.message.payload for message in messages] == [{"part": 0}, {"part": 1}, {"part": 2}]
    assert len({message.key for message in messages}) == 3
    rows = await store.database.fetch("SELECT kind, pending FROM queue ORDER BY kind")
    assert rows == [(0, 0), (1, 3)]
    message = await store.message(stored)
    assert (message.text, message.status, message.author) == ("hello", MessageState.QUEUED, Author.PERSON)
    assert [file.name for file in message.files] == ["a.txt"]
    for number, part in enumerate(messages):
        await store.outbox.sent(key, part, f"m{number}", last=number == 2)
        reached = MessageState.SENT if number == 2 else MessageState.QUEUED
        assert await store.state(stored) is reached


async def test_a_session_is_known_by_its_latest_message(store: Store) -> None:
    assert (await store.sends.session(store.instance, "s")).target is None
    await store.add()
    known = await store.sends.session(store.instance, "s")
    assert (known.target, known.silence) == ({"to": "s"}, None)
    assert (await store.sends.session(store.instance + 1, "s")).target is None
    assert (await store.sends.session(store.instance, "\0" * 5000)).target is None


async def test_a_key_stores_one_message_however_many_ask_at_once(store: Store) -> None:
    stored = await asyncio.gather(*(store.add(key="k1", digest="d") for _ in range(20)))
    assert len({each.id for each in stored if each}) == 1
    assert None not in stored
    assert await store.database.fetch_value("SELECT count(*) FROM send") == 1
    assert await store.database.fetch_value("SELECT count(*) FROM outbox") == 1
    assert await store.database.fetch_value("SELECT pending FROM queue WHERE kind = 1") == 1


async def test_a_key_is_free_again_after_a_day(store: Store) -> None:
    first = await store.add(key="k1")
    assert await store.sends.repeated(store.instance, "k1") == first
    await store.database.execute("UPDATE send SET created_at = now() - interval '24 hours'")
    assert await store.sends.repeated(store.instance, "k1") is None
    second = await store.add(key="k1")
    assert first
    assert second
    assert second.id != first.id
    assert await store.sends.repeated(store.instance, "k1") == second


async def test_a_removed_instance_stores_nothing(store: Store) -> None:
    store.instance += 1
    assert await store.add() is None
    assert await store.add(key="k1") is None
    for table in ("send", "outbox", "queue"):
        assert await store.database.fetch_value(f"SELECT count(*) FROM {table}") == 0


@pytest.mark.parametrize(
    ("told", "reached"),
    [
        (["sent"], MessageState.SENT),
        (["sent", "delivered"], MessageState.DELIVERED),
        (["delivered", "read"], MessageState.READ),
        (["read", "delivered", "sent"], MessageState.READ),
        (["delivered", "delivered"], MessageState.DELIVERED),
        (["a word of tomorrow"], MessageState.SENT),
    ],
)
async def test_what_the_platform_says_moves_a_message_on_and_never_back(
    store: Store, told: list[str], reached: MessageState
) -> None:
    stored = await sent(store)
    for state in told:
        assert not await store.tell(state)
    assert await store.state(stored) is reached


async def test_a_message_has_come_as_far_as_the_last_of_its_parts(store: Store) -> None:
    stored = await store.add(parts=2)
    key, messages = await store.lease()
    for number, message in enumerate(messages):
        await store.outbox.sent(key, message, f"m{number}", last=number == 1)
    await store.tell("read", ref="m0")
    assert await store.state(stored) is MessageState.SENT
    await store.tell("delivered", ref="m1")
    assert await store.state(stored) is MessageState.DELIVERED
    await store.tell("failed", ref="m1", failed=True)
    message = await store.message(stored)
    assert (message.status, message.error) == (MessageState.DEAD, "undeliverable")


async def test_a_message_that_nobody_knows_changes_nothing(store: Store) -> None:
    stored = await sent(store)
    assert not await store.tell("read", ref="wamid.9", key="k9")
    assert not await store.tell("read", ref="")
    assert not await store.tell("failed", ref="wamid.9", key="k9", failed=True)
    store.instance += 1
    assert not await store.tell("read")
    store.instance -= 1
    assert await store.state(stored) is MessageState.SENT


@pytest.mark.parametrize(
    ("state", "reached"), [("delivered", "delivered"), ("read", "read"), ("sent", "sent")]
)
async def test_the_platform_may_be_faster_than_our_record(store: Store, state: str, reached: str) -> None:
    stored = await store.add()
    key, [message] = await store.lease()
    assert not await store.tell(state, key=message.key)
    assert await store.state(stored) is MessageState.QUEUED
    await store.outbox.sent(key, message, "wamid.1", last=True)
    assert await store.state(stored) == reached


async def test_a_failure_may_be_faster_than_our_record(store: Store) -> None:
    stored = await store.add()
    key, [message] = await store.lease()
    assert await store.tell("failed", key=message.key, failed=True)
    await store.outbox.sent(key, message, "wamid.1", last=True)
    found = await store.message(stored)
    assert (found.status, found.error) == (MessageState.DEAD, "undeliverable")
    assert await store.outbox.replay(store.instance, message.id)
    assert await store.state(stored) is MessageState.QUEUED
    key, [message] = await store.lease()
    await store.outbox.sent(key, message, "wamid.2", last=True)
    assert await store.state(stored) is MessageState.SENT


async def test_a_failure_of_an_earlier_try_says_nothing_of_this_one(store: Store) -> None:
    stored = await store.add()
    key, [message] = await store.lease()
    await store.outbox.retry(key, message, "the connection broke", 0)
    key, [message] = await store.lease()
    assert not await store.tell("failed", key=message.key, failed=True)
    await store.outbox.sent(key, message, "wamid.1", last=True)
    assert await store.state(stored) is MessageState.SENT


@pytest.mark.parametrize("message_id", ["send-1", "out-1", "in-1"])
async def test_a_message_of_another_instance_is_not_found(store: Store, message_id: str) -> None:
    await store.add()
    parsed = parse_message_id(message_id)
    assert parsed
    assert await messages_of(store.database).find(store.instance + 1, parsed) is None


async def events(store: Store, count: int) -> None:
    """So many messages of the sender, which nobody works on."""
    for number in range(count):
        await store.database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event) VALUES (%s, 's', %s, '{}')",
            (store.instance, f"e{number}"),
        )
    await store.database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at) VALUES (0, %s, 's', %s, now())",
        (store.instance, count),
    )


async def waiting(store: Store) -> tuple[int, int]:
    """How many events wait: by their rows, and by the count of their queue."""
    rows = await store.database.fetch_value("SELECT count(*) FROM inbox WHERE status = 0")
    return rows, await store.database.fetch_value("SELECT pending FROM queue WHERE kind = 0")


LEFT = "SELECT held_until > now() + interval '50 minutes' FROM queue WHERE kind = 0"


async def test_a_message_of_the_person_who_has_the_conversation_answers_what_waits(store: Store) -> None:
    await events(store, 3)
    handlers = conversations_of(store.database)
    assert await handlers.hold(store.instance, "s", "ann", 60)
    await store.database.execute(
        "UPDATE queue SET held_until = now() + interval '1 minute', due_at = now() + interval '1 minute'"
    )
    assert await store.add(key="k1")
    assert await waiting(store) == (0, 0)
    assert await store.database.fetch_value(LEFT)
    assert await store.database.fetch_value("SELECT due_at = held_until FROM queue WHERE kind = 0")


async def test_the_same_key_again_answers_nothing(store: Store) -> None:
    await events(store, 1)
    assert await store.add(key="k1")
    assert await waiting(store) == (1, 1)
    await conversations_of(store.database).hold(store.instance, "s", "ann", 60)
    await store.database.execute("UPDATE queue SET held_until = now() + interval '1 minute' WHERE kind = 0")
    assert await store.add(key="k1")
    assert await waiting(store) == (1, 1)
    assert not await store.database.fetch_value(LEFT)


async def test_an_answer_of_a_resource_answers_nothing_else(store: Store) -> None:
    await events(store, 2)
    await conversations_of(store.database).hold(store.instance, "s", "ann", 60)
    assert await store.add(author=Author.RESOURCE)
    assert await waiting(store) == (2, 2)


async def test_a_message_to_a_conversation_of_the_resource_leaves_its_events(store: Store) -> None:
    await events(store, 2)
    assert await store.add()
    assert await waiting(store) == (2, 2)


async def test_a_message_that_was_erased_is_not_found(store: Store) -> None:
    await events(store, 1)
    parsed = parse_message_id(f"in-{await store.database.fetch_value('SELECT id FROM inbox')}")
    assert parsed
    assert await messages_of(store.database).find(store.instance, parsed) is None
