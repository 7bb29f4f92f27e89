"""Capabilities of channels: one small Protocol each. `C` is the channel's config type, `T` its target type."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from domain.channels.answers import Answer, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits
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
    Sent,
    ThreadMessage,
)
from domain.channels.rich import Form
from domain.conversations.model import Destination
from domain.knowledge.sources.model import Listing, PageContent, PageToRead
from domain.polling.model import Timing
from domain.refusals import Refusal, Unauthenticated

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


class MetadataSource(Protocol[C]):
    """Fetches what `Webhook.receive` needs beforehand, such as signing keys; the caller caches it."""

    @property
    def metadata_seconds(self) -> float:
        """How long fetched metadata is valid."""

    async def fetch_metadata(self, config: C) -> ChannelMetadata: ...


class EventPlacer(Protocol[C]):
    """Asks the platform to which conversation an event of a call belongs, where the call does not say."""

    async def placed(self, config: C, event: Event) -> Event:
        """The event in its conversation, as given where the platform does not tell in time. Never raises: the call
        waits for its acknowledgement."""


class CallResponder(Protocol[C]):
    """Answers within the HTTP call (`Event.awaits_reply`). Pure."""

    @property
    def wait_seconds(self) -> float: ...

    def answer_in_call(
        self, config: C, event: Event, outcome: CallOutcome, answer: Answer | None
    ) -> RawAnswer: ...


class AnswerWriter(Protocol):
    """Writes the answer to one call. Pure."""

    @property
    def head(self) -> RawAnswer | None:
        """Status and headers of an answer that is shown as it grows, None for a whole one."""

    @property
    def wait_seconds(self) -> float:
        """How long the call waits for the answer."""

    @property
    def keep_alive(self) -> bytes:
        """A piece that says nothing."""

    def begin(self) -> bytes:
        """The first piece, once the event is stored."""

    def grown(self, text: str) -> bytes:
        """The piece for text that was added."""

    def end(self, outcome: CallOutcome, answer: Answer | None, streamed: str) -> bytes:
        """The last piece: what the answer has beyond the `streamed` text, and how it ended. Where the answer does not
        begin with that text, the piece has the whole answer."""

    def whole(self, outcome: CallOutcome, answer: Answer | None) -> RawAnswer:
        """The answer of a call that has no `head`."""


class CallStreamer(Protocol[C, T_in]):
    """Answers calls that wait long, whole or as the answer grows (`Received.streams`). Pure."""

    @property
    def kept_seconds(self) -> float:
        """How long after the call its answer is stored for inquiries and repeated calls."""

    def grows(self, config: C, target: T_in) -> bool:
        """Return True if the caller sees the answer grow."""

    def writer(self, config: C, call: RawCall, event: Event) -> AnswerWriter:
        """`event` is that of the call, or the one that its inquiry is about; without session and text where that was
        withdrawn or erased."""

    def refused(self, call: RawCall, refusal: Refusal) -> RawAnswer:
        """The refusal of any call to the channel, as its protocol has it."""


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
        """Returns the events since `cursor`; on the first poll (None) since the instance was created at `since`.
        Raises `PollFailed`."""


class PollAck(Protocol[C]):
    """Tells the platform which polled events are stored (mail's \\Seen)."""

    async def acknowledge(self, config: C, stored: Sequence[Event]) -> None:
        """Raises `PollFailed`."""


class PushWatcher(Protocol[C]):
    """Waits for the platform to announce news between two polls (IMAP IDLE)."""

    async def watch(self, config: C, timeout: float) -> None:
        """Returns when there may be news, or after `timeout` seconds. Raises `PollFailed`."""


class Scheduler(Protocol[C]):
    """Fires by the clock. Pure."""

    def next_fire(self, config: C, after: datetime) -> datetime | None:
        """The next moment to fire strictly after `after` (aware, UTC), None for never."""

    def fired(self, config: C, instance_id: int, at: datetime) -> Event:
        """The event of a firing at `at`."""

    def fires_once(self, config: C) -> bool:
        """Return True if the instance removes itself after one firing."""

    def timing(self, config: C) -> Timing:
        """When it fires, in words."""


Registration = Mapping[str, object]
"""What a platform returned when a callback address was registered, as JSON: needed to unregister."""


class Registrar(Protocol[C]):
    """Sets the callback address at the platform itself."""

    async def register(self, config: C, address: str, kept: Registration) -> Registration:
        """Sets the callback address; idempotent. `kept` is what the last registration returned, empty before
        the first. Raises `PlatformError`."""

    async def unregister(self, config: C, kept: Registration) -> None:
        """Raises `PlatformError`."""

    def supersedes(self, old: C, new: C) -> bool:
        """Return True if registering with `new` leaves behind the registration made with `old`. Pure."""

    async def registered(self, config: C, address: str) -> bool:
        """Return True if the platform still calls this address. Raises `PlatformError`."""


class AnswerForwarding(Protocol[C]):
    """Names another instance through which the answers of an instance go out. Pure."""

    def destination(self, config: C) -> Destination | None:
        """None if answers are not forwarded."""


class Probe(Protocol[C]):
    """Tries the credentials."""

    async def probe(self, config: C) -> str | None:
        """A sentence on what is there already, such as unread mail. Raises `PlatformError` when the platform refuses
        the credentials."""


class AttachmentFetcher(Protocol[C]):
    """Downloads attachments with the platform's credentials."""

    def fetch(self, config: C, attachment: Attachment) -> AsyncIterator[bytes]:
        """Raises `PlatformError`."""


class BaseFolder(Protocol[C]):
    """A folder whose files are fed into a knowledge base."""

    def base_id(self, config: C) -> int | None:
        """The base that the folder feeds, None for none."""

    def address(self, config: C) -> str:
        """Where people see the folder."""

    async def read(self, config: C, page: PageToRead) -> PageContent | Listing:
        """The list of the folder's files for its own page, else a file. Raises `PageRefused`, `PageLater`."""


class AttachmentDescriber(Protocol[C]):
    """Asks the platform for the name and type of an attachment."""

    async def described(self, config: C, attachment: Attachment) -> Attachment:
        """The attachment with what the platform knows of it; unchanged where it knows nothing."""


class SenderFilter(Protocol[C]):
    """Asks the platform whether a person or a bot wrote, where its calls do not say."""

    async def is_bot(self, config: C, sender: Sender) -> bool | None:
        """None if the platform does not say. Never raises."""


class QuotedReader(Protocol[C, T_in]):
    """Reads the message that an event replies to, where the platform gives no more than its id."""

    async def read_quoted(self, config: C, target: T_in, quoted: Quoted) -> Quoted | None:
        """`target` is that of the event. None where there is no such message. Raises `PlatformError`."""


class ThreadReader(Protocol[C, T_in]):
    """Reads the thread into which the bot is called."""

    async def read_thread(self, config: C, target: T_in, before: str, most: int) -> Sequence[ThreadMessage]:
        """The latest messages before the one with the platform's id `before`, the oldest first; `target` is that of
        the event. Raises `PlatformError`."""


class ReplySender(Protocol[C, T_in]):
    """Sends answers back."""

    def render(self, config: C, target: T_in, answer: Answer) -> Sequence[OutboundMessage]:
        """Pure: the answer in the platform's markup, split into messages within its limit."""

    async def send(self, config: C, target: T_in, message: OutboundMessage, key: str) -> Sent:
        """Sends one message. `key` is its idempotency key, the same for every try.

        Never raises for what the platform or the network does: `Sent` tells.
        """


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

    def default_address(self, config: C) -> str:
        """The configured address for messages of no conversation, empty for none. Pure."""

    async def open(self, config: C, request: OpenRequest) -> Opened[T]:
        """Checks the address, and asks the platform only where it has to make a conversation first.

        Raises `Invalid` with a fault of the field `to` for what is no address here, `PlatformError` for what the
        platform refuses.
        """


class ConversationTarget(Protocol[T]):
    """Where a message goes that continues a conversation and answers none of its events. Without it that is where
    answers to the latest event go."""

    def continued(self, target: T) -> T:
        """Pure. `target` is that of an event."""


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

    async def typing(self, config: C, target: T_in) -> Sent | None:
        """Shows it once. None where this conversation cannot show it. Best effort, never raises."""


class MessageReactions(Protocol[C, T_in]):
    """Adds the bot's reaction to a message, and takes it away."""

    async def react(self, config: C, target: T_in, message_id: str, emoji: str, *, present: bool) -> Sent:
        """`message_id` is `Event.message_id`, `emoji` as the platform names it. Never raises for what the platform or
        the network does."""


class WaitingIndicator(Protocol[C, T_in]):
    """Says for which calls the platform itself shows that an answer is on its way, until one comes.

    There `render` makes of an empty answer the message that removes the sign.
    """

    def shows_waiting(self, config: C, target: T_in) -> bool:
        """Pure."""


class StreamingReply(Protocol[C, T_in]):
    """Shows an answer while it is being made, in a message that is edited.

    The finished answer replaces that message: `render` finds its id in `Answer.draft`.
    """

    def preview(self, config: C, target: T_in) -> Preview | None:
        """Pure: how the answer to one message is shown, None where this conversation cannot show it."""

    async def draft(self, config: C, target: T_in, message: OutboundMessage, draft: str, key: str) -> Sent:
        """Shows what `Preview.render` made: edits the message `draft`, or sends one where that is empty. `Sent.ref`
        is the message's id; `key` is the idempotency key of sending it. Never raises."""


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


class FormRules(Protocol[C, T_in]):
    """Says which forms the platform shows as such. Pure. Others are asked field by field."""

    def shows_form(self, config: C, target: T_in, form: Form) -> bool: ...


class FormDialog(Protocol[C, T_in]):
    """Shows a form in a dialog of the platform, once a person pressed a button for it."""

    async def open_form(self, config: C, target: T_in, form: Form, reference: str) -> None:
        """Shows the dialog to who pressed; `target` is that of the press. What is entered comes as an event with
        `reference` as its choice and `Event.form_input`. Best effort, never raises: the person may press again."""


class PromptCloser(Protocol[C, T]):
    """Replaces a prompt that is over, or a message of which a choice was pressed: it has no buttons any more."""

    async def close_prompt(self, config: C, target: T, closed: ClosedPrompt) -> None:
        """Shows what the prompt reads from now on; again where it does already. `target` is that of a press, or
        what `prompt_target` returned. Best effort, never raises."""

    def prompt_target(
        self, config: C, target: T, message: OutboundMessage, ref: str, press: T | None
    ) -> T | None:
        """Pure: the target for `close_prompt` of a prompt on record, whatever message the press of its button names.

        `message` went to `target`, and its id at the platform is `ref`. `press` is the target of the press, None
        for a prompt that was decided by a typed reply. None where the message has no buttons.
        """
