"""How often a platform lets itself be written to. Values alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MAX_CONCURRENCY = 64
"""Calls at a time with one credential where the platform publishes no number: what a worker sends at most for one
instance."""


class Scope(StrEnum):
    """What has to wait after a platform refused a message."""

    ACCOUNT = "account"
    """The credential: everything that is sent with it."""
    CONVERSATION = "conversation"
    """One conversation: a chat, a channel, a person."""


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `count` messages in any `seconds`, of which `burst` may go at once."""

    count: int
    seconds: float
    burst: int = 1

    def __post_init__(self) -> None:
        if not (0 < self.burst <= self.count and self.seconds > 0):
            raise ValueError("a quota needs 0 < burst <= count and seconds over 0")

    @property
    def interval(self) -> float:
        """Seconds between two messages after the burst: then no window holds more than `count`."""
        return self.seconds / (self.count - self.burst + 1)

    def among(self, senders: int) -> Quota:
        """Returns the quota to share when each of `senders` may send one message of its own at the same moment."""
        count = max(1, self.count - senders)
        return Quota(count, self.seconds, min(count, max(1, self.burst // 2)))


@dataclass(frozen=True, slots=True)
class Limits:
    """Whom the limits bind, and what they are.

    `account` names the credential, `conversation` the conversation as the platform counts it ("" where it counts
    none). Either may hold a secret and is never stored or logged as it is. What a platform does not publish is left
    out: then only its answers say when to wait.

    `edits` bind the account where changing a message has quotas of its own; it counts as a message besides.
    `max_concurrency` is how many calls at a time may be made with the credential, reads included.
    """

    account: str
    conversation: str = ""
    per_account: tuple[Quota, ...] = ()
    per_conversation: tuple[Quota, ...] = ()
    edits: tuple[Quota, ...] = ()
    max_concurrency: int = MAX_CONCURRENCY
