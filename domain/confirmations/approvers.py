"""Users decide about tools that others want to have used."""

from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller, Role, Scope, User, UserState
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.confirmations import requests
from domain.confirmations.model import DecidedMeanwhile
from domain.confirmations.policy import team_of
from domain.confirmations.requests import ApprovalRequest, ApprovalState, ApprovalView, Button, view_of
from domain.conversations.assignees import of_team, of_user, teams_of
from domain.conversations.model import message_subject
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound, Refusal, Unavailable
from domain.routing.model import APPROVED, REJECTED
from ports.access import TeamStore, UserStore
from ports.approvals import ApprovalStore
from ports.audit import Audit
from ports.system import Clock

SERVICE = Caller("")
"""Who rejects a request in the audit log when its time is over."""


@dataclass(frozen=True, slots=True)
class Press:
    """A button that was pressed, or a reply in its place, in a conversation of an instance. `user_id`: the platform
    user that the sender is known as. `is_direct`: nobody else writes in the conversation."""

    button: str
    instance_id: int
    user_id: str | None
    is_direct: bool


@dataclass(eq=False)
class ApproverService:
    """Approvers are the user or the members of the team that a request names, and admins."""

    store: ApprovalStore
    teams: TeamStore
    users: UserStore
    audit: Audit
    clock: Clock

    @needs(Scope.CONVERSATIONS_READ, Scope.MESSAGES_SEND)
    async def list(
        self, caller: Caller, state: ApprovalState | None, limit: int, cursor: int
    ) -> Page[ApprovalView, int]:
        """Those that the caller may decide, the latest first; `cursor`: 0 for the first page. Raises `Invalid`."""
        most = checked_limit(limit) + 1
        user_id, approvers = caller.user_id, None
        if not caller.is_admin:
            approvers = (of_user(user_id), *await teams_of(self.teams, user_id))
        listed = await self.store.list(approvers, state, cursor or None, most)
        views = [view_of(request) for request in listed[:limit]]
        return Page(views, views[-1].id if len(listed) > limit else None)

    @needs(Scope.CONVERSATIONS_READ, Scope.MESSAGES_SEND)
    async def get(self, caller: Caller, approval_id: int) -> ApprovalView:
        """Raises `NotFound`, and `Forbidden` for all but approvers."""
        return view_of(await self._find(caller, approval_id))

    async def _find(self, caller: Caller, approval_id: int) -> ApprovalRequest:
        request = await self.store.find(approval_id) if 0 < approval_id < 2**63 else None
        if request is None:
            raise NotFound(f"there is no approval {approval_id}")
        if not (caller.is_admin or await self._is_approver(caller.user_id, request.approver)):
            raise Forbidden(f"only {request.approver} and admins decide about approval {approval_id}")
        return request

    @needs(Scope.MESSAGES_SEND)
    async def decide(self, caller: Caller, approval_id: int, decision: str, reason: str = "") -> ApprovalView:
        """Decides for all approvers. The same decision of the same user once more changes nothing.

        Raises `Invalid`, `NotFound`, `Forbidden`, and `Conflict` where it was decided before or its time is over.
        """
        if decision not in (APPROVED, REJECTED):
            raise Invalid.of([Fault("decision", f"must be {APPROVED} or {REJECTED}")])
        if fault := limits.text_fault(reason, requests.LONGEST_REASON):
            raise Invalid.of([Fault("reason", fault)])
        request = await self._find(caller, approval_id)
        return view_of(await self._decided(caller, request, decision, reason.strip()))

    async def press(self, press: Press) -> str:
        """Decides by a button of a message to an approver; the text for the person who pressed.

        In a conversation with others only a verified user counts, as anybody there could press. Raises `Unavailable`.
        """
        button = requests.pressed(press.button)
        request = await self.store.find(button.approval_id) if button else None
        if button is None or request is None:
            return requests.UNKNOWN_BUTTON
        user = await self._presser(press, button, request)
        if user is None:
            return requests.NOT_AN_APPROVER
        caller = Caller(user.id, user.role, address=f"instance:{press.instance_id}")
        try:
            return requests.outcome_for_approver(await self._decided(caller, request, button.decision, ""))
        except Unavailable:
            raise
        except Refusal as refusal:
            return refusal.message

    async def expire(self) -> None:
        """Rejects what nobody decided in time. Raises `Unavailable`."""
        now = self.clock.now()
        while expired := await self.store.expired(now):
            for request in expired:
                await self._store(SERVICE, "", request, REJECTED, requests.EXPIRED)

    async def _decided(
        self, caller: Caller, request: ApprovalRequest, decision: str, reason: str
    ) -> ApprovalRequest:
        """Raises `Conflict`."""
        decided = None
        if request.decision is None and request.expires_at > self.clock.now():
            decided = await self._store(caller, caller.user, request, decision, reason)
        if decided is not None:
            return decided
        latest = await self.store.find(request.id) or request
        if latest.decision == decision and latest.decided_by == caller.user_id:
            return latest
        raise Conflict(_already(latest))

    async def _store(
        self, caller: Caller, user_id: str, request: ApprovalRequest, decision: str, reason: str
    ) -> ApprovalRequest | None:
        """The decided request, None where it was decided meanwhile. `user_id` is empty if the time was over."""
        data = {
            "tool": request.tool,
            "parameters": request.parameters,
            "decision": decision,
            "reason": reason,
            "approver": request.approver,
            "message": message_subject(request.instance_id, request.inbox_id),
        }
        try:
            async with self.audit.change(caller, Action.APPROVAL_DECIDED, f"approval:{request.id}", data):
                now = self.clock.now()
                decided = await self.store.decide(request.id, decision, user_id, reason, now)
                if decided is None:
                    raise DecidedMeanwhile
        except DecidedMeanwhile:
            return None
        return decided

    async def _presser(self, press: Press, button: Button, request: ApprovalRequest) -> User | None:
        """The approver who pressed, None for anybody else."""
        notified = await self.store.notified(request.id)
        recipient = requests.recipient_of(button, request, notified)
        user_id = press.user_id or (recipient if press.is_direct else None)
        user = await self.users.find(user_id) if recipient and user_id else None
        if user is None or user.state is not UserState.ACTIVE:
            return None
        is_approver = user.role is Role.ADMIN or await self._is_approver(user.id, request.approver)
        return user if is_approver else None

    async def _is_approver(self, user_id: str, approver: str) -> bool:
        if approver == of_user(user_id):
            return True
        team = team_of(approver)
        return team is not None and of_team(team) in await teams_of(self.teams, user_id)


def _already(request: ApprovalRequest) -> str:
    if request.decision is None:
        return "the time for a decision is over"
    return requests.outcome_for_approver(request)
