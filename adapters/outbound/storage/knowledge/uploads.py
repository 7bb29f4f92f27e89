"""Uploads in PostgreSQL: their records, their lease, their outcome."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.outbound.storage.failures import is_rolled_back, retried
from adapters.outbound.storage.knowledge.forms import FILE_COLUMNS, clean, file_of
from adapters.outbound.storage.pool import Connection, Database
from domain.knowledge.model import FileStatus
from ports.knowledge_storage import Begun, Failure, NewFile, Work

log = logging.getLogger(__name__)

LEASE_SECONDS = 30
SILENT_LEFT = 25
"""A holder whose process shows no lock loses its lease once so few seconds of it are left: it has been silent
for several beats, and has not just lost its connection."""
MANY_REFUSED = 1000
"""So many such uploads are remembered."""
MOST_REFUSED = 20
"""So many uploads are passed over for which the database refuses a lease."""
REFUSALS, REFUSED_SECONDS = 5, 60.0
"""After so many refusals, the first of which is so long ago, an upload is given up."""
TODO, WORKING, DONE, FAILED = range(4)

# A file that failed before is taken up anew by the upload that brings it again.
ADD_FILE = """
INSERT INTO kb_file AS f
    (kb_id, upload_id, file_name, blob_key, file_hash, size, mime_type, uploaded_by, status)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'processing')
ON CONFLICT (kb_id, file_hash) DO UPDATE SET
    upload_id = excluded.upload_id, file_name = excluded.file_name, blob_key = excluded.blob_key,
    uploaded_by = excluded.uploaded_by, status = 'processing', progress = 0, error = NULL, staged = false,
    updated_at = clock_timestamp()
WHERE f.status = 'failed'
RETURNING f.id, f.file_name
"""
_NEXT = f"""
WITH held AS (
    SELECT (k.classid::bigint << 32 | k.objid::bigint) AS owner FROM pg_locks k
    WHERE k.locktype = 'advisory' AND k.granted
    AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
), running AS (
    SELECT user_id, count(*) AS n FROM kb_upload
    WHERE state = {WORKING} AND due_at > now() GROUP BY user_id
), next AS (
    SELECT u.id FROM kb_upload u LEFT JOIN running r ON r.user_id = u.user_id
    WHERE (u.state = {TODO} AND u.due_at <= now()
    OR u.state = {WORKING} AND (u.due_at <= now()
        OR u.due_at <= now() + interval '{SILENT_LEFT} seconds' AND u.owner NOT IN (SELECT owner FROM held)))
    AND (r.n IS NULL OR NOT %s)
    ORDER BY coalesce(r.n, 0), u.id LIMIT 1 OFFSET %s FOR UPDATE OF u SKIP LOCKED
)
"""
CLAIM = f"""
{_NEXT}
UPDATE kb_upload u SET state = {WORKING}, owner = %s, attempts = attempts + 1,
    due_at = now() + interval '{LEASE_SECONDS} seconds'
