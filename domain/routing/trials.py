"""Resources tried by hand."""

import asyncio
from dataclasses import dataclass, field, replace

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import needs
from domain.channels.answers import Answer
from domain.channels.model import Proof
from domain.conversations.rich_text import with_text
from domain.refusals import Fault, Forbidden, Invalid, TooMany
from domain.routing import model
from domain.routing.resource import parse_resource
from domain.usage.budget_service import BudgetGuard
from ports.resources import Downstream, DownstreamFailed, ResourceDirectory
from ports.system import Clock, Ids
from ports.usage import UsageStore

SECONDS = 30.0
"""For one trial, retries included."""
MOST_TRIALS = 8
"""Under way at a time in one process; one of each user."""
PAUSE = 5.0
"""Seconds to wait where there are too many."""
MOST_SHOWN = 20_000
"""Characters of an answer."""
CHANNEL_ID = "trial"
"""What resources are told in place of a channel; the instance is 0, and each trial is a conversation of its own."""


@dataclass(eq=False)
class TrialService:
    """The rules in force, and trials."""

    directory: ResourceDirectory
    downstream: Downstream
    clock: Clock
    ids: Ids
    usage: UsageStore
    budgets: BudgetGuard
    _users: set[str] = field(default_factory=set, init=False)

    @needs(Scope.INSTANCES_READ, Scope.AGENTS_WRITE)
    async def rules(self, caller: Caller) -> model.ResourceRules:
        """Raises `Forbidden` for anybody but an admin."""
        if not caller.is_admin:
            raise Forbidden("the rules of resources are shown to admins alone; you may try a resource id")
        return await self.directory.rules()

    @needs(Scope.AGENTS_WRITE)
    async def try_out(self, caller: Caller, resource_id: str, text: str, *, ask: bool) -> model.ResourceTrial:
        """Finds what takes an id, and with `ask` asks it for real.

        Raises `Invalid`, `Forbidden` for a responder, `TooMany` (trials are under way).
        """
        caller.require_member("trials")
        resource = parse_resource(resource_id)
        rule = await self.directory.find(resource, caller)
        answer = await self.ask(caller, resource, text, self.downstream) if ask and rule else None
        source, kind = (rule.source, rule.kind) if rule else (model.NOTHING, "")
        return model.ResourceTrial(str(resource), source, kind, rule if caller.is_admin else None, answer)

    @needs(Scope.AGENTS_WRITE)
    async def ask(
        self, caller: Caller, resource: model.Resource, text: str, downstream: Downstream
    ) -> model.TrialAnswer:
        """Asks a resource for real. Raises `Invalid`, `TooMany` (trials are under way)."""
        user, resource_id = caller.user, resource.without_expert
        _check_text(text)
        if used_up := self.budgets.used_up(0, resource_id, user):
            return model.TrialAnswer(error=f"not asked: {used_up.in_words}")
        if user in self._users or len(self._users) >= MOST_TRIALS:
            whose = "your last trial" if user in self._users else f"{MOST_TRIALS} trials of others"
            raise TooMany(f"{whose} is still under way; try again when it has ended", PAUSE)
        self._users.add(user)
        try:
            request_id = self.ids.request_id()
            sender = model.RunSender(user, user, user, Proof.SERVICE)
            request = model.RunRequest(
                resource, request_id, 0, CHANNEL_ID, request_id, sender, text, user, timeout=SECONDS
            )
            started, usage = self.clock.now(), None
            try:
                async with asyncio.timeout(SECONDS):
                    result = await downstream.run(request)
                    usage = result.usage
                    shown = with_text(Answer(result.text, rich=result.rich))
                    answer = model.TrialAnswer(
                        shown.text[:MOST_SHOWN],
                        tuple(artifact.name for artifact in result.artifacts),
                        tuple(choice.label for choice in result.choices),
                        result.confirmation.tool if result.confirmation else "",
                        result.wants_person,
                        usage=result.usage,
                    )
            except TimeoutError:
                answer = model.TrialAnswer(error=f"the resource does not answer within {SECONDS:g} s")
            except DownstreamFailed as failed:
                answer = model.TrialAnswer(error=str(failed))
            seconds = (self.clock.now() - started).total_seconds()
            request.usage_meter.end_run(resource_id, user, usage, seconds)
            self.usage.keep(0, request.usage_meter.take())
            return replace(answer, seconds=seconds)
        finally:
            self._users.discard(user)


def _check_text(text: str) -> None:
    """Raises `Invalid`."""
    if not text.strip():
        raise Invalid.of([Fault("text", "is empty; write what the resource is to be asked")])
    if fault := limits.text_fault(text, limits.TRIAL_TEXT):
        raise Invalid.of([Fault("text", fault)])
