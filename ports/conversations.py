"""Conversations: history, actions, tool confirmations, offered choices, and the log of the web chat."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Protocol, TypeVar

from domain.channels.messages import Event, Quoted
from domain.confirmations.model import FoundQuestion, Pending, SessionState
from domain.conversations.choices import Offer
from domain.conversations.model import (
    ConversationCounts,
    ConversationFilter,
    ConversationUpdate,
    ConversationView,
    Direction,
    Message,
    MessageId,
    MessagesWanted,
    NewNote,
    Snippet,
    SnippetOwners,
    Timeline,
)
from domain.feedback.model import Feedback, Press, Rating, Voter
from domain.monitoring.model import DeadPart
from domain.paging import Page
from domain.web_chat.model import ChatMessage, ChatPage, ChatPlace, SignedIdentity, Site


class Rerun(Enum):
    """What came of running a message again. `NOT_FAILED`: it was not given up."""

    STARTED = 1
    NOT_FAILED = 2
    UNKNOWN = 3


class ConversationStore(Protocol):
    """Conversations, and who has them. Actions return False for an unknown conversation."""

    async def list(
        self, owner: str | None, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> Page[ConversationView, str]:
        """Those of the active instances of a user, or of all (None), the latest first. `cursor` is that of the page
        before. Raises `Invalid` for an unknown cursor."""

    async def hold(self, instance_id: int, session_id: str, user_id: str, minutes: int) -> bool:
        """A person, this user, has the conversation for so long."""

    async def change(
        self, instance_id: int, session_id: str, user_id: str, change: ConversationUpdate
    ) -> bool:
        """Changes what this user says. Who has the conversation passes it on with the assignee."""

    async def add_note(self, instance_id: int, session_id: str, note: NewNote) -> Message | None:
        """Returns None if the conversation is not known."""

    async def counts(self, owner: str | None, user_id: str, teams: Sequence[str]) -> ConversationCounts:
        """Those of the active instances that `owner` sees, or of all (None). `teams`: assignees."""

    async def hand_back(self, instance_id: int, session_id: str) -> bool:
        """The resource has the conversation, and gets what is queued."""

    async def erase(self, instance_id: int, session_id: str) -> bool:
        """Erases the texts and files of a conversation and all that is on record of it."""


class SnippetStore(Protocol):
    async def list(self, owners: SnippetOwners, query: str, after: int, limit: int) -> Sequence[Snippet]:
        """Those of these owners and of all, with ids over `after`, ordered by id. `query`: a part of the name or the
        text; empty for all."""

    async def find(self, snippet_id: int) -> Snippet | None: ...

    async def add(self, name: str, text: str, user_id: str | None, team_id: int | None) -> Snippet | None:
        """Returns None if the team is not known."""

    async def change(self, snippet_id: int, name: str, text: str) -> Snippet | None: ...

    async def remove(self, snippet_id: int) -> bool: ...


class MessageStore(Protocol):
    """The messages of conversations. `cursor` is that of the page before. Raises `Invalid` for an unknown cursor."""

    async def find(self, instance_id: int, message_id: MessageId) -> Message | None: ...

    async def event(self, instance_id: int, inbox_id: int) -> Event | None:
        """What a platform sent; None for an event that was erased."""

    async def of_session(
        self, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> Page[Message, str] | None:
        """None if there is no such conversation."""

    async def failed(
        self, instance_ids: Sequence[int], direction: Direction | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[int, Message]], str | None]:
        """Messages that were given up with the ids of their instances, the latest first; and the next cursor."""

    async def timelines(self, instance_id: int, messages: Sequence[MessageId]) -> Sequence[Timeline]:
        """What happened to those of these messages that the instance has, in their order."""

    async def dead_parts(self, instance_id: int, message: MessageId) -> Sequence[DeadPart]: ...

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        """Has a message that was given up processed or sent again."""

    async def drop(self, instance_id: int, message: MessageId) -> bool:
        """Gives a message up for good. False where it is not given up."""


class EarlierMessages(Protocol):
    """Stored messages that an event refers to."""

    async def find_quoted(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        """The message with that id: one that was sent, or one that was received."""

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        """Return True if nothing was sent or received in the session before that event."""

    async def offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """What a message of this instance said and offered; None where it is not known, or not kept any more."""

    async def latest_offer(self, instance_id: int, message: MessageId) -> Offer | None:
        """The same, and None where another answer or message followed in its conversation."""

    async def message_with_value(self, instance_id: int, session_id: str, value: str) -> MessageId | None:
        """The latest message of a conversation that offered this value, or None if none of the last hundred did."""

    async def was_picked(self, instance_id: int, event: Event, message: MessageId, before: int) -> bool:
        """The sender of the event has picked the same choice of a message before, in an event with a lower id than
        `before` that did not fail."""


class FeedbackStore(Protocol):
    """Votes on the answers of resources, one of each person for an answer: a later one takes its place. Return False
    for an answer that is not known, or not kept any more."""

    async def vote(self, instance_id: int, press: Press, voter: Voter) -> bool: ...

    async def vote_on(self, instance_id: int, ref: str, rating: Rating, voter: Voter) -> bool:
        """A vote on the answer that the platform knows by this id."""

    async def list(
        self, names: Mapping[int, str], rating: Rating | None, limit: int, cursor: str | None
    ) -> Page[Feedback, str]:
        """Votes of the instances with these ids, the latest first. Raises `Invalid` for an unknown cursor."""


class ConfirmationStore(Protocol):
    """One open question for each (instance, session), the tools approved for the session, and for a while the
    closed questions."""

    async def load(
        self, instance_id: int, session_id: str, now: datetime, silent_since: datetime
    ) -> SessionState:
        """The state of a session, and notes that it was active at `now`. Approvals of a session that was not active
        after `silent_since` are over."""

    async def find(self, instance_id: int, session_id: str, nonce: str) -> FoundQuestion | None:
        """The question with this nonce, of any instance and session; None when none is stored."""

    async def put(self, instance_id: int, session_id: str, pending: Pending, now: datetime) -> Pending | None:
        """Stores a question in place of an older one. Returns the older one if nobody had decided it."""

    async def decide(self, instance_id: int, session_id: str, decided: Pending, now: datetime) -> bool:
        """Stores the decision of a question that is still open, in one statement; False when it is not open.
        `decided` holds the decision, its event and who decided."""

    async def begin(self, instance_id: int, session_id: str, confirmation_id: str) -> bool:
        """True for one caller only: the one that may have the approved tool run."""

    async def close(self, instance_id: int, confirmation_id: str, now: datetime) -> None:
        """Closes a question: its session has none from now on."""

    async def expire(self, now: datetime, silent_since: datetime, kept_since: datetime) -> int:
        """Closes the questions that have expired, ends the approvals of silent sessions, and removes questions that
        were closed before `kept_since`; how many of all these."""


C = TypeVar("C", contravariant=True)


class ChatSite(Protocol[C]):
    """The capability of a channel whose panel is part of web pages. Pure."""

    def site(self, config: C) -> Site: ...

    def identified(self, config: C, token: str, now: datetime) -> SignedIdentity:
        """Who the site's backend says that a visitor is. Raises `Unauthenticated`."""


