"""Questions about tools: asked, decided, cleared, expired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.confirmations.choices import is_approval
from domain.confirmations.model import Pending, SessionState
from domain.confirmations.rules import LIFE, SILENCE, choices_of, decision_of, pressed, question
from domain.routing.model import REJECTED
from ports.clock import Clock, Ids
from ports.confirmations import ConfirmationStore
from ports.people import Asker, Decision, Prompt, Ruling, Said


class ConfirmationService:
    """`ports.people.Approvals`."""

    def __init__(self, store: ConfirmationStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    async def decide(self, asker: Asker, said: Said) -> Ruling:
        now = self._clock.now()
        state = await self._store.load(asker.instance_id, asker.session_id, now, now - SILENCE)
        pending = state.pending
        if pending is None:
            return Ruling(approved_tools=state.tools, stale=_of_prompt(said))
        if pending.asked_by == said.event_id:
            # Asked by this very event, whose worker died before the question was on its way.
            return Ruling(prompt=_prompt(pending), approved_tools=state.tools)
        if pending.decision is not None:
            return await self._decided_before(asker, said, pending, state)
        if pending.expires_at <= now:
            await self._store.clear(asker.instance_id, asker.session_id, pending.id)
            return Ruling(approved_tools=state.tools, stale=_of_prompt(said))
        if pending.asked_of != asker.external_id:
            return Ruling(approved_tools=state.tools)
        return await self._decide(asker, said, pending, state)

    async def _decided_before(
        self, asker: Asker, said: Said, pending: Pending, state: SessionState
    ) -> Ruling:
        if pending.decided_by == said.event_id and pending.decision is not None:
            return Ruling(_decision(pending, pending.decision), state.tools)
        await self._store.clear(asker.instance_id, asker.session_id, pending.id)
        return Ruling(approved_tools=state.tools, stale=_of_prompt(said))

    async def _decide(self, asker: Asker, said: Said, pending: Pending, state: SessionState) -> Ruling:
        button = said.choice if said.choice is not None and is_approval(said.choice) else None
        decision = pressed(button, pending.nonce) if button else decision_of(said.text)
        place = (asker.instance_id, asker.session_id)
        if decision is None:
            if button:
                return Ruling(approved_tools=state.tools, stale=True)
            await self._store.clear(*place, pending.id)
            return Ruling(approved_tools=state.tools, discarded=pending.asked_by)
        now = self._clock.now()
        if not await self._store.decide(*place, pending, decision, said.event_id, now):
            return Ruling(approved_tools=state.tools, stale=bool(button))
        state = await self._store.load(*place, now, now - SILENCE)
        return Ruling(_decision(pending, decision), state.tools)

    async def begin(self, asker: Asker, decision: Decision) -> bool:
        if decision.decision == REJECTED:
            return True
        return await self._store.begin(asker.instance_id, asker.session_id, decision.confirmation_id)

    async def ask(
        self, asker: Asker, said: Said, original: str, tool: str, parameters: Mapping[str, Any]
    ) -> Prompt:
        pending = Pending(
            id=self._ids.request_id(),
            tool=tool,
            parameters=parameters,
            nonce=self._ids.token(16),
            asked_of=asker.external_id,
            asked_by=said.event_id,
            original=original,
            expires_at=self._clock.now() + LIFE,
        )
        await self._store.put(asker.instance_id, asker.session_id, pending)
        return _prompt(pending)

    async def expire(self) -> int:
        """Removes what is over; how much."""
        now = self._clock.now()
        return await self._store.expire(now, now - SILENCE)


def _of_prompt(said: Said) -> bool:
    return said.choice is not None and is_approval(said.choice)


def _prompt(pending: Pending) -> Prompt:
    return Prompt(question(pending.tool, pending.parameters), choices_of(pending.nonce))


def _decision(pending: Pending, decision: str) -> Decision:
    return Decision(pending.id, pending.tool, decision, pending.original, pending.asked_by)
