"""Pending tool confirmations as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Pending:
    """A question to a sender. `asked_of` is the sender, `asked_by` the event whose answer was the question.

    `original` is the text of the message that led to it. A decided question stays the question of its session
    until the next message, so that the event that decided it (`decided_by`) can be worked on again after a crash.
    `decider` is the name of who decided.
    """

    id: str
    tool: str
    parameters: Mapping[str, Any]
    nonce: str
    asked_of: str
    asked_by: int
    original: str
    expires_at: datetime
    decision: str | None = None
    decided_by: int | None = None
    decider: str = ""


@dataclass(frozen=True, slots=True)
class FoundQuestion:
    """A question found by the nonce of its buttons, whatever became of it.

    `in_session`: it was asked in the instance and session that it was looked for in; `in_instance`: at least in
    that instance. `closed`: its session has no open question of this id any more.
    """

    pending: Pending
    in_instance: bool
    in_session: bool
    closed: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is on record of a session: the question, and the tools approved for all of it."""

    pending: Pending | None = None
    tools: tuple[str, ...] = field(default=())
