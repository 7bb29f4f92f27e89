"""How far the files of a base are, and stretches of their texts, in PostgreSQL."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, null, select

from adapters.outbound.storage.knowledge.rows import file
from adapters.outbound.storage.knowledge.tables import chunk, kb_file, kb_upload
from adapters.outbound.storage.knowledge.uploads import TODO, TURN, WORKING, upload
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from domain.knowledge.model import ChunkPlace, FileState, FileStatus, FileStep

QUEUE = f"""
WITH running AS (
    SELECT user_id, count(*) AS n FROM kb_upload
    WHERE state = {WORKING} AND due_at > now() GROUP BY user_id
), waiting AS (
    SELECT u.id, {TURN} AS at,
        coalesce(r.n, 0) + row_number() OVER (PARTITION BY u.user_id ORDER BY {TURN}, u.id) AS turn
    FROM kb_upload u LEFT JOIN running r ON r.user_id = u.user_id WHERE u.state = {TODO}
)
SELECT id, position FROM (SELECT id, row_number() OVER (ORDER BY turn, at, id) AS position FROM waiting) queue
WHERE id = ANY(%s)
"""
"""The order in which uploads are leased, as long as none ends: the user with the fewest running ones first, of
each user the short ones first. Index
`kb_upload_open`."""

_STEP = case(
    (file.status != FileStatus.PROCESSING, None),
    (upload.state == TODO, FileStep.WAITING),
    (file.staged & upload.preparing, FileStep.PREPARING_MODEL),
    (file.staged, FileStep.EMBEDDING),
    else_=FileStep.READING,
)
_STATE = (
    *columns_of(
        kb_file,
        "id kb_id file_hash file_name size mime_type uploaded_by created_at updated_at"
        " status progress error chunk_count warnings",
    ),
    _STEP,
    null(),
    upload.id,
)


async def queue_positions(database: Database, upload_ids: Sequence[int]) -> Mapping[int, int]:
    """The places of those uploads that wait, among all that do, from 1."""
    return dict(await database.fetch(QUEUE, (upload_ids,))) if upload_ids else {}


class PostgresFileStates:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def states(self, base_id: int, limit: int, before: int, name: str) -> Sequence[FileState]:
        wanted = [file.kb_id == base_id, *([file.id < before] if before else []), *named(name)]
        return await self._found(_states(*wanted).order_by(file.id.desc()).limit(limit))

    async def state(self, base_id: int, file_hash: str) -> FileState | None:
        found = await self._found(_states(file.kb_id == base_id, file.file_hash == file_hash))
        return found[0] if found else None

    async def _found(self, states: Select[Any]) -> Sequence[FileState]:
        rows = await self._database.fetch(states)
        files = [(_state_of(row), row[-1]) for row in rows]
        waiting = [upload_id for state, upload_id in files if state.step is FileStep.WAITING]
        places = await queue_positions(self._database, waiting)
        return [
            replace(state, queue_position=places.get(upload_id)) if state.step is FileStep.WAITING else state
            for state, upload_id in files
        ]

    async def places(self, record: FileState, limit: int, offset: int) -> Sequence[ChunkPlace]:
        of_file = (chunk.c.kb_id == record.base_id, chunk.c.file_id == record.id)
        places = select(chunk.c.chunk_id, chunk.c.position, chunk.c.metadata).where(*of_file)
        window = places.order_by(chunk.c.position).limit(limit).offset(offset)
        return [_place_of(*row) for row in await self._database.fetch(window)]

    async def text(self, record: FileState, start: int, length: int) -> tuple[str, int]:
        stretch = func.substring(file.text, start + 1, length), func.char_length(file.text)
        row = await self._database.fetch_one(select(*stretch).where(file.id == record.id))
        return (row[0], row[1]) if row else ("", 0)


def named(name: str) -> Sequence[ColumnElement[bool]]:
    """The condition that the name of a file holds this, in any case."""
    return [file.file_name.icontains(name, autoescape=True)] if name else []


def _states(*conditions: ColumnElement[bool]) -> Select[Any]:
    joined = kb_file.outerjoin(kb_upload, upload.id == file.upload_id)
    return select(*_STATE).select_from(joined).where(*conditions)


def _state_of(row: tuple[Any, ...]) -> FileState:
    state = FileState(*row[:-1])
    step = state.step and FileStep(state.step)
    return replace(state, status=FileStatus(state.status), step=step, warnings=tuple(state.warnings))


def _place_of(chunk_id: str, position: int, metadata: str | None) -> ChunkPlace:
    where = json.loads(metadata) if metadata else {}
    return ChunkPlace(chunk_id, position, where.get("start"), where.get("end"), metadata)
