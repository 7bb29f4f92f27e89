"""What a message to be sent counts against."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from domain.channels.limits import Limits, Quota


@dataclass(frozen=True, slots=True)
class Budget:
    """A quota and the key under which it is kept."""

    key: str
    quota: Quota


@dataclass(frozen=True, slots=True)
class Sending:
    """A message on its way: `account` and `place` are the keys that a wish to wait holds back.

    `place` is "" where the platform counts no conversations. `max_concurrency`: calls at a time with the account,
    0 for any number.
    """

    instance_id: int
    channel_id: str
    conversation: str
    account: str
    place: str
    budgets: tuple[Budget, ...] = ()
    max_concurrency: int = 0

    def is_of_account(self, key: str) -> bool:
        """Whether a budget's key is one of the account, not of the place."""
        return key.startswith(f"{self.account}#")


def sending_of(instance_id: int, channel_id: str, conversation: str, limits: Limits | None) -> Sending:
    """Keys of at most 80 characters, the same in every worker; what they are made of cannot be read back."""
    if limits is None:
        account = f"instance:{instance_id}"
        return Sending(instance_id, channel_id, conversation, account, f"{account}:{_digest(conversation)}")
    account = account_key(channel_id, limits)
    place = f"{account}:{_digest(limits.place)}" if limits.place else ""
    budgets = (
        *(Budget(_numbered(place, number), quota) for number, quota in enumerate(limits.of_place) if place),
        *(Budget(_numbered(account, number), quota) for number, quota in enumerate(limits.of_account)),
    )
    return Sending(instance_id, channel_id, conversation, account, place, budgets, limits.max_concurrency)


def account_key(channel_id: str, limits: Limits) -> str:
    """Names the credential."""
    return f"{channel_id}:{_digest(limits.account)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _numbered(key: str, number: int) -> str:
    return f"{key}#{number}"
