"""Lists of conversations and messages are read by their indexes."""

from datetime import timedelta
from typing import Any

import pytest

from adapters.outbound.storage.conversations.messages import SQL
from adapters.outbound.storage.conversations.store import counts_sql, list_sql
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import LONGEST_CONVERSATION, Retention, Times
from domain.conversations.model import ConversationFilter, ConversationState, Handler, MessagesWanted
from tests.support.database import conversations_of, messages_of

FILL = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)
SELECT %(instance)s, 's' || n %% 1000, 'k' || n,
    '{"session":"s' || n %% 1000 || '","sender":"x","text":"words ' || n || '","target":{},"request":"r"}',
    CASE WHEN n %% 500 = 0 THEN 2 ELSE 1 END,
    '{"text":"an answer","files":[],"choices":[],"author":"resource"}', now()
FROM generate_series(1, 20000) n;
INSERT INTO queue (kind, instance_id, session_key, pending, touched_at)
SELECT 0, %(instance)s, 's' || n, 0, now() - make_interval(secs => n) FROM generate_series(0, 999) n;
INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status)
SELECT instance_id, session_key, id, '{}', '{}', event_key, CASE WHEN id %% 100 = 0 THEN 2 ELSE 1 END FROM inbox;
"""
POSITIONS = {"inbound": 0, "answers": 0, "sends": 0, "notes": 0}
LATEST = dict.fromkeys(POSITIONS, 2**62)
ALL: dict[str, Any] = {
    "owner": "ann",
    "instances": [],
    "session": "s7",
    "pattern": None,
    "at": "2100-01-01",
    "instance": 1,
    "key": "",
}
MANY = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config)
SELECT CASE WHEN n <= 3 THEN 'ann' ELSE 'user ' || n END, 'slack', 'n' || n, '' FROM generate_series(1, 500) n;
INSERT INTO queue (kind, instance_id, session_key, pending, touched_at, held_until)
SELECT 0, c.id, 's' || n, CASE WHEN n = 7 THEN 1 ELSE 0 END, now() - make_interval(secs => 500 * n + c.id),
    CASE WHEN n = 8 THEN now() + interval '1 h' END
FROM channel_instance c CROSS JOIN generate_series(1, 100) n WHERE c.channel_id = 'slack';
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)
SELECT instance_id, session_key, session_key, '{"session":"' || session_key
    || '","sender":"x","text":"hello","target":{},"request":"r"}', 1,
    '{"text":"an answer","files":[],"choices":[],"author":"resource"}', now()
FROM queue WHERE instance_id IN (SELECT id FROM channel_instance WHERE channel_id = 'slack')
"""
WANTED = [
    ConversationFilter(),
    ConversationFilter(waiting=True),
    ConversationFilter(handler=Handler.PERSON),
    ConversationFilter(session_id="s7"),
]


STATES = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config)
SELECT CASE WHEN n <= 3 THEN 'ann' ELSE 'user ' || n END, 'slack', 'n' || n, '' FROM generate_series(1, 500) n;
INSERT INTO queue (kind, instance_id, session_key, pending, touched_at, assignee, labels, closed_at)
SELECT 0, c.id, 's' || n, 0, now() - make_interval(secs => 500 * n + c.id),
    CASE WHEN n = 150 THEN 'user:ann' WHEN n %% 3 = 0 THEN 'team:support' END,
    CASE WHEN n = 160 THEN '{rare}'::text[] WHEN n %% 4 = 0 THEN '{sale,new}'::text[] END,
    CASE WHEN n > 5 AND n <> 190 THEN now() END
