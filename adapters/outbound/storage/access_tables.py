"""Tables of access: API keys, sign-ins, verified identities and verifications that are pending."""

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, PrimaryKeyConstraint, SmallInteger, Text

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

api_key = table(
    "api_key",
    identity(),
    *required(Text, "user_id role prefix"),
    Column("hash", LargeBinary, nullable=False, unique=True),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "revoked_at"),
    *required(Text, "kind name"),
    *optional(Timestamp, "expires_at"),
    *optional(BigInteger, "parent_id"),
    index("api_key_by_kind", "kind id"),
    index("api_key_by_user", "user_id kind id"),
    index("api_key_by_parent", "parent_id", where="parent_id IS NOT NULL"),
    index("api_key_expiring", "expires_at", where="kind <> 'key'"),
)

sign_in_try = table(
    "sign_in_try",
    key("address", LargeBinary),
    *required(Integer, "tries"),
    *required(Timestamp, "until"),
    index("sign_in_try_until", "until"),
)

verified_identity = table(
    "verified_identity",
    *required(Text, "field normal value user_id"),
    identity(primary_key=False),
    *required(Timestamp, "verified_at"),
    PrimaryKeyConstraint("field", "normal"),
    index("verified_identity_by_user", "user_id id"),
)

verification_code = table(
    "verification_code",
    key("user_id", Text),
    *required(Text, "address"),
    *required(LargeBinary, "digest"),
    *required(SmallInteger, "tries"),
    *required(Timestamp, "expires_at"),
)

verification_send = table(
    "verification_send",
    *required(Text, "address user_id"),
    *required(Timestamp, "sent_at"),
    index("verification_send_by_address", "address sent_at"),
    index("verification_send_by_user", "user_id sent_at"),
    index("verification_send_by_age", "sent_at"),
)

verification_link = table(
    "verification_link",
    key("digest", LargeBinary),
    *required(Text, "user_id"),
    *optional(Text, "messenger_id"),
    *optional(Timestamp, "bound_at"),
    *required(Timestamp, "expires_at"),
    index("verification_link_by_messenger", "messenger_id", where="messenger_id IS NOT NULL"),
    index("verification_link_by_age", "expires_at"),
)

verification_state = table(
    "verification_state",
    key("digest", LargeBinary),
    *required(Text, "provider user_id"),
    *required(LargeBinary, "verifier"),
    *required(Timestamp, "expires_at"),
    index("verification_state_by_age", "expires_at"),
)

access_notice = table(
    "access_notice",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("external_id", Text),
    *required(Timestamp, "noticed_at"),
    index("access_notice_by_age", "noticed_at"),
)
