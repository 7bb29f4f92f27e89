"""Feedback as the owners of instances see it."""

from dataclasses import dataclass

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.conversations.history import MOST_INSTANCES
from domain.feedback.model import Feedback, FeedbackFilter
from domain.instances.lookup import permitted_instances
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Invalid
from ports.conversations import FeedbackStore
from ports.instances import InstanceStore


@dataclass(eq=False)
class FeedbackService:
    """Votes on the answers of a caller's instances; an admin's: of everybody's."""

    instances: InstanceStore
    store: FeedbackStore

    @needs(Scope.CONVERSATIONS_READ)
    async def list(
        self, caller: Caller, wanted: FeedbackFilter, limit: int, cursor: str | None
    ) -> Page[Feedback, str]:
        """The latest first. A page may hold fewer votes than the limit while others follow, as those on erased
        answers are left out. Raises `NotFound`, `Forbidden`, `Invalid`."""
        checked_limit(limit)
        if len(wanted.instance_ids) > MOST_INSTANCES:
            raise Invalid.of([Fault("instanceId", f"must name at most {MOST_INSTANCES} instances")])
        if wanted.instance_ids:
            instances = await permitted_instances(
                self.instances, caller, wanted.instance_ids, InstanceLevel.VIEW
            )
            names = {instance.id: instance.channel_name for instance in instances}
        else:
            names = {name.id: name.channel_name for name in await self.instances.names(caller.scope)}
        return await self.store.list(names, wanted.rating, limit, cursor)
