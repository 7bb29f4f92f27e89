"""Tool confirmations: asked, decided, cleared, expired."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from domain.confirmations.model import (
    ASKED_ELSEWHERE,
    LIFETIME,
    NO_LONGER_OPEN,
    NOT_YOURS,
    RETENTION,
    SESSION_TIMEOUT,
    ApprovalResult,
    ApprovalScope,
    ClosedQuestion,
    Decision,
    Pending,
    Prompt,
    ReceivedText,
    SessionState,
    choices_of,
    closed_prompt,
    decision_of,
    decision_of_button,
    is_approval,
    nonce_of,
    question,
)
from domain.routing.model import REJECTED
from ports.conversations import ConfirmationStore
from ports.system import Clock, Ids


@dataclass(eq=False)
class ConfirmationService:
    store: ConfirmationStore
    clock: Clock
    ids: Ids

    async def decide(self, scope: ApprovalScope, received: ReceivedText) -> ApprovalResult:
        state = await self._state(scope)
        pending = state.pending
        if pending is not None and pending.asked_by == received.event_id:
            # Asked by this same event, whose worker died before the question was sent.
            return ApprovalResult(prompt=_prompt(pending), approved_tools=state.tools)
        if received.choice is not None and is_approval(received.choice):
            return await self._decide_by_button(scope, received, received.choice)
        return await self._decide_by_text(scope, received, state)

    async def _decide_by_text(
        self, scope: ApprovalScope, received: ReceivedText, state: SessionState
    ) -> ApprovalResult:
        pending, ordinary = state.pending, ApprovalResult(approved_tools=state.tools)
        if pending is None:
            return ordinary
        if pending.was_decided_by(received.event_id):
            return _decided(pending, state)
        if not self._is_open(pending):
            await self.store.close(scope.instance_id, pending.id, self.clock.now())
            return ordinary
        if not scope.may_decide(pending):
            return ordinary
        decision = decision_of(received.text) if received.choice is None else None
        if decision is None:
            await self.store.close(scope.instance_id, pending.id, self.clock.now())
            return replace(ordinary, closed=_closed(pending))
        return await self._store_decision(scope, received, pending, decision, ordinary)

    async def _decide_by_button(
        self, scope: ApprovalScope, received: ReceivedText, button: str
    ) -> ApprovalResult:
        """The button names its question: neither the sender nor the session of the press tells which it is."""
        nonce = nonce_of(button)
        stored = await self.store.find(scope.instance_id, scope.session_id, nonce) if nonce else None
        if stored is None:
            return ApprovalResult(notice=NO_LONGER_OPEN)
        if not stored.in_instance:
            return ApprovalResult(notice=ASKED_ELSEWHERE)
        pending = stored.pending
        if pending.was_decided_by(received.event_id) and not stored.closed:
            return _decided(pending, await self._state(scope))
        if not self._is_open(pending, closed=stored.closed):
            return ApprovalResult(repeated=_closed(pending))
        if not scope.may_decide(pending):
            return ApprovalResult(notice=NOT_YOURS)
        decision = decision_of_button(button, nonce)
        if decision is None or not stored.in_session:
            return ApprovalResult(notice=ASKED_ELSEWHERE)
        no_longer_open = ApprovalResult(repeated=_closed(pending))
        return await self._store_decision(scope, received, pending, decision, no_longer_open)

    def _is_open(self, pending: Pending, *, closed: bool = False) -> bool:
        return not closed and pending.decision is None and pending.expires_at > self.clock.now()

    async def _store_decision(
        self,
        scope: ApprovalScope,
        received: ReceivedText,
        pending: Pending,
        decision: str,
        no_longer_open: ApprovalResult,
    ) -> ApprovalResult:
        now = self.clock.now()
        decided = replace(
            pending,
            decision=decision,
            decided_by=received.event_id,
            decider=received.name,
            decided_at=now,
        )
        if not await self.store.decide(scope.instance_id, scope.session_id, decided, now):
            return no_longer_open
        return _decided(decided, await self._state(scope))

    async def _state(self, scope: ApprovalScope) -> SessionState:
        now = self.clock.now()
        return await self.store.load(scope.instance_id, scope.session_id, now, now - SESSION_TIMEOUT)

    async def begin(self, scope: ApprovalScope, decision: Decision) -> bool:
        if decision.decision == REJECTED:
            return True
        return await self.store.begin(scope.instance_id, scope.session_id, decision.confirmation_id)

    async def ask(
        self,
        scope: ApprovalScope,
        received: ReceivedText,
        original: str,
        tool: str,
        parameters: Mapping[str, object],
    ) -> Prompt:
        now = self.clock.now()
        pending = Pending(
            id=self.ids.request_id(),
            tool=tool,
            parameters=parameters,
            nonce=self.ids.token(16),
            asked_of=scope.external_id,
            asked_by=received.event_id,
            original=original,
            expires_at=now + LIFETIME,
            asked_user=scope.user_id,
        )
        replaced = await self.store.put(scope.instance_id, scope.session_id, pending, now)
        return replace(_prompt(pending), replaced=_closed(replaced) if replaced else None)

    async def expire(self) -> int:
        """Closes and removes what has expired; how many."""
        now = self.clock.now()
        return await self.store.expire(now, now - SESSION_TIMEOUT, now - RETENTION)


def _prompt(pending: Pending) -> Prompt:
    return Prompt(question(pending.tool, pending.parameters), choices_of(pending.nonce))


def _closed(pending: Pending) -> ClosedQuestion:
    """What a question reads that is closed, decided or not."""
    return ClosedQuestion(pending.asked_by, closed_prompt(pending))


def _decided(pending: Pending, state: SessionState) -> ApprovalResult:
    assert pending.decision is not None
    decision = Decision(pending.id, pending.tool, pending.decision, pending.original)
    return ApprovalResult(decision, state.tools, closed=_closed(pending))
