"""Knowledge bases, permissions, the chosen embedding model, and the states of files in PostgreSQL."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg
from sqlalchemy import ColumnElement, Delete, Select, case, delete, func, literal, null, select, update
from sqlalchemy.dialects.postgresql import Insert, insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import (
    BASE,
    base,
    base_of,
    chosen_model,
    chunk,
    chunk_index,
    file,
    granted,
    kb_file,
    kb_permission,
    kb_term,
    kb_upload,
    knowledge_base,
    memory_task,
    permission,
)
from adapters.outbound.storage.knowledge.uploads import TODO, TURN, WORKING, upload
from adapters.outbound.storage.knowledge.vector_indexes import drop_indexes
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.statements import upsert
from domain.knowledge.model import (
    Base,
    BaseChange,
    ChunkPlace,
    FileState,
    FileStatus,
    FileStep,
    Level,
    NewBase,
    Permission,
)


class PostgresBases:
    def __init__(self, database: Database) -> None:
        self._database = database

    @retried
    async def add(self, owner: str, new: NewBase) -> Base:
        added = insert(knowledge_base).values(
            name=storable(new.name),
            description=storable(new.description),
            manifest=json.dumps(new.manifest, ensure_ascii=True),
            created_by=owner,
        )
        async with self._database.transaction() as connection:
            cursor = await connection.run(added.returning(*BASE, literal(Level.DELETE)))
            row = await cursor.fetchone()
            assert row is not None
            await connection.run(_granting(row[0], owner, Level.DELETE))
        return base_of(row)

    async def find(self, base_id: int, user_id: str) -> Base | None:
        joined = knowledge_base.outerjoin(kb_permission, granted(base.id, user_id))
        statement = select(*BASE, permission.level).select_from(joined).where(base.id == base_id)
        row = await self._database.fetch_one(statement)
        return base_of(row) if row else None

    async def of_user(self, user_id: str, among: Sequence[int] | None = None) -> Sequence[Base]:
        joined = knowledge_base.join(kb_permission, granted(base.id, user_id))
        bases = select(*BASE, permission.level).select_from(joined).order_by(base.id)
        if among is not None:
            bases = bases.where(base.id.in_(among))
        return [base_of(row) for row in await self._database.fetch(bases)]

    async def all(self) -> Sequence[Base]:
        bases = select(*BASE, literal(Level.DELETE)).order_by(base.id)
        return [base_of(row) for row in await self._database.fetch(bases)]

    async def change(self, base_id: int, change: BaseChange) -> bool:
        texts = {"name": change.name, "description": change.description}
        values = {name: storable(text) for name, text in texts.items() if text is not None}
        changed = update(knowledge_base).where(base.id == base_id)
        return await self._database.execute(changed.values(updated_at=func.clock_timestamp(), **values)) > 0

    @retried
    async def remove(self, base_id: int, *, sync_memory: bool) -> Sequence[str] | None:
        await drop_indexes(self._database, base_id)
        statement = select(base.id).where(base.id == base_id).with_for_update()
        keys = select(kb_file.c.blob_key).where(kb_file.c.kb_id == base_id).distinct()
        async with self._database.transaction() as connection:
            if await (await connection.run(statement)).fetchone() is None:
                return None
            blobs = [key for (key,) in await (await connection.run(keys)).fetchall()]
            for table in (chunk_index, chunk, kb_term):
                await connection.run(
                    delete(table).where(table.c.kb_id == literal(base_id, literal_execute=True))
                )
            await connection.run(delete(knowledge_base).where(base.id == base_id))
            if sync_memory:
                await connection.run(insert(memory_task).values(kb_id=base_id))
        return blobs

    async def permissions(self, base_id: int) -> Sequence[Permission]:
        granted_levels = select(permission.user_id, permission.level).where(permission.kb_id == base_id)
        rows = await self._database.fetch(granted_levels.order_by(permission.user_id))
        return [Permission(user_id, Level(level)) for user_id, level in rows]

    async def grant(self, base_id: int, user_id: str, level: Level) -> None:
        try:
            await self._database.execute(_granting(base_id, storable(user_id), level))
        except psycopg.errors.ForeignKeyViolation:
            return  # the base went away between the check and the grant: there is nothing to grant


def _granting(base_id: int, user_id: str, level: Level) -> Insert | Delete:
    if level is Level.NONE:
        return delete(kb_permission).filter_by(kb_id=base_id, user_id=user_id)
    return upsert(kb_permission, {"user_id": user_id, "kb_id": base_id, "level": int(level)})


EMBEDDING = "embedding"


class PostgresChosenModel:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self) -> tuple[str, str] | None:
        """Name and precision."""
        row = await self._database.fetch_one(
            select(chosen_model.c.name, chosen_model.c.precision).filter_by(kind=EMBEDDING)
        )
        return (row[0], row[1]) if row else None

    async def choose(self, name: str, precision: str, *, unless_chosen: bool = False) -> None:
        choice = {"name": name, "precision": precision}
        chosen = insert(chosen_model).values(kind=EMBEDDING, **choice)
        if unless_chosen:
            chosen = chosen.on_conflict_do_nothing()
        else:
            chosen = chosen.on_conflict_do_update(index_elements=["kind"], set_=choice)
        await self._database.execute(chosen)


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
        conditions = [file.kb_id == base_id, *([file.id < before] if before else []), *named(name)]
        return await self._found(_states(*conditions).order_by(file.id.desc()).limit(limit))

    async def state(self, base_id: int, file_hash: str) -> FileState | None:
        states = await self._found(_states(file.kb_id == base_id, file.file_hash == file_hash))
        return states[0] if states else None

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
