"""Tool confirmations: asked, decided, cleared, expired."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from domain.access.model import Caller
from domain.audit.model import Action
from domain.confirmations import model
from domain.confirmations.policy import SENDER
from domain.conversations.model import message_subject
from domain.routing.model import REJECTED
from ports.audit import Audit
from ports.conversations import ConfirmationStore
from ports.system import Clock, Ids


@dataclass(eq=False)
class ConfirmationService:
    store: ConfirmationStore
    audit: Audit
    clock: Clock
    ids: Ids

    async def decide(self, scope: model.ApprovalScope, received: model.ReceivedText) -> model.ApprovalResult:
        state = await self._state(scope)
        pending = state.pending
        if pending is not None and pending.asked_by == received.event_id:
            # Asked by this same event, whose worker died before the question was sent.
            return model.ApprovalResult(prompt=_prompt(pending), approved_tools=state.tools)
        if received.choice is not None and model.is_approval(received.choice):
            return await self._decide_by_button(scope, received, received.choice)
        return await self._decide_by_text(scope, received, state)

    async def _decide_by_text(
        self, scope: model.ApprovalScope, received: model.ReceivedText, state: model.SessionState
    ) -> model.ApprovalResult:
        pending, ordinary = state.pending, model.ApprovalResult(approved_tools=state.tools)
        if pending is None:
            return ordinary
        if pending.was_decided_by(received.event_id):
            return _decided(pending, state)
        if not self._is_open(pending):
            await self.store.close(scope.instance_id, pending.id, self.clock.now())
            return ordinary
        if not scope.may_decide(pending):
            return ordinary
        decision = model.decision_of(received.text) if received.choice is None else None
        if decision is None:
            await self.store.close(scope.instance_id, pending.id, self.clock.now())
            return replace(ordinary, closed=_closed(pending))
        return await self._store_decision(scope, received, pending, decision, ordinary)

    async def _decide_by_button(
        self, scope: model.ApprovalScope, received: model.ReceivedText, button: str
    ) -> model.ApprovalResult:
        """The button names its question: neither the sender nor the session of the press tells which it is."""
        nonce = model.nonce_of(button)
        stored = await self.store.find(scope.instance_id, scope.session_id, nonce) if nonce else None
        if stored is None:
            return model.ApprovalResult(notice=model.NO_LONGER_OPEN)
        if not stored.in_instance:
            return model.ApprovalResult(notice=model.ASKED_ELSEWHERE)
        pending = stored.pending
        if pending.was_decided_by(received.event_id) and not stored.closed:
            return _decided(pending, await self._state(scope))
        if not self._is_open(pending, closed=stored.closed):
            return model.ApprovalResult(repeated=_closed(pending))
        if not scope.may_decide(pending):
            return model.ApprovalResult(notice=model.NOT_YOURS)
        decision = model.decision_of_button(button, nonce)
        if decision is None or not stored.in_session:
            return model.ApprovalResult(notice=model.ASKED_ELSEWHERE)
        no_longer_open = model.ApprovalResult(repeated=_closed(pending))
        return await self._store_decision(scope, received, pending, decision, no_longer_open)

    def _is_open(self, pending: model.Pending, *, closed: bool = False) -> bool:
        return not closed and pending.decision is None and pending.expires_at > self.clock.now()

    async def _store_decision(
        self,
        scope: model.ApprovalScope,
        received: model.ReceivedText,
        pending: model.Pending,
        decision: str,
        no_longer_open: model.ApprovalResult,
    ) -> model.ApprovalResult:
        now = self.clock.now()
        decided = replace(
            pending,
            decision=decision,
            decided_by=received.event_id,
            decider=received.name,
            decided_at=now,
        )
        caller = Caller(scope.user_id or "", address=f"instance:{scope.instance_id}")
        data = {
            "tool": pending.tool,
            "parameters": pending.parameters,
            "decision": decision,
            "approver": SENDER,
            "message": message_subject(scope.instance_id, pending.asked_by),
        }
        try:
            async with self.audit.change(caller, Action.APPROVAL_DECIDED, f"confirmation:{pending.id}", data):
                if not await self.store.decide(scope.instance_id, scope.session_id, decided, now):
                    raise model.DecidedMeanwhile
        except model.DecidedMeanwhile:
            return no_longer_open
        return _decided(decided, await self._state(scope))

    async def _state(self, scope: model.ApprovalScope) -> model.SessionState:
        now = self.clock.now()
        return await self.store.load(scope.instance_id, scope.session_id, now, now - model.SESSION_TIMEOUT)

    async def begin(self, scope: model.ApprovalScope, decision: model.Decision) -> bool:
        if decision.decision == REJECTED:
            return True
        return await self.store.begin(scope.instance_id, scope.session_id, decision.confirmation_id)

    async def ask(
        self,
        scope: model.ApprovalScope,
        received: model.ReceivedText,
        original: str,
        tool: str,
        parameters: Mapping[str, object],
        resource: str = "",
        form: Mapping[str, object] | None = None,
    ) -> model.Prompt:
        now = self.clock.now()
        pending = model.Pending(
            id=self.ids.request_id(),
            tool=tool,
            parameters=parameters,
            nonce=self.ids.token(16),
            asked_of=scope.external_id,
            asked_by=received.event_id,
            original=original,
            expires_at=now + model.LIFETIME,
            asked_user=scope.user_id,
            resource=resource,
            form=form or {},
        )
        replaced = await self.store.put(scope.instance_id, scope.session_id, pending, now)
        return replace(_prompt(pending), replaced=_closed(replaced) if replaced else None)

    async def expire(self) -> int:
        """Closes and removes what has expired; how many."""
        now = self.clock.now()
        return await self.store.expire(now, now - model.SESSION_TIMEOUT, now - model.RETENTION)


def _prompt(pending: model.Pending) -> model.Prompt:
    return model.Prompt(model.question(pending.tool, pending.parameters), model.choices_of(pending.nonce))


def _closed(pending: model.Pending) -> model.ClosedQuestion:
    """What a question reads that is closed, decided or not."""
    return model.ClosedQuestion(pending.asked_by, model.closed_prompt(pending))


def _decided(pending: model.Pending, state: model.SessionState) -> model.ApprovalResult:
    assert pending.decision is not None
    decision = model.Decision(
        pending.id, pending.tool, pending.decision, pending.original, pending.resource, pending.form
    )
    return model.ApprovalResult(decision, state.tools, closed=_closed(pending))
