"""The faces of a channel: small Protocols, found by type. A channel implements those that fit it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Artifact,
    Attachment,
    CallOutcome,
    ChannelMetadata,
    ClosedPrompt,
    Config,
    Event,
    OutboundMessage,
    RawAnswer,
    RawCall,
    Received,
    Sender,
    Sent,
    Target,
)
from domain.channels.model import ChannelDefinition
from domain.refusals import Unauthenticated
from ports.clock import Clock, Ids
from ports.faces import Face
from ports.http import Addresses, Http
from ports.linked_device import LinkedDevices
from ports.links import LinkRecorder


@runtime_checkable
class Channel(Protocol, metaclass=Face):
    """Every channel: what it is."""

    @property
    def definition(self) -> ChannelDefinition: ...


@runtime_checkable
class Webhook(Protocol, metaclass=Face):
    """A channel that is called by its platform. Pure: no I/O, no clock of its own."""

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        """Proves the origin of a call and reads it.

        Raises `Unauthenticated` (or `Forbidden` where the platform documents 403) for a failed proof,
        `Invalid` for a body that cannot be read, `NotFound` for an unknown callback name.
        """
        ...


@runtime_checkable
class Replies(Protocol, metaclass=Face):
    """A channel that sends answers back."""

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        """Pure: the answer in the platform's markup, split into parts within its limit."""
        ...

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        """Sends one part. `key` is the same for every try of this part: the idempotency key.

        Never raises for what the platform or the network does: that is what `Sent` tells.
        """
        ...


@runtime_checkable
class Limited(Protocol, metaclass=Face):
    """A channel that says whom its platform's rate limits bind, and what they are. Pure.

    Without it an instance is taken for an account of its own, without quotas.
    """

    def limits(self, config: Config, target: Target) -> Limits: ...


@runtime_checkable
class LimitsReads(Protocol, metaclass=Face):
    """A channel that reads with another credential, or from another server, than it sends with. Pure."""

    def read_limits(self, config: Config) -> Limits: ...


@runtime_checkable
class NeedsFacts(Protocol, metaclass=Face):
    """A channel whose `receive` needs something fetched beforehand; cached by the caller."""

    facts_ttl: float
    """Seconds for which fetched facts hold."""

    async def facts(self, config: Config) -> ChannelMetadata: ...


class StaleMetadata(Unauthenticated):
    """What was fetched beforehand does not suffice to prove this call, and may be out of date (a signing key
    that is not known yet): fetching anew and reading the call once more may help. Else it is refused."""