FROM channel_instance c CROSS JOIN generate_series(1, 200) n WHERE c.channel_id = 'slack'
"""
OF_STATES = [
    ConversationFilter(assignees=("user:ann",)),
    ConversationFilter(assignees=("team:support",)),
    ConversationFilter(assignees=("user:nobody",)),
    ConversationFilter(label="rare"),
    ConversationFilter(label="sale"),
    ConversationFilter(label="unknown"),
    ConversationFilter(is_closed=False),
    ConversationFilter(is_closed=True),
    ConversationFilter(label="rare", assignees=("user:ann",), is_closed=True),
]


@pytest.fixture
async def filled(database: Database, instance: int) -> Database:
    for statement in FILL.split(";\n")[:3]:
        await database.execute(statement, {"instance": instance})
    await database.execute("ANALYZE inbox, outbox, queue, send")
    return database


def _scanned(plan: dict[str, Any]) -> list[str]:
    """The tables that are read without an index."""
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" else []
    return own + [name for child in plan.get("Plans", ()) for name in _scanned(child)]


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (SQL["messages_after"], {"session": "s7", "session_id": "s7", **POSITIONS}),
        (SQL["messages_before"], {"session": "s7", "session_id": "s7", **LATEST}),
        (SQL["failed_messages"], LATEST),
    ],
    ids=["messages", "messages backwards", "failed"],
)
async def test_large_tables_are_read_by_index(
    filled: Database, instance: int, statement: str, parameters: dict[str, Any]
) -> None:
    values = {**parameters, "instance": instance, "instances": [instance], "count": 51}
    assert await _cost(filled, statement, values) < 15_000


async def _cost(database: Database, statement: str, values: dict[str, Any], *unindexed: str) -> int:
    """The pages that a statement reads. It scans no table but those that are named or empty."""
    [(explained,)] = await database.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
    plan = explained[0]["Plan"]
    assert set(_scanned(plan)) <= {"send", "tool_confirmation", "conversation_note", *unindexed}
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


@pytest.mark.parametrize("first", [True, False], ids=["first page", "later page"])
async def test_the_list_of_all_instances_is_read_by_index(database: Database, first: bool) -> None:
    """50,000 conversations of 500 instances: for a user with 3 of them, and for an admin."""
    for statement in MANY.split(";\n"):
        await database.execute(statement)
    await database.execute("ANALYZE channel_instance, inbox, queue, send")
    values = {**ALL, "count": 51}
    for wanted in WANTED:
        assert await _cost(database, list_sql("ann", wanted, first=first), values) < 2_000, wanted
        pages = await _cost(database, list_sql(None, wanted, first=first), values, "channel_instance")
        assert pages < 15_000, wanted


@pytest.mark.parametrize("instances", [500, 1])
@pytest.mark.parametrize("first", [True, False], ids=["first page", "later page"])
async def test_lists_by_assignee_label_and_state_are_read_by_index(
    database: Database, first: bool, instances: int
) -> None:
    """100,000 conversations, most of them closed, of many instances or of one."""
    statements = STATES.replace("500", str(instances)).replace("200)", f"{100_000 // instances})")
    for statement in statements.split(";\n"):
        await database.execute(statement)
    await database.execute("ANALYZE channel_instance, inbox, queue, send")
    values = {**ALL, "count": 51, "assignee": None, "label": None}
    small = {"inbox", *(["channel_instance"] if instances == 1 else [])}
    for wanted in OF_STATES:
        values |= {"assignee": (wanted.assignees or ("",))[0], "label": wanted.label}
        pages = await _cost(database, list_sql("ann", wanted, first=first), values, *small)
        most = 200 if wanted.label else 100
        assert pages < (most if instances > 1 else 5_000), wanted
        pages = await _cost(
            database, list_sql(None, wanted, first=first), values, "inbox", "channel_instance"
        )
        assert pages < 5_000, wanted


INBOX = """
INSERT INTO app_user (id, role) SELECT 'u' || n, 'member' FROM generate_series(1, 200) n;
INSERT INTO team (name) SELECT 'team ' || n FROM generate_series(1, 50) n;
INSERT INTO team_member (team_id, user_id)
SELECT t.id, 'u' || (4 * row_number() OVER (ORDER BY t.id) + n) %% 200 + 1
FROM team t CROSS JOIN generate_series(1, 12) n;
INSERT INTO channel_instance (user_id, channel_id, channel_name, config)
SELECT 'owner', 'slack', 'n' || n, '' FROM generate_series(1, 20) n;
INSERT INTO instance_team_permission (team_id, instance_id, level)
SELECT t.id, c.id, 2 FROM team t CROSS JOIN channel_instance c WHERE c.channel_id = 'slack';
INSERT INTO queue (kind, instance_id, session_key, pending, touched_at, assignee, labels, closed_at, snoozed_until,
    held_until)
SELECT 0, c.id, 's' || n, 0, now() - make_interval(secs => 20 * n + c.id),
    CASE WHEN n %% 5 < 2 THEN 'user:u' || n %% 200 + 1 WHEN n %% 5 < 4 THEN 'team:' || n %% 50 + 1 END,
    CASE WHEN n %% 7 = 0 THEN '{sale}'::text[] END, CASE WHEN n %% 3 = 0 THEN now() END,
    CASE WHEN n %% 50 = 1 THEN now() + interval '1 d' END, CASE WHEN n %% 100 = 0 THEN now() + interval '1 h' END
FROM channel_instance c CROSS JOIN generate_series(1, 5000) n WHERE c.channel_id = 'slack';
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)
SELECT instance_id, session_key, session_key, '{"session":"' || session_key
    || '","sender":"x","text":"hello","target":{},"request":"r"}',
    CASE WHEN hashtext(session_key) %% 500 = 0 THEN 2 ELSE 1 END,
    '{"text":"an answer","files":[],"choices":[],"author":"resource"}', now()
