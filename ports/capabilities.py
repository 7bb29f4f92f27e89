"""What a channel can do besides replying: one small Protocol each. `C` is the channel's config type."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from domain.channels.answers import Answer
from domain.channels.messages import (
    Attachment,
    CallOutcome,
    ChannelMetadata,
    Event,
    Quoted,
    RawAnswer,
    RawCall,
    Received,
    Sender,
    ThreadMessage,
)
from domain.conversations.model import Destination
from domain.knowledge.sources.model import Listing, PageContent, PageToRead
from domain.polling.model import Timing
from domain.refusals import Unauthenticated

C = TypeVar("C", contravariant=True)
T = TypeVar("T")
T_in = TypeVar("T_in", contravariant=True)

LONGEST_DETAIL = 2000
"""Characters of a platform's answer that are shown."""


class PlatformError(Exception):
    """A platform refused. Holds the beginning of its own text, and no secret; `retry_after` in seconds where it said
    so. `transient`: it did not answer, failed, or was asked too often: the same may succeed later. `answered`: it was
    reached, and its answer says so."""

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        transient: bool = False,
        answered: bool = False,
    ) -> None:
        super().__init__(message[:LONGEST_DETAIL])
        self.retry_after = retry_after
        self.transient = transient
        self.answered = answered


class StaleMetadata(Unauthenticated):
    """The cached metadata does not suffice to verify this call and may be out of date (an unknown signing key).

    The caller fetches it anew and reads the call once more; else the call is refused.
    """


