"""Events: what happened to messages, deliveries, confirmations, instances, uploads, identities, budgets and
notifications."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.refusals import Fault
from domain.values import iso_milliseconds


class EventKind(StrEnum):
    """What an event tells. The `data` of each kind is described in docs/events.md."""

    MESSAGE_RECEIVED = "message.received"
    MESSAGE_ANSWERED = "message.answered"
    MESSAGE_FAILED = "message.failed"
    MESSAGE_FEEDBACK = "message.feedback"
    DELIVERY_SENT = "delivery.sent"
    DELIVERY_DEAD = "delivery.dead"
    CONFIRMATION_ASKED = "confirmation.asked"
    CONFIRMATION_DECIDED = "confirmation.decided"
    CONVERSATION_HANDLER = "conversation.handler"
    CONVERSATION_CHANGED = "conversation.changed"
    CONVERSATION_NOTE = "conversation.note"
    INSTANCE_HEALTH = "instance.health"
    UPLOAD_READY = "upload.ready"
    UPLOAD_FAILED = "upload.failed"
    IDENTITY_VERIFIED = "identity.verified"
    BUDGET_REACHED = "budget.reached"
    NOTIFICATION_CREATED = "notification.created"


RESET = "reset"
"""The kind that every reader gets where events between its cursor and this point are gone: they were deleted, or were
not recorded as nobody had listened."""


@dataclass(frozen=True, slots=True, eq=False)
class LoggedEvent:
    """An event as readers get it. `id` grows; `kind` is an `EventKind` or `RESET`.

    `owner` is the user whose instance, upload or identity it is about, and is not shown.
    """

    id: int
    kind: str
    at: datetime
    instance_id: int | None = None
    session_id: str | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    owner: str | None = None

    def document(self) -> dict[str, object]:
        """The event as a JSON object: what streams and subscriptions show of it."""
        about = {"instanceId": self.instance_id, "sessionId": self.session_id}
        return {
            "id": self.id,
            "kind": self.kind,
            "at": iso_milliseconds(self.at),
            **{name: value for name, value in about.items() if value is not None},
            "data": self.data,
        }


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events that a reader gets. `owner`: those of this user, None: of all; `shared`: instances of others whose
    events they get as well. Empty sets of the others: of every kind, of every instance."""

    owner: str | None = None
    kinds: frozenset[str] = frozenset()
    instance_ids: frozenset[int] = frozenset()
    shared: frozenset[int] = frozenset()

    def takes(self, event: LoggedEvent) -> bool:
        if event.kind == RESET:
            return True
        return (
            (self.owner is None or event.owner == self.owner or event.instance_id in self.shared)
            and (not self.kinds or event.kind in self.kinds)
            and (not self.instance_ids or event.instance_id in self.instance_ids)
        )


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in order, and the cursor from which to go on: past events of others, it may be greater than the last
    id. `more`: further events are there already."""

    events: Sequence[LoggedEvent]
    cursor: int
    more: bool = False


MOST_INSTANCES = 100
"""Instances that one stream or subscription may name."""


def filter_faults(
    kinds: Sequence[str], instance_ids: Sequence[int], instances_field: str = "instanceIds"
) -> Iterator[Fault]:
    """Yields the faults of the kinds and instances that a caller names."""
    unknown = sorted({kind[:50] for kind in kinds if kind not in set(EventKind)})
    if unknown:
        yield Fault("kinds", f"{', '.join(unknown)}: unknown; there are {', '.join(EventKind)}")
    if len(set(instance_ids)) > MOST_INSTANCES:
        yield Fault(instances_field, f"must name at most {MOST_INSTANCES} instances")
