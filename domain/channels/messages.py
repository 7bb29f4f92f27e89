"""What comes in through a channel, and what platforms say of what was sent, in words that no platform owns."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from urllib.parse import parse_qsl, urlsplit

from domain.channels.context import merged
from domain.channels.limits import Scope
from domain.channels.model import Proof
from domain.values import value

Config = Mapping[str, object]
"""An instance's configuration, a JSON object exactly as the user stored it."""

ChannelMetadata = Mapping[str, object]
"""What a channel fetched beforehand and needs to read a call: signing keys, the bot's own id."""

Target = Mapping[str, object]
"""Where a reply goes: a JSON object that only the channel itself reads (thread, address, token)."""


@value
class RawCall:
    """An HTTP call on an instance's callback address, as it came.

    `id` is the request id that we gave it; `url` the public address that was called, query included;
    `headers` have lower-case names; `callback` is what follows the instance in the path, usually 'webhook'.
    """

    id: str
    method: str
    callback: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, str]:
        """The query parameters; the last one wins where a name repeats."""
        return dict(parse_qsl(urlsplit(self.url).query, keep_blank_values=True))


@value
class RawAnswer:
    """The HTTP answer to a `RawCall`, byte for byte. `streams`: the body follows in pieces."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    streams: bool = False


TAKEN = RawAnswer()
"""What most platforms expect: 200 and nothing else."""


@value
class Identity:
    """An external identity: `field` such as 'phone' or 'email', and its value."""

    field: str
    value: str


@value
class Sender:
    """Who wrote. `identities` are all the external identities that the event proves, and `proof` says by whom they
    are proved."""

    external_id: str
    display_name: str = ""
    identities: tuple[Identity, ...] = ()
    proof: Proof = Proof.OWNER

    @property
    def verified_by(self) -> Proof | None:
        """None if the sender has no proved identity."""
        return self.proof if self.identities else None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with an event; `source` is what the channel needs to fetch it. `is_voice`: the sender spoke it
    as a message."""

    name: str
    mime_type: str
    source: Mapping[str, object]
    size: int | None = None
    is_voice: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """What events have in common that the platform sends for one message, such as the pictures of an album.

    `key` is the platform's id of the message. `place` orders its events; the same place twice is an edit. None where
    the platform gives no order. The key of the event itself: the platform may send the message once more, under the
    same key and with more content, as Slack does with the files of a mention, or with its thread.
    """

    key: str
    place: int | None = None


