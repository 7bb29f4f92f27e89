"""Rate limit keys, the retry schedule, and the states of deliveries."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.refusals import Fault, Invalid
from domain.values import value

MAX_WAIT = 5.0
"""Seconds that a conversation waits in the worker's slot that it has; for a longer wait it gives the slot back."""
MIN_WAIT = 1.0


@value
class Budget:
    """A quota and the key under which it is counted."""

    key: str
    quota: Quota


@value
class SendRequest:
    """A message to be sent. `queue_key` is its conversation in our queue.

    `account` and `conversation` are the keys of its cooldowns; `conversation` is "" where the platform counts none.
    `max_concurrency`: calls at a time with the account, 0 for any number.
    """

    instance_id: int
    channel_id: str
    queue_key: str
    account: str
    conversation: str
    budgets: tuple[Budget, ...] = ()
    max_concurrency: int = 0


@dataclass(frozen=True, slots=True)
class OpenBreaker:
    """An instance to which nothing is sent for `seconds` more; 0 or less: a probe is due."""

    instance_id: int
    seconds: float
    openings: int


@dataclass(frozen=True, slots=True)
class SharedState:
    """What all workers have to respect at the moment. `cooldowns`: seconds left by key. `rank`: how many of the
    workers have a lower id than this one."""

    workers: int
    cooldowns: Sequence[tuple[str, float]]
    breakers: Sequence[OpenBreaker]
    rank: int = 0


def send_request(
    instance_id: int, channel_id: str, queue_key: str, limits: Limits | None, *, edit: bool = False
) -> SendRequest:
    """Makes keys of at most 80 characters, the same in every worker, as digests: they may be made from a secret.

    `edit`: a message is changed.
    """
    if limits is None:
        account = f"instance:{instance_id}"
        return SendRequest(instance_id, channel_id, queue_key, account, f"{account}:{_digest(queue_key)}")
    account = account_key(channel_id, limits)
    conversation = f"{account}:{_digest(limits.conversation)}" if limits.conversation else ""
    budgets = _budgets(account, limits.per_account)
    if conversation:
        budgets = _budgets(conversation, limits.per_conversation) + budgets
    if edit:
        budgets = _budgets(account, limits.edits, "edit") + budgets
    return SendRequest(
        instance_id, channel_id, queue_key, account, conversation, budgets, limits.max_concurrency
    )


def account_key(channel_id: str, limits: Limits) -> str:
    """The key of the credential."""
    return f"{channel_id}:{_digest(limits.account)}"


def _budgets(key: str, quotas: Sequence[Quota], kind: str = "") -> tuple[Budget, ...]:
    return tuple(Budget(f"{key}#{kind}{number}", quota) for number, quota in enumerate(quotas))


@lru_cache(4096)
def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


OPTED_OUT = "the person wrote STOP and gets no more messages until they write START"

LATE_AFTER_DAYS = 7
"""So long a message that is due may wait for its turn, as behind an open circuit breaker, until it is given up."""
LATE = f"it was due for {LATE_AFTER_DAYS} days and could not be tried"

DELAYS = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0)
"""Seconds before the second, third, ... try; after the last one the part is a dead letter (about 16 hours)."""

LONGEST_WAIT = 86_400.0
"""Seconds that a platform can ask for at a time; if it means more, it will say so again."""

JITTER = 0.2
"""Delays are lengthened by up to this share, so that many parts do not come back at one moment."""


def next_delay(sent: Sent, attempts: int, chance: float) -> float | None:
    """Returns the seconds until the next try, or None after the last one. `attempts` counts the tries before this
    one, `chance` is a random number in [0, 1). The delay is at least Retry-After."""
    if sent.outcome in (Outcome.SENT, Outcome.PERMANENT):
        return None
    if attempts >= len(DELAYS):
        return None
    delay = DELAYS[attempts] * (1 + JITTER * chance)
    return max(delay, min(sent.retry_after or 0.0, LONGEST_WAIT))


STATES = ("pending", "sent", "dead")


def check_state(status: str | None) -> None:
    """Raises `Invalid`."""
    if status is not None and status not in STATES:
        raise Invalid.of([Fault("status", "must be one of 'pending', 'sent', 'dead'")])
