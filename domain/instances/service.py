"""Creates, changes, deletes and inspects instances."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.access.model import Caller, Scope
from domain.access.sharing import Grantee, InstanceLevel, Permission, checked_instance_level, needs
from domain.agents.service import AgentBinding
from domain.audit.model import Action
from domain.channels.answers import Answer
from domain.channels.messages import Config, Event
from domain.channels.model import ChannelDefinition
from domain.confirmations.policy import policy_json, rule_faults
from domain.confirmations.policy_check import ApproverCheck
from domain.conversations.forwarding import DestinationService
from domain.delivery.model import check_state
from domain.instances.health import health_of
from domain.instances.lookup import known_channel, level_on, permitted_instance, unknown, visible_instance
from domain.instances.model import (
    UNREADABLE,
    Delivery,
    Health,
    Instance,
    InstanceChange,
    InstancePage,
    InstanceView,
    NewInstance,
    Pairing,
    SaveResult,
    UnansweredMessage,
    named_resources,
)
from domain.instances.pairing import PairingService
from domain.instances.registration import RegistrationService
from domain.instances.validation import advice, faults_of, masked
from domain.paging import Page, Slice, checked_limit
from domain.polling.service import ScheduleService
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound
from domain.routing.route_faults import routing_faults
from domain.web_chat.model import embed_tag, public_id
from ports.audit import Audit
from ports.channels import AnyChannel, Channels
from ports.instances import HealthStore, InstanceStore, Processes, UnansweredStore
from ports.outbox import Outbox

log = logging.getLogger(__name__)

TRUST_ENDED = (
    "The senders are no longer trusted, as a secret, a server or an account changed: ask an admin to mark the"
    " instance as trusted again"
)
PAGE_BYTES = 2 * 1024 * 1024
"""Bytes of configuration in one page of instances."""
CALL_SECONDS = 5.0
"""What a platform gets for ending the indicators of answers that do not come any more."""


@dataclass(eq=False)
class InstanceService:
    """Channel instances."""

    store: InstanceStore
    channels: Channels
    registration: RegistrationService
    processes: Processes
    pairings: PairingService
    schedules: ScheduleService
    destinations: DestinationService
    agents: AgentBinding
    approvers: ApproverCheck
    audit: Audit
    agent_url: str

    @needs(Scope.INSTANCES_READ)
    async def list(self, caller: Caller) -> Sequence[InstanceView]:
        """The caller's own."""
        return [self._view(instance) for instance in await self.store.of_user(caller.user)]

    @needs(Scope.INSTANCES_READ)
    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        """Instances with ids over `after`, as many as have `most_bytes` of configuration; at least one."""
        instances, more = await self.store.page_of_user(caller.user, after, most_bytes)
        return InstancePage([self._view(instance) for instance in instances], more)

    @needs(Scope.INSTANCES_READ)
    async def get(self, caller: Caller, instance_id: int) -> InstanceView:
        """Without secrets for callers who may not MANAGE it. Raises `NotFound`, `Forbidden`."""
        return self._view(*await visible_instance(self.store, caller, instance_id))

    @needs()
    async def level(self, caller: Caller, instance_id: int) -> InstanceLevel:
        """What the caller may do with the instance. Raises `NotFound`, `Forbidden` where that is nothing."""
        _, level = await visible_instance(self.store, caller, instance_id)
        return level

    @needs(Scope.INSTANCES_READ)
    async def visible(self, caller: Caller, limit: int, cursor: int, *, own: bool) -> Page[InstanceView, int]:
        """Those that the caller sees, ordered by id; without `own` only those of others that are shared with them (an
        admin sees all). Without secrets where they may not MANAGE one. Raises `Invalid`."""
        count = checked_limit(limit) + 1
        instances = await self.store.following(
            caller.scope, cursor, count, without=None if own else caller.user_id
        )
        shown = _within(instances[:limit], PAGE_BYTES)
        levels = await self.store.levels(caller.user_id, [instance.id for instance in shown])
        views = [
            self._view(
                instance,
                InstanceLevel.MANAGE
                if caller.may_act_for(instance.user_id)
                else levels.get(instance.id, InstanceLevel.NONE),
            )
            for instance in shown
        ]
        return Page(views, shown[-1].id if len(instances) > len(shown) else None)

    @needs(Scope.INSTANCES_WRITE)
    async def permissions(self, caller: Caller, instance_id: int) -> Sequence[Permission]:
        """Needs MANAGE. Raises `NotFound`, `Forbidden`."""
        await permitted_instance(self.store, caller, instance_id, InstanceLevel.MANAGE)
        return await self.store.permissions(instance_id)

    @needs(Scope.INSTANCES_WRITE)
    async def set_permission(self, caller: Caller, instance_id: int, grantee: Grantee, level: int) -> None:
        """Needs MANAGE; level 0 revokes. Raises `NotFound`, `Forbidden`, `Invalid`."""
        instance = await permitted_instance(self.store, caller, instance_id, InstanceLevel.MANAGE)
        granted = checked_instance_level(level)
        grantee.check()
        if grantee.user_id == instance.user_id:
            raise Invalid.of([Fault("userId", "owns the instance, and may do everything already")])
        data = {"grantee": str(grantee), "level": granted.name}
        async with self.audit.change(caller, Action.INSTANCE_SHARED, f"instance:{instance_id}", data):
            if not await self.store.grant(instance_id, grantee, granted):
                raise grantee.unknown()

    @needs(Scope.INSTANCES_WRITE)
    async def create(self, caller: Caller, new: NewInstance) -> SaveResult:
        """Creates, or updates when `new.id` names an instance of the caller.

        Raises `Invalid`, `Conflict` (triple taken), `Forbidden` (the id is another user's).
        """
        owner = caller.user
        if new.id is not None and new.id < 1:
            raise Invalid.of([Fault("id", "must be the id of an instance")])
        channel = known_channel(self.channels, new.channel_id)
        _check(channel.definition, new.channel_name, new)
        await self.approvers.check(new.approval_policy)
        existing = await self.store.find(new.id) if new.id is not None else None
        if existing is None or not existing.exists:
            caller.require_member("instances")
            await self.destinations.check_config(owner, channel, new.config)
            await self.agents.check(owner, named_resources(new))
            connects = await self.registration.wants_connection(channel, new.config, None)
            async with self.audit.change(caller, Action.INSTANCE_CREATED, "instance") as details:
                added = await self.store.add(owner, new, connects=connects)
                details.update(object=f"instance:{added.id}", after=_settings(channel.definition, added))
            return await self._saved(added, channel, "created")
        if await level_on(self.store, caller, existing) < InstanceLevel.MANAGE:
            raise Forbidden("the instance named by id belongs to another user")
        if existing.channel_id != new.channel_id:
            raise Invalid.of([Fault("channelId", f"the instance is of the channel '{existing.channel_id}'")])
        change = InstanceChange(
            new.config,
            new.resource_id,
            new.channel_name,
            new.routes,
            new.fallback,
            new.feedback,
            new.approval_policy,
        )
        return await self._change(caller, existing, channel, change)

    @needs(Scope.INSTANCES_WRITE)
    async def update(self, caller: Caller, instance_id: int, change: InstanceChange) -> SaveResult:
        """Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict`."""
        existing = await permitted_instance(self.store, caller, instance_id, InstanceLevel.MANAGE)
        channel = known_channel(self.channels, existing.channel_id)
        name = existing.channel_name if change.channel_name is None else change.channel_name
        _check(channel.definition, name, change)
        await self.approvers.check(change.approval_policy)
        return await self._change(caller, existing, channel, change)

    async def _change(
        self, caller: Caller, existing: Instance, channel: AnyChannel, change: InstanceChange
    ) -> SaveResult:
        await self.destinations.check_config(existing.user_id, channel, change.config)
        named = named_resources(change)
        added = {field: id for field, id in named.items() if id not in existing.resource_ids}
        await self.agents.check(existing.user_id, added)
        if not caller.may_act_for(existing.user_id):  # what the owner may use is not theirs
            await self.agents.check(caller.user_id, added)
            before = None if existing.status == UNREADABLE else existing.config
            await self.destinations.check_named(caller, channel, before, change.config)
        connects = await self.registration.wants_connection(channel, change.config, existing.id)
        origin = channel.definition.origin
        ends_trust = origin(change.config) != origin(existing.config)
        async with self.audit.change(caller, Action.INSTANCE_CHANGED, f"instance:{existing.id}") as details:
            instance = await self.store.change(existing.id, change, connects=connects, ends_trust=ends_trust)
            if instance is None:
                raise unknown(existing.id)
            details.update(_difference(channel.definition, existing, instance))
        await self.registration.replaced(existing, instance, channel)
        note = TRUST_ENDED if existing.trusted and not instance.trusted else ""
        return await self._saved(instance, channel, "updated", note)

    @needs(Scope.INSTANCES_WRITE)
    async def set_trusted(self, caller: Caller, instance_id: int, *, trusted: bool) -> InstanceView:
        """Marks an instance whose owner's word counts for who its senders are. Raises `NotFound`; `Forbidden` for
        callers who are no admins."""
        if not caller.is_admin:
            raise Forbidden("only an admin may mark an instance as trusted")
        instance = await permitted_instance(self.store, caller, instance_id, InstanceLevel.VIEW)
        data = {"trusted": trusted}
        async with self.audit.change(caller, Action.INSTANCE_TRUSTED, f"instance:{instance_id}", data):
            await self.store.set_trusted(instance_id, trusted=trusted)
        log.warning(
            "an instance is %s by %s",
            "trusted" if trusted else "no longer trusted",
            caller.user_id,
            extra={"instance": instance_id},
        )
        return self._view(replace(instance, trusted=trusted))

    @needs(Scope.INSTANCES_WRITE)
    async def delete(self, caller: Caller, instance_id: int) -> None:
        """Raises `NotFound`, `Forbidden`."""
        instance = await permitted_instance(self.store, caller, instance_id, InstanceLevel.MANAGE)
        channel = self.channels.find(instance.channel_id)
        if channel:
            await self.registration.unregister(instance, channel)
        data = {"channel": instance.channel_id, "name": instance.channel_name, "owner": instance.user_id}
        async with self.audit.change(caller, Action.INSTANCE_DELETED, f"instance:{instance_id}", data):
            unanswered = await self.store.remove(instance_id)
        if channel:
            await _end_waiting(channel, instance.config, unanswered)

    @needs(Scope.INSTANCES_WRITE)
    async def request_pairing(self, caller: Caller, instance_id: int) -> Pairing:
        """Raises `NotFound`, `Forbidden`, `Invalid` (the channel has no pairing), `TooMany`."""
        instance = await permitted_instance(self.store, caller, instance_id, InstanceLevel.MANAGE)
        if not self.pairings.pairs(instance.channel_id):
            raise Invalid(f"instances of '{instance.channel_id}' are not paired with a code")
        await self.audit.note(caller, Action.INSTANCE_PAIRED, f"instance:{instance_id}")
        return await self.pairings.request(instance)

    def _view(self, instance: Instance, level: InstanceLevel = InstanceLevel.MANAGE) -> InstanceView:
        channel = self.channels.find(instance.channel_id)
        if channel is None:
            shown = instance if level is InstanceLevel.MANAGE else replace(instance, config={})
            return InstanceView(shown, instance.channel_id, level=level)
        if level is not InstanceLevel.MANAGE:
            instance = replace(instance, config=masked(channel.definition, instance.config))
        name = channel.definition.name
        if channel.chat_site is None:
            return InstanceView(instance, name, level=level)
        address, tag = public_id(instance), embed_tag(self.agent_url, instance)
        return InstanceView(instance, name, address, tag, level)

    async def _saved(
        self, instance: Instance, channel: AnyChannel, operation: str, note: str = ""
    ) -> SaveResult:
        """Connects a saved instance to its platform; what the platform says fails no create or update."""
        is_new = operation == "created"
        if not is_new:
            await self.schedules.saved(instance)
        await self.pairings.saved(instance)
        connected = await self.registration.connect(instance, channel)
        if is_new:
            # What is there already is counted before a poll takes it; `plan_missing` makes up for a stop.
            await self.schedules.saved(instance)
        advised = advice(channel.definition, instance.config)
        return SaveResult(
            instance_id=instance.id,
            operation=operation,
            message=". ".join(filter(None, [f"Instance {operation}", note, *advised, connected.note])),
            worker_alive=await self.processes.worker_alive(),
            webhook_registered=connected.registered,
            webhook_error=connected.error,
        )


