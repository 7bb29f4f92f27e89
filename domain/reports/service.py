"""Reports as owners of instances and admins see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.conversations.history import MOST_INSTANCES
from domain.instances.lookup import permitted_instances
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Invalid
from domain.reports.model import ReportRow, parse_days, parse_dimensions, row_of
from ports.instances import InstanceStore
from ports.monitoring import ReportStore
from ports.system import Clock


@dataclass(eq=False)
class ReportService:
    instances: InstanceStore
    store: ReportStore
    clock: Clock

    @needs(Scope.CONVERSATIONS_READ)
    async def list(
        self,
        caller: Caller,
        by: Sequence[str],
        first: str | None,
        last: str | None,
        instance_ids: Sequence[int],
        limit: int,
        cursor: str | None,
    ) -> Page[ReportRow, str]:
        """A row for each day, instance, team and colleague for whom anything was counted, as `by` names them, in that
        order; for each day where it is empty. `first` and `last` are days in UTC, as 2026-03-31, both included: the
        last 30 where they are not given. Of the instances that the caller sees; an admin sees all, also those that
        are gone. Raises `NotFound`, `Forbidden`, `Invalid`."""
        checked_limit(limit)
        dimensions = parse_dimensions(by)
        days = parse_days(first, last, self.clock.now().astimezone(UTC).date())
        if len(instance_ids) > MOST_INSTANCES:
            raise Invalid.of([Fault("instanceId", f"must name at most {MOST_INSTANCES} instances")])
        await permitted_instances(self.instances, caller, instance_ids, InstanceLevel.VIEW)
        names = {name.id: name.channel_name for name in await self.instances.names(caller.scope)}
        ids = instance_ids or (None if caller.is_admin else list(names))
        page = await self.store.counts(dimensions, days, ids, limit, cursor)
        rows = [row_of(key, names.get(key.instance_id or 0), counts) for key, counts in page.items]
        return Page(rows, page.next)
