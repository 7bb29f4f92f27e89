"""What the work on one lease holds on to, and how it ends early."""

from __future__ import annotations

from dataclasses import dataclass

from domain.channels.messages import Event
from domain.channels.typed import ChannelConfig, ChannelTarget
from domain.instances.model import Instance
from domain.routing.typing_indicator.service import RepeatedTyping
from ports.channels import AnyChannel


@dataclass(slots=True)
class ConversationContext:
    """A conversation under lease. `has_open_approval`: its messages are held against its tool confirmations.

    `channel` is the instance's channel, whose fields tell what it can do. `draft` names the message that shows
    the answer to the present event while it is being made, empty while there is none. `answered`: the resource
    answered to the present event, and all its attachments were fetched. `noticed`: the platform was told that the
    press which the present event is was seen. `typing` shows that the answer to it is being written.
    """

    instance: Instance
    channel: AnyChannel
    has_open_approval: bool
    draft: str = ""
    answered: bool = False
    automated: bool = False
    noticed: bool = False
    typing: RepeatedTyping | None = None

    @property
    def config(self) -> ChannelConfig:
        return self.channel.config.load(self.instance.config)

    def target(self, event: Event) -> ChannelTarget:
        return self.channel.target.load(event.target)

    def stop_typing(self) -> None:
        if self.typing is not None:
            self.typing.stop()
            self.typing = None


class ProcessingFailed(Exception):
    """An event that ends in an apology: `words` for the sender, `reason` for the record."""

    def __init__(self, words: str, reason: str) -> None:
        super().__init__(reason)
        self.words = words
        self.reason = reason