def _within(instances: Sequence[Instance], most_bytes: int) -> Sequence[Instance]:
    """The first of the instances, as many as have so many bytes of configuration; at least one."""
    kept, size = list[Instance](), 0
    for instance in instances:
        size += len(json.dumps(instance.config).encode())
        if kept and size > most_bytes:
            break
        kept.append(instance)
    return kept


def _settings(definition: ChannelDefinition, instance: Instance) -> dict[str, Any]:
    """An instance as the audit log tells it: without secrets."""
    return {
        "owner": instance.user_id,
        "channel": instance.channel_id,
        "name": instance.channel_name,
        "resource": instance.resource_id,
        "routes": [str(route) for route in instance.routes],
        "fallback": list(instance.fallback),
        "feedback": instance.feedback,
        "approvalPolicy": policy_json(instance.approval_policy),
        "config": masked(definition, instance.config),
    }


def _difference(definition: ChannelDefinition, before: Instance, after: Instance) -> dict[str, Any]:
    """What a change did to an instance; of secrets only that they changed."""
    old, new = _settings(definition, before), _settings(definition, after)
    difference: dict[str, Any] = {
        "before": {field: value for field, value in old.items() if new[field] != value},
        "after": {field: new[field] for field, value in old.items() if new[field] != value},
    }
    fields = {**before.config, **after.config}
    if changed := [field for field in fields if before.config.get(field) != after.config.get(field)]:
        secrets = {field.name for field in definition.fields if field.secret}
        for side, config in (("before", old["config"]), ("after", new["config"])):
            difference[side]["config"] = {
                field: "changed" if field in secrets else config.get(field) for field in changed
            }
    return difference


