"""Notifications are stored once, whatever ends in between, and read by indexes."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.outbound.storage.approvals import PostgresApprovals
from adapters.outbound.storage.notifications import SQL, PostgresNotifications, note_one
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention, Times
from adapters.outbound.storage.users import PostgresUsers
from domain.access.model import Role, User, UserState
from domain.notifications.delivery import MOST_TRIES, NotificationDelivery
from domain.notifications.model import KindWays, NotificationKind, NotificationSettings, NotifyVia, Way
from domain.notifications.writing import NotificationWriter
from domain.refusals import NotFound, PlatformAway
from ports.access import MailFailed
from tests.support.database import an_instance

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
WANTED = NotificationKind.WANTED


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


class Sender:
    """In the place of the mailer and of the service that sends. `failure` is raised after the next one was sent."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.keys: list[str] = []
        self.failure: BaseException | None = None

    async def send(self, recipient: str, subject: str, text: str) -> None:
        self.mails.append(subject)
        self._fail()

    async def forward(self, instance: object, to: str, answer: object, key: str) -> None:
        self.keys.append(key)
        self._fail()

    def _fail(self) -> None:
        failure, self.failure = self.failure, None
        if failure:
            raise failure


async def no_answer(*_: object) -> None:
    """Teams have no hours."""


class Scene:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.store = PostgresNotifications(database)
        self.users = PostgresUsers(database, lambda _: None, lambda: None)
        self.clock, self.sender = Clock(), Sender()

    async def begin(self, *ways: Way) -> None:
        self.instance = await an_instance(self.database)
        await self.users.add(User("ann", "", "ann@example.com", Role.MEMBER, UserState.ACTIVE, NOW))
        via = NotifyVia(self.instance, "1")
        settings = NotificationSettings((KindWays(WANTED, ways),), notify_via=via)
        await self.store.set_settings("ann", settings)

    async def note(self, session: str = "s") -> None:
        await self.database.execute(note_one(WANTED, instance_id=self.instance, session_key=session))

    def writer(self) -> NotificationWriter:
        return NotificationWriter(self.store, cast(Any, SimpleNamespace(answer=no_answer)), self.clock)

    def delivery(self) -> NotificationDelivery:
        async def find(instance_id: int) -> Any:
            return SimpleNamespace(id=instance_id, user_id="ann", exists=True)

        sender = cast(Any, self.sender)
        instances, approvals = cast(Any, SimpleNamespace(find=find)), PostgresApprovals(self.database)
        return NotificationDelivery(
            self.store, self.users, instances, sender, approvals, sender, self.clock, "https://bots.example"
        )

    async def count(self, table: str = "notification") -> int:
        return int(await self.database.fetch_value(f"SELECT count(*) FROM {table}"))


@pytest.fixture
def scene(database: Database) -> Scene:
    return Scene(database)


async def test_a_cause_goes_with_the_change_that_fails(scene: Scene) -> None:
    await scene.begin()
    await scene.database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at) VALUES (0, %s, 's', 0, now())",
        (scene.instance,),
    )
    held = "UPDATE queue SET held_until = now() + interval '1 hour'"

    async def hold_and_fail() -> None:
        async with scene.database.unit():
            await scene.database.execute(held)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await hold_and_fail()
    assert await scene.count("notification_cause") == 0

    await scene.database.execute(held)
    assert await scene.count("notification_cause") == 1


async def test_workers_at_the_same_time_notify_once(scene: Scene) -> None:
    await scene.begin(Way.MAIL)
    for session in ("a", "b", "b", "c"):
        await scene.note(session)

    await asyncio.gather(*(scene.writer().work() for _ in range(4)))

    assert await scene.count() == 3
    assert await scene.count("notification_delivery") == 3
    assert await scene.count("notification_cause") == 0


async def test_a_worker_that_ends_before_it_stores_leaves_the_cause(scene: Scene) -> None:
    await scene.begin()
    await scene.note()
    settle = scene.store.settle

    async def end(*_: object) -> int:
        raise asyncio.CancelledError

    cast(Any, scene.store).settle = end
    with pytest.raises(asyncio.CancelledError):
        await scene.writer().work()
    assert (await scene.count(), await scene.count("notification_cause")) == (0, 1)

    cast(Any, scene.store).settle = settle
    await scene.writer().work()
    await scene.writer().work()
    assert await scene.count() == 1


async def test_a_cause_that_cannot_be_stored_stops_no_other(scene: Scene) -> None:
    await scene.begin()
    settle = scene.store.settle

    async def settle_but_one(cause: Any, *rest: Any) -> int:
        if cause.session_key == "bad":
            raise ValueError
        return await settle(cause, *rest)

    cast(Any, scene.store).settle = settle_but_one
    await scene.note("bad")
    await scene.note("good")
    await scene.writer().work()
    assert (await scene.count(), await scene.count("notification_cause")) == (1, 1)


