"""The life of a linked device, and which of its messages are for us. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

PAIRING_WAIT = 20.0
"""Seconds that a pairing request waits for its code."""
RECONNECT_AFTER = 3.0
"""Seconds before a dropped connection is made again."""


class LinkStatus(StrEnum):
    """config.waStatus."""

    PAIRING = "pairing"
    CONNECTED = "connected"
    LOGGED_OUT = "logged_out"


class Trigger(StrEnum):
    """What befalls a link."""

    CREATED = "created"
    ASKED_FOR_CODE = "asked for code"
    LINKED = "linked"
    DROPPED = "dropped"
    LOGGED_OUT = "logged out"


class Action(StrEnum):
    """What is done about it, in the order given."""

    CLEAR_AUTH = "clear auth state"
    REQUEST_CODE = "request a pairing code"
    FORGET_CODE = "forget the pairing code"
    RECONNECT = "reconnect after the back-off"


@dataclass(frozen=True, slots=True)
class Step:
    """The next status and what to do."""

    status: LinkStatus
    deeds: tuple[Action, ...] = ()


def step(status: LinkStatus, happening: Trigger) -> Step:
    """One transition. A drop changes no status; a logout clears the stored state and asks for a new code."""
    if happening is Trigger.CREATED:
        return Step(LinkStatus.PAIRING, (Action.REQUEST_CODE,))
    if happening is Trigger.LINKED:
        return Step(LinkStatus.CONNECTED, (Action.FORGET_CODE,))
    if happening is Trigger.LOGGED_OUT:
        return Step(LinkStatus.LOGGED_OUT, (Action.CLEAR_AUTH, Action.REQUEST_CODE))
    if happening is Trigger.DROPPED:
        return Step(status, (Action.RECONNECT,))
    if status is LinkStatus.CONNECTED:  # a forced code replaces the session that is there
        return Step(LinkStatus.LOGGED_OUT, (Action.CLEAR_AUTH, Action.REQUEST_CODE))
    return Step(status, (Action.REQUEST_CODE,))


def allowed(numbers: str, candidates: Collection[str]) -> bool:
    """Whether one of a sender's ids (digits) is among the comma-separated `numbers`; empty allows all."""
    wanted = {_digits(each) for each in numbers.split(",")} - {""}
    return not wanted or bool(wanted & {_digits(each) for each in candidates})


def _digits(number: str) -> str:
    digits = "".join(c for c in number if c in "0123456789")
    return digits.removeprefix("00")