class PollFailed(Exception):
    """A poll failed. `fatal`: trying again is useless until the configuration changes."""

    def __init__(self, message: str, *, fatal: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.retry_after = retry_after


class Webhook(Protocol[C]):
    """Reads the calls of the platform. Pure: no I/O, no clock of its own."""

    def receive(self, config: C, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
        """Verifies the origin of a call and reads it.

        Raises `Unauthenticated` (or `Forbidden` where the platform documents 403) for a failed proof,
        `Invalid` for a body that cannot be read, `NotFound` for an unknown callback name.
        """
        ...


class MetadataSource(Protocol[C]):
    """Fetches what `Webhook.receive` needs beforehand, such as signing keys; the caller caches it."""

    @property
    def metadata_seconds(self) -> float:
        """How long fetched metadata is valid."""
        ...

    async def fetch_metadata(self, config: C) -> ChannelMetadata: ...


class EventPlacer(Protocol[C]):
    """Asks the platform to which conversation an event of a call belongs, where the call does not say."""

    async def placed(self, config: C, event: Event) -> Event:
        """The event in its conversation, as given where the platform does not tell in time. Never raises: the call
        waits for its acknowledgement."""
        ...


class CallResponder(Protocol[C]):
    """Answers within the HTTP call (`Event.awaits_reply`). Pure."""

    @property
    def wait_seconds(self) -> float: ...

    def answer_in_call(
        self, config: C, event: Event, outcome: CallOutcome, answer: Answer | None
    ) -> RawAnswer: ...


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll found. `cursor` is stored together with the events, in one transaction, and with the messages that
    are refused.

    `more`: poll again at once.
    """

    events: Sequence[Event]
    cursor: Mapping[str, object]
    more: bool = False
    unanswered: Sequence[Event] = ()


class Poller(Protocol[C]):
    """Asks the platform for what is new."""

    @property
    def default_interval_minutes(self) -> float: ...

    async def poll(
        self, config: C, cursor: Mapping[str, object] | None, now: datetime, since: datetime
    ) -> Polled:
        """What is new since `cursor`; on the first poll (None) since the instance was created at `since`.

        Raises `PollFailed`.
        """
        ...


class PollAck(Protocol[C]):
    """Tells the platform which polled events are stored (mail's \\Seen)."""

    async def acknowledge(self, config: C, stored: Sequence[Event]) -> None:
        """Raises `PollFailed`."""
        ...


class PushWatcher(Protocol[C]):
    """Waits for the platform to announce news between two polls (IMAP IDLE)."""

    async def watch(self, config: C, timeout: float) -> None:
        """Returns when there may be news, or after `timeout` seconds. Raises `PollFailed`."""
        ...


class Scheduler(Protocol[C]):
    """Fires by the clock. Pure."""

    def next_fire(self, config: C, after: datetime) -> datetime | None:
        """The next moment to fire strictly after `after` (aware, UTC), None for never."""
        ...

    def fired(self, config: C, instance_id: int, at: datetime) -> Event:
        """The event of a firing at `at`."""
        ...

    def fires_once(self, config: C) -> bool:
        """Whether the instance removes itself after one firing."""
        ...

    def timing(self, config: C) -> Timing:
        """When it fires, in words."""
        ...


Registration = Mapping[str, object]
"""What a platform returned when a callback address was registered, as JSON: needed to unregister."""


class Registrar(Protocol[C]):
    """Sets the callback address at the platform itself."""

    async def register(self, config: C, address: str, kept: Registration) -> Registration:
        """Sets the callback address; idempotent. `kept` is what the last registration returned, empty before
        the first. Raises `PlatformError`."""
        ...

    async def unregister(self, config: C, kept: Registration) -> None:
        """Raises `PlatformError`."""
        ...

    def supersedes(self, old: C, new: C) -> bool:
        """Whether registering with `new` leaves behind what was registered with `old`. Pure."""
        ...

    async def registered(self, config: C, address: str) -> bool:
        """Whether the platform still calls this address, as we set it. Raises `PlatformError`."""
        ...


class AnswerForwarding(Protocol[C]):
    """Names another instance through which the answers of an instance go out. Pure."""

    def destination(self, config: C) -> Destination | None:
        """None where they go nowhere."""
        ...


class Probe(Protocol[C]):
    """Tries the credentials."""

    async def probe(self, config: C) -> str | None:
        """A sentence on what is there already, such as unread mail. Raises `PlatformError` when the platform refuses
        the credentials."""
        ...


class AttachmentFetcher(Protocol[C]):
    """Downloads attachments with the platform's credentials."""

    def fetch(self, config: C, attachment: Attachment) -> AsyncIterator[bytes]:
        """Raises `PlatformError`."""
        ...


class BaseFolder(Protocol[C]):
    """A folder whose files are fed into a knowledge base."""

    def base_id(self, config: C) -> int | None:
        """The base that the folder feeds, None for none."""
        ...

    def address(self, config: C) -> str:
        """Where people see the folder."""
        ...

    async def read(self, config: C, page: PageToRead) -> PageContent | Listing:
        """The list of the folder's files for its own page, else a file. Raises `PageRefused`, `PageLater`."""
        ...


class AttachmentDescriber(Protocol[C]):
    """Asks the platform for the name and type of an attachment."""

    async def described(self, config: C, attachment: Attachment) -> Attachment:
        """The attachment with what the platform knows of it; unchanged where it knows nothing."""
        ...


class SenderFilter(Protocol[C]):
    """Asks the platform whether a person or a bot wrote, where its calls do not say."""

    async def is_bot(self, config: C, sender: Sender) -> bool | None:
        """None where the platform does not tell. Never raises."""
        ...


class QuotedReader(Protocol[C, T_in]):
    """Reads the message that an event replies to, where the platform gives no more than its id."""

    async def read_quoted(self, config: C, target: T_in, quoted: Quoted) -> Quoted | None:
        """`target` is that of the event. None where there is no such message. Raises `PlatformError`."""
        ...


class ThreadReader(Protocol[C, T_in]):
    """Reads the thread into which the bot is called."""

    async def read_thread(self, config: C, target: T_in, before: str, most: int) -> Sequence[ThreadMessage]:
        """The latest messages before the one with the platform's id `before`, the oldest first; `target` is that of
        the event. Raises `PlatformError`."""
        ...
