"""Who is writing, and what they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from domain.channels.messages import Choice, ClosedPrompt, Identity


class People(Protocol):
    """Finds platform users by their verified external identities."""

    async def resolve(self, identities: Sequence[Identity]) -> str | None:
        """The user that one of these identities is verified for."""
        ...

    async def may_notice(self, instance_id: int, external_id: str, now: datetime, every: timedelta) -> bool:
        """Whether a sender may be told now that it is not served: at most once in `every`. True counts as told."""
        ...


@dataclass(frozen=True, slots=True)
class ApprovalScope:
    """Who is asked, and where: a confirmation is decided by this sender in this session alone."""

    instance_id: int
    session_id: str
    external_id: str


@dataclass(frozen=True, slots=True)
class OverPrompt:
    """A question that is over. `asked_by` is the event whose answer it was."""

    asked_by: int
    closed: ClosedPrompt


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the sender is asked: text, and choices for channels with buttons.

    The values of the choices begin with `domain.confirmations.choices.PREFIX`. `replaced` is the question that
    this one has replaced before anybody decided it.
    """

    text: str
    choices: tuple[Choice, ...]
    replaced: OverPrompt | None = None


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

    Without `decision` it is a message like any other. `prompt` is the question to be asked (again) in place
    of working on the message. `over` is the question that this message has decided or discarded.
    The press of a button that decides nothing is not worked on: it has either `repeated`, its question, which is
    over, or `notice`, words for who pressed, as the question is open for somebody else or not on
    record.
    """

    decision: Decision | None = None
    approved_tools: tuple[str, ...] = ()
    prompt: Prompt | None = None
    over: OverPrompt | None = None
    repeated: OverPrompt | None = None
    notice: str = ""


class Approvals(Protocol):
    """Pending tool confirmations."""

    async def decide(self, asker: ApprovalScope, said: ReceivedText) -> ApprovalResult:
        """What this message decides; any other text of the sender who was asked clears the question.

        A button decides the question that it belongs to and no other."""
        ...

    async def begin(self, asker: ApprovalScope, decision: Decision) -> bool:
        """Whether the decision may be handed on now: an approval once, so that its tool never runs twice."""
        ...

    async def ask(
        self,
        asker: ApprovalScope,
        said: ReceivedText,
        original: str,
        tool: str,
        parameters: Mapping[str, Any],
    ) -> Prompt:
        """Makes the pending confirmation of a session, replacing an older one."""
        ...
