"""The usage of resources as owners of instances and admins see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.conversations.history import MOST_INSTANCES
from domain.instances.lookup import permitted_instances
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Invalid
from domain.usage.model import Dimension, UsageFilter, UsageSum
from ports.instances import InstanceStore
from ports.system import Clock
from ports.usage import UsageStore


@dataclass(eq=False)
class UsageService:
    instances: InstanceStore
    store: UsageStore
    clock: Clock

    @needs(Scope.INSTANCES_READ)
    async def list(
        self,
        caller: Caller,
        by: Sequence[str],
        first: str | None,
        last: str | None,
        instance_ids: Sequence[int],
        limit: int,
        cursor: str | None,
    ) -> Page[UsageSum, str]:
        """Sums over the caller's instances and over what the caller asked by hand, an admin's: over all.

        `by` names what they are split by, the day where it is empty. `first` and `last` are days in UTC, as
        2026-03-31: from the beginning of the month to today where they are not given. Raises `NotFound`, `Forbidden`,
        `Invalid`.
        """
        checked_limit(limit)
        if len(instance_ids) > MOST_INSTANCES:
            raise Invalid.of([Fault("instanceId", f"must name at most {MOST_INSTANCES} instances")])
        today = self.clock.now().astimezone(UTC).date()
        first_day = _day("from", first) if first else today.replace(day=1)
        last_day = _day("to", last) if last else today
        ids: Sequence[int] | None = None
        asked_by = None
        if instance_ids:
            await permitted_instances(self.instances, caller, instance_ids, InstanceLevel.VIEW)
            ids = instance_ids
        elif not caller.is_admin:
            ids, asked_by = [name.id for name in await self.instances.names(caller.scope)], caller.user_id
        usage_filter = UsageFilter(_dimensions(by), first_day, last_day, ids, asked_by)
        return await self.store.list(usage_filter, limit, cursor)


def _dimensions(by: Sequence[str]) -> Sequence[Dimension]:
    """Raises `Invalid`."""
    if unknown := [word[:50] for word in by if word not in tuple(Dimension)]:
        what = f"{', '.join(unknown[:5])}: unknown; there are {', '.join(Dimension)}"
        raise Invalid.of([Fault("by", what)])
    return [Dimension(word) for word in by] or [Dimension.DAY]


def _day(field: str, text: str) -> date:
    """Raises `Invalid`."""
    try:
        if len(text) != len("2026-03-31"):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise Invalid.of([Fault(field, "must be a day, such as 2026-03-31")]) from None