async def test_a_message_whose_worker_ends_is_tried_again_by_the_same_key(scene: Scene) -> None:
    await scene.begin(Way.MESSAGE)
    await scene.note()
    await scene.writer().work()

    scene.sender.failure = asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await scene.delivery().work()
    await scene.delivery().work()
    assert len(scene.sender.keys) == 1  # not at once: the process that ended may be at work still

    scene.clock.time += timedelta(minutes=5)
    await scene.delivery().work()
    assert len(scene.sender.keys) == 2
    assert len(set(scene.sender.keys)) == 1
    assert await scene.count("notification_delivery") == 0


async def test_a_mail_that_fails_is_given_up_in_the_end(scene: Scene) -> None:
    await scene.begin(Way.MAIL)
    await scene.note()
    await scene.writer().work()
    for _ in range(MOST_TRIES + 2):
        scene.sender.failure = MailFailed("busy")
        await scene.delivery().work()
        scene.clock.time += timedelta(hours=2)
    assert len(scene.sender.mails) == MOST_TRIES
    assert scene.clock.time - NOW < timedelta(hours=24)
    assert await scene.count("notification_delivery") == 0


@pytest.mark.parametrize(
    ("failure", "left"),
    [(MailFailed("no such user", refused=True), 0), (MailFailed("busy"), 1)],
)
async def test_only_refusals_for_good_end_a_mail_at_once(
    scene: Scene, failure: MailFailed, left: int
) -> None:
    await scene.begin(Way.MAIL)
    await scene.note()
    await scene.writer().work()
    scene.sender.failure = failure
    await scene.delivery().work()
    assert await scene.count("notification_delivery") == left


@pytest.mark.parametrize(("failure", "left"), [(NotFound("gone"), 0), (PlatformAway("busy"), 1)])
async def test_only_refusals_for_good_end_a_message_at_once(
    scene: Scene, failure: Exception, left: int
) -> None:
    await scene.begin(Way.MESSAGE)
    await scene.note()
    await scene.writer().work()
    scene.sender.failure = failure
    await scene.delivery().work()
    assert await scene.count("notification_delivery") == left


async def test_notifications_end_with_user_instance_and_age(scene: Scene) -> None:
    await scene.begin(Way.MAIL)
    await scene.note()
    await scene.writer().work()
    retention = Retention(scene.database, Times(timedelta(days=7)))
    await retention.clean(NOW + timedelta(days=89))
    assert await scene.count() == 1
    await retention.clean(NOW + timedelta(days=91))
    assert (await scene.count(), await scene.count("notification_delivery")) == (0, 0)

    await scene.note("other")
    await scene.writer().work()
    await scene.database.execute("UPDATE channel_instance SET user_id = 'bob'")
    await scene.users.remove("ann", None)
    assert (await scene.count(), await scene.count("notification_delivery")) == (0, 0)


FILL = """
INSERT INTO app_user (id, role) SELECT 'user ' || n, 'member' FROM generate_series(1, 200) n;
INSERT INTO channel_instance (user_id, channel_id, channel_name, config)
SELECT 'user ' || n, 'slack', 'n', '' FROM generate_series(1, 200) n;
INSERT INTO notification (user_id, kind, object, instance_id, session_key, created_at, read_at)
SELECT i.user_id, 'wanted', 'conversation:' || n, i.id, 's' || n, now(), CASE WHEN n %% 100 > 0 THEN now() END
FROM channel_instance i, generate_series(1, 300) n;
INSERT INTO notification_delivery (notification_id, way, user_id, due_at)
SELECT id, 'mail', user_id, now() + make_interval(secs => id - 100) FROM notification;
ANALYZE app_user, channel_instance, notification, notification_delivery
"""
VALUES = {
    "user": "user 7",
    "before": 10**9,
    "count": 50,
    "most": 1000,
    "now": datetime.now(UTC),
    "ids": [1, 2],
    "up_to": 0,
    "way": "mail",
    "until": datetime.now(UTC),
}
READ = 1500
"""Pages that a statement may read."""


def _scanned(plan: dict[str, Any]) -> Sequence[str]:
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" else []
    return own + [name for child in plan.get("Plans", ()) for name in _scanned(child)]


async def test_statements_read_by_index(database: Database) -> None:
    for statement in FILL.split(";"):
        await database.execute(statement)
    for name in ("list_notifications", "list_unread", "count_unread", "mark_read", "claim_deliveries",
                 "end_deliveries", "postpone_deliveries"):  # fmt: skip
        [(explained,)] = await database.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {SQL[name]}", VALUES)
        plan = explained[0]["Plan"]
        assert not {"notification", "notification_delivery"} & set(_scanned(plan)), name
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < READ, name