def _check(definition: ChannelDefinition, name: str, saved: NewInstance | InstanceChange) -> None:
    """Raises `Invalid`."""
    faults = faults_of(definition, name, saved.config, saved.resource_id)
    faults = [*faults, *routing_faults(saved.routes or (), saved.fallback or ())]
    if faults := [*faults, *rule_faults("approvalPolicy", saved.approval_policy or ())]:
        raise Invalid.of(faults)


async def _end_waiting(channel: AnyChannel, config: Config, unanswered: Sequence[Event]) -> None:
    """Ends what shows that answers to these messages are on their way. Best effort."""
    if channel.waiting is None or channel.sender is None:
        return
    typed, sender = channel.config.load(config), channel.sender
    targets = [(event, channel.target.load(event.target)) for event in unanswered]
    try:
        calls = [
            sender.send(typed, target, message, f"{event.request_id}:removed")
            for event, target in targets
            if channel.waiting.shows_waiting(typed, target)
            for message in sender.render(typed, target, Answer(""))
        ]
        async with asyncio.timeout(CALL_SECONDS):
            await asyncio.gather(*calls)
    except TimeoutError:
        log.warning("the platform took too long to be told that no answer comes")
    except Exception:
        log.exception("the platform could not be told that no answer comes")


class OperationsService:
    """The health and the deliveries of instances. Each method raises `NotFound`, `Forbidden`."""

    def __init__(
        self,
        store: InstanceStore,
        channels: Channels,
        health: HealthStore,
        deliveries: Outbox,
        unanswered: UnansweredStore,
        audit: Audit,
    ) -> None:
        self._store = store
        self._channels = channels
        self._health = health
        self._deliveries = deliveries
        self._unanswered = unanswered
        self._audit = audit

    @needs(Scope.INSTANCES_READ)
    async def health(self, caller: Caller, instance_id: int) -> Health:
        instance = await permitted_instance(self._store, caller, instance_id, InstanceLevel.VIEW)
        record = await self._health.find(instance_id)
        queue = await self._health.queue(instance_id)
        health = health_of(instance, known_channel(self._channels, instance.channel_id), record, queue)
        return replace(health, unanswered=await self._unanswered.counts(instance_id))

    @needs(Scope.CONVERSATIONS_READ)
    async def deliveries(
        self, caller: Caller, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Slice[Delivery]:
        await permitted_instance(self._store, caller, instance_id, InstanceLevel.VIEW)
        check_state(status)
        return await self._deliveries.list(instance_id, status, limit, offset)

    @needs(Scope.MESSAGES_SEND)
    async def replay(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        """Sends a delivery again. Raises `NotFound`, `Conflict` (it is on its way already)."""
        await permitted_instance(self._store, caller, instance_id, InstanceLevel.ANSWER)
        subject = f"instance:{instance_id}/delivery:{delivery_id}"
        async with self._audit.change(caller, Action.MESSAGE_REPLAYED, subject):
            replayed = await self._deliveries.replay(instance_id, delivery_id)
            if replayed is None:
                raise NotFound(f"the instance has no delivery {delivery_id}")
            if not replayed:
                raise Conflict("the delivery is not a dead letter: it was sent, or is on its way")

    @needs(Scope.MESSAGES_SEND)
    async def drop(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        await permitted_instance(self._store, caller, instance_id, InstanceLevel.ANSWER)
        subject = f"instance:{instance_id}/delivery:{delivery_id}"
        async with self._audit.change(caller, Action.MESSAGE_DROPPED, subject):
            if not await self._deliveries.drop(instance_id, delivery_id):
                raise NotFound(f"the instance has no delivery {delivery_id}")

    @needs(Scope.CONVERSATIONS_READ)
    async def unanswered(
        self, caller: Caller, instance_id: int, limit: int, offset: int
    ) -> Slice[UnansweredMessage]:
        """Messages that are not answered, the newest first."""
        await permitted_instance(self._store, caller, instance_id, InstanceLevel.VIEW)
        return await self._unanswered.list(instance_id, limit, offset)

    @needs(Scope.MESSAGES_SEND)
    async def release(self, caller: Caller, instance_id: int, message_id: int) -> None:
        """Has a message answered that was not. Raises `NotFound`."""
        await permitted_instance(self._store, caller, instance_id, InstanceLevel.ANSWER)
        subject = f"instance:{instance_id}/unanswered:{message_id}"
        async with self._audit.change(caller, Action.MESSAGE_RELEASED, subject):
            if not await self._unanswered.release(instance_id, message_id):
                raise NotFound(f"the instance has no unanswered message {message_id}")
