"""Tables of knowledge bases. `chunk`, `chunk_index` and `kb_term` are partitioned by base in the migrations."""

from pgvector.sqlalchemy import HALFVEC, SPARSEVEC
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Text,
    UniqueConstraint,
)

from adapters.outbound.storage.knowledge.terms import LEX_DIMENSIONS
from adapters.outbound.storage.schema import (
    Timestamp,
    identity,
    index,
    key,
    metadata,
    optional,
    reference,
    required,
    table,
)

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
