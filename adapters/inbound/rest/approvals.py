"""Approvals over REST: tools about whose use users and teams decide."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.confirmations import policy, requests
from domain.confirmations.policy import APPROVER_MINUTES, MOST_MINUTES
from domain.paging import Page


class ApprovalRule(bodies.StrictBody):
    """A rule of an approval policy."""

    model_config = ConfigDict(from_attributes=True)

    tool: bodies.Text = Field(
        max_length=limits.KEY_NAME, description="A glob over names of tools.", examples=["refund*"]
    )
    by: bodies.Text = Field(
        policy.SENDER,
        max_length=limits.USER_ID + len(policy.USER),
        description="Who decides: sender, who wrote the message, user:ID or team:ID.",
        examples=["team:3"],
    )
    minutes: bodies.WholeNumber | None = Field(
        None,
        description=f"How long a user or a team has, at most {MOST_MINUTES}; {APPROVER_MINUTES} if it is left out.",
        examples=[60],
    )


def rules_of(given: Sequence[ApprovalRule] | None) -> tuple[policy.ApprovalRule, ...] | None:
    """None stays None."""
    if given is None:
        return None
    return tuple(policy.ApprovalRule(rule.tool, rule.by, rule.minutes) for rule in given)


class Approval(bodies.Answer):
    id: int = Field(examples=[12])
    state: Literal["waiting", "approved", "rejected", "expired"] = Field(
        description="`expired`: nobody decided in time; the tool is not used.", examples=["waiting"]
    )
    tool: str = Field(examples=["refund"])
    parameters: dict[str, Any] = Field(examples=[{"order": 4711}])
    approver: str = Field(description="Who decides, beside admins: user:ID or team:ID.", examples=["team:3"])
    resource: str = Field(description="Who wants to use the tool.", examples=["agent::shop_0"])
    instanceId: int = Field(examples=[7])
    sessionId: str = Field(examples=["123456789"])
    messageId: str = Field(description="The message that led to it.", examples=["in-41"])
    sender: str = Field(description="Who wrote that message.", examples=["Ada"])
    text: str = Field(description="Its text.", examples=["I want my money back."])
    askedAt: bodies.Timestamp
    expiresAt: bodies.Timestamp
    decidedBy: str = Field(description="The user who decided; empty if nobody has.", examples=[""])
    decidedAt: bodies.OptionalTimestamp
    reason: str = Field(examples=[""])


class ApprovalList(bodies.Answer):
    approvals: list[Approval] = bodies.attribute("items")
    next: int | None


class DecideApproval(bodies.StrictBody):
    decision: Literal["approved", "rejected"] = Field(examples=["approved"])
    reason: bodies.Text = Field(
        "",
        max_length=requests.LONGEST_REASON,
        description="The sender reads it.",
        examples=["The parcel came back."],
    )


APPROVALS = "/api/agent/approvals"
router = APIRouter(route_class=JsonRoute, tags=["approvals"])
ApprovalId = Annotated[int, id_in_path("approvalId", "Id of an approval.", 12)]


@router.get(APPROVALS, response_model=ApprovalList, responses=errors(400), summary="Approvals")
async def list_approvals(
    call: Call,
    page: CursorPage,
    state: Annotated[
        requests.ApprovalState | None,
        Query(description="waiting or decided; without it all.", examples=["waiting"]),
    ] = None,
) -> Page[requests.ApprovalView, int]:
    """Those that you are asked for, yourself or with a team; for admins all. The latest first."""
    return await call.services.approvals.list(call.caller, state, page.limit, page.number)


@router.get(
    APPROVALS + "/{approvalId}", response_model=Approval, responses=errors(403, 404), summary="One approval"
)
async def get_approval(call: Call, approval: ApprovalId) -> requests.ApprovalView:
    """403 for all but its approvers and admins."""
    return await call.services.approvals.get(call.caller, approval)


@router.post(
    APPROVALS + "/{approvalId}/decision",
    response_model=Approval,
    responses=errors(400, 403, 404, 409),
    summary="Approve or reject the use of a tool",
)
async def decide_approval(call: Call, approval: ApprovalId, body: DecideApproval) -> requests.ApprovalView:
    """One decision counts: 409 names who decided before. The resource goes on at once, and the sender gets what it
    answers."""
    return await call.services.approvals.decide(call.caller, approval, body.decision, body.reason)
