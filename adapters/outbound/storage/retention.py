"""Rows go by age: the rules, what runs them, and what owns every table.

Rows that go by more than their age: statements one after the other.

Which rows go by age, and the statements that delete them and that tell the age of the oldest one.

Each statement takes a limited number of rows, the oldest first, by an index that begins with their time. `after` is
how far the statement before came, so that none reads again what is deleted and not vacuumed yet.

The same file sent again and again is one blob, with a row for each message: the rows go by age, the last one stays
as long as the bytes.

Conversations that go on keep a number of messages.

Rows of instances that are gone. A trigger notes each instance that is removed, whoever removes it.

Deletes old rows in small steps: one process at a time, with a pause after each step.
"""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import STATEMENT_SECONDS, Database
from adapters.outbound.storage.queue.statements import MessageStatus, QueueKind, read_statements
from adapters.tasks import cancelled
from domain.monitoring.model import Period
from domain.reports.model import KEPT_DAYS

Step = tuple[str, str, dict[str, Any]]
"""The table, a statement that answers with the number of rows, and its parameters but `batch`."""


class Steps(ABC):
    """What deletes; a step is repeated until it finds no row."""

    def __init__(self) -> None:
        self._rows = 0

    def took(self, rows: int) -> None:
        """How many rows the step before deleted."""
        self._rows = rows

    @abstractmethod
    def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]: ...

    def _until_none(self, *step: *Step) -> Iterator[Step]:
        self._rows = 1
        while self._rows:
            yield step


NOW = "coalesce(%(now)s::timestamptz, now())"
"""The time by which rows are old. The product leaves it to the server; a test names another one."""

LONGEST_CONVERSATION = 10_000
"""Events of a conversation that are kept, beyond those of the days in which a redelivery is recognised."""
PAGE = 200
"""Conversations that are looked at by one statement."""
SQL = read_statements(
    Path(__file__).with_suffix(".sql"), now=NOW, longest_conversation=LONGEST_CONVERSATION, page=PAGE
)

REDELIVERY = timedelta(days=14)
"""How long a redelivery is recognised, and a sent message is known."""
CHAT_TURNS = timedelta(days=30)
"""How long built-in chat completions remember what was said."""
AGENT_TASKS = timedelta(days=2)
"""Longer than a task is polled, so that a run that is repeated knows that its result was sent."""
VERIFICATION_SENDS = timedelta(hours=2)
"""The limits on messages with codes count within an hour."""
NOTICES = timedelta(days=2)
UNANSWERED = timedelta(days=30)
PRIVACY_REQUESTS = timedelta(days=90)
WEB_HOSTS = timedelta(days=7)
NOTIFICATIONS = timedelta(days=90)
NOTIFICATION_CAUSES = timedelta(days=2)
"""What nobody could be notified of for so long."""
SIGN_INS = timedelta(days=1)
INVITATIONS = timedelta(days=30)
REPORT_PEOPLE = timedelta(days=2)
"""As long as something of a day may not be counted yet."""
HANDOVERS = timedelta(days=14)
"""How long the first answer of a colleague is waited for."""
FIGURES = {Period.HOUR: timedelta(hours=2), Period.DAY: timedelta(days=2)}


