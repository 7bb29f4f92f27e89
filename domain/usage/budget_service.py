"""Sets budgets, and tells before a run whether one is used up."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.instances.lookup import permitted_instance
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.routing.resource import parse_resource
from domain.usage.budgets import (
    MOST_AMOUNT,
    MOST_BUDGETS,
    Budget,
    BudgetKey,
    BudgetScope,
    BudgetState,
    NewBudget,
)
from domain.usage.model import CURRENCY, RunUsage
from ports.agents import AgentStore
from ports.audit import Audit
from ports.instances import InstanceStore
from ports.usage import BudgetStore


@dataclass(eq=False)
class BudgetService:
    """Budgets of users, instances and agents. Admins set those of all, others those of their own instances and
    agents: beside the budget of an admin, which they cannot change."""

    store: BudgetStore
    instances: InstanceStore
    agents: AgentStore
    audit: Audit

    @needs(Scope.INSTANCES_READ)
    async def list(self, caller: Caller, limit: int, cursor: int) -> Page[Budget, int]:
        """Those of the caller, of the instances that the caller may see, and of the caller's agents; for an admin
        all."""
        budgets = await self.store.list(caller.scope, cursor, checked_limit(limit) + 1)
        return Page(budgets[:limit], budgets[limit - 1].id if len(budgets) > limit else None)

    @needs(Scope.INSTANCES_WRITE)
    async def set(self, caller: Caller, new: NewBudget) -> Budget:
        """Sets the budget, in place of the one of the same user, instance or agent in the same unit.

        Raises `Invalid`, `Forbidden`, `NotFound`, `Conflict` (too many).
        """
        amount, currency = _checked_amount(new)
        scope, subject = await self._subject(caller, new)
        key = BudgetKey(scope, subject, currency, caller.is_admin)
        data = {"amount": amount, "unit": currency or "tokens"}
        async with self.audit.change(caller, Action.BUDGET_CHANGED, f"{scope}:{subject}", data):
            budget = await self.store.set(key, amount, caller.user_id, MOST_BUDGETS)
            if budget is None:
                raise Conflict(f"there are {MOST_BUDGETS} budgets already; delete one that is not used")
        return budget

    @needs(Scope.INSTANCES_WRITE)
    async def delete(self, caller: Caller, budget_id: int) -> None:
        """Raises `NotFound`, `Forbidden` for the budget of an admin, and without MANAGE on its instance."""
        budget = await self.store.find(caller.scope, budget_id)
        if budget is None:
            raise NotFound(f"there is no budget {budget_id}")
        if not caller.is_admin and (budget.by_admin or budget.user_id is not None):
            raise Forbidden("an admin has set this budget; ask an admin to change it")
        if not caller.is_admin and budget.instance_id is not None:
            await permitted_instance(self.instances, caller, budget.instance_id, InstanceLevel.MANAGE)
        data = {"amount": budget.tokens or budget.cost, "unit": budget.currency or "tokens"}
        async with self.audit.change(caller, Action.BUDGET_DELETED, budget.subject, data):
            await self.store.remove(budget_id)

    async def _subject(self, caller: Caller, new: NewBudget) -> tuple[BudgetScope, str]:
        """Raises `Invalid`, `Forbidden`, `NotFound`."""
        subjects = [value for value in (new.user_id, new.instance_id, new.resource_id) if value is not None]
        if len(subjects) != 1:
            raise Invalid.of([Fault("userId", "give exactly one of userId, instanceId and resourceId")])
        if new.instance_id is not None:
            instance = await permitted_instance(self.instances, caller, new.instance_id, InstanceLevel.MANAGE)
            return BudgetScope.INSTANCE, str(instance.id)
        if new.resource_id is not None:
            resource = parse_resource(new.resource_id)
            await self._check_agent(caller, resource.id)
            return BudgetScope.AGENT, resource.without_expert
        if not caller.is_admin:
            raise Forbidden("only an admin may set the budget of a user")
        return BudgetScope.USER, limits.check_filled("userId", new.user_id or "", limits.USER_ID)

    async def _check_agent(self, caller: Caller, slug: str) -> None:
        """Raises `Forbidden`."""
        if caller.is_admin:
            return
        agent = await self.agents.of_slug(slug, caller.user_id)
        if agent is None or agent.owner != caller.user_id:
            raise Forbidden("only an admin or the owner of a stored agent may set its budget")


def _checked_amount(new: NewBudget) -> tuple[float, str]:
    """The amount, and its currency, empty for tokens. Raises `Invalid`."""
    currency = new.currency or ""
    amounts = {
        name: amount for name, amount in (("tokens", new.tokens), ("cost", new.cost)) if amount is not None
    }
    bounds = f"must be over 0 and at most {MOST_AMOUNT}"
    if faults := [Fault(name, bounds) for name, amount in amounts.items() if not 0 < amount <= MOST_AMOUNT]:
        raise Invalid.of(faults)
    if len(amounts) != 1:
        raise Invalid.of([Fault("tokens", "give either tokens, or cost with a currency")])
    [(name, amount)] = amounts.items()
    if name == "tokens" and currency:
        raise Invalid.of([Fault("currency", "belongs to cost; a budget of tokens has none")])
    if name == "cost" and not CURRENCY.fullmatch(currency):
        raise Invalid.of([Fault("currency", "must be a code of three letters, such as EUR")])
    return amount, currency


@dataclass(eq=False)
class BudgetGuard:
    """Knows which budgets are used up: by sums that are read every few seconds, and by what this process has recorded
    since. A check costs nothing but a look at them."""

    store: BudgetStore
    _states: dict[tuple[BudgetScope, str], list[BudgetState]] = field(default_factory=dict, init=False)

    async def refresh(self) -> None:
        """Reads the sums, and has events recorded of those that have reached a percent. Raises `Unavailable`."""
        all_states = await self.store.states()
        former = {state.id: state for states in self._states.values() for state in states}
        self._states = {}
        for state in all_states:
            # What was recorded while the sums were read may be missing in them; sums of a month only grow.
            before = former.get(state.id)
            if before is not None and before.month == state.month:
                state.spent = max(state.spent, before.spent)
            self._states.setdefault((state.scope, state.subject), []).append(state)
        if any(state.is_to_be_told for state in all_states):
            await self.store.tell_reached()

    def note(self, instance_id: int, runs: Iterable[RunUsage]) -> None:
        """Counts runs that were recorded."""
        if not self._states:
            return
        for run in runs:
            for state in self._of(instance_id, run.resource_id, run.user_id):
                state.add(run)

    def used_up(self, instance_id: int, resource_id: str, user_id: str) -> BudgetState | None:
        """A budget that keeps the resource from being asked, None without one."""
        if not self._states:
            return None
        states = self._of(instance_id, resource_id, user_id)
        return next((state for state in states if state.is_used_up), None)

    def _of(self, instance_id: int, resource_id: str, user_id: str) -> list[BudgetState]:
        keys = (
            (BudgetScope.INSTANCE, str(instance_id)),
            (BudgetScope.AGENT, resource_id),
            (BudgetScope.USER, user_id),
        )
        return [state for key in keys for state in self._states.get(key, ())]
