"""Tool confirmations: questions, decisions, and the texts that people read and type."""

import json
import re
from calendar import month_name
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from domain.channels.answers import Choice, ClosedPrompt
from domain.routing.model import APPROVED, APPROVED_FOR_SESSION, REJECTED


@dataclass(frozen=True, slots=True)
class Pending:
    """A question to a sender. `asked_of` is the sender, `asked_user` the platform user that the sender was known as,
    `asked_by` the event whose answer was the question.

    `original` is the text of the message that led to it, `form` the form that this message had filled in, as the
    resource gets it; `resource` the id of the resource that asks. A decided question stays the question of its
    session until the next message, so that the event that decided it (`decided_by`) can be worked on again after a
    crash. `decider` is the name of who decided.
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
    resource: str = ""
    form: Mapping[str, object] = field(default_factory=dict)

    def was_decided_by(self, event_id: int) -> bool:
        return self.decision is not None and self.decided_by == event_id


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
class ApprovedTool:
    """A tool of one resource that is approved for a session: another resource may mean something else by its name."""

    resource: str
    tool: str


@dataclass(frozen=True, slots=True)
class SessionState:
    """The question of a session, and the tools approved for all of it."""

    pending: Pending | None = None
    tools: tuple[ApprovedTool, ...] = field(default=())


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
    """How a pending confirmation was decided; `original` is the text of the message that led to it, `form` the form
    it had filled in, `resource` the id of the resource that asked, empty for a question of an earlier version."""

    confirmation_id: str
    tool: str
    decision: str
    original: str
    resource: str = ""
    form: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    """What a message means for the pending confirmation of its session.

    Without `decision` it is a message like any other. `prompt` is the question to be asked (again) instead of
    processing the message. `closed` is the question that this message has decided or cleared.
    The press of a button that decides nothing is not processed: it has either `repeated`, its question, which is
    closed, or `notice`, a text for the person who pressed, as the question is open for somebody else or not stored.
    """

    decision: Decision | None = None
    approved_tools: tuple[ApprovedTool, ...] = ()
    prompt: Prompt | None = None
    closed: ClosedQuestion | None = None
    repeated: ClosedQuestion | None = None
    notice: str = ""


class DecidedMeanwhile(Exception):
    """A question that is no longer open; ends the transaction of the decision, with its entry in the audit log."""


LIFETIME = timedelta(minutes=10)
SESSION_TIMEOUT = timedelta(hours=24)
"""An approval for the session ends when the session has been silent for so long."""
RETENTION = timedelta(days=7)
"""How long a question that is closed is stored, for late presses of its buttons."""

SHOWN = 600
"""Characters of one parameter that a question shows."""
SHOWN_PARAMETERS = 30
SHOWN_NAME = 100
"""Characters of the name of a person or a tool."""
BRIEF = 40
BRIEF_PARAMETERS = 10
"""The same where all parameters would not fit into one message."""

BUTTON_PREFIX = "approval:"
"""What the value of every button of a question begins with; at most 64 bytes in all."""

REPLIES = {
    **dict.fromkeys(("yes", "y", "approve", "ok", "1"), APPROVED),
    **dict.fromkeys(("always", "2"), APPROVED_FOR_SESSION),
    **dict.fromkeys(("no", "n", "reject", "cancel", "3"), REJECTED),
}

BUTTONS = (
    ("Approve", "1", APPROVED),
    ("Approve session", "2", APPROVED_FOR_SESSION),
    ("Reject", "3", REJECTED),
)

OUTCOMES = {
    APPROVED: "Approved",
    APPROVED_FOR_SESSION: "Approved for this session",
    REJECTED: "Rejected",
}
LONGEST_REPLY = 200
"""Characters of a line that may decide something."""
_ENDS = re.compile(r"^\W+|\W+$")
NOT_YOURS = "Only the person who was asked can decide this."
_LINE_ENDS = re.compile(r"[\r\n\u2028\u2029]")
NO_LONGER_OPEN = "This question is no longer open."
ASKED_ELSEWHERE = "This question was asked in another conversation. Please decide it there."


def decision_of(text: str) -> str | None:
    """The decision of a typed reply; case and white space around it do not matter."""
    return REPLIES.get(text.strip().casefold())


def first_line(text: str) -> str:
    """The beginning of the first line with anything on it, without punctuation at its ends."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    return _ENDS.sub("", line.strip()[:LONGEST_REPLY])


