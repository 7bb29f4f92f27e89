"""Tables of instances, messages, events, limits, access and conversations."""

from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    Date,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Numeric,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    UniqueConstraint,
    column,
    func,
    text,
)
from sqlalchemy import table as view
from sqlalchemy.dialects.postgresql import JSONB

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


def _instance(*, primary_key: bool = False) -> Column[Any]:
    return reference("instance_id", "channel_instance.id", primary_key=primary_key)


channel_instance = table(
    "channel_instance",
    identity(),
    *required(Text, "user_id channel_id channel_name status"),
    *required(LargeBinary, "config"),
    *optional(Text, "resource_id routes fallback approval_policy"),
    *required(Timestamp, "created_at updated_at"),
    *required(Boolean, "connects trusted feedback"),
    unique_index("channel_instance_triple", "user_id channel_name channel_id", where="status = 'active'"),
    index("channel_instance_retiring", "id", where="status <> 'active'"),
    index("channel_instance_subscriptions", "id", where="status = 'subscription'"),
    index("channel_instance_by_user", "user_id id"),
    index("channel_instance_by_channel", "channel_id id"),
    index("channel_instance_connected", "channel_id id", where="connects"),
    index("channel_instance_by_resource", "resource_id"),
    index("channel_instance_routed", "id", where="routes IS NOT NULL OR fallback IS NOT NULL"),
)

agent = table(
    "agent",
    identity(),
    Column("slug", Text, nullable=False, unique=True),
    *required(Text, "name owner"),
    *required(LargeBinary, "definition"),
    *required(Boolean, "trusted"),
    *required(Timestamp, "created_at updated_at"),
    index("agent_by_owner", "owner"),
)

agent_permission = table(
    "agent_permission",
    key("user_id", Text),
    reference("agent_id", "agent.id", primary_key=True),
    *required(SmallInteger, "level"),
    index("agent_permission_by_agent", "agent_id"),
)

removed_instance = table(
    "removed_instance",
    key("instance_id", BigInteger),
    *required(Timestamp, "removed_at"),
    index("removed_instance_by_age", "removed_at"),
)

instance_health = table(
    "instance_health",
    _instance(primary_key=True),
    *optional(Text, "missing_proof_field webhook_error pairing_code registration note"),
    *optional(Boolean, "webhook_registered"),
)

instance_activity = table(
    "instance_activity",
    _instance(primary_key=True),
    key("activity", Text),
    *optional(Text, "last_error"),
    *optional(Timestamp, "last_success_at last_error_at"),
)

schedule = table(
    "schedule",
    _instance(primary_key=True),
    *optional(Text, "cursor"),
    *optional(BigInteger, "owner"),
    *optional(Timestamp, "next_run_at lease_until began_at"),
    *required(Integer, "failures"),
    *required(Boolean, "again"),
    index("schedule_due", "next_run_at", where="next_run_at IS NOT NULL"),
    index("schedule_owned", "owner", where="owner IS NOT NULL"),
)

process = table(
    "process",
    key("worker_id", BigInteger),
    *required(Text, "role"),
    *required(Timestamp, "started_at beat_at"),
)

