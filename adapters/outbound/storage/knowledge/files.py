"""File records and chunks in PostgreSQL, as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.outbound.storage.knowledge.forms import (
    CHUNK_COLUMNS,
    FILE_COLUMNS,
    chunk_of,
    clean,
    file_of,
)
from adapters.outbound.storage.pool import Database
from domain.knowledge.model import Chunk, FileRecord, Level

LEVEL = "LEFT JOIN kb_permission p ON p.kb_id = f.kb_id AND p.user_id = %(user)s"


class PostgresFiles:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_base(self, base_id: int) -> Sequence[FileRecord]:
        rows = await self._database.fetch(
            f"SELECT {FILE_COLUMNS} FROM kb_file f WHERE f.kb_id = %s ORDER BY f.id", (base_id,)
        )
        return [file_of(row) for row in rows]

    async def find(self, file_hash: str, user_id: str, *, readable: bool) -> tuple[FileRecord, Level] | None:
        row = await self._database.fetch_one(
            f"SELECT {FILE_COLUMNS}, p.level FROM kb_file f {LEVEL} WHERE f.file_hash = %(hash)s"
            " AND (p.level IS NOT NULL OR NOT %(readable)s)"
            " ORDER BY f.uploaded_by = %(user)s DESC, p.level IS NOT NULL DESC, f.status = 'ready' DESC, f.id"
            " LIMIT 1",
            {"user": user_id, "hash": clean(file_hash), "readable": readable},
        )
        return (file_of(row), Level(row[14] or 0)) if row else None

    async def chunk(self, chunk_id: str, user_id: str) -> tuple[Chunk, Level] | None:
        row = await self._database.fetch_one(
            f"SELECT {CHUNK_COLUMNS}, p.level FROM chunk c JOIN kb_file f ON f.id = c.file_id {LEVEL}"
            " WHERE c.chunk_id = %(id)s LIMIT 1",
            {"user": user_id, "id": clean(chunk_id)},
        )
        return (chunk_of(row), Level(row[6] or 0)) if row else None

    async def chunks(self, file: FileRecord, limit: int, offset: int) -> tuple[Sequence[Chunk], int]:
        rows = await self._database.fetch(
            "SELECT CASE f.status WHEN 'ready' THEN f.chunk_count ELSE 0 END,"
            f" {CHUNK_COLUMNS} FROM kb_file f LEFT JOIN LATERAL ("
            "   SELECT * FROM chunk WHERE kb_id = f.kb_id AND file_id = f.id"
            "   ORDER BY position LIMIT %s OFFSET %s"
            " ) c ON true WHERE f.id = %s ORDER BY c.position",
            (limit, offset, file.id),
        )
        total = rows[0][0] if rows else 0
        return [chunk_of(row[1:]) for row in rows if row[1] is not None], total