class ChatLog(Protocol):
    """What visitors see. Each method raises `Unavailable`, and is harmless when it is done twice."""

    async def write(self, place: ChatPlace, message: ChatMessage) -> None:
        """Stores a message, in place of the one with its id. Creates the conversation if it is new."""

    async def change(self, place: ChatPlace, message: ChatMessage) -> bool:
        """Stores a message of an existing conversation, in place of the one with its id. Return False if there is
        no such conversation."""

    async def remove(self, place: ChatPlace, message_id: str) -> None: ...

    async def receive(self, place: ChatPlace, message: ChatMessage) -> None:
        """Stores a visitor's message, once by its id."""

    async def typing(self, place: ChatPlace, seconds: float) -> None:
        """An answer is being written, for so long or until the next message."""


class ChatFeed(Protocol):
    """The conversations for those who look at them."""

    def follow(self, place: ChatPlace, after: int) -> AsyncGenerator[ChatPage, None]:
        """Yields the changes behind the cursor `after`, 0 for the latest messages. The first page comes at once;
        empty pages are keep-alives. Raises `Unavailable`."""


class TokenSigner(Protocol):
    """Signs texts that are given away, and knows them again."""

    def sign(self, payload: bytes) -> str: ...

    def read(self, token: str) -> bytes | None:
        """None if the token is forged."""
