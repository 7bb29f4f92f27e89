"""The use cases of operators: dead letters, the health of all instances, figures, the findings of the doctor."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.conversations.history import with_addresses
from domain.conversations.model import Direction, MessageId, parse_message_id
from domain.delivery.concurrency import known_limits
from domain.delivery.model import account_key
from domain.files import StoredFiles
from domain.instances.health import health_of
from domain.instances.lookup import held_against, permitted_instance
from domain.instances.model import Instance
from domain.monitoring import model
from domain.paging import LARGEST_LIMIT, Page, checked_limit, cursor_of, read_cursor
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound, Refusal
from ports.audit import Audit
from ports.channels import Channels
from ports.conversations import MessageStore, Rerun
from ports.instances import HealthStore, InstanceStore
from ports.monitoring import FigureStore, Installation
from ports.outbox import SharedLimits

MOST_LOOKED_AT = 2000
"""Instances that one page of failing ones looks at."""


@dataclass(eq=False)
class DeadLetterService:
    """Messages of both directions that were given up, over all instances of a caller (an admin's: of everybody)."""

    instances: InstanceStore
    messages: MessageStore
    links: StoredFiles
    audit: Audit

    @needs(Scope.CONVERSATIONS_READ)
    async def list(
        self,
        caller: Caller,
        instance_id: int | None,
        direction: Direction | None,
        limit: int,
        cursor: str | None,
    ) -> Page[model.DeadLetter, str]:
        """The latest first; of one instance and one direction where they are given. Raises `NotFound`, `Forbidden`,
        `Invalid`."""
        checked_limit(limit)
        if instance_id is None:
            own = await self.instances.names(caller.scope)
        else:
            own = [name_of(await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW))]
        names = {name.id: name for name in own}
        messages, following = await self.messages.failed(list(names), direction, limit, cursor)
        letters = [
            model.DeadLetter(names[id], with_addresses(message, self.links))
            for id, message in messages
            if id in names
        ]
        return Page(letters, following)

    @needs(Scope.CONVERSATIONS_READ)
    async def get(self, caller: Caller, dead_letter: model.DeadLetterId) -> model.DeadLetterView:
        """Raises `NotFound`, `Forbidden`."""
        instance = await permitted_instance(
            self.instances, caller, dead_letter.instance_id, InstanceLevel.VIEW
        )
        id = _message_id(dead_letter)
        message = await self.messages.find(instance.id, id)
        if message is None or not message.is_given_up:
            raise _unknown(dead_letter)
        letter = model.DeadLetter(name_of(instance), with_addresses(message, self.links))
        return model.DeadLetterView(letter, await self.messages.dead_parts(instance.id, id))

    @needs(Scope.MESSAGES_SEND)
    async def replay(
        self, caller: Caller, dead_letters: Sequence[model.DeadLetterId]
    ) -> Sequence[model.ItemResult]:
        """Has each processed or sent again. Raises `Invalid` for too many."""

        async def replay(dead_letter: model.DeadLetterId) -> None:
            async with self.audit.change(caller, Action.MESSAGE_REPLAYED, _subject(dead_letter)):
                result = await self.messages.rerun(dead_letter.instance_id, _message_id(dead_letter))
                if result is Rerun.UNKNOWN:
                    raise _unknown(dead_letter)
                if result is Rerun.NOT_FAILED:
                    raise Conflict(
                        "the message is not given up: it waits, is on its way, or has been dealt with"
                    )

        return await self._each(caller, dead_letters, replay)

    @needs(Scope.MESSAGES_SEND)
    async def drop(
        self, caller: Caller, dead_letters: Sequence[model.DeadLetterId]
    ) -> Sequence[model.ItemResult]:
        """Gives each up for good. Raises `Invalid` for too many."""

        async def drop(dead_letter: model.DeadLetterId) -> None:
            async with self.audit.change(caller, Action.MESSAGE_DROPPED, _subject(dead_letter)):
                if not await self.messages.drop(dead_letter.instance_id, _message_id(dead_letter)):
                    raise _unknown(dead_letter)

        return await self._each(caller, dead_letters, drop)

    async def _each(
        self,
        caller: Caller,
        dead_letters: Sequence[model.DeadLetterId],
        act: Callable[[model.DeadLetterId], Awaitable[None]],
    ) -> Sequence[model.ItemResult]:
        """One that is refused keeps none of the others from what is done."""
        if not 1 <= len(dead_letters) <= LARGEST_LIMIT:
            raise Invalid.of([Fault("items", f"must be 1 to {LARGEST_LIMIT} messages")])
        ids = [dead_letter.instance_id for dead_letter in dead_letters]
        _, refusals = await held_against(self.instances, caller, ids, InstanceLevel.ANSWER)
        results = []
        for dead_letter in dead_letters:
            result = model.ItemResult(dead_letter.instance_id, dead_letter.message_id)
            try:
                if refusal := refusals.get(dead_letter.instance_id):
                    raise refusal
                await act(dead_letter)
            except (NotFound, Forbidden, Conflict) as error:
                result = replace(result, error=error.message)
            results.append(result)
        return results


