"""References to blobs in PostgreSQL: of files of messages and of bases, and of uploads under way."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from sqlalchemy import ARRAY, ColumnElement, Text, delete, exists, func, literal, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.knowledge.tables import blob, kb_file
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.tables import message_file
from domain.refusals import NotFound
from ports.files import FilePlace, SharedFile

ADD = """
WITH place AS (
    SELECT WHERE %(inbox)s::bigint IS NULL
    UNION ALL SELECT FROM (SELECT event FROM inbox WHERE id = %(inbox)s FOR SHARE) i WHERE event <> '{}'
), added AS (
    INSERT INTO message_file (instance_id, session_key, inbox_id, inbound, blob_key, name, mime_type, size)
    SELECT %(instance)s, %(session)s, %(inbox)s, %(inbound)s, %(key)s, %(name)s, %(type)s, %(size)s FROM place
    RETURNING blob_key, size
)
INSERT INTO blob (key, size, reference_count) SELECT blob_key, size, 1 FROM added
ON CONFLICT (key) DO UPDATE SET reference_count = blob.reference_count + 1, touched_at = clock_timestamp()
"""
"""Waits for an erasure that is under way. Primary keys."""
IN_BASE = "SELECT EXISTS (SELECT FROM kb_file WHERE id = %s)"

SPARE = timedelta(days=1)
"""How much longer than the links to them bytes are kept."""

KEEP_UNSENT = text("""
UPDATE blob SET touched_at = now() WHERE touched_at < now() - interval '12 hours' AND key IN (
    SELECT (regexp_matches(message, '"blob":"([^"]+)"', 'g'))[1] FROM outbox
    WHERE status IN (0, 2) AND created_at < now() - interval '12 hours' AND position('"blob":"' IN message) > 0
)
""")

column = blob.c


class PostgresBlobReferences:
    """`ports.files.BlobReferences`. A reference of an upload that is older than `life` and a day has served its
    message, or is of a process that died."""

    def __init__(self, database: Database, life: timedelta = timedelta()) -> None:
        self._database = database
        self._kept = life + SPARE

    async def hold(self, key: str, size: int) -> None:
        referenced = insert(blob).values(key=key, size=size, reference_count=1)
        again = {"reference_count": column.reference_count + 1, "touched_at": func.clock_timestamp()}
        await self._database.execute(referenced.on_conflict_do_update(index_elements=["key"], set_=again))

    async def release(self, keys: Sequence[str]) -> None:
        key = func.unnest(literal(list(keys), ARRAY(Text))).column_valued("key")
        released = select(key, func.count().label("count")).group_by(key).subquery()
        left = func.greatest(0, column.reference_count - released.c.count)
        fewer = update(blob).where(column.key == released.c.key).values(reference_count=left)
        await self._database.execute(fewer)

    @asynccontextmanager
    async def locked_unreferenced(self, keys: Sequence[str]) -> AsyncIterator[Sequence[str]]:
        locked = select(column.key).where(column.key.in_(keys), *self._unused())
        async with self._database.transaction() as connection:
            cursor = await connection.run(locked.order_by(column.key).with_for_update())
            unused = [key for (key,) in await cursor.fetchall()]
            yield unused
            await connection.run(delete(blob).where(column.key.in_(unused)))
            await connection.run(delete(message_file).where(message_file.c.blob_key.in_(unused)))

    async def keep_unsent(self) -> None:
        await self._database.execute(KEEP_UNSENT)

    async def left_over(self, limit: int) -> Sequence[str]:
        old = select(column.key).where(column.touched_at < func.now() - timedelta(hours=1), *self._unused())
        return await self._database.fetch_column(old.limit(limit))

    async def unknown(self, keys: Sequence[str]) -> Sequence[str]:
        used = await self._database.fetch_column(select(column.key).where(column.key.in_(keys)))
        return [key for key in keys if key not in set(used)]

    async def add_message_file(self, place: FilePlace, file: SharedFile, size: int) -> None:
        parameters = {
            "instance": place.instance_id,
            "session": key_of(place.session_id),
            "inbox": place.inbox_id,
            "inbound": place.inbound,
            "key": file.blob,
            "name": storable(file.name),
            "type": storable(file.mime_type),
            "size": size,
        }
        if not await self._database.execute(ADD, parameters):
            raise NotFound("the message of this file was erased")

    async def is_in_base(self, record: int) -> bool:
        return bool(await self._database.fetch_value(IN_BASE, (record,)))

    def _unused(self) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        unreferenced = or_(column.reference_count == 0, column.touched_at < func.now() - self._kept)
        return unreferenced, ~exists().where(kb_file.c.blob_key == column.key)