def is_approval(choice: str) -> bool:
    """Return True if a pressed button belongs to a tool confirmation, pending or not. The press of any other button
    is a message to the resource."""
    return choice.startswith(BUTTON_PREFIX)


def nonce_of(choice: str) -> str:
    """The nonce in the value of a button of ours, empty where it has none."""
    return choice.removeprefix(BUTTON_PREFIX).partition(":")[2]


def choices_of(nonce: str) -> tuple[Choice, ...]:
    """The buttons of a question; the nonce makes them valid for this question only."""
    return tuple(Choice(label, f"{BUTTON_PREFIX}{number}:{nonce}") for label, number, _ in BUTTONS)


def decision_of_button(choice: str, nonce: str) -> str | None:
    """None if the button belongs to another question."""
    decisions = {f"{BUTTON_PREFIX}{number}:{nonce}": decision for _, number, decision in BUTTONS}
    return decisions.get(choice)


def question(tool: str, parameters: Mapping[str, object]) -> str:
    """The question in Markdown: the tool, its parameters, the three replies."""
    asked = f"The tool {as_code(tool)} needs your approval."
    return "\n".join([asked, *listed(parameters)]) + "\n\n" + ANSWERS


def closed_prompt(pending: Pending) -> ClosedPrompt:
    """A question that is closed: its decision, by whom and when, or that it was not decided; the tool, its
    parameters."""
    decision, tool, parameters = pending.decision, pending.tool, pending.parameters
    outcome = OUTCOMES[decision] if decision else NO_LONGER_OPEN
    by = f" by {as_code(pending.decider)}" if decision and pending.decider.strip() else ""
    when = ""
    if decision and pending.decided_at:
        at = pending.decided_at.astimezone(UTC)
        when = f", {at.day} {month_name[at.month]} {at.year}, {at:%H:%M} UTC"
    head = [f"**{outcome}**{by}{when}", "", f"Tool: {as_code(tool)}"]
    full = [*head, *listed(parameters)]
    brief = [*head, *listed(parameters, BRIEF_PARAMETERS, BRIEF)]
    return ClosedPrompt("\n".join(full), outcome, "\n".join(brief))


def listed(parameters: Mapping[str, object], count: int = SHOWN_PARAMETERS, size: int = SHOWN) -> list[str]:
    """The first parameters as lines of Markdown, names and values cut to `size` characters."""
    shown = list(parameters.items())[:count]
    lines = ["", "Parameters:", ""] if shown else []
    for name, value in shown:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"- {_code(_cut(str(name), size))}: {_code(_cut(text, size))}")
    if left := len(parameters) - len(shown):
        lines.append(f"- and {left} more")
    return lines


ANSWERS = (
    "Please reply:\n\n"
    "1. **yes** to approve it this once\n"
    "2. **always** to approve it for this session\n"
    "3. **no** to reject it\n\n"
    "The question expires in 10 minutes."
)


def unclear(tool: str) -> str:
    """For an approval whose worker died after it had called the resource."""
    return (
        f"I was interrupted while {_code(tool)} was being used, and cannot tell whether it was carried out. It is"
        " not run a second time; please check, and ask again if need be."
    )


def as_code(tool: str) -> str:
    """The name of a tool or a person in a text for people."""
    return _code(_cut(tool, SHOWN_NAME))


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[:size]}… ({len(text)} characters)"


def _code(text: str) -> str:
    """A code span on one line: nothing inside it is markup."""
    line = re.sub(r"\s+", lambda gap: " ⏎ " if _LINE_ENDS.search(gap[0]) else gap[0], text).strip() or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"