queue = table(
    "queue",
    *required(SmallInteger, "kind"),
    *required(BigInteger, "instance_id"),
    *required(Text, "session_key"),
    *required(Integer, "pending"),
    *optional(BigInteger, "owner"),
    *required(Timestamp, "due_at touched_at"),
    *optional(ARRAY(Timestamp), "rounds"),
    *optional(Timestamp, "replied_at held_until"),
    *optional(Integer, "handler_minutes"),
    *optional(Text, "offered held_by form assignee"),
    *optional(Timestamp, "held_by_until closed_at snoozed_until opened_at"),
    *optional(ARRAY(Text), "labels"),
    PrimaryKeyConstraint("kind", "instance_id", "session_key"),
    index(
        "queue_conversations",
        "",
        *map(text, ("(instance_id + 0)", "touched_at", "session_key")),
        where="kind = 0",
    ),
    index(
        "queue_assigned",
        "",
        *map(text, ("(instance_id + 0)", "assignee", "touched_at", "session_key")),
        where="kind = 0 AND assignee IS NOT NULL",
    ),
    index(
        "queue_closed",
        "",
        *map(text, ("(instance_id + 0)", "touched_at", "session_key")),
        where="kind = 0 AND closed_at IS NOT NULL",
    ),
    index(
        "queue_open",
        "",
        *map(text, ("(instance_id + 0)", "touched_at", "session_key")),
        where="kind = 0 AND closed_at IS NULL",
    ),
    index(
        "queue_open_by_assignee",
        "",
        *map(text, ("(instance_id + 0)", "assignee", "touched_at", "session_key")),
        where="kind = 0 AND closed_at IS NULL",
    ),
    index(
        "queue_snoozed",
        "",
        *map(text, ("(instance_id + 0)", "touched_at", "session_key")),
        where="kind = 0 AND snoozed_until IS NOT NULL",
    ),
    index(
        "queue_held",
        "",
        *map(text, ("(instance_id + 0)", "touched_at", "session_key")),
        where="kind = 0 AND held_until IS NOT NULL",
    ),
    Index("queue_labelled", "labels", postgresql_using="gin", postgresql_where=text("labels IS NOT NULL")),
    index("queue_due", "kind due_at", where="pending > 0"),
    index("queue_owned", "owner", where="owner IS NOT NULL"),
    index("queue_touched", "touched_at", where="pending = 0"),
)

inbox = table(
    "inbox",
    identity(),
    *required(BigInteger, "instance_id"),
    *required(Text, "session_key event_key event"),
    *required(SmallInteger, "status attempts failures"),
    *required(Boolean, "taken"),
    *required(Timestamp, "received_at"),
    *optional(Timestamp, "await_until finished_at"),
    *optional(Text, "error result draft answer change"),
    UniqueConstraint("instance_id", "event_key", name="inbox_event"),
    index("inbox_by_session", "instance_id session_key id"),
    index("inbox_failed", "instance_id id", where="status = 2"),
    index(
        "inbox_by_queue",
        "instance_id",
        *map(text, ("hashtextextended(session_key, 0)", "id")),
        where="status = 0",
    ),
    index("inbox_erased", "finished_at", where="event = '{}'"),
    index("inbox_finished", "finished_at", where="finished_at IS NOT NULL"),
    index("inbox_awaited", "await_until", where="await_until IS NOT NULL AND NOT taken"),
)

outbox = table(
    "outbox",
    identity(),
    *required(BigInteger, "instance_id"),
    *required(Text, "session_key message target key"),
    *required(SmallInteger, "status attempts"),
    *required(Boolean, "apology prompt"),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "next_attempt_at finished_at"),
    *optional(BigInteger, "inbox_id send_id"),
    *optional(SmallInteger, "delivery_state"),
    *optional(Text, "last_error ref trace"),
    index(
        "outbox_by_queue",
        "",
        *map(text, ("hashtextextended(session_key, instance_id)", "id")),
        where="status + 0 = 0",
    ),
    index("outbox_by_instance", "instance_id status id"),
    index(
        "outbox_by_ref", "instance_id", func.hashtextextended(text("ref"), text("0")), where="ref IS NOT NULL"
    ),
    index("outbox_finished", "finished_at", where="status = 1"),
    index("outbox_dead", "instance_id id", where="status = 2"),
    index("outbox_given_up", "finished_at", where="status = 2"),
    index("outbox_by_event", "inbox_id", where="inbox_id IS NOT NULL"),
    index("outbox_by_send", "send_id", where="send_id IS NOT NULL"),
)

send = table(
    "send",
    identity(),
    _instance(),
    *required(Text, "session_key session_id content author"),
    *optional(Text, "idempotency_key user_id"),
    *required(Timestamp, "created_at"),
    unique_index("send_idempotency", "instance_id idempotency_key", where="idempotency_key IS NOT NULL"),
    index("send_by_session", "instance_id session_key id"),
    index("send_by_age", "created_at"),
)

