"""Which rows go by age, and the statements that delete them and that tell the age of the oldest one.

Each statement takes a limited number of rows, the oldest first, by an index that begins with their time. `after` is
how far the statement before came, so that none reads again what is deleted and not vacuumed yet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from adapters.outbound.storage.queue.states import MessageStatus, QueueKind
from domain.monitoring.model import Period

NOW = "coalesce(%(now)s::timestamptz, now())"
"""The time by which rows are old. The product leaves it to the server; a test names another one."""

REDELIVERY = timedelta(days=14)
"""How long a redelivery is recognised, and a sent message is known."""
CHAT_TURNS = timedelta(days=30)
"""How long built-in chat completions remember what was said."""
VERIFICATION_SENDS = timedelta(hours=2)
"""The limits on messages with codes count within an hour."""
NOTICES = timedelta(days=2)
UNANSWERED = timedelta(days=30)
WEB_HOSTS = timedelta(days=7)
SIGN_INS = timedelta(days=1)
FIGURES = {Period.HOUR: timedelta(hours=2), Period.DAY: timedelta(days=2)}


@dataclass(frozen=True, slots=True)
class Times:
    """How long is kept what a setting says."""

    events: timedelta
    messages: timedelta = timedelta(days=180)
    dead_letters: timedelta = timedelta(days=90)


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
    def _order(self) -> str:
        return self.order or self.column

    @property
    def start(self) -> str:
        """Lower than each value of `order`."""
        return "-1" if self.order else "-infinity"

    @property
    def delete(self) -> str:
        """Answers with the number of rows, and the last value of `order`."""
        kind = "bigint" if self.order else "timestamptz"
        return f"""
            WITH gone AS (
                DELETE FROM {self.table} WHERE ({self.key}) IN (
                    SELECT {self.key} FROM {self.table} WHERE {self.where} AND {self._order} >= %(after)s::{kind}
                    AND {self.column} < {NOW} - %(kept)s ORDER BY {self._order} LIMIT %(batch)s
                    FOR UPDATE SKIP LOCKED
                ) RETURNING {self._order} AS place
            ) SELECT count(*), max(place)::text FROM gone
        """

    def overdue(self, place: int) -> str:
        """`place`, and for how many seconds the oldest row has been due; nothing where there is none."""
        return f"""(
            SELECT {place}, extract(epoch FROM {NOW} - %(kept{place})s - {self.column})::float8 FROM {self.table}
            WHERE {self.where} ORDER BY {self._order} LIMIT 1
        )"""


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
    key = "instance_id, alias"
    yield Rule("further ids of people", "session_alias", key, "seen_at", messages, "session_alias_by_age")
    for period, kept in FIGURES.items():
        name, figure_key = f"figures by {period.step} seconds", "instance_id, step, at, measure"
        yield Rule(name, "figure", figure_key, "at", kept, "figure_by_age", f"step = {period.step}")
    yield from _short_lived()


def _short_lived() -> Iterator[Rule]:
    """What ends by itself within days."""
    none = timedelta()
    limited = "kind <> 'key' AND expires_at IS NOT NULL"
    yield Rule("sign-ins", "api_key", "id", "expires_at", SIGN_INS, "api_key_expiring", limited)
    yield Rule("tries to sign in", "sign_in_try", "address", "until", none, "sign_in_try_until")
    for name, table in (("links", "verification_link"), ("sign-ins of providers", "verification_state")):
        yield Rule(f"verification: {name}", table, "digest", "expires_at", none, f"{table}_by_age")
    name, table = "verification: messages", "verification_send"
    yield Rule(name, table, "ctid", "sent_at", VERIFICATION_SENDS, f"{table}_by_age")
    name, table = "unanswered messages", "unanswered"
    yield Rule(name, table, "id", "received_at", UNANSWERED, f"{table}_by_age")
    name, table, key = "notices of access", "access_notice", "instance_id, external_id"
    yield Rule(name, table, key, "noticed_at", NOTICES, f"{table}_by_age")
    yield Rule("web servers", "web_host", "key", "free_at", WEB_HOSTS, "web_host_by_age")
