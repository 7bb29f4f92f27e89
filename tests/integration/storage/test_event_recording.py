"""What happens is recorded in the transaction in which it happens: once, with what it is about, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.events import PostgresEventLog
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.identities import PostgresIdentities
from adapters.outbound.storage.instances import PostgresInstances
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.sends import UntakenAnswers
from adapters.outbound.storage.retention import Retention, Times
from adapters.outbound.storage.usage import PostgresUsage
from adapters.outbound.system.encryption import ConfigCipher, new_key
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import CallOutcome, DeliveryStatus, Event, Identity, Sender
from domain.channels.provenance import Provenance
from domain.channels.rich import ConversationChange
from domain.confirmations.model import Pending
from domain.instances.model import Activity, InstanceChange, NewInstance
from ports.queue import CallResult, Capacity, Conversation, EventOutcome
from tests.support.database import conversations_of
from tests.support.event_log import events_of, listening

ROOM = Capacity(100, 100, 100)
NOW = datetime(2026, 11, 20, tzinfo=UTC)
OWNER = 1


class Scene:
    """One instance, and what works on its messages, to which somebody listens."""

    def __init__(self, database: Database, log: PostgresEventLog, instance: int) -> None:
        self.database, self.log, self.instance = database, log, instance
        self.health = PostgresHealth(database)
        leases = LeaseStore(database, OWNER, self.health)
        self.inbox = PostgresInbox(database, lambda: None)
        nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))
        self.outbox = PostgresOutbox(database, leases, lambda: None)

    async def received(self, *texts: str, wait: float | None = None) -> Conversation:
        """A leased conversation with these messages."""
        events = [Event(text, "s", Sender("x"), text, {}, request_id=f"r {text}") for text in texts]
        await self.inbox.add(self.instance, events, wait)
        [conversation] = (await self.conversations.lease(ROOM)).leased
        return conversation

    async def told(self) -> list[tuple[str, Mapping[str, object]]]:
        return [(event.kind, event.data) for event in await events_of(self.log)]

    async def kinds(self) -> list[str]:
        return [kind for kind, _ in await self.told()]


@pytest.fixture
async def scene(database: Database, instance: int) -> Scene:
    return Scene(database, await listening(database), instance)


def answered(
    conversation: Conversation, number: int = 0, *texts: str, error: str | None = None
) -> EventOutcome:
    messages = [OutboundMessage({"text": text}) for text in texts]
    row = conversation.queued[number]
    last = number == len(conversation.queued) - 1
    answer = Answer(" ".join(texts)) if texts else None
    return EventOutcome(conversation.key, row.id, {}, messages, error, last=last, answer=answer)


async def test_the_story_of_a_message(scene: Scene) -> None:
    conversation = await scene.received("question")
    await scene.conversations.record(answered(conversation, 0, "first", "second"))
    [queued] = (await scene.outbox.lease(ROOM)).leased
    first, second = queued.messages
    await scene.outbox.sent(queued.key, first, "ref 1", last=False)
    await scene.outbox.dead(queued.key, second, "refused", last=True)

    message = conversation.queued[0].id
    told = await scene.told()
    assert [kind for kind, _ in told] == [
        "message.received",
        "message.answered",
        "delivery.sent",
        "delivery.dead",
    ]
    assert told[1][1] == {
        "messageId": f"out-{message}",
        "inReplyTo": f"in-{message}",
        "requestId": "r question",
        "text": "first second",
        "author": "system",
    }
    assert told[2][1] == {"messageId": f"out-{message}", "deliveryId": first.id}
    assert told[3][1] == {"messageId": f"out-{message}", "deliveryId": second.id, "reason": "refused"}


async def test_a_message_without_an_answer_is_not_answered(scene: Scene) -> None:
    conversation = await scene.received("a", "b", "c")
    for outcome in (
        answered(conversation, 0, "A"),
        answered(conversation, 1),
        answered(conversation, 2, error="no"),
    ):
        await scene.conversations.record(outcome)
    assert await scene.kinds() == [*["message.received"] * 3, "message.answered", "message.failed"]
    assert (await scene.told())[-1][1]["error"] == "no"


async def test_a_message_is_received_once(scene: Scene) -> None:
    event = Event("k", "s", Sender("x"), "again", {})
    for _ in range(3):
        await scene.inbox.add(scene.instance, [event])
    assert await scene.kinds() == ["message.received"]


async def test_what_was_merged_is_told_with_the_message_that_it_went_into(scene: Scene) -> None:
    conversation = await scene.received("a", "b")
    first, second = conversation.queued
    outcome = replace(answered(conversation, 0, "both"), merged=(second.id,), last=True)
    await scene.conversations.record(outcome)
    told = (await scene.told())[2:]
    assert [(kind, data["inReplyTo"], data.get("mergedInto")) for kind, data in told] == [
        ("message.answered", f"in-{first.id}", None),
        ("message.answered", f"in-{second.id}", f"in-{first.id}"),
    ]


async def test_an_outcome_that_is_not_stored_is_not_told(scene: Scene) -> None:
    conversation = await scene.received("a", "b")
    assert not await scene.conversations.record(answered(conversation, 1, "too early"))
    assert await scene.conversations.record(answered(conversation, 0, "once"))
    assert not await scene.conversations.record(answered(conversation, 0, "twice"))
    assert (await scene.kinds()).count("message.answered") == 1


async def test_a_resource_that_asks_for_a_person(scene: Scene) -> None:
    conversation = await scene.received("help")
    await scene.conversations.record(replace(answered(conversation, 0, "wait"), handler_minutes=5))
    told = await scene.told()
    assert [kind for kind, _ in told][1:] == ["message.answered", "conversation.handler"]
    assert told[-1][1] == {"handler": "person"}


async def test_an_answer_that_changes_its_conversation(scene: Scene) -> None:
    conversation = await scene.received("a", "b", "c")
    change = ConversationChange("team:support", ("sale",), close=True)
    by_resource = Provenance("agent::works_0")
    for number, done in enumerate((change, change, ConversationChange("", (), ("sale",)))):
        answer = Answer("ok", change=done, provenance=by_resource)
        await scene.conversations.record(replace(answered(conversation, number, "ok"), answer=answer))
    told = [data for kind, data in await scene.told() if kind == "conversation.changed"]
    changed = {"labels": ["sale"], "state": "closed", "snoozedUntil": None, "resource": "agent::works_0"}
    assert told == [
        {"messageId": f"in-{conversation.queued[0].id}", "assignee": "team:support", **changed},
        {"messageId": f"in-{conversation.queued[2].id}", "assignee": None, **changed, "labels": []},
    ]


async def test_a_person_takes_a_conversation_and_hands_it_back(scene: Scene) -> None:
    await scene.received("help")
    handlers = conversations_of(scene.database)
    await handlers.hold(scene.instance, "s", "ann", 30)
    assert not await handlers.hold(scene.instance, "unknown", "ann", 30)
    for _ in range(2):
        await handlers.hand_back(scene.instance, "s")
    told = [data for kind, data in await scene.told() if kind == "conversation.handler"]
    assert told == [{"handler": "person", "minutes": 30}, {"handler": "resource"}]


async def test_a_message_that_is_removed_has_failed(scene: Scene) -> None:
    conversation = await scene.received("bad")
    await scene.conversations.remove(answered(conversation, 0, error="cannot be stored"))
    told = await scene.told()
    assert told[-1] == (
        "message.failed",
        {"messageId": f"in-{conversation.queued[0].id}", "requestId": None, "error": "cannot be stored"},
    )


async def test_an_answer_that_no_call_took_and_that_cannot_be_sent(scene: Scene) -> None:
    conversation = await scene.received("question", wait=30)
    outcome = answered(conversation, 0, "answer")
    result = CallResult(CallOutcome.ANSWERED, outcome.answer)
    await scene.conversations.record(replace(outcome, result=result))
    await scene.database.execute("UPDATE inbox SET await_until = now() - interval '1 minute'")
    await scene.database.execute("ALTER TABLE outbox ADD CHECK (false) NOT VALID")
    await UntakenAnswers(scene.database, lambda: None).send()
    assert await scene.kinds() == ["message.received", "message.answered", "message.failed"]


@pytest.mark.parametrize(
    ("status", "kinds"),
    [
        (DeliveryStatus("ref", "undeliverable", failed=True, detail="gone"), ["delivery.dead"]),
        (DeliveryStatus("ref", "delivered"), []),
        (DeliveryStatus("another", "undeliverable", failed=True), []),
    ],
    ids=["failed", "delivered", "of another"],
)
async def test_what_the_platform_says_later(scene: Scene, status: DeliveryStatus, kinds: list[str]) -> None:
    conversation = await scene.received("question")
    await scene.conversations.record(answered(conversation, 0, "answer"))
    [queued] = (await scene.outbox.lease(ROOM)).leased
    await scene.outbox.sent(queued.key, queued.messages[0], "ref", last=True)
    for _ in range(2):
        await scene.outbox.record_status(scene.instance, status)
    assert (await scene.kinds())[3:] == kinds
    if kinds:
        assert (await scene.told())[-1][1]["reason"] == "gone"


async def test_a_message_that_the_platform_turns_out_to_have(scene: Scene) -> None:
    conversation = await scene.received("question")
    await scene.conversations.record(answered(conversation, 0, "answer"))
    [queued] = (await scene.outbox.lease(ROOM)).leased
    message = queued.messages[0]
    await scene.outbox.retry(queued.key, message, "broke off", 600)
    await scene.outbox.record_status(scene.instance, DeliveryStatus("ref", "sent", key=message.key))
    assert (await scene.kinds())[2:] == ["delivery.sent"]


def question(id: str) -> Pending:
    return Pending(
        id, "ring", {"text": "secret"}, f"nonce {id}", "x", 1, "please", NOW + timedelta(minutes=10)
    )


async def test_confirmations(scene: Scene) -> None:
    store, day = PostgresConfirmations(scene.database), timedelta(days=1)
    approved = replace(question("c1"), decision="approved", decided_by=7, decider="Xenia")
    await store.put(scene.instance, "s", question("c1"), NOW)
    for _ in range(2):
        await store.decide(scene.instance, "s", approved, NOW)
    await store.close(scene.instance, "c1", NOW)
    await store.put(scene.instance, "s", question("c2"), NOW)
    await store.put(scene.instance, "s", question("c3"), NOW)
    await store.close(scene.instance, "c3", NOW)
    await store.put(scene.instance, "s", question("c4"), NOW)
    await store.expire(NOW + day, NOW, NOW - day)
    told = await scene.told()
    assert [(kind, data["confirmationId"], data.get("decision")) for kind, data in told] == [
        ("confirmation.asked", "c1", None),
        ("confirmation.decided", "c1", "approved"),
        ("confirmation.asked", "c2", None),
        ("confirmation.decided", "c2", "replaced"),
        ("confirmation.asked", "c3", None),
        ("confirmation.decided", "c3", "cleared"),
        ("confirmation.asked", "c4", None),
        ("confirmation.decided", "c4", "expired"),
    ]
    assert told[1][1]["decidedBy"] == "in-7"
    assert "secret" not in str(told)


async def test_health_is_told_when_it_changes(scene: Scene) -> None:
    health, instance = scene.health, scene.instance
    await scene.database.execute("UPDATE channel_instance SET updated_at = now() - interval '1 hour'")
    await health.succeeded(instance, Activity.SENDING)
    await health.failed(instance, Activity.SENDING, "refused")
    await health.failed(instance, Activity.SENDING, "refused again")
    await health.failed(instance, Activity.PROCESSING, "away")
    await health.succeeded(instance, Activity.SENDING)
    await health.succeeded(instance, Activity.RECEIVING, NOW)
    await health.succeeded(instance, Activity.PROCESSING)
    await health.webhook(instance, registered=False, error="no https")
    await health.webhook(instance, registered=True, error=None)
    assert [(data["healthy"], data["activity"], data["error"]) for _, data in await scene.told()] == [
        (False, "sending", "refused"),
        (True, "processing", None),
        (False, "registration", "no https"),
        (True, "registration", None),
    ]


async def test_an_instance_that_is_saved_anew_is_healthy(scene: Scene) -> None:
    instances = PostgresInstances(scene.database, ConfigCipher(new_key()), lambda _: None)
    made = await instances.add("ann", NewInstance("http-webhook", "mine", {}, "agent::echo"))
    for activity in (Activity.SENDING, Activity.PROCESSING):
        await scene.health.failed(made.id, activity, "refused")
    for _ in range(2):
        await instances.change(made.id, InstanceChange({}, None, None))
    told = [event for event in await events_of(scene.log) if event.instance_id == made.id]
    assert [event.data["healthy"] for event in told] == [False, True]


async def test_the_events_of_conversations_go_with_their_instance(scene: Scene) -> None:
    instances = PostgresInstances(scene.database, ConfigCipher(new_key()), lambda _: None)
    await scene.received("question")
    await instances.remove(scene.instance)
    assert await scene.told() == []


async def test_old_events_and_listeners_are_removed(scene: Scene) -> None:
    await scene.received("question")
    await scene.database.execute("UPDATE event_log SET at = now() - interval '8 days'")
    await scene.database.execute("INSERT INTO event_listener VALUES ('gone', now() - interval '1 minute')")
    await scene.inbox.add(scene.instance, [Event("new", "t", Sender("x"), "new", {})])
    await Retention(scene.database, Times(timedelta(days=7))).clean()
    assert [data["text"] for _, data in await scene.told()] == ["new"]
    listeners = await scene.database.fetch_column("SELECT id FROM event_listener")
    assert listeners == ["the test"]


async def test_a_success_before_a_failure_does_not_make_an_instance_healthy(scene: Scene) -> None:
    await scene.database.execute("UPDATE channel_instance SET updated_at = now() - interval '1 hour'")
    await scene.health.failed(scene.instance, Activity.RECEIVING, "broke off")
    await scene.health.succeeded(scene.instance, Activity.RECEIVING, datetime.now(UTC) - timedelta(minutes=1))
    assert [data["healthy"] for _, data in await scene.told()] == [False]


async def test_identities_are_told_to_their_user(scene: Scene) -> None:
    await PostgresIdentities(scene.database).give("bea", [Identity("email", "bea@example.com")])
    [event] = await events_of(scene.log)
    assert (event.kind, event.owner, event.instance_id) == ("identity.verified", "bea", None)
    assert event.data == {"field": "email", "value": "bea@example.com"}


@pytest.mark.parametrize("stored", ["{no JSON", "[]", "null", "{}", '{"sender": null, "files": [1]}'])
async def test_an_event_about_a_row_that_cannot_be_read_says_which_it_was(scene: Scene, stored: str) -> None:
    conversation = await scene.received("question")
    await scene.database.execute("UPDATE inbox SET event = %s", (stored,))
    [(kind, data)] = await scene.told()
    assert (kind, data["messageId"]) == ("message.received", f"in-{conversation.queued[0].id}")
