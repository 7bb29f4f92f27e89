"""The events of uploads."""

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.events.recording import LISTENED
from adapters.outbound.storage.pool import Connection
from domain.events import EventKind

LOG = f"""
INSERT INTO event_log (kind, ref, user_id, data)
SELECT %(kind)s, u.id, u.user_id, json_strip_nulls(json_build_object('knowledgeBaseId', u.kb_id, 'files', (
    SELECT coalesce(json_agg(json_build_object('fileId', f.file_hash, 'fileName', f.file_name) ORDER BY f.id), '[]')
    FROM kb_file f WHERE f.upload_id = u.id
), 'error', %(error)s::text))::text FROM kb_upload u WHERE u.id = %(upload)s AND {LISTENED}
"""
"""Primary key, and index `kb_file_by_upload`."""


async def log_upload(
    connection: Connection, kind: EventKind, upload_id: int, error: str | None = None
) -> None:
    """Records how an upload ended, with the files that belong to it at this point of the transaction."""
    told = {"kind": kind, "upload": upload_id, "error": None if error is None else storable(error)}
    await connection.execute(LOG, told)
