"""Pending tool confirmations as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from domain.channels.answers import Choice, ClosedPrompt


@dataclass(frozen=True, slots=True)
class Pending:
    """A question to a sender. `asked_of` is the sender, `asked_user` the platform user that the sender was known as,
    `asked_by` the event whose answer was the question.

    `original` is the text of the message that led to it. A decided question stays the question of its session
    until the next message, so that the event that decided it (`decided_by`) can be worked on again after a crash.
    `decider` is the name of who decided.
    """

    id: str
    tool: str
    parameters: Mapping[str, object]
    nonce: str
    asked_of: str
    asked_by: int
    original: str
    expires_at: datetime
    decision: str | None = None
    decided_by: int | None = None
    decider: str = ""
    decided_at: datetime | None = None
    asked_user: str | None = None


@dataclass(frozen=True, slots=True)
class FoundQuestion:
    """A question found by the nonce of its buttons, open or closed.

    `in_session`: it was asked in the instance and session that it was looked for in; `in_instance`: at least in
    that instance. `closed`: its session has no open question of this id any more.
    """

    pending: Pending
    in_instance: bool
    in_session: bool
    closed: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """The question of a session, and the tools approved for all of it."""

    pending: Pending | None = None
    tools: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ApprovalScope:
    """Who is asked, and where: a confirmation is decided by this sender in this session only, and what was asked of a
    platform user by a sender that is known as this user."""

    instance_id: int
    session_id: str
    external_id: str
    user_id: str | None = None

    def may_decide(self, pending: Pending) -> bool:
        return pending.asked_of == self.external_id and pending.asked_user in (None, self.user_id)


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """A question that is closed. `asked_by` is the event whose answer it was."""

    asked_by: int
    closed: ClosedPrompt


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the sender is asked: text, and choices for channels with buttons.

    `replaced` is the question that this one has replaced before anybody decided it.
    """

    text: str
    choices: tuple[Choice, ...]
    replaced: ClosedQuestion | None = None


@dataclass(frozen=True, slots=True)
class ReceivedText:
    """A message as far as it may decide something; `event_id` is the same at each try of the same event.

    `name` is how the sender is shown to others.
    """

    event_id: int
    text: str
    choice: str | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a pending confirmation was decided; `original` is the text of the message that led to it."""

    confirmation_id: str
    tool: str
    decision: str
    original: str


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """What a message means for the pending confirmation of its session.

    Without `decision` it is a message like any other. `prompt` is the question to be asked (again) instead of
    processing the message. `closed` is the question that this message has decided or cleared.
    The press of a button that decides nothing is not processed: it has either `repeated`, its question, which is
    closed, or `notice`, a text for the person who pressed, as the question is open for somebody else or not stored.
    """

    decision: Decision | None = None
    approved_tools: tuple[str, ...] = ()
    prompt: Prompt | None = None
    closed: ClosedQuestion | None = None
    repeated: ClosedQuestion | None = None
    notice: str = ""