@dataclass(frozen=True, slots=True)
class Times:
    """How long is kept what a setting says."""

    events: timedelta
    messages: timedelta = timedelta(days=180)
    dead_letters: timedelta = timedelta(days=90)
    usage: timedelta = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of `table` are deleted once `column` is older than `kept`. `index` begins with `order`, by which the
    oldest rows are found, or is the one for `where`."""

    name: str
    table: str
    key: str
    column: str
    kept: timedelta
    index: str
    where: str = "true"
    order: str = ""

    @property
    def start(self) -> str:
        """Lower than each value of `order`."""
        return "-1" if self.order else "-infinity"

    @property
    def delete(self) -> str:
        return self._filled("delete_old", kind="bigint" if self.order else "timestamptz")

    def overdue(self, place: int) -> str:
        return self._filled("overdue", place=place)

    def _filled(self, name: str, **values: object) -> str:
        order = self.order or self.column
        return SQL[name].format(
            table=self.table, key=self.key, column=self.column, where=self.where, order=order, **values
        )


def overdue(all_rules: Sequence[Rule]) -> str:
    """One statement for all rules: metrics ask it at each scrape."""
    return " UNION ALL ".join(rule.overdue(place) for place, rule in enumerate(all_rules))


def rules(times: Times) -> Iterator[Rule]:
    yield Rule("erased events", "inbox", "id", "finished_at", REDELIVERY, "inbox_erased", "event = '{}'")
    messages = max(times.messages, REDELIVERY)
    yield Rule(
        "messages",
        "inbox",
        "id",
        "finished_at",
        messages,
        "inbox_finished",
        "finished_at IS NOT NULL AND status <> 0",
    )
    yield Rule("messages sent first", "send", "id", "created_at", messages, "send_by_age")
    yield Rule("notes", "conversation_note", "id", "created_at", messages, "conversation_note_by_age")
    yield Rule("feedback", "feedback", "id", "at", messages, "feedback_by_age")
    sent = f"status = {MessageStatus.SENT}"
    yield Rule("sent messages", "outbox", "id", "finished_at", REDELIVERY, "outbox_finished", sent)
    dead = f"status = {MessageStatus.DEAD}"
    yield Rule("dead letters", "outbox", "id", "finished_at", times.dead_letters, "outbox_given_up", dead)
    idle = f"kind <> {QueueKind.INBOUND} AND pending = 0 AND owner IS NULL"
    key = "kind, instance_id, session_key"
    yield Rule("idle queues", "queue", key, "touched_at", REDELIVERY, "queue_touched", idle)
    yield Rule("events", "event_log", "seq", "at", times.events, "event_log_pkey", order="seq")
    yield Rule(
        "turns of chats", "chat_history", f"{key[6:]}, id", "created_at", CHAT_TURNS, "chat_history_by_age"
    )
    key = "instance_id, session_key, resource"
    yield Rule(
        "states of resources", "resource_state", key, "updated_at", CHAT_TURNS, "resource_state_by_age"
    )
    key = "instance_id, request_id"
    yield Rule("tasks of agents", "agent_task", key, "created_at", AGENT_TASKS, "agent_task_by_age")
    key = "instance_id, alias"
    yield Rule("further ids of people", "session_alias", key, "seen_at", messages, "session_alias_by_age")
    for period, kept in FIGURES.items():
        name, figure_key = f"figures by {period.step} seconds", "instance_id, step, at, measure"
        yield Rule(name, "figure", figure_key, "at", kept, "figure_by_age", f"step = {period.step}")
    report_key = "day, instance_id, user_id, measure"
    yield Rule("reports", "report", report_key, "day", timedelta(days=KEPT_DAYS), "report_pkey")
    person_key = "day, instance_id, digest"
    yield Rule("people of reports", "report_person", person_key, "day", REPORT_PEOPLE, "report_person_pkey")
    unanswered = "kind = 2"
    yield Rule(
        "unanswered handovers", "report_event", "id", "at", HANDOVERS, "report_event_by_age", unanswered
    )
    key = "day, instance_id, resource_id, user_id, currency, slot"
    yield Rule("usage", "usage", key, "day", times.usage, "usage_pkey")
    key = "budget_id, month, slot"
    yield Rule("months of budgets", "budget_spent", key, "month", times.usage, "budget_spent_by_age")
    # What ends by itself within days.
    none = timedelta()
    limited = "kind <> 'key' AND expires_at IS NOT NULL"
    yield Rule("sign-ins", "api_key", "id", "expires_at", SIGN_INS, "api_key_expiring", limited)
    yield Rule("tries to sign in", "sign_in_try", "address", "until", none, "sign_in_try_until")
    for name, table in (("links", "verification_link"), ("sign-ins of providers", "verification_state")):
        yield Rule(f"verification: {name}", table, "digest", "expires_at", none, f"{table}_by_age")
    yield Rule("invitations", "invitation", "id", "expires_at", INVITATIONS, "invitation_by_age")
    yield Rule("sign-ins under way", "sign_in_state", "digest", "expires_at", none, "sign_in_state_by_age")
    name, table = "verification: messages", "verification_send"
    yield Rule(name, table, "ctid", "sent_at", VERIFICATION_SENDS, f"{table}_by_age")
    name, table = "unanswered messages", "unanswered"
    yield Rule(name, table, "id", "received_at", UNANSWERED, f"{table}_by_age")
    name, table = "privacy requests", "privacy_request"
    yield Rule(name, table, "id", "created_at", PRIVACY_REQUESTS, f"{table}_by_age")
    name, table, key = "notices of access", "access_notice", "instance_id, external_id"
    yield Rule(name, table, key, "noticed_at", NOTICES, f"{table}_by_age")
    name, table = "notifications", "notification"
    yield Rule(name, table, "id", "created_at", NOTIFICATIONS, f"{table}_by_age")
    name, table = "causes of notifications", "notification_cause"
    yield Rule(name, table, "id", "at", NOTIFICATION_CAUSES, f"{table}_by_age")
    yield Rule("web servers", "web_host", "key", "free_at", WEB_HOSTS, "web_host_by_age")


KEPT = timedelta(days=400)
"""Longer than links to files may be valid (MESSAGE_FILE_DAYS)."""


class RepeatedFiles(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        for step in self._until_none(
            "message_file", SQL["delete_repeated_files"], {"now": now, "kept": KEPT}
        ):
            yield step


ACTIVE = timedelta(days=1)


class LongConversations(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        at = await database.fetch_value(f"SELECT {NOW} - %(active)s", {"now": now, "active": ACTIVE})
        after: dict[str, Any] = {"at": at, "instance": 0, "session": ""}
        while rows := await database.fetch(SQL["long_conversations"], after):
            for instance, session, at, last in rows:
                after = {"at": at, "instance": instance, "session": session}
                if last is not None:
                    parameters = {**after, "last": last, "now": now, "kept": REDELIVERY}
                    for step in self._until_none("inbox", SQL["delete_turns"], parameters):
                        yield step


BY_INSTANCE = {
    "inbox": "instance_id = %(instance)s",
    "outbox": "instance_id = %(instance)s",
    "queue": "kind IN (0, 1, 2) AND instance_id = %(instance)s",
    "event_log": "instance_id = %(instance)s AND session_key IS NOT NULL",
    "message_file": "instance_id = %(instance)s",
    "report_event": "instance_id = %(instance)s",
}
"""Indexes `inbox_by_session`, `outbox_by_instance`, `event_log_by_session`, `message_file_by_session` and
`report_event_by_session`, and the primary key of `queue`. Events about the instance itself hold no texts, and go by
age."""
DELETES = {
    table: SQL["delete_of_instance"].format(table=table, condition=condition)
    for table, condition in BY_INSTANCE.items()
}


class RemovedInstances(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        done = []
        for instance, is_settled in await database.fetch(SQL["removed_instances"]):
            for table, statement in DELETES.items():
                for step in self._until_none(table, statement, {"instance": instance}):
                    yield step
            if is_settled:
                done.append(instance)
        if done:
            await database.execute(SQL["forget_instances"], (done,))


log = logging.getLogger(__name__)

BATCH = 1000
"""Rows that one statement deletes: some ten milliseconds of work."""
LONGEST_RUN = 240.0
"""Seconds after which a run ends; the next one goes on where it stopped."""
LATE = 86_400.0
"""Seconds that a row may be overdue before it is told as a fault."""
SMALL_TABLES = (
    "DELETE FROM event_listener WHERE until < now()",
    "DELETE FROM verification_code WHERE expires_at < now()",
    "DELETE FROM budget WHERE scope = 'instance' AND subject NOT IN (SELECT id::text FROM channel_instance)",
)
"""Tables with a row for each reader, for each person who is just now verified, and for each budget."""


class Retention:
    """Calls `removed` with each step's table and number of rows."""

    def __init__(
        self,
        database: Database,
        times: Times,
        removed: Callable[[str, int], None] = lambda _table, _rows: None,
    ) -> None:
        self._database = database
        self.rules: Sequence[Rule] = tuple(rules(times))
        self._others = (LongConversations(), RemovedInstances(), RepeatedFiles())
        self._removed = removed

    async def clean(self, now: datetime | None = None, seconds: float = LONGEST_RUN) -> int:
        """How many rows were deleted. `now`: by another clock than the server's."""
        ends, count = time.monotonic() + seconds, 0
        for statement in SMALL_TABLES:
            count += await self._database.execute(statement)
        async for table, rows, took in self._steps(now):
            self._removed(table, rows)
            count += rows
            if cancelled() or time.monotonic() > ends:
                break
            if rows:
                await asyncio.sleep(took)
        return count

    async def _steps(self, now: datetime | None) -> AsyncIterator[tuple[str, int, float]]:
        """Of each step: the table, the rows, and how long it took. Ends early while another process cleans."""
        for rule in self.rules:
            parameters = {"now": now, "kept": rule.kept, "batch": BATCH, "after": rule.start}
            rows = BATCH
            while rows == BATCH:
                began = time.monotonic()
                result = await self._step(rule.delete, parameters)
                if result is None:
                    return
                rows, last = result
                parameters["after"] = last
                yield rule.table, rows, time.monotonic() - began
        for other in self._others:
            async for table, statement, parameters in other.steps(self._database, now):
                began, result = time.monotonic(), await self._step(statement, {**parameters, "batch": BATCH})
                if result is None:
                    return
                other.took(result[0])
                yield table, result[0], time.monotonic() - began

    @retried
    async def _step(self, statement: str, parameters: Mapping[str, Any]) -> tuple[int, Any] | None:
        """None if another process has the lock."""
        async with self._database.transaction(STATEMENT_SECONDS) as connection:
            row = await (await connection.execute(SQL["lock_retention"])).fetchone()
            if not row or not row[0]:
                return None
            [result] = await (await connection.execute(statement, parameters)).fetchall()
            return result

    async def overdue(self, now: datetime | None = None) -> Mapping[str, float]:
        """For how many seconds the oldest row of each rule has been due; 0 where none is."""
        parameters = {f"kept{place}": rule.kept for place, rule in enumerate(self.rules)}
        rows = await self._database.fetch(overdue(self.rules), {"now": now, **parameters})
        ages = {self.rules[place].name: max(0.0, age or 0.0) for place, age in rows}
        return {rule.name: ages.get(rule.name, 0.0) for rule in self.rules}

    async def late(self) -> Sequence[str]:
        """The rules whose oldest row has been due for more than a day."""
        return [name for name, seconds in (await self.overdue()).items() if seconds > LATE]

    async def bloated(self) -> Sequence[str]:
        """Large tables of which more than half is dead rows."""
        return await self._database.fetch_column(SQL["bloated_tables"])
