"""Columns of bases, files and chunks, and the values made of their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_

from adapters.outbound.storage.knowledge.tables import chunk, kb_file, kb_permission, knowledge_base
from domain.knowledge.model import Base, FileRecord, FileStatus, Level

base, file, permission = knowledge_base.c, kb_file.c, kb_permission.c

BASE = base.id, base.name, base.description, base.created_by, base.created_at, base.updated_at
FILE = (
    file.id,
    file.kb_id,
    file.file_name,
    file.blob_key,
    file.file_hash,
    file.size,
    file.mime_type,
    file.text,
    file.uploaded_by,
    file.created_at,
    file.updated_at,
    file.status,
    file.progress,
    file.error,
)
CHUNK = chunk.c.chunk_id, file.uploaded_by, chunk.c.text, file.file_hash, chunk.c.metadata, chunk.c.created_at


def granted(base_id: ColumnElement[int], user_id: str) -> ColumnElement[bool]:
    """Joins the permission of a user on a base."""
    return and_(permission.kb_id == base_id, permission.user_id == user_id)


def base_of(row: tuple[Any, ...]) -> Base:
    """A base from `BASE`, with the granted level behind its columns."""
    return replace(Base(*row[:-1]), level=Level(row[-1] or 0))


def file_of(row: tuple[Any, ...]) -> FileRecord:
    """A file record from `FILE`."""
    record = FileRecord(*row)
    return replace(record, status=FileStatus(record.status))
