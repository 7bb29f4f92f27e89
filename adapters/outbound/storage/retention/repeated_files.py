"""The same file sent again and again is one blob, with a row for each message: the rows go by age, the last one stays
as long as the bytes."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention.rules import NOW
from adapters.outbound.storage.retention.steps import Step, Steps

KEPT = timedelta(days=400)
"""Longer than links to files may be valid (MESSAGE_FILE_DAYS)."""

DELETE = f"""
WITH old AS (
    SELECT id, blob_key FROM message_file WHERE created_at < {NOW} - %(kept)s ORDER BY created_at LIMIT %(batch)s
), gone AS (
    DELETE FROM message_file f USING old WHERE f.id = old.id RETURNING f.blob_key
), counted AS (
    UPDATE blob b SET reference_count = greatest(1, b.reference_count - c.count)
    FROM (SELECT blob_key, count(*) AS count FROM gone GROUP BY 1) c WHERE b.key = c.blob_key
) SELECT count(*), 0 FROM gone
"""
"""Bytes that no row needs go by their own age. Index `message_file_by_age`, and the primary key of `blob`."""


class RepeatedFiles(Steps):
    async def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]:
        for step in self._until_none("message_file", DELETE, {"now": now, "kept": KEPT}):
            yield step
