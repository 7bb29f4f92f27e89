"""The people of 100,000 conversations are listed and found by indexes."""

from typing import Any

import pytest

from adapters.outbound.storage.people.store import list_sql
from adapters.outbound.storage.pool import Database
from domain.people.model import PeopleFilter, PeopleScope

FILL = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config)
SELECT CASE WHEN n <= 3 THEN 'ann' ELSE 'user ' || n END, 'slack', 'n' || n, '' FROM generate_series(1, 10) n;
INSERT INTO person (owner, name, search, labels, seen_at)
SELECT CASE WHEN n %% 4 = 0 THEN 'user 4' ELSE 'ann' END, 'Person ' || n,
    'person ' || n || ' n' || n || '@example.org',
    CASE WHEN n %% 1000 = 0 THEN '{rare}'::text[] END, now() - make_interval(secs => n)
FROM generate_series(1, 100000) n;
INSERT INTO person_sender (
    instance_id, session_key, sender_key, person_id, session_id, sender, name, identities, identity_keys,
    first_at, seen_at
)
SELECT (SELECT min(id) FROM channel_instance WHERE user_id = owner), 's' || id, 'p' || id, id, 's' || id, 'p' || id,
    name, '[["email","n' || id || '@example.org"]]', ARRAY['email:n' || id || '@example.org'],
    seen_at, seen_at
FROM person;
"""
WANTED = [
    PeopleFilter(),
    PeopleFilter(label="rare"),
    PeopleFilter(query="n77777@example.org"),
    PeopleFilter(query="person"),
    PeopleFilter(query="nobody has this"),
]
READ = 3000
"""Pages that a statement may read."""


@pytest.fixture
async def filled(database: Database) -> Database:
    for statement in FILL.strip().split(";\n"):
        await database.execute(statement.rstrip(";"), {}, within=120)
    await database.execute("ANALYZE person, person_sender, channel_instance")
    return database


def _scanned(plan: dict[str, Any]) -> list[str]:
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" else []
    return own + [name for child in plan.get("Plans", ()) for name in _scanned(child)]


async def test_lists_are_read_by_index(filled: Database) -> None:
    many = await filled.fetch_value("SELECT min(id) FROM channel_instance WHERE user_id = 'ann'")
    none = await filled.fetch_value("SELECT max(id) FROM channel_instance")
    scopes = (
        PeopleScope("ann"),
        PeopleScope(None),
        PeopleScope("user 4", (many,)),
        PeopleScope("nobody", (many,)),
        PeopleScope("nobody", (none,)),
    )
    for scope in scopes:
        for wanted in WANTED:
            for first in (True, False):
                values = {
                    "owner": scope.owner,
                    "shared": list(scope.shared),
                    "pattern": f"%{wanted.query}%",
                    "label": wanted.label,
                    "at": "2100-01-01",
                    "id": 1,
                    "count": 51,
                }
                statement = list_sql(scope, wanted, first=first)
                [(explained,)] = await filled.fetch(
                    f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values
                )
                plan = explained[0]["Plan"]
                allowed = {"person"} if none in scope.shared and wanted.query == "person" else set()
                assert set(_scanned(plan)) <= allowed, (scope, wanted)  # what all have narrows nothing
                assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < READ, (
                    scope,
                    wanted,
                    statement,
                )