@runtime_checkable
class AnswersInCall(Protocol, metaclass=Face):
    """A channel whose HTTP call may wait for the answer (`Event.awaits_reply`). Pure."""

    wait_seconds: float

    def answer_in_call(
        self, config: Config, event: Event, outcome: CallOutcome, answer: Answer | None
    ) -> RawAnswer: ...


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll found. `cursor` is stored together with the events, in one transaction."""

    events: Sequence[Event]
    cursor: Mapping[str, Any]
    more: bool = False
    """True: poll again at once, there is more."""


@runtime_checkable
class Polls(Protocol, metaclass=Face):
    """A channel that asks its platform for what is new."""

    default_interval_minutes: float

    async def poll(
        self, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """What is new since `cursor`; on the first poll (None) since the instance was created at `since`.

        Raises `PollFailed`.
        """
        ...


@runtime_checkable
class ConfirmsPolls(Protocol, metaclass=Face):
    """A polled channel that tells its platform what was taken, once it is stored (mail's \\Seen)."""

    async def polled(self, config: Config, stored: Sequence[Event]) -> None: ...


class PollFailed(Exception):
    """A poll that did not work. `fatal`: trying again is useless until the configuration changes."""

    def __init__(self, message: str, *, fatal: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.retry_after = retry_after


@runtime_checkable
class PushWatcher(Protocol, metaclass=Face):
    """A polled channel that can wait for news (IMAP IDLE): returns when there may be some."""

    async def watch(self, config: Config, timeout: float) -> None: ...


@runtime_checkable
class Schedules(Protocol, metaclass=Face):
    """A channel that fires by the clock. Pure."""

    def next_fire(self, config: Config, after: datetime) -> datetime | None:
        """The next moment to fire strictly after `after` (aware, UTC), None for never."""
        ...

    def fired(self, config: Config, instance_id: int, at: datetime) -> Event:
        """The event of a firing at `at`."""
        ...

    def fires_once(self, config: Config) -> bool:
        """Whether the instance removes itself after one firing."""
        ...


Registration = Mapping[str, Any]
"""What a platform gave when a callback address was registered, as JSON: needed to take that back."""


@runtime_checkable
class Registers(Protocol, metaclass=Face):
    """A channel that sets its callback address at the platform itself."""

    async def register(self, config: Config, address: str, kept: Registration) -> Registration:
        """Sets the callback address; idempotent. `kept` is what the last registration returned, empty before
        the first. Raises `PlatformError`.
        """
        ...

    async def unregister(self, config: Config, kept: Registration) -> None:
        """Removes it. Raises `PlatformError`."""
        ...

    def supersedes(self, old: Config, new: Config) -> bool:
        """Whether registering with `new` leaves behind what was registered with `old`. Pure."""
        ...

    async def registered(self, config: Config, address: str) -> bool:
        """Whether the platform still calls this address, as we set it. Raises `PlatformError`."""
        ...


LONGEST_WORDS = 2000
"""Characters that are told of a platform's answer."""


class PlatformError(Exception):
    """What a platform answered when it refused: the beginning of its own words; holds no secret."""

    def __init__(self, message: str) -> None:
        super().__init__(message[:LONGEST_WORDS])


@runtime_checkable
class Probed(Protocol, metaclass=Face):
    """A channel whose credentials can be tried."""

    async def probe(self, config: Config) -> None:
        """Raises `PlatformError` when the platform does not take the credentials."""
        ...


@runtime_checkable
class Fetches(Protocol, metaclass=Face):
    """A channel whose attachments are fetched with the platform's credentials."""

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]: ...


@runtime_checkable
class Describes(Protocol, metaclass=Face):
    """A channel that has to ask its platform for the name and the type of an attachment."""

    async def described(self, config: Config, attachment: Attachment) -> Attachment:
        """The attachment with what the platform knows of it, as it is where the platform does not tell."""
        ...


@runtime_checkable
class SenderFilter(Protocol, metaclass=Face):
    """A channel whose calls do not tell bots from people: it asks its platform who wrote."""

    async def is_bot(self, config: Config, sender: Sender) -> bool | None:
        """Whether a bot wrote; None where the platform does not tell. Never raises."""
        ...


@runtime_checkable
class TypingIndicator(Protocol, metaclass=Face):
    """A channel that can show for a while that an answer is being written."""

    typing_seconds: float
    """The time from one call to the next, within which the platform goes on showing it."""

    async def typing(self, config: Config, target: Target) -> Sent | None:
        """Shows it. None where there is nothing to show in this conversation. Best effort, never raises."""
        ...


@runtime_checkable
class ShowsWaiting(Protocol, metaclass=Face):
    """A channel that shows, from a call on and until an answer comes, that one is on its way.

    There `render` makes of an answer with nothing in it the part that takes the sign away.
    """

    def shows_waiting(self, config: Config, target: Target) -> bool:
        """Pure: whether the platform does so for the call that led to this target."""
        ...


@runtime_checkable
class StreamingReply(Protocol, metaclass=Face):
    """A channel that can show an answer while it is being made, in a message that it changes.

    The finished answer takes the message's place: `render` finds its name in `Answer.draft`.
    """

    draft_seconds: float
    """The least time between two changes, and before the first."""

    def beginning(self, config: Config, target: Target, text: str) -> str:
        """Pure: what is shown of an unfinished answer, in the platform's markup; empty for nothing."""
        ...

    async def draft(self, config: Config, target: Target, beginning: str, draft: str, key: str) -> Sent:
        """Shows a beginning: changes the message `draft`, or sends one where that is empty. `ref` names the
        message; `key` is the idempotency key of sending it. Never raises."""
        ...


@runtime_checkable
class ButtonAck(Protocol, metaclass=Face):
    """A channel that tells who pressed a button that the press was seen. Best effort, never raises.

    Called where a press decided nothing, with `words` for who pressed, if any: other buttons than those of our
    prompts, and a prompt that somebody else was asked. The words go to this person alone where the platform can do
    that. The message with the button stays as it is.
    """

    async def noticed(self, config: Config, target: Target, words: str) -> None: ...


@runtime_checkable
class PromptCloser(Protocol, metaclass=Face):
    """A channel with buttons: replaces a prompt that is over, so that it cannot be pressed any more."""

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Shows what the prompt reads from now on; again where it does already. `target` is that of a press, or
        what `as_pressed` gave. Best effort, never raises."""
        ...

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
    ) -> Target | None:
        """Pure: what `decided` needs of a prompt on record, whatever message the press of its button names.

        `part` went to `target`, and the platform calls it `ref`. `press` is the target of the press, empty for a
        prompt that was decided by a typed reply. None where the part has no buttons.
        """
        ...


Emit = Callable[[Event], Awaitable[None]]
"""Returns once the event is durable."""


@runtime_checkable
class Connected(Protocol, metaclass=Face):
    """A channel that keeps a connection; the supervisor calls `listen` under a lease."""

    async def listen(self, instance_id: int, config: Config, emit: Emit, recorder: LinkRecorder) -> None:
        """Runs until it is cancelled; raises when it cannot go on."""
        ...

    async def unlink(self, instance_id: int) -> None:
        """The instance is gone: unlinks the account and clears the stored state."""
        ...

    async def stored(self) -> Sequence[int]:
        """The instances of which there is stored state here."""
        ...

    def lacks(self) -> str | None:
        """What this installation lacks for the channel, None when nothing."""
        ...


@runtime_checkable
class SupportsPairing(Protocol, metaclass=Face):
    """A connected channel whose account is linked with a code. Only the process that keeps the connection can
    send and fetch: everything goes over it."""

    pairing_steps: str
    """Where the owner enters the code, in words."""

    def lacks(self) -> str | None:
        """As of `Connected`."""
        ...


class ArtifactReader(Protocol):
    """Reads the bytes of an answer's file, our own copy or a foreign address under the address policy."""

    def read(self, artifact: Artifact) -> AsyncIterator[bytes]: ...


class Channels(Protocol):
    """The channels of this installation."""

    def all(self) -> Sequence[Channel]:
        """In the order of the catalogue."""
        ...

    def find(self, channel_id: str) -> Channel | None: ...


@dataclass(frozen=True, slots=True)
class ChannelDependencies:
    """What a channel is built with. `address` gives the value of a setting such as 'MAIL_API_URL'; `hosts`
    resolves the hosts that a user gave for protocols other than HTTP."""

    http: Http
    artifacts: ArtifactReader
    clock: Clock
    ids: Ids
    address: Callable[[str], str]
    hosts: Addresses
    devices: LinkedDevices