def name_of(instance: Instance) -> model.InstanceName:
    return model.InstanceName(instance.id, instance.user_id, instance.channel_id, instance.channel_name)


def _subject(dead_letter: model.DeadLetterId) -> str:
    return f"instance:{dead_letter.instance_id}/message:{dead_letter.message_id[:50]}"


def _message_id(dead_letter: model.DeadLetterId) -> MessageId:
    message_id = parse_message_id(dead_letter.message_id)
    if message_id is None:
        raise _unknown(dead_letter)
    return message_id


def _unknown(dead_letter: model.DeadLetterId) -> Refusal:
    return NotFound(f"the instance has no dead letter {dead_letter.message_id[:50]}")


@dataclass(eq=False)
class HealthOverviewService:
    instances: InstanceStore
    channels: Channels
    health: HealthStore
    limits: SharedLimits

    @needs(Scope.INSTANCES_READ)
    async def list(
        self, caller: Caller, limit: int, cursor: str | None, *, failing: bool = False
    ) -> Page[model.InstanceState, str]:
        """The state of the caller's instances (an admin's: of all), ordered by id; `failing`: only of those that are
        not healthy. Raises `Invalid`."""
        position = read_cursor(cursor, int) or (0,)
        after, looked_at = int(position[0]), 0
        batch = LARGEST_LIMIT if failing else checked_limit(limit)
        states: list[model.InstanceState] = []
        while looked_at < MOST_LOOKED_AT and len(states) < checked_limit(limit):
            instances = await self.instances.following(caller.scope, after, batch + 1)
            selected = [
                state
                for state in await self._states(instances[:batch])
                if (not (failing and state.health.healthy))
            ]
            if len(states) + len(selected) > limit:
                states += selected[: limit - len(states)]
                return Page(states, cursor_of(states[-1].instance.id))
            states += selected
            if len(instances) <= batch:
                return Page(states, None)
            after, looked_at = instances[batch - 1].id, looked_at + batch
        return Page(states, cursor_of(after))

    async def _states(self, instances: Sequence[Instance]) -> Sequence[model.InstanceState]:
        """Of instances whose channel is there. A few queries, however many instances there are."""
        ids = [instance.id for instance in instances]
        records, queues = await self.health.records(ids), await self.health.queues(ids)
        cooldowns = dict((await self.limits.state()).cooldowns) if ids else {}
        states = []
        for instance in instances:
            channel, record = self.channels.find(instance.channel_id), records.get(instance.id)
            if channel is None or record is None:
                continue
            health = health_of(instance, channel, record, queues[instance.id])
            backlog = model.Backlog(round(record.waiting_seconds, 1), round(record.pending_seconds, 1))
            cooldown = model.Cooldown()
            if cooldowns:
                limits = known_limits(instance, channel)
                account = account_key(instance.channel_id, limits) if limits else f"instance:{instance.id}"
                conversations = sum(key.startswith(f"{account}:") for key in cooldowns)
                cooldown = model.Cooldown(round(cooldowns.get(account, 0.0), 1), conversations)
            states.append(model.InstanceState(name_of(instance), health, backlog, cooldown))
        return states


@dataclass(eq=False)
class FigureService:
    instances: InstanceStore
    store: FigureStore

    @needs(Scope.CONVERSATIONS_READ)
    async def figures(self, caller: Caller, period: model.Period, instance_id: int | None) -> model.Figures:
        """Of the caller's instances (an admin's: of all), or of one. Raises `NotFound`, `Forbidden`."""
        ids: Sequence[int] | None = None
        if instance_id is not None:
            ids = [(await permitted_instance(self.instances, caller, instance_id, InstanceLevel.VIEW)).id]
        elif not caller.is_admin:
            ids = [name.id for name in await self.instances.names(caller.user_id)]
        until, measures = await self.store.measures(period, ids)
        return model.steps_of(period, until, measures)


@dataclass(eq=False)
class DoctorService:
    installation: Installation

    @needs(Scope.ADMIN)
    async def findings(self, caller: Caller) -> Sequence[model.Finding]:
        """What the installation lacks and how to mend it. Raises `Forbidden` for all but admins."""
        if not caller.is_admin:
            raise Forbidden("only an admin sees the findings on the installation")
        return await self.installation.findings()
