"""Streams of events for callers."""

from collections.abc import AsyncGenerator, Sequence

from domain.access.model import Caller
from domain.events.model import EventFilter, EventPage
from domain.events.rules import filter_faults
from domain.instances.lookup.service import check_owned
from domain.refusals import Invalid
from ports.events import EventFeed
from ports.instances import InstanceStore


async def checked_filter(
    store: InstanceStore, caller: Caller, kinds: Sequence[str], instance_ids: Sequence[int]
) -> EventFilter:
    """What a caller may see of the events that it asks for. Raises `Invalid`, `NotFound`, `Forbidden`."""
    if faults := [*filter_faults(kinds, instance_ids, "instanceId")]:
        raise Invalid.of(faults)
    await check_owned(store, caller, instance_ids)
    owner = None if caller.is_admin else caller.user_id
    return EventFilter(owner, frozenset(kinds), frozenset(instance_ids))


class EventStreams:
    """`ports.use_cases.Events`."""

    def __init__(self, instances: InstanceStore, feed: EventFeed) -> None:
        self._instances = instances
        self._feed = feed

    async def watch(
        self, caller: Caller, after: int | None, kinds: Sequence[str], instance_ids: Sequence[int]
    ) -> AsyncGenerator[EventPage, None]:
        wanted = await checked_filter(self._instances, caller, kinds, instance_ids)
        return self._feed.follow(wanted, after)
