"""Entries of the audit log, and the chain of hashes that they make. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.values import iso_milliseconds


class Action(StrEnum):
    """What was done, by the kind of object."""

    SESSION_OPENED = "session.opened"
    SESSION_REFUSED = "session.refused"
    SESSION_ENDED = "session.ended"
    SESSION_PROVED = "session.proved"
    PASSKEY_ADDED = "passkey.added"
    PASSKEY_REMOVED = "passkey.removed"
    INVITATION_CREATED = "invitation.created"
    INVITATION_ACCEPTED = "invitation.accepted"
    INVITATION_REVOKED = "invitation.revoked"
    USER_CREATED = "user.created"
    USER_CHANGED = "user.changed"
    USER_DELETED = "user.deleted"
    TEAM_CREATED = "team.created"
    TEAM_CHANGED = "team.changed"
    TEAM_DELETED = "team.deleted"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    IDENTITY_VERIFIED = "identity.verified"
    IDENTITY_REMOVED = "identity.removed"
    INSTANCE_CREATED = "instance.created"
    INSTANCE_CHANGED = "instance.changed"
    INSTANCE_TRUSTED = "instance.trusted"
    INSTANCE_SHARED = "instance.shared"
    INSTANCE_PAIRED = "instance.paired"
    INSTANCE_DELETED = "instance.deleted"
    SCHEDULE_RUN = "schedule.run"
    AGENT_CREATED = "agent.created"
    AGENT_CHANGED = "agent.changed"
    AGENT_TRUSTED = "agent.trusted"
    AGENT_SHARED = "agent.shared"
    AGENT_DELETED = "agent.deleted"
    BASE_CREATED = "base.created"
    BASE_CHANGED = "base.changed"
    BASE_SHARED = "base.shared"
    BASE_DELETED = "base.deleted"
    FILE_DELETED = "file.deleted"
    FILE_RETRIED = "file.retried"
    SOURCE_ADDED = "source.added"
    SOURCE_READ = "source.read"
    SOURCE_DELETED = "source.deleted"
    SUBSCRIPTION_CREATED = "subscription.created"
    SUBSCRIPTION_CHANGED = "subscription.changed"
    SUBSCRIPTION_DELETED = "subscription.deleted"
    PUSH_REPLAYED = "push.replayed"
    CONVERSATION_TAKEN = "conversation.taken"
    CONVERSATION_RETURNED = "conversation.returned"
    CONVERSATION_CHANGED = "conversation.changed"
    CONVERSATION_ERASED = "conversation.erased"
    SNIPPET_CREATED = "snippet.created"
    SNIPPET_CHANGED = "snippet.changed"
    SNIPPET_DELETED = "snippet.deleted"
    MESSAGE_REPLAYED = "message.replayed"
    MESSAGE_DROPPED = "message.dropped"
    MESSAGE_RELEASED = "message.released"
    PERSON_CHANGED = "person.changed"
    PERSON_EXPORTED = "person.exported"
    PERSON_ERASED = "person.erased"
    BUDGET_CHANGED = "budget.changed"
    BUDGET_DELETED = "budget.deleted"
    APPROVAL_DECIDED = "approval.decided"
    NOTIFICATIONS_CHANGED = "notifications.changed"
    PROCESS_STARTED = "process.started"
    AUDIT_PRUNED = "audit.pruned"


class Result(StrEnum):
    DONE = "done"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acted. `user_id` is empty for a command on the server, and for the service itself."""

    user_id: str
    key_id: int | None = None
    session_id: int | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`object`: what was acted on, such as "instance:7"; `data`: what changed, secrets as "changed". `hash` is
    that of all other fields and of the hash of the entry before, `previous`."""

    id: int
    at: datetime
    actor: Actor
    action: str
    object: str
    result: str
    data: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""
    previous: bytes = b""
    hash: bytes = b""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Empty texts: any. `action`: one, or a kind such as "instance". `since`: not before."""

    actor: str = ""
    action: str = ""
    object: str = ""
    since: datetime | None = None


def chained(entry: AuditEntry) -> bytes:
    """Returns the SHA-256 of an entry and of the hash before it. The id is left out: the database gives it later."""
    actor = entry.actor
    fields = [
        iso_milliseconds(entry.at),
        [actor.user_id, actor.key_id, actor.session_id, actor.address],
        [entry.action, entry.object, entry.result, entry.request_id],
        entry.data,
    ]
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(entry.previous + text.encode()).digest()


def chain_fault(entry: AuditEntry, before: AuditEntry | None, pruned: bytes | None) -> str | None:
    """The fault of an entry in the chain, or None. `before`: the entry with the next smaller id. `pruned`: the hash
    of the latest entry that was removed for its age, None where none was."""
    if chained(entry) != entry.hash:
        return "the entry was changed"
    expected = before.hash if before else (pruned or b"")
    if entry.previous != expected:
        return (
            "an entry before it was removed, added or changed" if before else "the entries before it are gone"
        )
    return None