figure = table(
    "figure",
    _instance(primary_key=True),
    key("step", Integer),
    key("at", Timestamp),
    key("measure", SmallInteger),
    *required(BigInteger, "count"),
    index("figure_by_age", "step at"),
)

figure_position = table(
    "figure_position",
    key("id", SmallInteger),
    *required(Timestamp, "until"),
    *required(BigInteger, "inbox_id"),
)

report = table(
    "report",
    key("day", Date),
    key("instance_id", BigInteger),
    key("user_id", Text),
    key("measure", SmallInteger),
    *required(BigInteger, "count"),
    index("report_by_instance", "instance_id day"),
)

report_position = table(
    "report_position",
    key("id", SmallInteger),
    *required(Timestamp, "until"),
    *required(BigInteger, "inbox_id"),
)

report_person = table(
    "report_person",
    key("day", Date),
    key("instance_id", BigInteger),
    key("digest", LargeBinary),
)

report_event = table(
    "report_event",
    identity(),
    *required(SmallInteger, "kind"),
    *required(Timestamp, "at"),
    *required(BigInteger, "instance_id"),
    *required(Text, "session_key"),
    *optional(Timestamp, "opened_at"),
    *optional(Text, "user_id"),
    index("report_event_by_age", "kind at"),
    index("report_event_by_session", "instance_id session_key"),
)

event_log = table(
    "event_log",
    Column("seq", BigInteger, Identity(always=True), primary_key=True, nullable=False),
    *optional(BigInteger, "id instance_id ref"),
    *required(Text, "kind"),
    *optional(Text, "session_key data user_id"),
    *required(Timestamp, "at"),
    unique_index("event_log_published", "id", where="id IS NOT NULL"),
    index("event_log_unpublished", "seq", where="id IS NULL"),
    index("event_log_by_session", "instance_id session_key", where="session_key IS NOT NULL"),
)

event_position = table("event_position", key("reader", Text), *required(BigInteger, "position"))

push_cursor = table(
    "push_cursor",
    _instance(),
    *required(Text, "session_key"),
    *required(BigInteger, "position"),
    PrimaryKeyConstraint("instance_id", "session_key"),
)

event_listener = table("event_listener", key("id", Text), *required(Timestamp, "until"))

link = table(
    "link",
    _instance(primary_key=True),
    *optional(Text, "status code error cursor"),
    *optional(BigInteger, "owner"),
    *optional(Timestamp, "lease_until up_since"),
    *required(Integer, "wanted answered asked"),
    *required(Timestamp, "asked_since"),
    index("link_owned", "owner", where="owner IS NOT NULL"),
)

send_cooldown = table("send_cooldown", key("key", Text), *required(Timestamp, "until"))

send_breaker = table(
    "send_breaker",
    _instance(primary_key=True),
    *required(Timestamp, "opened_at until"),
    *required(Integer, "openings"),
    *required(Text, "reason"),
)

send_quota = table(
    "send_quota", key("key", Text), *required(Timestamp, "used_until"), *required(Double, "wait")
)

write_check = table("write_check", key("id", SmallInteger), *required(Timestamp, "written_at"))

key_check = table("key_check", key("id", SmallInteger), *required(LargeBinary, "encrypted"))


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
    *optional(ARRAY(Text), "scopes"),
    *optional(Text, "created_by address device"),
    *optional(Timestamp, "used_at"),
    *optional(Boolean, "is_proved"),
    index("api_key_by_kind", "kind id"),
    index("api_key_by_user", "user_id kind id"),
    index("api_key_by_parent", "parent_id", where="parent_id IS NOT NULL"),
    index("api_key_expiring", "expires_at", where="kind <> 'key'"),
)

app_user = table(
    "app_user",
    key("id", Text),
    *required(Text, "name email role state"),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "last_seen_at"),
    *optional(Text, "notifications"),
    unique_index("app_user_email", "email", where="email <> ''"),
)

