"""Answers that go out through another instance, such as those to the firings of a schedule."""

from dataclasses import dataclass

from domain.access.model import Caller
from domain.access.sharing import InstanceLevel, Level
from domain.channels.answers import Answer, Author
from domain.channels.messages import Config, Event
from domain.conversations.model import Destination
from domain.conversations.rich_text import with_text
from domain.conversations.sending import SendingService
from domain.instances.lookup import level_on
from domain.instances.model import ACTIVE, Activity, Instance
from domain.refusals import Fault, Invalid, PlatformAway, Refusal, Unavailable
from domain.routing.conversation import ConversationContext
from ports.channels import AnyChannel, Channels
from ports.instances import HealthStore, InstanceStore
from ports.knowledge_storage import BaseStore

INSTANCE, ADDRESS = "config.deliverInstanceId", "config.deliverTo"
BASE = "config.knowledgeBaseId"
ASKS = "the resource asks for an approval, which nobody can give here"


@dataclass(eq=False)
class DestinationService:
    """Checks where an instance wants its answers to go, and into which base its files."""

    instances: InstanceStore
    channels: Channels
    bases: BaseStore

    async def check(self, owner: str, destination: Destination) -> None:
        """What can be known before anything is sent. Raises `Invalid`."""
        instance = await self.instance(owner, destination)
        channel = self.channels.find(instance.channel_id)
        if channel is None or channel.sender is None:
            raise _fault(INSTANCE, f"the channel '{instance.channel_id}' cannot send messages")
        if destination.to:
            return
        opener = channel.opener
        if opener is None or not opener.default_address(channel.config.load(instance.config)):
            raise _fault(ADDRESS, f"is required, as the instance {instance.id} has no default address")

    async def check_config(self, owner: str, channel: AnyChannel, config: Config) -> None:
        """What a configuration says of it, if anything. Raises `Invalid`."""
        base_id = channel.folder.base_id(channel.config.load(config)) if channel.folder else None
        if base_id is not None:
            await self._check_base(owner, base_id)
        if channel.forwarding is None:
            return
        destination = channel.forwarding.destination(channel.config.load(config))
        if destination is not None:
            await self.check(owner, destination)

    async def check_named(
        self, caller: Caller, channel: AnyChannel, before: Config | None, config: Config
    ) -> None:
        """Checks that a caller who changes another user's instance may use the base and the destination that it names
        from now on. `before`: None where that cannot be read. Raises `Invalid`."""
        base_id, destination = _named(channel, config)
        former_base, former_destination = (None, None) if before is None else _named(channel, before)
        if base_id is not None and base_id != former_base:
            await self._check_base(caller.user_id, base_id)
        instance_id = destination.instance_id if destination else None
        if instance_id is not None and destination != former_destination:
            instance = await self.instances.find(instance_id)
            level = await level_on(self.instances, caller, instance) if instance else InstanceLevel.NONE
            if level < InstanceLevel.ANSWER:
                raise _fault(INSTANCE, f"you may not send with the instance {instance_id}")

    async def _check_base(self, user_id: str, base_id: int) -> None:
        base = await self.bases.find(base_id, user_id)
        if base is None or (base.level or Level.NONE) < Level.UPDATE:
            raise _fault(BASE, f"must be a knowledge base that {user_id} may change; {base_id} is none")

    async def instance(self, owner: str, destination: Destination) -> Instance:
        """Raises `Invalid` for one that is not there, and for somebody else's."""
        if destination.instance_id is None:
            raise _fault(INSTANCE, "is required with deliverTo")
        instance = await self.instances.find(destination.instance_id)
        if instance is None or instance.status != ACTIVE or instance.user_id != owner:
            raise _fault(INSTANCE, f"you have no instance {destination.instance_id}")
        return instance


@dataclass(eq=False)
class ForwardingService:
    destinations: DestinationService
    sending: SendingService
    health: HealthStore

    async def forward(self, context: ConversationContext, event: Event, answer: Answer) -> str | None:
        """Sends an answer where the instance wants its answers to go; the same event never sends twice. Why it could
        not be sent, None where it was or need not be. Raises `Unavailable`."""
        forwarding = context.channel.forwarding
        destination = forwarding.destination(context.config) if forwarding else None
        answer = with_text(answer)
        if destination is None or not _says_something(answer):
            return None
        try:
            if answer.question:
                raise Invalid(ASKS)
            instance = await self.destinations.instance(context.instance.user_id, destination)
            key = f"answer to {event.request_id}"  # with blanks, as no caller's key has any
            await self.sending.forward(instance, destination.to, answer, key)
        except Refusal as refusal:
            if isinstance(refusal, Unavailable) and not isinstance(refusal, PlatformAway):
                raise
            context.answered = False
            reason = f"delivering the answer: {refusal.message}"
            await self.health.failed(context.instance.id, Activity.PROCESSING, reason)
            return reason
        return None


def _named(channel: AnyChannel, config: Config) -> tuple[int | None, Destination | None]:
    """The base that a configuration feeds, and where its answers go."""
    loaded = channel.config.load(config)
    destination = channel.forwarding.destination(loaded) if channel.forwarding else None
    base_id = channel.folder.base_id(loaded) if channel.folder else None
    return base_id, destination


def _says_something(answer: Answer) -> bool:
    """Not a note of ours, and not the empty answer of a resource that has nothing to tell."""
    by_resource = answer.author is Author.RESOURCE and bool(answer.text.strip() or answer.artifacts)
    return by_resource or bool(answer.question)


def _fault(field: str, message: str) -> Invalid:
    return Invalid.of([Fault(field, message)])
