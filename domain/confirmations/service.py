"""Questions about tools: asked, decided, cleared, expired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from domain.confirmations.choices import is_approval, nonce_of
from domain.confirmations.model import Pending, SessionState
from domain.confirmations.rules import (
    ASKED_ELSEWHERE,
    KEPT,
    LIFE,
    NO_LONGER_OPEN,
    NOT_YOURS,
    SILENCE,
    choices_of,
    closed,
    decision_of,
    pressed,
    question,
)
from domain.routing.model import REJECTED
from ports.clock import Clock, Ids
from ports.confirmations import ConfirmationStore
from ports.identities import ApprovalResult, ApprovalScope, Decision, OverPrompt, Prompt, ReceivedText


class ConfirmationService:
    """`ports.identities.Approvals`."""

    def __init__(self, store: ConfirmationStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def decide(self, asker: ApprovalScope, said: ReceivedText) -> ApprovalResult:
        state = await self._state(asker)
        pending = state.pending
        if pending is not None and pending.asked_by == said.event_id:
            # Asked by this very event, whose worker died before the question was on its way.
            return ApprovalResult(prompt=_prompt(pending), approved_tools=state.tools)
        if said.choice is not None and is_approval(said.choice):
            return await self._press(asker, said, said.choice)
        if pending is None:
            return ApprovalResult(approved_tools=state.tools)
        if pending.decision is not None and pending.decided_by == said.event_id:
            return _decided(pending, state)
        if pending.decision is not None or pending.expires_at <= self._clock.now():
            await self._store.close(asker.instance_id, pending.id, self._clock.now())
            return ApprovalResult(approved_tools=state.tools)
        if pending.asked_of != asker.external_id:
            return ApprovalResult(approved_tools=state.tools)
        decision = decision_of(said.text)
        if decision is None:
            await self._store.close(asker.instance_id, pending.id, self._clock.now())
            return ApprovalResult(approved_tools=state.tools, over=_over(pending))
        ruling = await self._decide(asker, said, pending, decision)
        return ruling or ApprovalResult(approved_tools=state.tools)

    async def _press(self, asker: ApprovalScope, said: ReceivedText, button: str) -> ApprovalResult:
        """The button names its question: neither the sender nor the session of the press tells which it is."""
        nonce = nonce_of(button)
        found = await self._store.find(asker.instance_id, asker.session_id, nonce) if nonce else None
        if found is None:
            return ApprovalResult(notice=NO_LONGER_OPEN)
        if not found.in_instance:
            return ApprovalResult(notice=ASKED_ELSEWHERE)
        pending = found.pending
        if pending.decision is not None and pending.decided_by == said.event_id and not found.closed:
            return _decided(pending, await self._state(asker))
        if found.closed or pending.decision is not None or pending.expires_at <= self._clock.now():
            return ApprovalResult(repeated=_over(pending))
        if pending.asked_of != asker.external_id:
            return ApprovalResult(notice=NOT_YOURS)
        decision = pressed(button, nonce)
        if decision is None or not found.in_session:
            return ApprovalResult(notice=ASKED_ELSEWHERE)
        ruling = await self._decide(asker, said, pending, decision)
        return ruling or ApprovalResult(repeated=_over(pending))

    async def _decide(
        self, asker: ApprovalScope, said: ReceivedText, pending: Pending, decision: str
    ) -> ApprovalResult | None:
        """The ruling of a decision, None where the question is not open any more."""
        decided = replace(pending, decision=decision, decided_by=said.event_id, decider=said.name)
        if not await self._store.decide(asker.instance_id, asker.session_id, decided, self._clock.now()):
            return None
        return _decided(decided, await self._state(asker))

    async def _state(self, asker: ApprovalScope) -> SessionState:
        now = self._clock.now()
        return await self._store.load(asker.instance_id, asker.session_id, now, now - SILENCE)

    async def begin(self, asker: ApprovalScope, decision: Decision) -> bool:
        if decision.decision == REJECTED:
            return True
        return await self._store.begin(asker.instance_id, asker.session_id, decision.confirmation_id)

    async def ask(
        self,
        asker: ApprovalScope,
        said: ReceivedText,
        original: str,
        tool: str,
        parameters: Mapping[str, Any],
    ) -> Prompt:
        now = self._clock.now()
        pending = Pending(
            id=self._ids.request_id(),
            tool=tool,
            parameters=parameters,
            nonce=self._ids.token(16),
            asked_of=asker.external_id,
            asked_by=said.event_id,
            original=original,
            expires_at=now + LIFE,
        )
        replaced = await self._store.put(asker.instance_id, asker.session_id, pending, now)
        return replace(_prompt(pending), replaced=_over(replaced) if replaced else None)

    async def expire(self) -> int:
        """Ends and removes what is over; how much."""
        now = self._clock.now()
        return await self._store.expire(now, now - SILENCE, now - KEPT)


def _prompt(pending: Pending) -> Prompt:
    return Prompt(question(pending.tool, pending.parameters), choices_of(pending.nonce))


def _over(pending: Pending) -> OverPrompt:
    """What a question reads that is over, decided or not."""
    return OverPrompt(
        pending.asked_by, closed(pending.tool, pending.parameters, pending.decision, pending.decider)
    )


def _decided(pending: Pending, state: SessionState) -> ApprovalResult:
    assert pending.decision is not None
    decision = Decision(pending.id, pending.tool, pending.decision, pending.original)
    return ApprovalResult(decision, state.tools, over=_over(pending))
