"""Subscriptions to events, and streams of events."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.channels.messages import Outcome
from domain.delivery.model import check_state
from domain.events import EventFilter, EventPage, filter_faults
from domain.instances.lookup import permitted_instances
from domain.instances.model import Activity, ActivityHealth
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.subscriptions import model
from ports.audit import Audit
from ports.instances import HealthRecord, HealthStore, InstanceStore
from ports.outbox import Outbox
from ports.subscriptions import AddressCheck, EventFeed, EventLog, PushSender, SubscriptionStore
from ports.system import Clock, Ids

MOST_SUBSCRIPTIONS = 50
"""Of one user."""
LISTENER = "subscriptions"
SECRET_BYTES = range(24, 65)
"""What Standard Webhooks demands of a secret."""


@dataclass(eq=False)
class SubscriptionService:
    """The subscriptions of a caller, and their pushes. Each method with an id raises `NotFound`, `Forbidden`."""

    store: SubscriptionStore
    deliveries: Outbox
    health: HealthStore
    instances: InstanceStore
    log: EventLog
    sender: PushSender
    addresses: AddressCheck
    ids: Ids
    clock: Clock
    audit: Audit

    @needs(Scope.EVENTS_READ)
    async def create(self, caller: Caller, fields: model.SubscriptionFields) -> model.SubscriptionView:
        """Raises `Invalid`, `Conflict` (too many), `NotFound` and `Forbidden` for the instances."""
        user_id = caller.user
        caller.require_member("subscriptions")
        if fields.url is None:
            raise Invalid.of([Fault("url", "is required: the https address that events are pushed to")])
        await self._check(caller, fields)
        secret = fields.secret or model.standard_secret(self.ids.token(32).encode()[:32])
        position = await self._position()
        data = _audited(fields)
        async with self.audit.change(caller, Action.SUBSCRIPTION_CREATED, "subscription", data) as details:
            subscription = await self.store.add(
                user_id,
                replace(fields, secret=secret),
                position,
                MOST_SUBSCRIPTIONS,
                all_users=caller.is_admin,
            )
            if subscription is None:
                raise Conflict(
                    f"there are {MOST_SUBSCRIPTIONS} subscriptions already; delete one that is not used"
                )
            details["object"] = f"subscription:{subscription.id}"
        return replace(await self._view(subscription), secret=secret)

    @needs(Scope.EVENTS_READ)
    async def list(self, caller: Caller, cursor: int, limit: int) -> Page[model.Subscription, int]:
        rows = await self.store.of_user(caller.scope, cursor, checked_limit(limit) + 1)
        records = await self.health.records([subscription.id for subscription in rows[:limit]])
        shown = [self._judged(row, records.get(row.id, HealthRecord())) for row in rows[:limit]]
        return Page(shown, rows[limit - 1].id if len(rows) > limit else None)

    @needs(Scope.EVENTS_READ)
    async def get(self, caller: Caller, subscription_id: int) -> model.SubscriptionView:
        return await self._view(await self._owned(caller, subscription_id))

    @needs(Scope.EVENTS_READ)
    async def change(
        self, caller: Caller, subscription_id: int, fields: model.SubscriptionFields
    ) -> model.SubscriptionView:
        """Switches on again what was switched off. Raises as `create`."""
        await self._owned(caller, subscription_id)
        await self._check(caller, fields)
        position = await self._position()
        subject = f"subscription:{subscription_id}"
        async with self.audit.change(caller, Action.SUBSCRIPTION_CHANGED, subject, _audited(fields)):
            await self.store.change(subscription_id, fields, position)
            if fields.status == model.OFF:
                await self.store.switch_off(subscription_id, model.OFF_BY_HAND)
        return replace(await self.get(caller, subscription_id), secret=fields.secret)

    @needs(Scope.EVENTS_READ)
    async def remove(self, caller: Caller, subscription_id: int) -> None:
        subscription = await self._owned(caller, subscription_id)
        data = {"owner": subscription.user_id}
        subject = f"subscription:{subscription_id}"
        async with self.audit.change(caller, Action.SUBSCRIPTION_DELETED, subject, data):
            await self.store.remove(subscription_id)

    @needs(Scope.EVENTS_READ)
    async def test(self, caller: Caller, subscription_id: int) -> model.PushTest:
        """Pushes a trial event at once, and tells how that ended."""
        await self._owned(caller, subscription_id)
        sent = await self.sender.test(subscription_id)
        return model.PushTest(sent.outcome is Outcome.SENT, sent.detail)

    @needs(Scope.EVENTS_READ)
    async def pushes(
        self, caller: Caller, subscription_id: int, status: str | None, cursor: int, limit: int
    ) -> Page[model.Push, int]:
        """`cursor`: 0 for the first page. Raises `Invalid` for an unknown status."""
        await self._owned(caller, subscription_id)
        check_state(status)
        return await self.store.pushes(subscription_id, status, cursor, checked_limit(limit))

    @needs(Scope.EVENTS_READ)
    async def replay(self, caller: Caller, subscription_id: int, push_id: int) -> None:
        """Raises `Conflict` where it is no dead letter."""
        await self._owned(caller, subscription_id)
        subject = f"subscription:{subscription_id}/push:{push_id}"
        async with self.audit.change(caller, Action.PUSH_REPLAYED, subject):
            replayed = await self.deliveries.replay(subscription_id, push_id)
            if replayed is None:
                raise NotFound(f"the subscription has no push {push_id}")
            if not replayed:
                raise Conflict("the push is no dead letter: it was taken, or is on its way")

    async def _owned(self, caller: Caller, subscription_id: int) -> model.Subscription:
        subscription = await self.store.find(subscription_id)
        if subscription is None:
            raise NotFound(f"there is no subscription {subscription_id}")
        if not caller.may_act_for(subscription.user_id):
            raise Forbidden("the subscription belongs to another user")
        return subscription

    async def _position(self) -> int:
        """The newest event so far: what happened before is not pushed. From here on events are recorded."""
        await self.log.listen(LISTENER)
        await self.log.publish()
        return await self.log.position()

    async def _view(self, subscription: model.Subscription) -> model.SubscriptionView:
        record = await self.health.find(subscription.id)
        queue = await self.health.queue(subscription.id)
        judged = self._judged(subscription, record)
        sending = replace(_sending(record), healthy=judged.is_healthy)
        return model.SubscriptionView(judged, sending, queue.get("pending", 0), queue.get("dead", 0))

    def _judged(self, subscription: model.Subscription, record: HealthRecord) -> model.Subscription:
        """The subscription with what is wrong with it."""
        now = self.clock.now()
        return replace(
            subscription,
            problem=model.problem_of(subscription, _sending(record), record.pending_seconds, now),
        )

    async def _check(self, caller: Caller, fields: model.SubscriptionFields) -> None:
        """Raises `Invalid` with all faults; `NotFound` and `Forbidden` for the instances."""
        faults = [
            *filter_faults(fields.kinds or (), fields.instance_ids or ()),
            *_secret_faults(fields.secret),
        ]
        if fields.status not in (None, model.ON, model.OFF):
            faults.append(Fault("status", f"must be {model.ON} or {model.OFF}"))
        if fields.url is not None and (fault := await self.addresses.fault(fields.url)):
            faults.append(Fault("url", fault))
        if faults:
            raise Invalid.of(faults)
        named = fields.instance_ids or ()
        for instance in await permitted_instances(self.instances, caller, named, InstanceLevel.VIEW):
            if not caller.may_act_for(instance.user_id):
                raise Forbidden(f"the events of instance {instance.id} are pushed to its owner alone")


def _audited(fields: model.SubscriptionFields) -> dict[str, Any]:
    """Returns the fields of a request for the audit log: of secrets and of the address, which may hold one, that they
    changed."""
    data = {"kinds": fields.kinds, "instances": fields.instance_ids, "status": fields.status}
    changed = {name: "changed" for name in ("url", "secret") if getattr(fields, name) is not None}
    return {name: value for name, value in data.items() if value is not None} | changed


def _sending(record: HealthRecord) -> ActivityHealth:
    return record.activities.get(Activity.SENDING, ActivityHealth())


def _secret_faults(secret: str | None) -> Sequence[Fault]:
    """A secret is `whsec_` and 24 to 64 bytes in base64 (Standard Webhooks)."""
    if secret is None:
        return ()
    if model.is_standard(secret) and len(model.standard_key(secret) or b"") in SECRET_BYTES:
        return ()
    return [Fault("secret", "must be whsec_ and 24 to 64 bytes in base64; leave it out to get one")]


async def checked_filter(
    store: InstanceStore, caller: Caller, kinds: Sequence[str], instance_ids: Sequence[int]
) -> EventFilter:
    """What a caller may see of the events that it asks for. Raises `Invalid`, `NotFound`, `Forbidden`."""
    if faults := [*filter_faults(kinds, instance_ids, "instanceId")]:
        raise Invalid.of(faults)
    await permitted_instances(store, caller, instance_ids, InstanceLevel.VIEW)
    shared = () if caller.scope is None else await store.shared_ids(caller.user_id)
    return EventFilter(caller.scope, frozenset(kinds), frozenset(instance_ids), frozenset(shared))


@dataclass(eq=False)
class EventStreams:
    """What happens to messages, deliveries, confirmations, instances, uploads and identities."""

    instances: InstanceStore
    feed: EventFeed

    @needs(Scope.EVENTS_READ)
    async def watch(
        self, caller: Caller, after: int | None, kinds: Sequence[str], instance_ids: Sequence[int]
    ) -> AsyncGenerator[EventPage, None]:
        """Events behind the cursor `after`, None: from now on; of these kinds and instances, none: of all that the
        caller sees when the stream begins (an admin: of everybody). The first page is empty: events are recorded from
        now on. Empty pages are signs of life. Raises `Invalid`, `NotFound`, `Forbidden`; while it goes on
        `Unavailable`.
        """
        event_filter = await checked_filter(self.instances, caller, kinds, instance_ids)
        pages = self.feed.follow(event_filter, after)
        return self._still_shared(caller, event_filter.shared, pages) if event_filter.shared else pages

    async def _still_shared(
        self, caller: Caller, shared: frozenset[int], pages: AsyncGenerator[EventPage, None]
    ) -> AsyncGenerator[EventPage, None]:
        """Leaves out events of instances that are no longer shared with the caller, nor are their own by now."""
        async with aclosing(pages):
            async for page in pages:
                if not any(event.instance_id in shared for event in page.events):
                    yield page
                    continue
                ended = shared.difference(await self.instances.shared_ids(caller.user_id))
                still = [
                    event
                    for event in page.events
                    if event.owner == caller.user_id or event.instance_id not in ended
                ]
                yield replace(page, events=still)
