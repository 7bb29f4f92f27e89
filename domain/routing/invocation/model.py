"""The state of the work on one conversation, and how the work on an event ends early."""

from dataclasses import dataclass

from domain.channels.messages import Event
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.instances.model import Instance
from domain.routing.ack_reaction.service import AckReaction
from domain.routing.typing_indicator.service import LingeringTyping, RepeatedTyping
from ports.channels import AnyChannel
from ports.files import FilePlace
from ports.inbox import QueuedEvent
from ports.queue import QueueKey


@dataclass(slots=True)
class ConversationContext:
    """A leased conversation, and the state of its current event.

    `has_open_approval`: tool confirmations of the session are stored, so each message may decide one. `draft` names
    the message that shows the unfinished answer, empty for none. `answered`: the resource answered, and all
    attachments were fetched. `automated`: no person is known to have caused the event. `acknowledged`: the platform
    was told that the pressed button was seen. `offered` is the id of the latest message that offered numbered
    choices.
    """

    instance: Instance
    channel: AnyChannel
    has_open_approval: bool
    draft: str = ""
    answered: bool = False
    automated: bool = False
    acknowledged: bool = False
    typing: RepeatedTyping | None = None
    reaction: AckReaction | None = None
    offered: str | None = None

    @property
    def config(self) -> ChannelConfig:
        return self.channel.config.load(self.instance.config)

    @property
    def merge_seconds(self) -> float:
        return self.channel.definition.merge_seconds(self.instance.config)

    @property
    def transcribes(self) -> bool:
        return self.channel.definition.transcribes(self.instance.config)

    def target(self, event: Event) -> ChannelTarget:
        return self.channel.target.load(event.target)

    def start_typing(self, event: Event) -> None:
        """Shows that the event is being worked on: by the typing indicator, and by a reaction at the message."""
        if self.channel.typing and self.typing is None:
            self.typing = RepeatedTyping(self.channel.typing, self.config, self.target(event))
        emoji = self.channel.definition.ack_reaction(self.instance.config)
        if emoji and event.message_id and (reactions := self.channel.reactions):
            self.reaction = AckReaction(reactions, self.config, self.target(event), event.message_id, emoji)

    def linger_typing(self, key: QueueKey, lingering: LingeringTyping) -> None:
        """The sign stays until the answer is sent."""
        if self.typing is not None:
            lingering.linger(key, self.typing)
            self.typing = None

    def stop_typing(self) -> None:
        for shown in (self.typing, self.reaction):
            if shown is not None:
                shown.stop()
        self.typing = self.reaction = None


def place_of(context: ConversationContext, queued: QueuedEvent, *, inbound: bool = False) -> FilePlace:
    """Where files belong that came with an event (`inbound`) or have to do with its answer."""
    return FilePlace(context.instance.id, queued.event.session_id, queued.id, inbound)


class ProcessingFailed(Exception):
    """An event that ends in an apology: `user_message` is sent to the sender, `reason` is recorded."""

    def __init__(self, user_message: str, reason: str) -> None:
        super().__init__(reason)
        self.user_message = user_message
        self.reason = reason
