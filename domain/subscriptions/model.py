"""Subscriptions, pushes, and secrets of Standard Webhooks.

A secret is `whsec_` and the key in base64:
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
from dataclasses import dataclass
from datetime import datetime

from domain.events import EventFilter
from domain.instances.model import ActivityHealth

CHANNEL_ID = "event-subscription"
SUBSCRIPTION = "subscription"
"""The status of the instance that a subscription is stored as. Its pushes are sent as replies are: in the same
outbox, in order within a conversation, with the same retries, rate limits and dead letters."""

PUSH_HEADER = "switchboard-event"
"""A header that all pushes have: a callback with it is refused, as it would be answered by more events."""

ON, OFF = "active", "off"
OFF_BY_HAND = "switched off by hand"


@dataclass(frozen=True, slots=True)
class Subscription:
    """An address that events are pushed to. Empty `kinds` and `instance_ids`: events of every kind, of every instance
    of the user (for an admin of all users, `all_users`).

    Events with ids over `since` are pushed. `off` says why nothing is pushed any more, empty while something is.
    `problem` says why it is not healthy, empty while it is.
    """

    id: int
    user_id: str
    url: str
    kinds: tuple[str, ...]
    instance_ids: tuple[int, ...]
    created_at: datetime
    updated_at: datetime
    all_users: bool = False
    since: int = 0
    off: str = ""
    problem: str = ""

    @property
    def is_healthy(self) -> bool:
        return not self.problem

    @property
    def status(self) -> str:
        return OFF if self.off else ON

    @property
    def wanted(self) -> EventFilter:
        owner = None if self.all_users else self.user_id
        return EventFilter(owner, frozenset(self.kinds), frozenset(self.instance_ids))


STALLED_SECONDS = 3600.0
SHOWN_ERROR = 300
"""Characters."""


def problem_of(
    subscription: Subscription, sending: ActivityHealth, pending_seconds: float, now: datetime
) -> str:
    """Why a subscription is not healthy: the last push failed, or nothing was taken for an hour while events wait, of
    which the first has waited for `pending_seconds`. Empty where it is healthy, or off."""
    if subscription.off or not pending_seconds:
        return ""
    error = (sending.last_error or "it was not tried").removeprefix("sending a reply: ")[:SHOWN_ERROR]
    since = max(sending.last_success or subscription.created_at, subscription.updated_at)
    if min(pending_seconds, (now - since).total_seconds()) > STALLED_SECONDS:
        return f"nothing could be pushed for an hour: {error}"
    if sending.last_error_at is not None and sending.last_error_at > since:
        return f"the last push failed: {error}"
    return ""


@dataclass(frozen=True, slots=True)
class SubscriptionFields:
    """What a caller gives; None leaves a field as it is, or as its default. `status` None switches on as well."""

    url: str | None = None
    kinds: tuple[str, ...] | None = None
    instance_ids: tuple[int, ...] | None = None
    secret: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    """A subscription and how it fares. `pending` and `dead` are numbers of pushes. `secret` is shown once, where it
    was made or changed."""

    subscription: Subscription
    sending: ActivityHealth
    pending: int
    dead: int
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class Push:
    """One event on its way to a subscription. `status` as of a delivery: pending, sent or dead. `kind` is the
    event's, empty once it is deleted; `answer` the HTTP status of the last try that was answered. The next try is due
    at `next_attempt_at`."""

    id: int
    event_id: int
    status: str
    attempts: int
    error: str | None
    created_at: datetime
    next_attempt_at: datetime | None
    kind: str = ""
    answer: int | None = None


@dataclass(frozen=True, slots=True)
class PushTest:
    """How a trial push ended; `error` is empty where the address took it."""

    success: bool
    error: str = ""


STANDARD_PREFIX = "whsec_"


def is_standard(secret: str) -> bool:
    return secret.startswith(STANDARD_PREFIX)


def standard_key(secret: str) -> bytes | None:
    """The key in a secret; None where what follows `whsec_` is not base64 with its padding."""
    try:
        return base64.b64decode(secret.removeprefix(STANDARD_PREFIX), validate=True)
    except ValueError:  # binascii.Error is one
        return None


def standard_secret(key: bytes) -> str:
    return STANDARD_PREFIX + base64.b64encode(key).decode()
