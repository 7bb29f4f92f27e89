"""Reports: what happened on each day is counted once."""

import asyncio
import json
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from adapters.outbound.storage import reports
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from adapters.outbound.storage.feedback import PostgresFeedback
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.reports import SQL, PostgresReports
from adapters.outbound.storage.retention import Retention, Times
from domain.feedback.model import Rating, Voter
from domain.refusals import Invalid, Unavailable
from domain.reports.model import BOUNDS, Dimension, ReportKey, ReportRow, row_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
MESSAGE = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, received_at, finished_at)
VALUES (%(instance)s, %(session)s, gen_random_uuid()::text, %(event)s, %(status)s, %(answer)s, %(at)s, %(finished)s)
RETURNING id
"""
SEND = """
INSERT INTO send (instance_id, session_key, session_id, content, author, user_id, created_at)
VALUES (%(instance)s, %(session)s, %(session)s, '{}', %(author)s, %(user)s, %(at)s)
"""
OPEN = """
INSERT INTO queue (kind, instance_id, session_key, pending, due_at, opened_at)
VALUES (0, %(instance)s, %(session)s, 0, now(), %(at)s)
ON CONFLICT (kind, instance_id, session_key) DO UPDATE SET opened_at = excluded.opened_at, closed_at = NULL
"""
CLOSE = """
UPDATE queue SET closed_at = %(at)s, assignee = %(assignee)s WHERE kind = 0 AND session_key = %(session)s
"""
BEGIN = "INSERT INTO report_position (id, until, inbox_id) VALUES (1, %s, 0)"
DONE, FAILED = 1, 2


class Scene:
    """Times are seconds after noon of a day in March."""

    def __init__(self, database: Database, instance: int) -> None:
        self.database, self.instance = database, instance
        self.reports = PostgresReports(database)
        self.day = NOON

    def at(self, seconds: float) -> datetime:
        return self.day + timedelta(seconds=seconds)

    async def message(
        self,
        at: float,
        answered: float | None = None,
        *,
        session: str = "s",
        sender: str = "ada",
        status: int = DONE,
        **more: Any,
    ) -> int:
        """One that a resource answers, unless `answered` is None; then it is finished at once."""
        document = {"session": session, "sender": sender, "text": "hello", **more}
        values = {
            "instance": self.instance,
            "session": session,
            "event": json.dumps(document, separators=(",", ":")),
            "status": status,
            "answer": None if answered is None else '{"text":"hi","author":"resource"}',
            "at": self.at(at),
            "finished": self.at(at if answered is None else answered),
        }
        return int(await self.database.fetch_value(MESSAGE, values))

    async def send(self, at: float, user: str | None = "ann", session: str = "s") -> None:
        author = "resource" if user is None else "person"
        values = {"instance": self.instance, "session": session, "author": author, "user": user}
        await self.database.execute(SEND, {**values, "at": self.at(at)})

    async def open(self, at: float, session: str = "s") -> None:
        values = {"instance": self.instance, "session": session, "at": self.at(at)}
        await self.database.execute(OPEN, values)

    async def close(self, at: float, session: str = "s", assignee: str | None = None) -> None:
        await self.database.execute(CLOSE, {"session": session, "at": self.at(at), "assignee": assignee})

    async def ask_for_people(self, at: float, session: str = "s") -> None:
        await self.open(0, session)
        held = "UPDATE queue SET held_until = now() + interval '1 h' WHERE session_key = %s"
        await self.database.execute(held, (session,))
        await self.database.execute(
            "UPDATE report_event SET at = %s WHERE at > %s", (self.at(at), NOON + 30 * DAY)
        )

    async def count(self, since: float = -1, until: float = 40_000) -> None:
        """Counts what happened between two times, in one step."""
        parameters = {"since": self.at(since), "until": self.at(until), "inbox": 0, "bounds": list(BOUNDS)}
        async with self.database.transaction() as connection:
            for name in ("count_day_messages", "count_answers", "count_votes"):
                await connection.execute(SQL[name], parameters)

    async def rows(self, *by: Dimension) -> list[ReportRow]:
        days = (NOON.date(), NOON.date() + 2 * DAY)
        page = await self.reports.counts(by, days, None, 200, None)
        assert page.next is None
        return [row_of(key, None, counts) for key, counts in page.items]

    async def total(self) -> ReportRow:
        [row] = await self.rows()
        return row


@pytest.fixture
def scene(database: Database, instance: int) -> Scene:
    return Scene(database, instance)


async def test_messages_and_the_people_who_wrote_them(scene: Scene) -> None:
    for sender in ("ada", "bert", "ada", 'quo"te', ""):
        await scene.message(1, session=f"s-{sender}", sender=sender)
    await scene.message(2, reaction="👍")
    await scene.message(2, choice="thumb:out-1:x:up")
    await scene.message(2, choice="yes")
    await scene.count(-1, 5)
    await scene.message(6, session="another")
    await scene.message(6, sender="zoe")
    await scene.count(5, 10)
    total = await scene.total()
    assert (total.messages, total.people) == (8, 4)


async def test_people_are_counted_anew_on_each_day(scene: Scene) -> None:
    await scene.message(1)
    await scene.message(43_199)
    await scene.message(43_201)
    await scene.count(-1, 50_000)
    days = await scene.rows(Dimension.DAY)
    assert [(row.day, row.messages, row.people) for row in days] == [
        ("2026-03-01", 2, 1),
        ("2026-03-02", 1, 1),
    ]


async def test_answers_of_agents_and_of_colleagues(scene: Scene) -> None:
    await scene.message(0, 2)
    await scene.message(10)
    for at in (30, 31):
        await scene.send(at)
    await scene.message(40)
    await scene.send(50, "bob")
    await scene.message(60, 61)
    await scene.send(70)
    await scene.send(80, session="nobody has written here")
    await scene.count(-1, 45)
    await scene.count(45, 100)
    rows = {row.user_id: row for row in await scene.rows(Dimension.PERSON)}
    assert rows[""].answered_by_agent == 2
    assert {user: row.answered_by_person for user, row in rows.items()} == {"": 0, "ann": 2, "bob": 1}


async def test_a_result_that_comes_late_answers_what_was_not_answered(scene: Scene) -> None:
    await scene.message(0, session="late")
    await scene.send(100, None, session="late")
    await scene.message(0, 1, session="answered")
    await scene.send(100, None, session="answered")
    await scene.count()
    assert (await scene.total()).answered_by_agent == 2


@pytest.mark.parametrize("until", [(200,), (2, 35, 45, 200), (5, 200), (32, 55, 200)])
async def test_the_first_answer_since_a_conversation_was_opened(scene: Scene, until: tuple[int, ...]) -> None:
    """However what happened falls into steps."""
    await scene.message(0, 2)
    await scene.open(0)
    await scene.message(10, 11)
    steps = [(20, "close"), (30, "again"), (60, "end")]
    since = -1
    for end in (*until, 1000):
        while steps and steps[0][0] < end:
            _, what = steps.pop(0)
            if what == "close":
                await scene.close(20)
            elif what == "again":
                await scene.open(30)
                await scene.message(30)
                await scene.send(40)
                await scene.message(50, 51)
        await scene.count(since, end)
        since = end
    row = await scene.total()
    assert (row.time_to_first_answer.count, row.time_to_first_answer.mean_seconds) == (2, 6.0)
    by_user = {row.user_id: row.time_to_first_answer.count for row in await scene.rows(Dimension.PERSON)}
    assert by_user == {"": 1, "ann": 1}


async def test_an_answer_that_closes_the_conversation_is_its_first(scene: Scene) -> None:
    """Also if the person writes again before it is counted."""
    await scene.open(0)
    await scene.message(0, 3)
    await scene.close(3)
    await scene.open(5)
    await scene.message(5, 9)
    await scene.close(9)
    await scene.count()
    row = await scene.total()
    assert (row.time_to_first_answer.count, row.time_to_first_answer.mean_seconds) == (2, 3.5)
    assert (row.closed, row.time_to_close.count, row.time_to_close.mean_seconds) == (2, 2, 3.5)


async def test_a_conversation_that_is_older_than_its_reports_has_no_times(scene: Scene) -> None:
    await scene.open(0)
    await scene.database.execute("UPDATE queue SET opened_at = NULL")
    await scene.message(0, 3)
    await scene.close(3)
    await scene.count()
    row = await scene.total()
    assert (row.answered_by_agent, row.time_to_first_answer.count, row.closed, row.time_to_close.count) == (
        1,
        0,
        1,
        0,
    )


async def test_closings_belong_to_whom_the_conversation_was_assigned(scene: Scene) -> None:
    for session, assignee in (("a", "user:ann"), ("b", "team:1"), ("c", None)):
        await scene.open(0, session)
        await scene.close(60, session, assignee)
    await scene.count()
    rows = await scene.rows(Dimension.PERSON)
    assert [(row.user_id, row.closed) for row in rows] == [("", 2), ("ann", 1)]
    assert await scene.database.fetch_value("SELECT count(*) FROM report_event") == 0


async def test_the_time_from_asking_for_people_to_a_colleague(scene: Scene) -> None:
    """However long it takes, and however often it was counted meanwhile."""
    await scene.open(0)
    await scene.message(0, 2)
    await scene.ask_for_people(2)
    await scene.message(5)
    await scene.count(-1, 10)
    await scene.message(20)
    await scene.send(32, "bob")
    await scene.message(40)
    await scene.send(42, "ann")
    await scene.ask_for_people(50, "another")
    await scene.count(10, 100)
    await scene.count(100, 200)
    rows = {row.user_id: row for row in await scene.rows(Dimension.PERSON)}
    assert {user: row.time_to_person.count for user, row in rows.items()} == {"": 0, "bob": 1, "ann": 0}
    assert rows["bob"].time_to_person.mean_seconds == 30
    assert rows[""].handovers == 2
    assert await scene.database.fetch_value("SELECT count(*) FROM report_event") == 1


@pytest.mark.parametrize("steps", [(100,), (15, 100), (25, 100)])
async def test_nobody_is_waited_for_in_a_conversation_that_was_closed(
    scene: Scene, steps: tuple[int, ...]
) -> None:
    await scene.open(0)
    await scene.message(0, 2)
    await scene.ask_for_people(2)
    since = -1
    for end in steps:
        if since < 10 <= end:
            await scene.close(10)
        if since < 20 <= end:
            await scene.open(20)
            await scene.message(20)
            await scene.send(30)
        await scene.count(since, end)
        since = end
    total = await scene.total()
    assert (total.time_to_person.count, total.time_to_first_answer.count) == (0, 2)
    assert await scene.database.fetch_value("SELECT count(*) FROM report_event") == 0


async def test_a_colleague_who_takes_over_was_not_asked_for(scene: Scene) -> None:
    await scene.open(0)
    await scene.message(0, 2)
    values = {"session": "s", "user": "ann"}
    hold = "held_until = now() + interval '1 h', held_by = %(user)s, held_by_until = now() + interval '1 h'"
    for _ in range(2):
        await scene.database.execute(f"UPDATE queue SET {hold} WHERE session_key = %(session)s", values)
    kinds = await scene.database.fetch("SELECT kind, user_id FROM report_event")
    assert kinds == [(0, "ann")]


async def test_a_vote_counts_once_on_the_day_of_the_last_change(scene: Scene) -> None:
    message = await scene.message(0, 1)
    feedback = PostgresFeedback(scene.database)
    await scene.database.execute("UPDATE outbox SET ref = 'r'")
    await scene.database.execute(
        "INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, ref)"
        " VALUES (%s, 's', %s, '{}', '{}', 'k', 'r')",
        (scene.instance, message),
    )
    for number, rating in enumerate((Rating.UP, Rating.DOWN, Rating.UP, Rating.DOWN)):
        assert await feedback.vote_on(scene.instance, "r", rating, Voter("ada"))
        at = NOON + min(number, 2) * DAY / 2
        await scene.database.execute("UPDATE feedback SET at = %s", (at,))
        if number != 2:
            await scene.count(-1, 100_000)
    days = await scene.rows(Dimension.DAY)
    votes = [(row.day, row.feedback_up, row.feedback_down) for row in days]
    assert votes == [("2026-03-01", 0, 0), ("2026-03-02", 0, 1)]


async def test_what_was_given_up_counts_once(scene: Scene) -> None:
    await scene.message(1, status=FAILED)
    await scene.message(2, status=FAILED)
    await scene.count()
    assert (await scene.total()).failed == 2


async def begun(scene: Scene) -> None:
    """Counting begins an hour ago, and something has happened since."""
    scene.day = datetime.now(UTC) - timedelta(hours=1)
    await scene.database.execute(BEGIN, (scene.at(0),))
    await scene.open(1)
    for at in (1, 1000, 2000, 3000):
        await scene.message(at, at + 2)
    await scene.close(3010)


async def counted_today(scene: Scene) -> Mapping[int, int]:
    today = datetime.now(UTC).date()
    page = await scene.reports.counts((), (today - DAY, today), None, 10, None)
    return dict(page.items[0][1]) if page.items else {}


async def test_workers_that_count_at_once_count_once(scene: Scene) -> None:
    await begun(scene)
    await asyncio.gather(*(scene.reports.count() for _ in range(5)))
    await scene.reports.count()
    once = await counted_today(scene)
    await scene.reports.count()
    assert await counted_today(scene) == once
    row = row_of(ReportKey(None, None, None, None, None), None, once)
    assert (row.messages, row.people >= 1, row.answered_by_agent) == (4, True, 4)
    assert (row.time_to_first_answer.count, row.closed) == (1, 1)


@pytest.mark.parametrize("statement", ["count_day_messages", "count_answers", "count_votes", "move_reports"])
async def test_a_worker_that_dies_while_it_counts_has_counted_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    await begun(scene)
    with monkeypatch.context() as patch:
        patch.setitem(reports.SQL, statement, "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(Unavailable):
            await scene.reports.count()
    assert await scene.database.fetch_value("SELECT count(*) FROM report") == 0
    assert await scene.database.fetch_value("SELECT count(*) FROM report_person") == 0
    await scene.reports.count()
    row = row_of(ReportKey(None, None, None, None, None), None, await counted_today(scene))
    assert (row.messages, row.answered_by_agent, row.closed) == (4, 4, 1)


async def test_no_transaction_that_is_open_is_passed_over(scene: Scene) -> None:
    async with scene.database.transaction() as slow:
        begun_at = await (await slow.execute("SELECT now()")).fetchone()
        await scene.reports.count()
        assert begun_at
        assert await scene.database.fetch_value("SELECT until FROM report_position") < begun_at[0]


async def test_counting_begins_with_the_last_day(scene: Scene) -> None:
    scene.day = datetime.now(UTC) - 2 * DAY
    await scene.message(0)
    [(before,)] = await scene.database.fetch("SELECT max(id) FROM inbox")
    scene.day = datetime.now(UTC) - timedelta(hours=1)
    await scene.message(0)
    await scene.database.execute(SQL["begin_reports"])
    assert await scene.database.fetch_value("SELECT inbox_id FROM report_position") == before
    await scene.reports.count()
    row = row_of(ReportKey(None, None, None, None, None), None, await counted_today(scene))
    assert (row.messages, row.people) == (1, 1)


async def fill(scene: Scene, days: int, users: Collection[str]) -> None:
    await scene.database.execute(
        "INSERT INTO report SELECT date '2026-03-01' + d, i, u, -1, 1"
        " FROM generate_series(0, %s - 1) d, generate_series(1, 3) i, unnest(%s::text[]) u",
        (days, list(users)),
    )


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ((Dimension.ALL,), 1),
        ((Dimension.DAY,), 3),
        ((Dimension.INSTANCE,), 3),
        ((Dimension.PERSON,), 2),
        (tuple(Dimension), 18),
    ],
)
async def test_pages_hold_each_row_once(scene: Scene, by: tuple[Dimension, ...], expected: int) -> None:
    await fill(scene, 3, ["", "ann"])
    days, cursor = (NOON.date(), NOON.date() + 5 * DAY), None
    keys: list[ReportKey] = []
    total = 0
    while True:
        page = await scene.reports.counts(by, days, None, 2, cursor)
        keys += [key for key, _ in page.items]
        total += sum(counts[-1] for _, counts in page.items)
        cursor = page.next
        if cursor is None:
            break
        assert len(page.items) == 2
    assert len(keys) == len(set(keys)) == expected
    assert total == 18


async def test_days_and_instances_are_chosen(scene: Scene) -> None:
    await fill(scene, 3, [""])
    first = date(2026, 3, 2)

    async def total(ids: list[int] | None) -> int:
        page = await scene.reports.counts((), (first, first), ids, 10, None)
        return sum(counts[-1] for _, counts in page.items)

    assert [await total(ids) for ids in (None, [1], [1, 3], [])] == [3, 1, 2, 0]


@pytest.mark.parametrize("cursor", ["x", "WzFd", "WyJ4IiwxLDAsIiJd"])
async def test_an_unknown_cursor_is_refused(scene: Scene, cursor: str) -> None:
    with pytest.raises(Invalid, match="cursor"):
        await scene.reports.counts((), (NOON.date(), NOON.date()), None, 10, cursor)


async def test_reports_are_kept_for_400_days(scene: Scene) -> None:
    await scene.database.execute(
        "INSERT INTO report SELECT current_date - d, 1, '', -1, 1 FROM generate_series(0, 450) d"
    )
    await scene.database.execute(
        "INSERT INTO report_person SELECT current_date - d, 1, '\\x00' FROM generate_series(0, 10) d"
    )
    await scene.database.execute(
        "INSERT INTO report_event (kind, at, instance_id, session_key)"
        " SELECT 2, now() - make_interval(days => d), 1, 's' FROM generate_series(0, 20) d"
    )
    await Retention(scene.database, Times(timedelta(days=7))).clean()
    assert await scene.database.fetch_value("SELECT count(*) FROM report_event") == 14
    assert 400 <= await scene.database.fetch_value("SELECT count(*) FROM report") <= 401
    assert 2 <= await scene.database.fetch_value("SELECT count(*) FROM report_person") <= 3


async def test_nothing_of_a_conversation_waits_longer_than_its_texts(scene: Scene, instance: int) -> None:
    for session in ("silent", "of an instance that is removed"):
        await scene.ask_for_people(2, session)
    await scene.database.execute(
        "UPDATE queue SET touched_at = now() - interval '3 d' WHERE session_key = 'silent'"
    )
    await ConversationExpiry(scene.database, days=1).clean()
    left = await scene.database.fetch("SELECT session_key FROM report_event WHERE kind = 2")
    assert left == [("of an instance that is removed",)]
    await scene.database.execute("DELETE FROM channel_instance")
    await Retention(scene.database, Times(timedelta(days=7))).clean()
    assert await scene.database.fetch_value("SELECT count(*) FROM report_event") == 0


async def test_reports_are_counted_and_read_by_index(scene: Scene) -> None:
    begin = """
    INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, received_at, finished_at)
    SELECT %(instance)s, 's' || n / 4, 'k' || n, '{}', 1, '{"author":"resource"}',
        now() - make_interval(secs => 20000 - n), now() - make_interval(secs => 20000 - n)
    FROM generate_series(1, 20000) n
    """
    more = (
        """
        INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status, finished_at)
        SELECT instance_id, session_key, id, '{}', '{}', event_key, CASE WHEN id %% 100 = 0 THEN 2 ELSE 1 END,
            finished_at FROM inbox WHERE instance_id = %(instance)s
        """,
        """
        INSERT INTO send (instance_id, session_key, session_id, content, author, created_at)
        SELECT instance_id, session_key, session_key, '{}', 'person', finished_at FROM inbox
        WHERE instance_id = %(instance)s
        """,
        """
        INSERT INTO queue (kind, instance_id, session_key, pending, due_at, opened_at)
        SELECT 0, instance_id, session_key, 0, now(), min(received_at) FROM inbox
        WHERE instance_id = %(instance)s GROUP BY 2, 3
        """,
        """
        INSERT INTO report_event (kind, at, instance_id, session_key, opened_at)
        SELECT id %% 3, finished_at + interval '19990 s', instance_id, session_key, received_at FROM inbox
        WHERE instance_id = %(instance)s
        """,
        """
        INSERT INTO feedback (instance_id, inbox_id, session_key, sender_key, sender, sender_name, rating, at)
        SELECT instance_id, id, session_key, 'a', 'a', 'a', 1, finished_at FROM inbox WHERE instance_id = %(instance)s
        """,
        """
        INSERT INTO report SELECT current_date - d, i, '', m, 1
        FROM generate_series(0, 399) d, generate_series(1, 20) i, generate_series(-11, -1) m
        """,
    )
    for statement in (begin, *more):
        await scene.database.execute(statement, {"instance": scene.instance})
    await scene.database.execute("ANALYZE inbox, outbox, send, queue, report_event, feedback, report")
    [(highest, now)] = await scene.database.fetch("SELECT max(id), now() FROM inbox")
    parameters = {"since": now - timedelta(seconds=10), "until": now, "inbox": highest - 70}
    parameters |= {"bounds": list(BOUNDS)}
    for name in ("count_day_messages", "count_answers", "count_votes", "move_reports"):
        assert await _scanned(scene.database, SQL[name], parameters) <= {"report_position"}, name
    page = {"first": now.date(), "last": now.date(), "ids": [3], "count": 10}
    page |= {"day": date.min, "instance": -1, "team": 0, "user": ""}
    for condition in ("", " AND r.instance_id = ANY(%(ids)s)"):
        columns = {
            "day": "r.day",
            "instance": "r.instance_id",
            "team": "coalesce(m.team_id, 0)",
            "person": "r.user_id",
        }
        columns["teams"] = " LEFT JOIN team_member m ON m.user_id = r.user_id"
        statement = SQL["report"].format(**columns, instances=condition)
        assert await _scanned(scene.database, statement, page) == set(), condition


async def _scanned(database: Database, statement: str, parameters: Mapping[str, Any]) -> set[str]:
    """The tables that are read without an index."""

    def of(plan: dict[str, Any]) -> set[str]:
        own = {plan["Relation Name"]} if plan["Node Type"] == "Seq Scan" else set()
        return own.union(*(of(child) for child in plan.get("Plans", ())))

    [(explained,)] = await database.fetch(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
    return of(explained[0]["Plan"])
