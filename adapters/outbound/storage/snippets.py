"""Snippets in PostgreSQL."""

from collections.abc import Sequence

import psycopg
from sqlalchemy import and_, delete, func, insert, or_, select, update

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import snippet
from domain.conversations.model import Snippet, SnippetOwners

SNIPPET = columns_of(snippet, "id name text user_id team_id created_at updated_at")
columns = snippet.c


class PostgresSnippets:
    """`ports.conversations.SnippetStore`. Indexes `snippet_by_user`, `snippet_by_team` and `snippet_of_all`, and the
    primary key."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, owners: SnippetOwners, query: str, after: int, limit: int) -> Sequence[Snippet]:
        listed = and_(
            columns.id > after,
            or_(
                columns.user_id == storable(owners.user_id),
                columns.team_id.in_(owners.team_ids),
                and_(columns.user_id.is_(None), columns.team_id.is_(None)),
            ),
        )
        if query:
            searched = or_(
                columns.name.icontains(storable(query), autoescape=True),
                columns.text.icontains(storable(query), autoescape=True),
            )
            listed = and_(listed, searched)
        rows = await self._database.fetch(select(*SNIPPET).where(listed).order_by(columns.id).limit(limit))
        return [Snippet(*row) for row in rows]

    async def find(self, snippet_id: int) -> Snippet | None:
        row = await self._database.fetch_one(select(*SNIPPET).where(columns.id == snippet_id))
        return Snippet(*row) if row else None

    async def add(self, name: str, text: str, user_id: str | None, team_id: int | None) -> Snippet | None:
        values = {"name": storable(name), "text": storable(text), "user_id": user_id, "team_id": team_id}
        now = {"created_at": func.now(), "updated_at": func.now()}
        try:
            [row] = await self._database.fetch(insert(snippet).values(**values, **now).returning(*SNIPPET))
        except psycopg.errors.ForeignKeyViolation:
            return None
        return Snippet(*row)

    async def change(self, snippet_id: int, name: str, text: str) -> Snippet | None:
        changed = update(snippet).where(columns.id == snippet_id)
        changed = changed.values(name=storable(name), text=storable(text), updated_at=func.now())
        row = await self._database.fetch_one(changed.returning(*SNIPPET))
        return Snippet(*row) if row else None

    async def remove(self, snippet_id: int) -> bool:
        return await self._database.execute(delete(snippet).where(columns.id == snippet_id)) == 1