LONGEST_QUOTED = 4000
"""Characters that are kept and handed on of a quoted message, and of each message of a thread."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """The message that an event replies to. `author` is a name, or the platform's id where there is no name, and
    `Author.RESOURCE` for what the instance sent itself.

    Where the platform gives its id alone, it is looked up among the stored messages and read from the platform: `ref`
    is the id as `Sent.ref` gives it, `key` the key of its event, had it been one. `session`: the id is unique within
    that session alone.
    """

    text: str = ""
    author: str = ""
    attachments: tuple[Attachment, ...] = ()
    ref: str = ""
    key: str = ""
    session: str = ""

    @property
    def is_given(self) -> bool:
        """Return True if the content is there, not only the id."""
        return bool(self.text or self.attachments)


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """An earlier message of a thread; `author` as in `Quoted`."""

    text: str
    author: str
    at: datetime


class Change(StrEnum):
    """What a sender did to an earlier message."""

    EDITED = "edited"
    DELETED = "deleted"


@value
class Event:
    """One inbound message.

    `key` is the platform's own identity of the event: the same key twice is one event; None means that
    the platform gives none. `choice` is the value of a pressed button. `claims_choice`: whoever calls may name any
    value, and it counts where that value was offered. `canned_reply` answers in place
    of the downstream resource (greetings). `awaits_reply`: the HTTP call waits for the answer.
    `is_direct` says whether the conversation is between the sender and the bot alone. `unreadable` says why
    nobody can read it: it is kept on record as failed, and never handed on or answered. Events of one `merge` are
    handed on as one message.

    `ids` are the platform's ids of what the event is about, as `Sent.ref` gives them: an event about something that
    the instance sent itself is an echo, and dropped. `ids_of_session`: they are unique within the session alone.
    `automated`: the platform does not say that a person caused the event (see `domain.routing.model`).
    `correspondent` names whom a reply goes to where a machine may begin a new session with each message, as with
    mail: rounds are counted over all sessions with it too.
    `reaction` is the emoji with which the sender reacted to a message; the event has no text then.
    `reacts_to` is the platform's id of the message that it is a reaction to, where the platform does not tell whose
    that is: the event is stored where the instance sent that message, and dropped otherwise.
    `reacted_ref` is the platform's id, as `Sent.ref` gives it, of the message that it is a reaction to.
    `message_id` is the platform's id of the message within the session. `change`: the event is an edit of that
    message (and holds the whole new one), or its deletion, then with an empty session where the platform names none.
    It counts where the message is not answered yet; `new_if_answered`: an edit of an answered one is a message of its
    own.
    `separate_session_id` takes the place of `session_id` where another correspondent began that session.
    `only_decides`: it is worked on where it decides an open question to the sender, and dropped otherwise.
    `only_followed`: it is stored where the instance has answered in its session, and dropped otherwise.
    `quoted` is what it replies to. `thread_post` is the platform's id of the message where it was posted in a thread:
    the messages before it are read where the session is new.
    `alias`: it belongs to the session that has this alias (see `SessionAlias`), where there is one.
    `written_at` is when the person wrote it, where the platform may hand it over much later.
    `refused` is why a rule keeps it from being answered, in one word such as "channel" (see
    `domain.channels.refused`): it is listed instead, and worked on once somebody releases it.
    `context` is what else the platform says of the message, a JSON object with the keys of `domain.channels.context`.
    `form_input` is what a person entered into a form of ours in a dialog of the platform: texts, lists of values of
    options, and truth values, by the names of its fields; `choice` names the form then.
    `trace` is the traceparent of the call that brought it; empty if it belongs to no trace.
    """

    key: str | None
    session_id: str
    sender: Sender
    text: str
    target: Target
    attachments: tuple[Attachment, ...] = ()
    choice: str | None = None
    claims_choice: bool = False
    canned_reply: str | None = None
    awaits_reply: bool = False
    request_id: str = ""
    is_direct: bool = True
    unreadable: str = ""
    merge: Merge | None = None
    ids: tuple[str, ...] = ()
    ids_of_session: bool = False
    automated: bool = False
    correspondent: str = ""
    separate_session_id: str = ""
    only_decides: bool = False
    only_followed: bool = False
    quoted: Quoted | None = None
    thread_post: str = ""
    reaction: str = ""
    reacts_to: str = ""
    reacted_ref: str = ""
    message_id: str = ""
    change: Change | None = None
    new_if_answered: bool = False
    alias: str = ""
    written_at: datetime | None = None
    refused: str = ""
    context: Mapping[str, object] = field(default_factory=dict)
    form_input: Mapping[str, object] | None = None
    raw: Mapping[str, object] = field(default_factory=dict)
    trace: str = ""

    def proved_by(self, proof: Proof | None) -> "Event":
        """The event with who proves its sender; None: nobody, so that the sender has no identities."""
        sender = replace(self.sender, proof=proof) if proof else replace(self.sender, identities=())
        return replace(self, sender=sender)

    @property
    def is_partial(self) -> bool:
        """The platform may send the same message with more content."""
        return self.merge is not None and self.merge.key == self.key

    @property
    def content(self) -> tuple[str, tuple[Attachment, ...], Quoted | None]:
        return self.text, self.attachments, self.quoted if self.gives_quoted else None

    @property
    def gives_quoted(self) -> bool:
        """Return True if it quotes a message whose content is known."""
        return self.quoted is not None and self.quoted.is_given

    @property
    def has_content(self) -> bool:
        """The person wrote something, sent a file or forwarded a message."""
        return bool(self.text or self.attachments or self.gives_quoted)

    def completed(self, other: "Event") -> "Event":
        """This event with the content that another event of the same message has beyond it. Of a partial event, the
        platform may not have told the thread: the conversation and the place of the answer are the other's."""
        more = len(other.attachments) > len(self.attachments)
        placed = other if self.is_partial and not other.is_partial else self
        return replace(
            self,
            session_id=placed.session_id,
            target=placed.target,
            thread_post=placed.thread_post,
            text=self.text or other.text,
            attachments=other.attachments if more else self.attachments,
            quoted=(
                other.quoted if other.gives_quoted and not self.gives_quoted else self.quoted or placed.quoted
            ),
            canned_reply=None if other.has_content else self.canned_reply,
            merge=placed.merge,
            context=merged((self.context, other.context)),
        )


