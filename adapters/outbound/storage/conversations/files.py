"""Which stored files belong to which messages. Each row is one reference to its blob."""

from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.pool import Database
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


class PostgresFileRecords:
    """`ports.files.FileRecords`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, place: FilePlace, file: SharedFile, size: int) -> None:
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