FROM next WHERE u.id = next.id RETURNING u.id, u.kb_id, u.attempts
"""
NEXT = f"{_NEXT} SELECT id FROM next"
REFUSED = "the database refuses to take the upload up"


class PostgresUploads:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._refusals: dict[int, tuple[float, int]] = {}

    @retried
    async def begin(
        self, base_id: int, user_id: str, files: Sequence[NewFile], respond_async: bool
    ) -> Begun | None:
        async with self._database.transaction() as connection:
            base = await connection.execute(
                "SELECT FROM knowledge_base WHERE id = %s FOR KEY SHARE", (base_id,)
            )
            if await base.fetchone() is None:
                return None
            cursor = await connection.execute(
                "INSERT INTO kb_upload (kb_id, user_id, respond_async) VALUES (%s, %s, %s) RETURNING id",
                (base_id, user_id, respond_async),
            )
            row = await cursor.fetchone()
            assert row is not None
            return await self._add_files(connection, base_id, user_id, row[0], files)

    async def _add_files(
        self, connection: Connection, base_id: int, user_id: str, upload_id: int, files: Sequence[NewFile]
    ) -> Begun:
        fresh = False
        for file in sorted(files, key=lambda each: each.hash):  # one order for all: no deadlock
            cursor = await connection.execute(
                ADD_FILE,
                (
                    base_id,
                    upload_id,
                    clean(file.name),
                    file.blob_key,
                    file.hash,
                    file.size,
                    file.mime_type,
                    user_id,
                ),
            )
            fresh = await cursor.fetchone() is not None or fresh
        if not fresh:
            await connection.execute("DELETE FROM kb_upload WHERE id = %s", (upload_id,))
        found = await connection.execute(
            "SELECT file_hash, id, status, file_name FROM kb_file WHERE kb_id = %s AND file_hash = ANY(%s)",
            (base_id, [file.hash for file in files]),
        )
        records = {row[0]: (row[1], FileStatus(row[2]), row[3]) for row in await found.fetchall()}
        return Begun(upload_id if fresh else None, [records[file.hash] for file in files])

    @retried
    async def rename(self, base_id: int, names: Mapping[str, str]) -> None:
        await self._database.execute(
            "UPDATE kb_file f SET file_name = n.name, updated_at = clock_timestamp()"
            " FROM unnest(%s::text[], %s::text[]) n (hash, name)"
            " WHERE f.kb_id = %s AND f.file_hash = n.hash AND f.file_name <> n.name",
            (list(names), [clean(name) for name in names.values()], base_id),
        )

    async def statuses(self, file_ids: Sequence[int]) -> Mapping[int, FileStatus]:
        rows = await self._database.fetch(
            "SELECT id, status FROM kb_file WHERE id = ANY(%s)", (list(file_ids),)
        )
        return {row[0]: FileStatus(row[1]) for row in rows}

    async def failure(self, upload_id: int) -> Failure | None:
        row = await self._database.fetch_one(
            f"SELECT failure_reason, failure_message FROM kb_upload WHERE id = %s AND state = {FAILED}",
            (upload_id,),
        )
        return Failure(*row) if row else None

    async def claim(self, owner: int, *, newcomers_only: bool = False) -> Work | None:
        row = await self._claimed(owner, newcomers_only=newcomers_only)
        if row is None:
            return None
        files = await self._database.fetch(
            f"SELECT {FILE_COLUMNS} FROM kb_file f WHERE f.upload_id = %s AND NOT f.staged ORDER BY f.id",
            (row[0],),
        )
        return Work(row[0], row[1], row[2], [file_of(each) for each in files])

    async def _claimed(self, owner: int, *, newcomers_only: bool) -> tuple[Any, ...] | None:
        """An upload whose row the database refuses to lease keeps no others waiting, and is given up after a while.
        Raises its error where nothing else waits."""
        refusal: Exception | None = None
        for passed_over in range(MOST_REFUSED):
            try:
                row = await self._database.fetch_one(CLAIM, (newcomers_only, passed_over, owner))
            except Exception as error:
                if not is_rolled_back(error):
                    raise
                refusal = error
                await self._count_refusal(newcomers_only, passed_over)
                continue
            if row is None:
                break
            return row
        if refusal is not None:
            raise refusal
        return None

    async def _count_refusal(self, newcomers_only: bool, passed_over: int) -> None:
        row = await self._database.fetch_one(NEXT, (newcomers_only, passed_over))
        if row is None:
            return
        if len(self._refusals) >= MANY_REFUSED:
            self._refusals.clear()
        now = time.monotonic()
        first, count = self._refusals.get(row[0], (now, 0))
        self._refusals[row[0]] = first, count + 1
        if count + 1 < REFUSALS or now - first < REFUSED_SECONDS:
            return
        try:
            await self.remove(row[0], Failure("INTERNAL", REFUSED))
            self._refusals.pop(row[0])
        except Exception as error:
            if not is_rolled_back(error):
                raise
            log.exception("upload %d can be neither taken up nor given up", row[0])

    @retried
    async def remove(self, upload_id: int, failure: Failure) -> None:
        async with self._database.transaction() as connection:
            await self._take_back(connection, upload_id, failure, keep=True)
            await connection.execute("DELETE FROM kb_upload WHERE id = %s", (upload_id,))
        log.error("upload %d is removed: %s", upload_id, failure.message)

    async def renew(self, upload_id: int, owner: int) -> bool:
        touched = await self._database.execute(
            f"UPDATE kb_upload SET due_at = now() + interval '{LEASE_SECONDS} seconds'"
            f" WHERE id = %s AND owner = %s AND state = {WORKING}",
            (upload_id, owner),
        )
        return touched > 0

    async def retry(self, upload_id: int, owner: int, seconds: float) -> None:
        await self._database.execute(
            f"UPDATE kb_upload SET state = {TODO}, owner = NULL, due_at = now() + make_interval(secs => %s)"
            f" WHERE id = %s AND owner = %s AND state = {WORKING}",
            (seconds, upload_id, owner),
        )

    @retried
    async def fail(self, work: Work, owner: int, failure: Failure) -> Sequence[str]:
        async with self._database.transaction() as connection:
            cursor = await connection.execute(
                f"UPDATE kb_upload SET state = {FAILED}, owner = NULL, failure_reason = %s,"
                " failure_message = %s, ended_at = now()"
                f" WHERE id = %s AND owner = %s AND state = {WORKING} RETURNING respond_async",
                (failure.reason, clean(failure.message), work.upload_id, owner),
            )
            row = await cursor.fetchone()
            if row is None:
                return []
            await connection.execute("DELETE FROM kb_piece WHERE upload_id = %s", (work.upload_id,))
            return await self._take_back(connection, work.upload_id, failure, keep=row[0])

    async def _take_back(
        self, connection: Connection, upload_id: int, failure: Failure, *, keep: bool
    ) -> Sequence[str]:
        """Without a caller who waits, the records stay and say why they failed; their content goes."""
        if keep:
            await connection.execute(
                "UPDATE kb_file SET status = 'failed', error = %s, progress = 0, text = '', staged = false,"
                " updated_at = clock_timestamp() WHERE upload_id = %s",
                (clean(failure.message), upload_id),
            )
            return []
        cursor = await connection.execute(
            "DELETE FROM kb_file WHERE upload_id = %s RETURNING blob_key", (upload_id,)
        )
        return [key for (key,) in await cursor.fetchall()]

    async def forget_ended(self) -> Sequence[str]:
        """Removes uploads that ended a day ago and files that failed a day ago; the blobs these used."""
        await self._database.execute(
            "DELETE FROM kb_upload WHERE state >= 2 AND ended_at < now() - interval '1 day'"
        )
        rows = await self._database.fetch(
            "DELETE FROM kb_file WHERE status = 'failed' AND updated_at < now() - interval '1 day'"
            " RETURNING blob_key"
        )
        return [key for (key,) in rows]