_REACHED = {"delivered": 1, "read": 2}


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """What the platform says later of a part that it took: `ref` is the id that `Sent.ref` gave, `state` the
    platform's word for what became of it.

    `key` is the idempotency key of the part, where the platform repeats it: by it a part is known whose sending
    broke off before the platform's answer. `of_recipient` as in `Sent`.
    """

    ref: str
    state: str
    failed: bool = False
    detail: str = ""
    key: str = ""
    of_recipient: bool = False

    @property
    def reached(self) -> int:
        """How far the message came: 1 delivered, 2 read, else 0."""
        return _REACHED.get(self.state, 0)


@dataclass(frozen=True, slots=True)
class SessionRename:
    """A person, known by the id of a session of one person, is known by another from now on. `of_place`: a group or
    channel is, which `allowedChannels` may name."""

    previous: str
    current: str
    of_place: bool = False


@dataclass(frozen=True, slots=True)
class SessionAlias:
    """Another id of a session, such as that of its person: events that tell the alias alone belong to the session."""

    alias: str
    session_id: str


@dataclass(frozen=True, slots=True)
class OptOut:
    """A person wants no more messages; `over`: wants them again."""

    session_id: str
    over: bool = False


@value
class Inquiry:
    """A call about an earlier event, that of `key` or a later one of its conversation whose key begins with it and a
    slash. `withdraws`: the event is not to be answered any more. `continued_by`: the key of an event that goes on
    with it, as long as it is not answered or its answer asks something."""

    key: str
    withdraws: bool = False
    continued_by: str = ""


@value
class Received:
    """What a channel made of a call.

    `kind` is a short word for metrics ('message', 'challenge', 'ignored:bot', ...).
    `missing_proof_field` names the missing config field when the call was taken without proof of origin, because
    the instance has nothing to check it with: the use case decides whether that is enough.
    `streams`: the channel's `CallStreamer` writes the answer to the only event, or to `inquiry`; where there are
    both, to the event, which needs the earlier one.
    """

    answer: RawAnswer = TAKEN
    events: tuple[Event, ...] = ()
    delivery_statuses: tuple[DeliveryStatus, ...] = ()
    session_renames: tuple[SessionRename, ...] = ()
    session_aliases: tuple[SessionAlias, ...] = ()
    opt_outs: tuple[OptOut, ...] = ()
    kind: str = "message"
    missing_proof_field: str | None = None
    streams: bool = False
    inquiry: Inquiry | None = None


class Outcome(StrEnum):
    """How the sending of a part ended."""

    SENT = "sent"
    RETRY_AFTER = "retry_after"
    TRANSIENT = "transient"
    PERMANENT = "permanent"
    UNKNOWN = "unknown"
    """The platform may or may not have taken it (the connection broke after the request was out)."""


@value
class Sent:
    """The result of sending one part. `ref` is the platform's message id.

    `retry_after` is in seconds; beside SENT it says that the next message must wait so long. `scope` says what
    has to wait, None where the platform does not say. `of_recipient`: the failure lies with this person or chat
    alone, such as one who blocked the bot or left: it does not show in the health of the instance.
    """

    outcome: Outcome
    detail: str = ""
    retry_after: float | None = None
    ref: str = ""
    scope: Scope | None = None
    of_recipient: bool = False


class CallOutcome(StrEnum):
    """How the wait of a synchronous call ended."""

    ANSWERED = "answered"
    TIMEOUT = "timeout"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