team = table(
    "team",
    identity(),
    Column("name", Text, nullable=False, unique=True),
    *required(Timestamp, "created_at"),
    *optional(Text, "hours away_text"),
    index("team_by_name", "", text("lower(name)")),
)

team_member = table(
    "team_member",
    reference("team_id", "team.id", primary_key=True),
    reference("user_id", "app_user.id", primary_key=True),
    *required(Boolean, "lead"),
    index("team_member_by_user", "user_id team_id"),
)

instance_permission = table(
    "instance_permission",
    key("user_id", Text),
    _instance(primary_key=True),
    *required(SmallInteger, "level"),
    index("instance_permission_by_instance", "instance_id"),
)

instance_team_permission = table(
    "instance_team_permission",
    reference("team_id", "team.id", primary_key=True),
    _instance(primary_key=True),
    *required(SmallInteger, "level"),
    index("instance_team_permission_by_instance", "instance_id"),
)

agent_team_permission = table(
    "agent_team_permission",
    reference("team_id", "team.id", primary_key=True),
    reference("agent_id", "agent.id", primary_key=True),
    *required(SmallInteger, "level"),
    index("agent_team_permission_by_agent", "agent_id"),
)

instance_access = view("instance_access", *map(column, ("user_id", "instance_id", "level")))
"""By users' own permissions and by those of their teams: several rows where both are there."""
agent_access = view("agent_access", *map(column, ("user_id", "agent_id", "level")))
"""One row for each user and agent, with the highest level."""

audit_entry = table(
    "audit_entry",
    identity(),
    *required(Timestamp, "at"),
    *required(Text, "user_id"),
    *optional(BigInteger, "key_id session_id"),
    *required(Text, "address action object result data request_id"),
    *required(LargeBinary, "previous hash"),
    index("audit_entry_by_user", "user_id id"),
    index("audit_entry_by_action", "action id"),
    index("audit_entry_by_object", "object id"),
    index("audit_entry_by_age", "at"),
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

sign_in_state = table(
    "sign_in_state",
    key("digest", LargeBinary),
    *required(Text, "kind"),
    *required(LargeBinary, "data"),
    *required(Timestamp, "expires_at"),
    index("sign_in_state_by_age", "expires_at"),
)

provider_account = table(
    "provider_account",
    key("issuer", Text),
    key("subject", Text),
    *required(Text, "user_id"),
    *required(Timestamp, "created_at"),
    index("provider_account_by_user", "user_id issuer"),
)

passkey = table(
    "passkey",
    identity(),
    *required(Text, "user_id"),
    Column("credential_id", LargeBinary, nullable=False, unique=True),
    *required(LargeBinary, "public_key"),
    *required(BigInteger, "sign_count"),
    *required(Text, "name"),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "used_at"),
    index("passkey_by_user", "user_id id"),
)

invitation = table(
    "invitation",
    identity(),
    Column("digest", LargeBinary, nullable=False, unique=True),
    *required(Text, "email role"),
    Column("team_ids", ARRAY(BigInteger), nullable=False),
    *required(Text, "created_by"),
    *required(Timestamp, "created_at expires_at"),
    *optional(Timestamp, "accepted_at"),
    *optional(Text, "user_id"),
    index("invitation_by_email", "email"),
    index("invitation_by_user", "user_id", where="user_id IS NOT NULL"),
    index("invitation_by_age", "expires_at"),
)

session_token = table(
    "session_token",
    reference("session_id", "api_key.id", primary_key=True),
    *required(LargeBinary, "token"),
)

