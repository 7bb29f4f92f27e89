"""Approvals by others than the sender: what a user or a team is asked to decide, and the texts about it. Pure."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.channels.answers import Choice
from domain.confirmations.model import BUTTON_PREFIX, as_code, decision_of, nonce_of
from domain.conversations.model import MessageId, MessageKind
from domain.routing.model import APPROVED, REJECTED
from domain.values import value

APPROVE, REJECT = "1", "3"
"""As in the buttons of a question to the sender; there is no approval for a session."""
DECISIONS: Mapping[str, str] = {APPROVE: APPROVED, REJECT: REJECTED}
LONGEST_REASON = 500
"""Characters."""
EXPIRED = "nobody decided in time"
"""The reason of a request that was rejected because its time was over."""
UNKNOWN_BUTTON = "This question is not known any more."
NOT_AN_APPROVER = "You cannot decide this: you are not known here as one who is asked for this approval."
NOT_COUNTED = (UNKNOWN_BUTTON, NOT_AN_APPROVER)
"""What is told about a press that decides nothing, and leaves the question as it is."""
_PRESS = re.compile(r"([0-9]{1,18})\.([0-9a-f]{24})", re.ASCII)


class ApprovalState(StrEnum):
    """Which approvals a list holds."""

    WAITING = "waiting"
    DECIDED = "decided"


@value
class ApprovalRequest:
    """A user or a team decides whether a resource may use a tool.

    `approver`: "user:ID" or "team:ID". `inbox_id` is the message whose answer asked, `request_id` that of the run,
    `original` and `form` what the resource gets once more. `secret` proves that a button was made here.
    `decision` is None as long as it waits; `decided_by` is empty if nobody decided in time. `id` is 0 until the
    request is stored.
    """

    instance_id: int
    session_id: str
    inbox_id: int
    request_id: str
    resource: str
    tool: str
    parameters: Mapping[str, object]
    approver: str
    sender: str
    original: str
    asked_at: datetime
    expires_at: datetime
    secret: str = field(repr=False)
    form: Mapping[str, object] = field(default_factory=dict)
    decision: str | None = None
    decided_by: str = ""
    reason: str = ""
    decided_at: datetime | None = None
    id: int = 0

    @property
    def is_approved(self) -> bool:
        return self.decision == APPROVED

    @property
    def is_expired(self) -> bool:
        """Return True if it was rejected because nobody decided in time."""
        return self.decision is not None and not self.decided_by

    @property
    def state(self) -> str:
        if self.decision is None:
            return ApprovalState.WAITING
        return "expired" if self.is_expired else self.decision


@value
class ApprovalView:
    """A request as approvers see it. `state`: waiting, approved, rejected, or expired if nobody decided in time.
    `message_id`, `sender` and `text` are of the message that led to it."""

    id: int
    state: str
    tool: str
    parameters: Mapping[str, object]
    approver: str
    resource: str
    instance_id: int
    session_id: str
    message_id: str
    sender: str
    text: str
    asked_at: datetime
    expires_at: datetime
    decided_by: str = ""
    decided_at: datetime | None = None
    reason: str = ""


def view_of(request: ApprovalRequest) -> ApprovalView:
    return ApprovalView(
        id=request.id,
        state=request.state,
        tool=request.tool,
        parameters=request.parameters,
        approver=request.approver,
        resource=request.resource,
        instance_id=request.instance_id,
        session_id=request.session_id,
        message_id=str(MessageId(MessageKind.INBOUND, request.inbox_id)),
        sender=request.sender,
        text=request.original,
        asked_at=request.asked_at,
        expires_at=request.expires_at,
        decided_by=request.decided_by,
        decided_at=request.decided_at,
        reason=request.reason,
    )


@dataclass(frozen=True, slots=True)
class Button:
    """A button that an approver pressed. `proof` tells for whom it was made."""

    approval_id: int
    decision: str
    proof: str


def buttons(request: ApprovalRequest, user_id: str) -> tuple[Choice, ...]:
    """The replies that a user is offered in a message."""
    proof = _proof(request, user_id)
    return tuple(
        Choice(label, f"{BUTTON_PREFIX}{number}:{request.id}.{proof}")
        for label, number in (("Approve", APPROVE), ("Reject", REJECT))
    )


def pressed(value: str) -> Button | None:
    """The button with this value; None for the buttons of other questions."""
    parts = _PRESS.fullmatch(nonce_of(value))
    decision = DECISIONS.get(value.removeprefix(BUTTON_PREFIX).partition(":")[0])
    return Button(int(parts[1]), decision, parts[2]) if parts and decision else None


def recipient_of(button: Button, request: ApprovalRequest, users: Sequence[str]) -> str | None:
    """The one of these users for whom a button was made."""
    return next((user for user in users if hmac.compare_digest(_proof(request, user), button.proof)), None)


def written_choice(choices: Sequence[Choice], text: str) -> Choice | None:
    """The button that a written reply stands for, such as "yes"; None where the choices are no such buttons."""
    if not choices or not all(pressed(choice.value) for choice in choices):
        return None
    if text.strip().isdigit():  # numbers are those of the list
        return None
    decision = decision_of(text)
    offered = ((choice, pressed(choice.value)) for choice in choices)
    return next((choice for choice, button in offered if button and button.decision == decision), None)


def waits(tool: str, can_write: bool) -> str:
    """For the sender: somebody else decides. `can_write`: what comes of it can be sent to them."""
    then = ", and write here once it is decided" if can_write else ""
    return f"The tool {as_code(tool)} needs an approval. I have asked for it{then}."


def outcome_for_sender(request: ApprovalRequest) -> str:
    tool = as_code(request.tool)
    if request.is_expired:
        return f"Nobody decided in time about the tool {tool}, so it is not used."
    reason = f" {request.reason}" if request.reason else ""
    return f"The tool {tool} was {'approved' if request.is_approved else 'not approved'}.{reason}"


def outcome_for_approver(request: ApprovalRequest) -> str:
    """One sentence: the decision, and by whom."""
    tool = as_code(request.tool)
    if request.is_expired:
        return f"The time for a decision is over: the tool {tool} was rejected."
    return f"The tool {tool} was {request.decision} by {as_code(request.decided_by)}."


def _proof(request: ApprovalRequest, user_id: str) -> str:
    key = request.secret.encode()
    return hmac.new(key, f"{request.id} {user_id}".encode(), hashlib.sha256).hexdigest()[:24]
