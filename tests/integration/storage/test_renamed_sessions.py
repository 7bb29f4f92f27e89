"""What moves when a session gets another id: all that is kept of a conversation but for its messages."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import ARRAY, Boolean, Column, DateTime, Table, Text

from adapters.outbound.storage.codec import open_form_to_json, stored_open_form
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.tables import channel_instance
from domain.channels.rich import Form, FormField
from domain.conversations.forms import OpenForm

MOVES = {
    "queue",  # who has the conversation, form, assignee, labels, state
    "chat_history",
    "resource_state",
    "agent_task",
    "approval_request",
    "tool_confirmation",
    "tool_approval",
    "session_alias",
    "person_sender",
    "notification",
    "notification_cause",
}
STAYS = {
    "inbox": "messages stay where they were written, and are answered there",
    "outbox": "is sent to the target that each row has",
    "send": "stays beside the other messages",
    "message_file": "belongs to a message",
    "unanswered": "belongs to a message",
    "conversation_note": "stands among the messages, which stay, and is erased with them",
    "feedback": "a vote belongs to an answer, which stays, and is erased with it",
    "report_event": "happened under the former id, and is counted within seconds",
    "event_log": "tells what happened under the former id",
    "push_cursor": "how far the events of the former id were pushed",
    "web_chat": "no visitor of a web chat gets another id",
    "opt_out": "SMS alone has it, where nobody gets another id",
}
FORM = OpenForm(
    Form("Order", (FormField("size", "Size"),)),
    "form:out-1:x",
    "old",
    1,
    datetime(2026, 11, 20, 12, tzinfo=UTC),
    {"size": "large"},
)


def of_sessions() -> list[Table]:
    tables = channel_instance.metadata.tables.values()
    return [table for table in tables if "session_key" in table.c]


def test_each_table_of_sessions_either_moves_or_stays() -> None:
    assert {table.name for table in of_sessions()} == MOVES | STAYS.keys()
    assert not MOVES & STAYS.keys()


def a_value(column: Column[Any], instance: int) -> object:
    if column.name in ("session_key", "instance_id"):
        return {"session_key": "old", "instance_id": instance}[column.name]
    texts = {"asked_of": '"old"', "role": "user", "author": "person"}
    if isinstance(column.type, Text):
        return texts.get(column.name, "x")
    if isinstance(column.type, ARRAY):
        return []
    if isinstance(column.type, DateTime):
        return datetime(2026, 11, 20, 12, tzinfo=UTC)
    return False if isinstance(column.type, Boolean) else 1


@pytest.mark.parametrize("table", of_sessions(), ids=lambda table: table.name)
async def test_rows_move_with_their_session(database: Database, instance: int, table: Table) -> None:
    required = [c for c in table.c if not c.nullable and c.identity is None]
    row = {c.name: a_value(c, instance) for c in required}
    if table.name.startswith("notification"):  # one may be about no conversation
        row |= {"instance_id": instance, "session_key": "old"}
    if table.name == "person_sender":
        row["person_id"] = await database.fetch_value(
            "INSERT INTO person (owner) VALUES ('ann') RETURNING id"
        )
    if table.name == "queue":
        row |= {"kind": 0, "assignee": "user:ann"}
    await database.execute(table.insert().values(row))
    await PostgresSessions(database).rename(instance, "old", "new")
    keys = set(await database.fetch_column(f"SELECT session_key FROM {table.name}"))
    assert ("new" in keys) == (table.name in MOVES), STAYS.get(table.name)


async def add(database: Database, instance: int, session: str, **columns: object) -> None:
    names = ", ".join(columns)
    marks = ", ".join("%s" for _ in columns)
    await database.execute(
        f"INSERT INTO queue (kind, instance_id, session_key, pending, due_at, {names})"
        f" VALUES (0, %s, %s, 0, now(), {marks})",
        (instance, session, *columns.values()),
    )


async def state(database: Database, instance: int, session: str) -> tuple[object, ...]:
    row = await database.fetch_one(
        "SELECT form, assignee, labels, held_by, closed_at IS NOT NULL FROM queue"
        " WHERE kind = 0 AND instance_id = %s AND session_key = %s",
        (instance, session),
    )
    assert row
    form, *others = row
    return stored_open_form(form) if form else None, *others


async def test_form_labels_assignee_and_state_move(database: Database, instance: int) -> None:
    await add(
        database,
        instance,
        "old",
        form=open_form_to_json(FORM),
        assignee="team:support",
        labels=["sale"],
        held_by="ann",
        closed_at=datetime.now(UTC),
    )
    for _ in range(2):
        await PostgresSessions(database).rename(instance, "old", "new")
        own = replace(FORM, asked_of="new")
        assert await state(database, instance, "new") == (own, "team:support", ["sale"], "ann", True)
        assert (await state(database, instance, "old"))[:3] == (None, None, None)


async def test_what_the_new_session_has_stays(database: Database, instance: int) -> None:
    form = open_form_to_json(FORM)
    until = datetime.now(UTC) + timedelta(hours=1)
    old = {"held_until": until, "held_by": "ann", "held_by_until": until, "closed_at": until}
    await add(database, instance, "old", form=form, assignee="user:ann", labels=["old"], **old)
    own = replace(FORM, asked_of="new", reference="form:out-2:y")
    await add(database, instance, "new", form=open_form_to_json(own), labels=["own"])
    await PostgresSessions(database).rename(instance, "old", "new")
    assert await state(database, instance, "new") == (own, "user:ann", ["own"], "ann", False)


async def test_a_form_of_somebody_else_moves_as_it_is(database: Database, instance: int) -> None:
    await add(database, instance, "old", form=open_form_to_json(replace(FORM, asked_of="ada")))
    await PostgresSessions(database).rename(instance, "old", "new")
    assert (await state(database, instance, "new"))[0] == replace(FORM, asked_of="ada")


async def test_a_session_that_keeps_its_id_keeps_all(database: Database, instance: int) -> None:
    await add(database, instance, "old", assignee="user:ann")
    await PostgresSessions(database).rename(instance, "old", "old")
    assert (await state(database, instance, "old"))[1] == "user:ann"