access_notice = table(
    "access_notice",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("external_id", Text),
    *required(Timestamp, "noticed_at"),
    index("access_notice_by_age", "noticed_at"),
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

resource_state = table(
    "resource_state",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("session_key", Text),
    key("resource", Text),
    *required(Text, "state"),
    *required(Timestamp, "updated_at"),
    index("resource_state_by_age", "updated_at"),
)

agent_task = table(
    "agent_task",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("request_id", Text),
    *required(Text, "session_key session_id resource task_id"),
    *optional(BigInteger, "inbox_id"),
    *required(Integer, "polls"),
    *required(Timestamp, "next_poll_at created_at"),
    *optional(Timestamp, "finished_at"),
    index("agent_task_due", "next_poll_at", where="finished_at IS NULL"),
    index("agent_task_by_session", "instance_id session_key"),
    index("agent_task_by_age", "created_at"),
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

approval_request = table(
    "approval_request",
    identity(),
    reference("instance_id", "channel_instance.id"),
    *required(BigInteger, "inbox_id"),
    *required(Text, "session_key session_id request_id approver detail secret decided_by reason"),
    *required(Timestamp, "asked_at expires_at due_at"),
    *required(Boolean, "begun"),
    *optional(Text, "decision"),
    *optional(Timestamp, "decided_at finished_at"),
    unique_index("approval_request_of_run", "inbox_id request_id"),
    index("approval_request_by_approver", "approver id"),
    index("approval_request_by_session", "instance_id session_key"),
    index("approval_request_waiting", "expires_at", where="decision IS NULL"),
    index("approval_request_open", "approver id", where="decision IS NULL"),
    index("approval_request_due", "due_at", where="decision IS NOT NULL AND finished_at IS NULL"),
)

feedback = table(
    "feedback",
    identity(),
    reference("instance_id", "channel_instance.id"),
    *required(BigInteger, "inbox_id"),
    *required(Text, "session_key sender_key sender sender_name"),
    *required(SmallInteger, "rating"),
    *required(Timestamp, "at"),
    *optional(SmallInteger, "reported"),
    *optional(Timestamp, "reported_at"),
    unique_index("feedback_vote", "inbox_id sender_key"),
    index("feedback_by_instance", "instance_id id"),
    index("feedback_by_rating", "instance_id rating id"),
    index("feedback_by_session", "instance_id session_key"),
    index("feedback_by_age", "at"),
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

person = table(
    "person",
    identity(),
    *required(Text, "owner name search"),
    *optional(Text, "given_name given_language language"),
    Column("labels", ARRAY(Text)),
    *required(Timestamp, "first_at seen_at"),
    *required(Boolean, "was_split is_erased"),
    index("person_by_owner", "owner seen_at id"),
    index("person_by_age", "seen_at id"),
    Index("person_labelled", "labels", postgresql_using="gin", postgresql_where=text("labels IS NOT NULL")),
    Index("person_search", "search", postgresql_using="gin", postgresql_ops={"search": "gin_trgm_ops"}),
)

person_sender = table(
    "person_sender",
    reference("instance_id", "channel_instance.id", primary_key=True),
    key("session_key", Text),
    key("sender_key", Text),
    Column("person_id", ForeignKey("person.id"), nullable=False),
    *required(Text, "session_id sender name identities beginning profile"),
    *optional(Text, "language user_id"),
    Column("identity_keys", ARRAY(Text)),
    *required(Timestamp, "first_at seen_at checked_at"),
    index("person_sender_by_person", "person_id"),
    index("person_sender_by_account", "instance_id sender_key"),
    Index(
        "person_sender_identified",
        "identity_keys",
        postgresql_using="gin",
        postgresql_where=text("identity_keys IS NOT NULL"),
    ),
    index("person_sender_by_user", "user_id", where="user_id IS NOT NULL"),
)

privacy_request = table(
    "privacy_request",
    identity(),
    *required(Text, "owner kind state requested_by"),
    *required(BigInteger, "person_id"),
    *required(Integer, "done total run failures"),
    *optional(Text, "error blob_key"),
    *optional(BigInteger, "size"),
    *optional(Timestamp, "lease_until finished_at expires_at"),
    *required(Timestamp, "created_at"),
    index("privacy_request_open", "id", where="state = ANY (ARRAY['pending', 'running'])"),
    index("privacy_request_by_owner", "owner id"),
    index("privacy_request_by_person", "person_id id"),
    index("privacy_request_by_age", "created_at"),
)

person_position = table(
    "person_position",
    key("id", SmallInteger),
    *required(BigInteger, "inbox_id"),
    *required(Timestamp, "claimed_at"),
)

usage = table(
    "usage",
    key("day", Date),
    key("instance_id", BigInteger),
    *(key(name, Text) for name in ("resource_id", "user_id", "currency")),
    key("slot", SmallInteger),
    *required(BigInteger, "runs input_tokens output_tokens"),
    *required(Double, "seconds"),
    *required(Numeric, "cost"),
    index("usage_by_instance", "instance_id day"),
)

usage_run = table(
    "usage_run",
    *required(JSONB, "spent"),
    *optional(ARRAY(BigInteger), "done"),
    *required(Timestamp, "at"),
)

budget = table(
    "budget",
    identity(),
    *required(Text, "scope subject currency"),
    *required(Boolean, "by_admin"),
    *required(Numeric, "amount"),
    *required(Text, "created_by"),
    *required(Timestamp, "updated_at"),
    *optional(Date, "notified_month"),
    *required(SmallInteger, "notified"),
    unique_index("budget_key", "scope subject currency by_admin"),
    index("budget_by_creator", "created_by"),
)

budget_spent = table(
    "budget_spent",
    key("budget_id", BigInteger),
    key("month", Date),
    key("slot", SmallInteger),
    *required(Numeric, "amount"),
    index("budget_spent_by_age", "month"),
)

notification_cause = table(
    "notification_cause",
    identity(),
    *required(Text, "kind"),
    *required(Timestamp, "at"),
    *optional(BigInteger, "instance_id"),
    *optional(Text, "session_key"),
    *optional(BigInteger, "ref"),
    *optional(Text, "actor"),
    *optional(ARRAY(Text), "named"),
    *optional(Text, "data"),
    index("notification_cause_by_session", "instance_id session_key"),
    index("notification_cause_by_age", "at"),
)

notification = table(
    "notification",
    identity(),
    *required(Text, "user_id kind object"),
    Column("instance_id", ForeignKey("channel_instance.id", ondelete="CASCADE")),
    *optional(Text, "session_key"),
    *optional(BigInteger, "ref"),
    *optional(Text, "actor data"),
    *required(Timestamp, "created_at"),
    *optional(Timestamp, "read_at"),
    index("notification_by_user", "user_id id"),
    index("notification_unread", "user_id id", where="read_at IS NULL"),
    index("notification_by_object", "user_id object created_at"),
    index("notification_by_session", "instance_id session_key"),
    index("notification_by_age", "created_at"),
)

notification_delivery = table(
    "notification_delivery",
    reference("notification_id", "notification.id", primary_key=True),
    key("way", Text),
    *required(Text, "user_id"),
    *required(Timestamp, "due_at"),
    *required(Integer, "attempts"),
    index("notification_delivery_due", "due_at"),
    index("notification_delivery_by_user", "user_id way due_at"),
)

conversation_note = table(
    "conversation_note",
    identity(),
    _instance(),
    *required(Text, "session_key user_id text"),
    Column("mentions", ARRAY(Text), nullable=False),
    *required(Timestamp, "created_at"),
    index("conversation_note_by_session", "instance_id session_key id"),
    index("conversation_note_by_age", "created_at"),
)

snippet = table(
    "snippet",
    identity(),
    *optional(Text, "user_id"),
    Column("team_id", ForeignKey("team.id", ondelete="CASCADE")),
    *required(Text, "name text"),
    *required(Timestamp, "created_at updated_at"),
    index("snippet_by_user", "user_id id", where="user_id IS NOT NULL"),
    index("snippet_by_team", "team_id id", where="team_id IS NOT NULL"),
    index("snippet_of_all", "id", where="user_id IS NULL AND team_id IS NULL"),
)
