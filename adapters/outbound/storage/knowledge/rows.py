"""Columns of bases, files and chunks, and the values made of their rows."""

from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, and_

from adapters.outbound.storage.knowledge.tables import chunk, kb_file, kb_permission, knowledge_base
from adapters.outbound.storage.schema import columns_of
from domain.knowledge.model import Base, FileRecord, FileStatus, Level

base, file, permission = knowledge_base.c, kb_file.c, kb_permission.c

BASE = columns_of(knowledge_base, "id name description created_by created_at updated_at")
FILE = columns_of(
    kb_file,
    "id kb_id file_name blob_key file_hash size mime_type text uploaded_by created_at updated_at"
    " status progress error warnings",
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
    return replace(record, status=FileStatus(record.status), warnings=tuple(record.warnings))
