"""Tables and statements of knowledge bases and their sources, and the values made of their rows.

`chunk`, `chunk_index` and `kb_term` are partitioned by base in the migrations.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Text,
    UniqueConstraint,
    and_,
    column,
)
from sqlalchemy import table as view

from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.schema import (
    Timestamp,
    columns_of,
    identity,
    index,
    key,
    metadata,
    optional,
    reference,
    required,
    table,
)
from domain.access.sharing import Level
from domain.knowledge.model import Base, FileRecord, FileStatus

SQL = read_statements(Path(__file__).with_name("knowledge.sql"))

LEX_DIMENSIONS = 1_000_000_000

EMBEDDING_DIMENSIONS = 384

knowledge_base = table(
    "knowledge_base",
    identity(Integer),
    *required(Text, "name description manifest created_by"),
    *required(BigInteger, "chunk_count old_words_from old_words_to"),
    *required(Timestamp, "created_at updated_at"),
    *optional(SmallInteger, "model"),
    index("knowledge_base_large", "chunk_count", where="chunk_count > 5000"),
    index("knowledge_base_old_words", "id", where="old_words_from < old_words_to"),
)

kb_permission = table(
    "kb_permission",
    key("user_id", Text),
    reference("kb_id", "knowledge_base.id", primary_key=True),
    *required(SmallInteger, "level"),
    index("kb_permission_by_base", "kb_id"),
)

kb_team_permission = table(
    "kb_team_permission",
    reference("team_id", "team.id", primary_key=True),
    reference("kb_id", "knowledge_base.id", primary_key=True),
    *required(SmallInteger, "level"),
    index("kb_team_permission_by_base", "kb_id"),
)

kb_access = view("kb_access", *map(column, ("user_id", "kb_id", "level")))
"""One row for each user and base, with the highest level of their own and of their teams."""

embedding_model = table(
    "embedding_model",
    identity(SmallInteger),
    Column("fingerprint", Text, nullable=False, unique=True),
)

chosen_model = table(
    "chosen_model",
    key("kind", Text),
    *required(Text, "name precision"),
    *optional(BigInteger, "owner"),
    *required(Timestamp, "due_at"),
)

kb_upload = table(
    "kb_upload",
    identity(),
    reference("kb_id", "knowledge_base.id"),
    *required(Text, "user_id"),
    *required(Boolean, "respond_async preparing"),
    *required(SmallInteger, "state attempts"),
    *required(BigInteger, "size"),
    *required(Timestamp, "due_at created_at"),
    *optional(BigInteger, "owner"),
    *optional(Text, "failure_reason failure_message"),
    *optional(Timestamp, "ended_at"),
    index("kb_upload_open", "due_at", where="state < 2"),
    index("kb_upload_by_base", "kb_id"),
    index("kb_upload_ended", "ended_at", where="state >= 2"),
)

blob = table(
    "blob",
    key("key", Text),
    *required(BigInteger, "size"),
    *required(Integer, "reference_count"),
    *required(Timestamp, "touched_at"),
    index("blob_by_touch", "touched_at"),
)

kb_file = table(
    "kb_file",
    identity(),
    reference("kb_id", "knowledge_base.id"),
    Column("upload_id", ForeignKey("kb_upload.id", ondelete="SET NULL")),
    *required(Text, "file_name blob_key file_hash mime_type text uploaded_by status"),
    *required(BigInteger, "size"),
    *required(REAL, "progress"),
    *optional(Text, "error"),
    *required(ARRAY(Text), "warnings"),
    *required(Boolean, "staged"),
    *required(Integer, "chunk_count embedded"),
    *required(Timestamp, "created_at updated_at"),
    *optional(Text, "source_url"),
    *required(Boolean, "synced"),
    UniqueConstraint("kb_id", "file_hash"),
    index("kb_file_by_base", "kb_id id"),
    index("kb_file_by_hash", "file_hash"),
    index("kb_file_by_blob", "blob_key"),
    index("kb_file_by_upload", "upload_id", where="upload_id IS NOT NULL"),
    index("kb_file_failed", "updated_at", where="status = 'failed'"),
)

kb_piece = table(
    "kb_piece",
    reference("file_id", "kb_file.id", primary_key=True),
    key("position", Integer),
    reference("upload_id", "kb_upload.id"),
    *required(BigInteger, "seq"),
    *required(Text, "chunk_id text context metadata words"),
    *required(ARRAY(Integer), "terms"),
    *required(SPARSEVEC(LEX_DIMENSIONS), "lex"),
    index("kb_piece_by_upload", "upload_id seq"),
)

kb_text = table(
    "kb_text",
    reference("file_id", "kb_file.id", primary_key=True),
    key("start", Integer),
    reference("upload_id", "kb_upload.id"),
    *required(Text, "text"),
    index("kb_text_by_upload", "upload_id"),
)

kb_piece_vector = table(
    "kb_piece_vector",
    key("file_id", BigInteger),
    key("position", Integer),
    *required(HALFVEC(EMBEDDING_DIMENSIONS), "embedding"),
    *required(SmallInteger, "model"),
    ForeignKeyConstraint(
        ["file_id", "position"], ["kb_piece.file_id", "kb_piece.position"], ondelete="CASCADE"
    ),
)

chunk_seq = Sequence("chunk_seq", metadata=metadata)

chunk = table(
    "chunk",
    key("kb_id", Integer),
    key("seq", BigInteger),
    *required(Integer, "position"),
    *required(BigInteger, "file_id"),
    *required(Text, "chunk_id text context"),
    *optional(Text, "metadata"),
    *required(Timestamp, "created_at"),
    index("chunk_by_file", "kb_id file_id position"),
    index("chunk_by_id", "chunk_id"),
)

chunk_index = table(
    "chunk_index",
    key("kb_id", Integer),
    key("seq", BigInteger),
    *required(SmallInteger, "model"),
    *required(ARRAY(Integer), "terms"),
    *required(SPARSEVEC(LEX_DIMENSIONS), "lex"),
    *required(HALFVEC(EMBEDDING_DIMENSIONS), "embedding"),
)

chunk_vector = table(
    "chunk_vector",
    key("kb_id", Integer),
    key("seq", BigInteger),
    *required(SmallInteger, "model"),
    *required(HALFVEC(EMBEDDING_DIMENSIONS), "embedding"),
)

kb_term = table(
    "kb_term",
    *required(Integer, "kb_id df"),
    *required(Text(collation="C"), "term"),
    PrimaryKeyConstraint("kb_id", "term"),
)

memory_task = table(
    "memory_task",
    key("kb_id", Integer),
    *required(Integer, "attempts"),
    *required(Timestamp, "due_at created_at"),
    *optional(Text, "last_error"),
    index("memory_task_due", "due_at"),
)


kb_source = table(
    "kb_source",
    identity(),
    reference("kb_id", "knowledge_base.id"),
    *required(Text, "kind address user_id state"),
    *required(LargeBinary, "key"),
    Column("instance_id", ForeignKey("channel_instance.id", ondelete="SET NULL")),
    *required(Boolean, "by_admin again"),
    *optional(Double, "every_minutes"),
    *required(BigInteger, "round"),
    *required(Integer, "trouble"),
    *optional(BigInteger, "owner"),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "due_at read_at"),
    *optional(Text, "note error"),
    UniqueConstraint("kb_id", "key", name="kb_source_key"),
    index("kb_source_due", "due_at", where="due_at IS NOT NULL"),
    index("kb_source_leased", "owner", where="owner IS NOT NULL"),
    index("kb_source_by_instance", "instance_id", where="instance_id IS NOT NULL"),
)

kb_source_page = table(
    "kb_source_page",
    identity(),
    reference("source_id", "kb_source.id"),
    *required(LargeBinary, "key"),
    *required(Text, "kind address name status"),
    *required(BigInteger, "round"),
    *required(Integer, "attempts"),
    *optional(BigInteger, "listed_by"),
    *optional(Text, "listed_version version etag last_modified error"),
    Column("file_id", ForeignKey("kb_file.id", ondelete="SET NULL")),
    Column("next_file_id", ForeignKey("kb_file.id", ondelete="SET NULL")),
    *optional(Timestamp, "read_at"),
    UniqueConstraint("source_id", "key", name="kb_source_page_key"),
    index("kb_source_page_by_status", "source_id status id"),
    index("kb_source_page_by_round", "source_id round"),
    index("kb_source_page_by_list", "source_id listed_by", where="listed_by IS NOT NULL"),
    index("kb_source_page_by_file", "file_id", where="file_id IS NOT NULL"),
    index("kb_source_page_by_next_file", "next_file_id", where="next_file_id IS NOT NULL"),
)

kb_unused_file = table("kb_unused_file", reference("file_id", "kb_file.id", primary_key=True))

web_host = table(
    "web_host",
    key("key", LargeBinary),
    *required(Timestamp, "free_at"),
    *optional(Text, "robots robots_error"),
    *optional(Timestamp, "robots_until"),
    index("web_host_by_age", "free_at"),
)


base, file, access = knowledge_base.c, kb_file.c, kb_access.c

BASE = columns_of(knowledge_base, "id name description created_by created_at updated_at")
FILE = columns_of(
    kb_file,
    "id kb_id file_name blob_key file_hash size mime_type text uploaded_by created_at updated_at"
    " status progress error warnings",
)
CHUNK = chunk.c.chunk_id, file.uploaded_by, chunk.c.text, file.file_hash, chunk.c.metadata, chunk.c.created_at


def granted(base_id: ColumnElement[int], user_id: str) -> ColumnElement[bool]:
    """Joins the level of a user on a base."""
    return and_(access.kb_id == base_id, access.user_id == user_id)


def base_of(row: tuple[Any, ...]) -> Base:
    """A base from `BASE`, with the granted level behind its columns."""
    return replace(Base(*row[:-1]), level=Level(row[-1] or 0))


def file_of(row: tuple[Any, ...]) -> FileRecord:
    """A file record from `FILE`."""
    record = FileRecord(*row)
    return replace(record, status=FileStatus(record.status), warnings=tuple(record.warnings))
