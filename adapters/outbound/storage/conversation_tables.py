"""Tables of what is kept of conversations beside their messages."""

from sqlalchemy import BigInteger, Boolean, PrimaryKeyConstraint, Text, UniqueConstraint

from adapters.outbound.storage.schema import (
    Timestamp,
    identity,
    index,
    key,
    optional,
    reference,
    required,
    table,
    unique_index,
)

chat_history = table(
    "chat_history",
    reference("instance_id", "channel_instance.id"),
    *required(Text, "session_key request_id role content"),
    identity(primary_key=False),
    *required(Timestamp, "created_at"),
    PrimaryKeyConstraint("instance_id", "session_key", "id"),
    index("chat_history_by_age", "created_at"),
)

opt_out = table(
    "opt_out",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("session_key", Text),
    *required(Timestamp, "at"),
)

session_alias = table(
    "session_alias",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("alias", Text),
    *required(Text, "session_key"),
    *required(Timestamp, "seen_at"),
    index("session_alias_by_session", "instance_id session_key"),
    index("session_alias_by_age", "seen_at"),
)

unanswered = table(
    "unanswered",
    identity(),
    reference("instance_id", "channel_instance.id"),
    *required(Text, "session_key event_key reason event"),
    *required(Timestamp, "received_at"),
    unique_index("unanswered_event", "instance_id event_key"),
    index("unanswered_by_instance", "instance_id id"),
    index("unanswered_by_age", "received_at"),
)

message_file = table(
    "message_file",
    identity(),
    *required(BigInteger, "instance_id size"),
    *required(Text, "session_key blob_key name mime_type"),
    *optional(BigInteger, "inbox_id"),
    *required(Boolean, "inbound"),
    *required(Timestamp, "created_at"),
    index("message_file_by_age", "created_at"),
    index("message_file_by_session", "instance_id session_key"),
    index("message_file_by_event", "inbox_id", where="inbox_id IS NOT NULL"),
    index("message_file_by_blob", "blob_key"),
)

tool_confirmation = table(
    "tool_confirmation",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("id", Text),
    *required(Text, "session_key detail nonce asked_of decider"),
    *required(BigInteger, "asked_by"),
    *required(Timestamp, "expires_at"),
    *required(Boolean, "begun"),
    *optional(Text, "decision"),
    *optional(BigInteger, "decided_by"),
    *optional(Timestamp, "closed_at decided_at"),
    unique_index("tool_confirmation_open", "instance_id session_key", where="closed_at IS NULL"),
    index("tool_confirmation_nonce", "nonce"),
    index("tool_confirmation_by_event", "asked_by"),
    index("tool_confirmation_closed", "closed_at", where="closed_at IS NOT NULL"),
    index("tool_confirmation_expiry", "expires_at", where="closed_at IS NULL"),
)

tool_approval = table(
    "tool_approval",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("session_key", Text),
    key("tool_key", Text),
    *required(Text, "tool"),
    *required(Timestamp, "heard_at"),
    index("tool_approval_silence", "heard_at"),
)

web_chat = table(
    "web_chat",
    identity(),
    reference("instance_id", "channel_instance.id"),
    *required(Text, "session_key"),
    *required(BigInteger, "since version"),
    *required(Timestamp, "touched_at"),
    *optional(Timestamp, "typing_until"),
    UniqueConstraint("instance_id", "session_key", name="web_chat_session"),
    index("web_chat_by_age", "touched_at"),
)

web_chat_message = table(
    "web_chat_message",
    reference("web_chat_id", "web_chat.id", primary_key=True),
    key("message_key", Text),
    *required(BigInteger, "place version"),
    *required(Timestamp, "at"),
    *required(Boolean, "draft"),
    *optional(Text, "body"),
    index("web_chat_message_changed", "web_chat_id version"),
    index("web_chat_message_shown", "web_chat_id place", where="body IS NOT NULL"),
)