FROM queue WHERE kind = 0
"""
VIEWS = [
    ConversationFilter(assignees=("user:u7",), state=ConversationState.OPEN),
    ConversationFilter(assignees=("user:nobody",), state=ConversationState.OPEN),
    ConversationFilter(assignees=("team:1", "team:2", "team:3"), state=ConversationState.OPEN),
    ConversationFilter(assignees=("",), state=ConversationState.OPEN),
    ConversationFilter(state=ConversationState.OPEN),
    ConversationFilter(state=ConversationState.SNOOZED),
    ConversationFilter(state=ConversationState.CLOSED),
    ConversationFilter(wants_person=True),
    ConversationFilter(failed=True),
    ConversationFilter(label="sale", state=ConversationState.OPEN),
]


async def test_each_view_of_an_inbox_is_read_by_index(database: Database) -> None:
    """200 members, 50 teams and 100,000 conversations of 20 instances that are shared with all teams."""
    for statement in INBOX.split(";\n"):
        await database.execute(statement)
    await database.execute(
        "ANALYZE channel_instance, inbox, queue, send, team, team_member, instance_team_permission"
    )
    small = ("channel_instance", "team_member", "instance_team_permission", "instance_permission", "outbox")
    for owner in ("u7", None):
        for wanted in VIEWS:
            assignees = wanted.assignees or ("",)
            values = {**ALL, "owner": owner, "count": 51, "label": wanted.label, "channel": None}
            values |= {"assignee": assignees[0], "assignees": list(assignees)}
            pages = await _cost(database, list_sql(owner, wanted, first=True), values, *small)
            assert pages < 6_000, (owner, wanted)
        values = {"owner": owner, "me": "user:u7", "teams": ["team:1", "team:2", "team:3"]}
        assert await _cost(database, counts_sql(owner), values, *small, "inbox") < 60_000


async def test_pages_of_the_list_of_all_instances_hold_all(database: Database) -> None:
    for statement in MANY.replace("500)", "7)").split(";\n"):
        await database.execute(statement)
    history = conversations_of(database)
    for owner, instances in (("ann", 3), (None, 7)):
        seen, cursor = list[tuple[int, str]](), None
        while True:
            page = await history.list(owner, ConversationFilter(), 30, cursor)
            seen += [(view.instance_id, view.session_id) for view in page.items]
            cursor = page.next
            if cursor is None:
                break
        assert (len(seen), len(set(seen))) == (instances * 100, instances * 100)
        held = await history.list(owner, ConversationFilter(handler=Handler.PERSON), 30, None)
        assert {view.session_id for view in held.items} == {"s8"}
        assert len(held.items) == instances


async def test_pages_hold_all(filled: Database, instance: int) -> None:
    history, messages = conversations_of(filled), messages_of(filled)
    seen: list[str] = []
    cursor = None
    while True:
        wanted = ConversationFilter(query="words 7", instance_ids=(instance,))
        page = await history.list(None, wanted, 200, cursor)
        seen += [view.session_id for view in page.items]
        cursor = page.next
        if cursor is None:
            break
    found = {f"s{n % 1000}" for n in range(1, 20001) if str(n).startswith("7")}
    assert len(seen) == len(set(seen))
    assert set(seen) == found
    failed, following = await messages.failed([instance], None, 200, None)
    assert (len(failed), following is None) == (200, False)
    page = await messages.of_session(instance, "s7", MessagesWanted(200)) or pytest.fail("no conversation")
    assert len(page.items) == 40


async def test_keys_of_erased_events_are_kept_for_two_weeks(database: Database, instance: int) -> None:
    for key, event, days in (("old", "{}", 15), ("young", "{}", 13), ("kept", '{"text":"x"}', 400)):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)"
            " VALUES (%s, 's', %s, %s, 1, now() - make_interval(days => %s))",
            (instance, key, event, days),
        )
    await Retention(database, Times(timedelta(days=7), timedelta(days=3650))).clean()
    assert await database.fetch_column("SELECT event_key FROM inbox ORDER BY id") == ["young", "kept"]


async def test_conversations_that_go_on_have_a_bound(database: Database, instance: int) -> None:
    old, young = LONGEST_CONVERSATION + 5, 3
    for count, days in ((old, 15), (young, 1)):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)"
            " SELECT %(instance)s, 's', %(days)s::text || ' ' || n, '{\"text\":\"x\"}', 1,"
            " now() - make_interval(days => %(days)s) FROM generate_series(1, %(count)s) n",
            {"instance": instance, "days": days, "count": count},
        )
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (0, %s, 's', 0)", (instance,)
    )
    await Retention(database, Times(timedelta(days=7), timedelta(days=3650))).clean()
    assert await database.fetch_value("SELECT count(*) FROM inbox") == LONGEST_CONVERSATION
    recent = "SELECT count(*) FROM inbox WHERE finished_at > now() - interval '2 days'"
    assert await database.fetch_value(recent) == young


async def test_pages_of_large_messages_are_shorter(database: Database, instance: int) -> None:
    for number in range(5):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)"
            " VALUES (%s, 's', %s, %s, 1, %s, now())",
            (
                instance,
                f"k{number}",
                f'{{"session":"s","sender":"x","text":"{"x" * 400_000}","target":{{}},"request":"{number}"}}',
                f'{{"text":"{"y" * 400_000}","files":[],"choices":[],"author":"resource"}}',
            ),
        )
    messages = messages_of(database)
    requests: list[str] = []
    page = await messages.of_session(instance, "s", MessagesWanted(200))
    while page:
        assert len(page.items) <= 2
        requests += [f"{message.direction}{message.request_id}" for message in page.items]
        if page.next is None:
            break
        page = await messages.of_session(instance, "s", MessagesWanted(200, page.next))
    assert requests == [f"{way}{number}" for number in range(5) for way in ("in", "out")]
