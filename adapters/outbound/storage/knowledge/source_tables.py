"""Tables of the sources of knowledge bases."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
)

from adapters.outbound.storage.schema import (
    Timestamp,
    identity,
    index,
    key,
    optional,
    reference,
    required,
    table,
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
