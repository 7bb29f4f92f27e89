"""Users in PostgreSQL: what happens to all that names them."""

import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.users import HELD, OWNED, PostgresUsers
from domain.refusals import Conflict
from tests.support.database import an_instance

NAMING = (
    "user_id",
    "owner",
    "created_by",
    "requested_by",
    "assignee",
    "held_by",
    "uploaded_by",
    "decided_by",
)
"""Names of columns that hold the id of a user."""
KEPT = {
    "approval_request.decided_by": "tells who decided",
    "api_key.created_by": "tells who made the key of somebody else",
    "audit_entry.user_id": "the log outlives users",
    "event_log.user_id": "events go by age",
    "budget.created_by": "tells who set it",
    "conversation_note.user_id": "tells who wrote it",
    "invitation.created_by": "tells who invited",
    "kb_file.uploaded_by": "tells who brought the file",
    "kb_upload.user_id": "an upload that is under way ends by itself",
    "notification_delivery.user_id": "goes with its notification by the foreign key",
    "person_sender.user_id": "the platform user as whom a sender is known: a person's id is that of the platform",
    "privacy_request.requested_by": "tells who asked for it",
    "queue.assignee": "a conversation stays assigned until somebody takes it",
    "queue.held_by": "a takeover ends by itself",
    "report.user_id": "tells who answered",
    "report_event.user_id": "tells who answered, until it is counted",
    "send.user_id": "tells who answered",
    "team_member.user_id": "goes with the user by its foreign key",
    "usage.user_id": "tells what was used",
    "verification_send.user_id": "a limit that ends within hours",
}
"""Columns that keep the id of a user who is deleted, and why."""
COLUMNS = """
SELECT table_name || '.' || column_name FROM information_schema.columns
JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type = 'text' AND column_name = ANY(%s)
"""


def store(database: Database, changed: list[int] | None = None) -> PostgresUsers:
    return PostgresUsers(database, (changed if changed is not None else []).append, lambda: None)


async def test_every_column_that_names_a_user_is_dealt_with(shared_database: Database) -> None:
    columns = set(await shared_database.fetch_column(COLUMNS, (list(NAMING),)))
    dealt_with = {f"{table.name}.{column}" for table, column in (*OWNED, *HELD)}
    assert columns - dealt_with - KEPT.keys() == set(), "hand it over, delete it, or say here why it is kept"
    assert KEPT.keys() <= columns


async def test_what_a_user_owns_goes_to_the_successor_and_is_announced(database: Database) -> None:
    instance = await an_instance(database)
    await database.execute("UPDATE channel_instance SET user_id = 'ann' WHERE id = %s", (instance,))
    changed: list[int] = []
    users = store(database, changed)

    with pytest.raises(Conflict, match="name a successor"):
        await users.remove("ann", None)
    await users.remove("ann", "bob")

    assert await database.fetch_column("SELECT user_id FROM channel_instance") == ["bob"]
    assert changed == [instance]


async def test_names_that_clash_are_refused_and_change_nothing(database: Database) -> None:
    for user in ("ann", "bob"):
        await database.execute(
            "INSERT INTO channel_instance (user_id, channel_id, channel_name, config)"
            " VALUES (%s, 'http-webhook', 'Support', '')",
            (user,),
        )

    with pytest.raises(Conflict, match="rename one of both"):
        await store(database).remove("ann", "bob")

    assert await database.fetch_column("SELECT user_id FROM channel_instance ORDER BY 1") == ["ann", "bob"]
