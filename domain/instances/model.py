"""A channel instance and its health.

A configuration to be checked, and what came of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.access.sharing import InstanceLevel
from domain.channels.model import Proof
from domain.confirmations.policy import ApprovalRule
from domain.routing.routes import Route

ACTIVE = "active"
UNREADABLE = "unreadable"
"""The state of an instance whose stored configuration cannot be decrypted; its `config` is empty."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A user's configuration of one channel, bound to a downstream resource (None: to none).

    `config` is the JSON object as the user stored it, key order and number forms kept. `trusted`: an admin takes the
    owner's word for who the senders are. `routes`: which resource answers which message, in place of `resource_id`;
    `fallback`: the resources that are asked in turn where that one fails. `approval_policy`: who decides about tools.
    `feedback`: people are asked whether an
    answer helped. `receiving_config`: the config with which events are read, None for `config`.
    """

    id: int
    user_id: str
    channel_id: str
    channel_name: str
    config: Mapping[str, object]
    resource_id: str | None
    created_at: datetime
    updated_at: datetime
    status: str = ACTIVE
    trusted: bool = False
    routes: tuple[Route, ...] = ()
    fallback: tuple[str, ...] = ()
    feedback: bool = False
    approval_policy: tuple[ApprovalRule, ...] = ()
    receiving_config: Mapping[str, object] | None = field(default=None, compare=False, repr=False)

    def only_user(self, proof: Proof) -> str | None:
        """The only user that senders with this proof may be; None: they may be any."""
        return None if self.trusted or proof is Proof.PLATFORM else self.user_id

    @property
    def resource_ids(self) -> tuple[str, ...]:
        """All resources that may answer."""
        own = () if self.resource_id is None else (self.resource_id,)
        return (*own, *(route.to for route in self.routes), *self.fallback)

    @property
    def exists(self) -> bool:
        """Return True if its owner may see, change and delete it."""
        return self.status in (ACTIVE, UNREADABLE)

    @property
    def webhook_path(self) -> str:
        """What follows the public address in the address that the platform calls."""
        return f"/api/agent/channels/{self.channel_id}/{self.id}/webhook"


@dataclass(frozen=True, slots=True)
class InstanceView:
    """An instance with the display name of its definition, as it is listed. Where its channel is a part of web pages:
    the id by which they name it, and the tag that they contain. `level`: what the caller may do with it."""

    instance: Instance
    channel_type: str
    public_id: str | None = None
    embed_tag: str | None = None
    level: InstanceLevel = InstanceLevel.MANAGE


@dataclass(frozen=True, slots=True)
class InstancePage:
    """Some of a user's instances, ordered by id; `more`: others follow."""

    views: Sequence[InstanceView]
    more: bool


@dataclass(frozen=True, slots=True)
class NewInstance:
    """What a create or upsert asks for."""

    channel_id: str
    channel_name: str
    config: Mapping[str, object]
    resource_id: str | None = None
    id: int | None = None
    routes: tuple[Route, ...] | None = None
    fallback: tuple[str, ...] | None = None
    feedback: bool | None = None
    approval_policy: tuple[ApprovalRule, ...] | None = None


@dataclass(frozen=True, slots=True)
class InstanceChange:
    """What an update asks for; None leaves a field as it is."""

    config: Mapping[str, object]
    resource_id: str | None = None
    channel_name: str | None = None
    routes: tuple[Route, ...] | None = None
    fallback: tuple[str, ...] | None = None
    feedback: bool | None = None
    approval_policy: tuple[ApprovalRule, ...] | None = None


def named_resources(saved: NewInstance | InstanceChange) -> Mapping[str, str]:
    """All resource ids that are to be saved, each by the field that names it."""
    named = {f"routes[{number}].to": route.to for number, route in enumerate(saved.routes or ())}
    named |= {f"fallback[{number}]": id for number, id in enumerate(saved.fallback or ())}
    return {"downStreamResourceId": saved.resource_id, **named} if saved.resource_id is not None else named


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What create and update answer.

    `webhook_registered` is None for channels that do not register their webhook themselves.
    """

    instance_id: int
    operation: str
    message: str
    worker_alive: bool
    webhook_registered: bool | None = None
    webhook_error: str | None = None

    @property
    def created(self) -> bool:
        return self.operation == "created"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The answer to a pairing request; a failure is an answer, not an error."""

    success: bool
    code: str | None
    message: str


class Activity(StrEnum):
    """What an instance does. Each succeeds or fails independently of the others."""

    RECEIVING = "receiving"
    """Polls, firings of schedules, connections, calls of the platform."""
    PROCESSING = "processing"
    """From a message to its answer: reading it, fetching its attachments, asking the resource."""
    SENDING = "sending"
    """Handing replies to the platform."""


@dataclass(frozen=True, slots=True)
class ActivityHealth:
    """An activity is not healthy while its latest try failed."""

    last_success: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    healthy: bool = True


@dataclass(frozen=True, slots=True)
class Health:
    """The health of an instance. `warnings` say what is wrong and what to do, `notes` what is worth knowing.

    `last_success`, `last_error` and `last_error_at` are those of the activity that failed last, where one fails;
    else the latest of all activities.
    `unanswered` counts the messages that are not answered, by the reason.
    `breaker` is 'closed'; 'open' while nothing is sent since the platform does not answer, until
    `breaker_until`; 'half_open' when the next reply is tried as a probe.
    """

    instance_id: int
    healthy: bool
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    last_success: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    next_run: datetime | None = None
    queue: Mapping[str, int] = field(default_factory=dict)
    pairing_code: str | None = None
    breaker: str = "closed"
    breaker_until: datetime | None = None
    receiving: ActivityHealth = ActivityHealth()
    processing: ActivityHealth = ActivityHealth()
    sending: ActivityHealth = ActivityHealth()
    unanswered: Mapping[str, int] = field(default_factory=dict)

    @property
    def activities(self) -> Mapping[Activity, ActivityHealth]:
        return {
            Activity.RECEIVING: self.receiving,
            Activity.PROCESSING: self.processing,
            Activity.SENDING: self.sending,
        }


@dataclass(frozen=True, slots=True)
class Delivery:
    """One part of a reply on its way."""

    id: int
    status: str
    attempts: int
    last_error: str | None
    created_at: datetime
    next_attempt_at: datetime | None


@dataclass(frozen=True, slots=True)
class UnansweredMessage:
    """A message that is not answered unless it is released. `text` is its beginning."""

    id: int
    reason: str
    sender: str
    sender_name: str
    subject: str
    text: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class LiveSocket:
    """A connection that is up."""

    instance_id: int
    channel_id: str
    channel_name: str
    status: str
    connected_since: datetime


@dataclass(frozen=True, slots=True)
class ConfigDraft:
    """What somebody has written into a form, wholly or in part.

    `instance_id` names an instance that is changed: its channel counts, and its stored secrets stand for those that
    `config` leaves out. `config` None: as it is stored. `channel_name` None: not checked.
    """

    channel_id: str = ""
    config: Mapping[str, object] | None = None
    channel_name: str | None = None
    resource_id: str | None = None
    instance_id: int | None = None


class CredentialsState(StrEnum):
    """How a check of credentials ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    NOTHING_TO_CHECK = "nothing-to-check"


@dataclass(frozen=True, slots=True)
class CredentialsCheck:
    """`message` is in the platform's words where it refused; `action` says what to do, empty for nothing."""

    state: CredentialsState
    message: str
    action: str = ""

    @property
    def accepted(self) -> bool:
        return self.state is CredentialsState.ACCEPTED
