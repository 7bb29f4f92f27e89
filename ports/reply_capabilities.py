"""What a channel can do with replies: one small Protocol each. `C` is its config type, `T` its target type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from domain.channels.answers import Answer, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits
from domain.channels.messages import Sent

C = TypeVar("C", contravariant=True)
T = TypeVar("T")
T_in = TypeVar("T_in", contravariant=True)


class ReplySender(Protocol[C, T_in]):
    """Sends answers back."""

    def render(self, config: C, target: T_in, answer: Answer) -> Sequence[OutboundMessage]:
        """Pure: the answer in the platform's markup, split into messages within its limit."""
        ...

    async def send(self, config: C, target: T_in, message: OutboundMessage, key: str) -> Sent:
        """Sends one message. `key` is its idempotency key, the same for every try.

        Never raises for what the platform or the network does: `Sent` tells.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """What a conversation is opened with: the platform's own address, and the subject of a mail.

    `callback_address` is the public address of the instance's webhook, for platforms that report on messages there.
    """

    to: str
    subject: str = ""
    instance_id: int
    callback_address: str


@dataclass(frozen=True, slots=True)
class Opened(Generic[T]):
    """A conversation to which a message can be sent; `session_id` is the same as that of the answers to it."""

    session_id: str
    target: T


class ConversationOpener(Protocol[C, T]):
    """Opens conversations for messages that answer none."""

    @property
    def address(self) -> str:
        """What an address is here, as errors and docs say it ("a channel id such as C0123456789, ...")."""
        ...

    def default_address(self, config: C) -> str:
        """The configured address for messages of no conversation, empty for none. Pure."""
        ...

    async def open(self, config: C, request: OpenRequest) -> Opened[T]:
        """Checks the address, and asks the platform only where it has to make a conversation first.

        Raises `Invalid` with a fault of the field `to` for what is no address here, `PlatformError` for what the
        platform refuses.
        """
        ...


class ConversationTarget(Protocol[T]):
    """Where a message goes that continues a conversation and answers none of its events. Without it that is where
    answers to the latest event go."""

    def continued(self, target: T) -> T:
        """Pure. `target` is that of an event."""
        ...


@dataclass(frozen=True, slots=True)
class TemplateRules:
    """The platform takes templates, and other messages only within `window` of the person's last message."""

    window: timedelta


class RateLimits(Protocol[C, T_in]):
    """Says whom the platform's rate limits bind, and what they are. Pure.

    Without it an instance counts as an account of its own, without quotas.
    """

    def limits(self, config: C, target: T_in) -> Limits: ...


class ReadLimits(Protocol[C]):
    """The limits of a channel that reads with another credential or server than it sends with. Pure."""

    def read_limits(self, config: C) -> Limits: ...


class TypingIndicator(Protocol[C, T_in]):
    """Shows for a while that an answer is being written."""

    @property
    def typing_seconds(self) -> float:
        """The time from one call to the next, within which the platform goes on showing it."""
        ...

    async def typing(self, config: C, target: T_in) -> Sent | None:
        """Shows it once. None where this conversation cannot show it. Best effort, never raises."""
        ...


class MessageReactions(Protocol[C, T_in]):
    """Adds the bot's reaction to a message, and takes it away."""

    async def react(self, config: C, target: T_in, message_id: str, emoji: str, *, present: bool) -> Sent:
        """`message_id` is `Event.message_id`, `emoji` as the platform names it. Never raises for what the platform or
        the network does."""
        ...


class WaitingIndicator(Protocol[C, T_in]):
    """Says for which calls the platform itself shows that an answer is on its way, until one comes.

    There `render` makes of an empty answer the message that removes the sign.
    """

    def shows_waiting(self, config: C, target: T_in) -> bool:
        """Pure."""
        ...


class StreamingReply(Protocol[C, T_in]):
    """Shows an answer while it is being made, in a message that is edited.

    The finished answer replaces that message: `render` finds its id in `Answer.draft`.
    """

    def preview(self, config: C, target: T_in) -> Preview | None:
        """Pure: how the answer to one message is shown, None where this conversation cannot show it."""
        ...

    async def draft(self, config: C, target: T_in, message: OutboundMessage, draft: str, key: str) -> Sent:
        """Shows what `Preview.render` made: edits the message `draft`, or sends one where that is empty. `Sent.ref`
        is the message's id; `key` is the idempotency key of sending it. Never raises."""
        ...


class ButtonAck(Protocol[C, T_in]):
    """Tells who pressed a button that the press was seen. Best effort, never raises.

    Called where a press decided no prompt. `notice`, if not empty, is shown to this person alone where the platform
    can do that: what was chosen, or that the button is not known, or that somebody else was asked. The message stays
    as it is.
    """

    async def acknowledge_press(self, config: C, target: T_in, notice: str) -> None: ...


class ButtonLimit(Protocol[C, T_in]):
    """Says how many choices a message offers as buttons, where that depends on the config or the target. Pure.

    Without it they are as many as `ChannelDefinition.buttons`.
    """

    def buttons(self, config: C, target: T_in) -> int: ...


class PromptCloser(Protocol[C, T]):
    """Replaces a prompt that is over, or a message of which a choice was pressed: it has no buttons any more."""

    async def close_prompt(self, config: C, target: T, closed: ClosedPrompt) -> None:
        """Shows what the prompt reads from now on; again where it does already. `target` is that of a press, or
        what `prompt_target` returned. Best effort, never raises."""
        ...

    def prompt_target(
        self, config: C, target: T, message: OutboundMessage, ref: str, press: T | None
    ) -> T | None:
        """Pure: the target for `close_prompt` of a prompt on record, whatever message the press of its button names.

        `message` went to `target`, and its id at the platform is `ref`. `press` is the target of the press, None
        for a prompt that was decided by a typed reply. None where the message has no buttons.
        """
        ...
