"""What drives us: the inbound ports. Behind each stands the use case itself or a client of a remote core."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.access.model import Caller
from domain.channels.messages import Identity, RawAnswer, RawCall
from domain.channels.model import ChannelDefinition
from domain.conversations.model import (
    ConversationFilter,
    ConversationView,
    Handler,
    Message,
    MessagesWanted,
    NewMessage,
    QueuedSend,
    Timeline,
)
from domain.events import EventPage
from domain.instances.model import (
    Delivery,
    Health,
    InstanceChange,
    InstancePage,
    InstanceView,
    LiveSocket,
    NewInstance,
    Pairing,
    SaveResult,
    UnansweredMessage,
)
from domain.paging import Page, Slice
from domain.verification.model import BotLink, CodeSent, OAuthResult
from ports.access import Keys, Sessions
from ports.conversations import WebChat
from ports.files import SharedFiles
from ports.instances import ConfigChecks, Schedules
from ports.knowledge import (
    BaseFiles,
    KnowledgeBases,
    KnowledgeFiles,
    KnowledgeQuestions,
    KnowledgeSearch,
    KnowledgeSources,
)
from ports.monitoring import Monitoring
from ports.resources import Resources
from ports.subscriptions import PushLog, Subscriptions


class Access(Protocol):
    """Who stands behind a credential."""

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        """The caller of an API key or of the internal service key. Raises `Unauthenticated`, `Invalid`.

        `acting_for` names the user that a service acts for; it counts with the service key alone.
        """
        ...

    async def authenticate_session(self, token: str) -> Caller:
        """The caller of a browser's session. Raises `Unauthenticated`."""
        ...


class Catalogue(Protocol):
    """The channel definitions."""

    async def definitions(self) -> Sequence[ChannelDefinition]: ...

    async def definition(self, channel_id: str) -> ChannelDefinition:
        """Raises `NotFound`."""
        ...

    async def sockets(self, caller: Caller) -> Sequence[LiveSocket]:
        """The live connections of the caller's instances (an admin sees all)."""
        ...


class Instances(Protocol):
    """Channel instances."""

    async def list(self, caller: Caller) -> Sequence[InstanceView]: ...

    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        """Instances with ids over `after`, as many as have `most_bytes` of configuration; at least one."""
        ...

    async def get(self, caller: Caller, instance_id: int) -> InstanceView:
        """Raises `NotFound`, `Forbidden`."""
        ...

    async def create(self, caller: Caller, new: NewInstance) -> SaveResult:
        """Creates, or updates when `new.id` names an instance of the caller.

        Raises `Invalid`, `Conflict` (triple taken), `Forbidden` (the id is another user's).
        """
        ...

    async def update(self, caller: Caller, instance_id: int, change: InstanceChange) -> SaveResult:
        """Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict`."""
        ...

    async def set_trusted(self, caller: Caller, instance_id: int, *, trusted: bool) -> InstanceView:
        """Marks an instance whose owner's word counts for who its senders are. Raises `Forbidden` for callers who are
        no admins."""
        ...

    async def delete(self, caller: Caller, instance_id: int) -> None:
        """Raises `NotFound`, `Forbidden`."""
        ...

    async def request_pairing(self, caller: Caller, instance_id: int) -> Pairing:
        """Raises `NotFound`, `Forbidden`, `Invalid` (the channel has no pairing), `TooMany`."""
        ...


class InstanceOperations(Protocol):
    """The health and the deliveries of instances. Each method raises `NotFound`, `Forbidden`."""

    async def health(self, caller: Caller, instance_id: int) -> Health: ...

    async def deliveries(
        self, caller: Caller, instance_id: int, status: str | None, limit: int, offset: int
    ) -> Slice[Delivery]: ...

    async def replay(self, caller: Caller, instance_id: int, delivery_id: int) -> None:
        """Sends a delivery again. Raises `NotFound`, `Conflict` (it is on its way already)."""
        ...

    async def drop(self, caller: Caller, instance_id: int, delivery_id: int) -> None: ...

    async def unanswered(
        self, caller: Caller, instance_id: int, limit: int, offset: int
    ) -> Slice[UnansweredMessage]:
        """Messages that are not answered, the newest first."""
        ...

    async def release(self, caller: Caller, instance_id: int, message_id: int) -> None:
        """Has a message answered that was not. Raises `NotFound`."""
        ...


class Messages(Protocol):
    """Messages of conversations. Each method raises `NotFound`, `Forbidden`."""

    async def send(
        self, caller: Caller, instance_id: int, message: NewMessage, idempotency_key: str | None
    ) -> QueuedSend:
        """Takes in a message to be sent. The same key within 24 hours gives the same answer, and sends nothing.

        Raises `Invalid`, `Conflict` (the key is another message's, or the platform takes only templates now).
        """
        ...

    async def message(self, caller: Caller, instance_id: int, message_id: str) -> Message: ...

    async def timelines(
        self, caller: Caller, instance_id: int, message_ids: Sequence[str]
    ) -> Sequence[Timeline]:
        """What happened to these messages, in their order. Raises `Invalid` for too many."""
        ...


class Conversations(Protocol):
    """The conversations of instances. Each method raises `NotFound`, `Forbidden`; lists raise `Invalid` for a bad
    limit or cursor."""

    async def list(
        self, caller: Caller, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> Page[ConversationView, str]:
        """Those of the instances that the filter names, or of all of the caller's (an admin's: of everybody), the
        latest first."""
        ...

    async def messages(
        self, caller: Caller, instance_id: int, session_id: str, wanted: MessagesWanted
    ) -> Page[Message, str]:
        """In the order of the chat."""
        ...

    async def failed(
        self, caller: Caller, instance_id: int, limit: int, cursor: str | None
    ) -> Page[Message, str]:
        """The messages of both directions that were given up, the latest first."""
        ...

    async def set_handler(
        self, caller: Caller, instance_id: int, session_id: str, handler: Handler, minutes: int | None
    ) -> None:
        """Gives a conversation to a person for some minutes, or back to the resource. Raises `Invalid`."""
        ...

    async def rerun(self, caller: Caller, instance_id: int, message_id: str) -> None:
        """Has a message that was given up processed or sent again. Raises `Conflict` for another one."""
        ...

    async def erase(self, caller: Caller, instance_id: int, session_id: str) -> None:
        """Erases the texts and files of a conversation and all that is on record of it."""
        ...


class Callbacks(Protocol):
    """Calls of the platforms."""

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        """Proves, stores and acknowledges a call. Raises `NotFound`, `Unauthenticated`, `Invalid`."""
        ...


class VerifiedIdentities(Protocol):
    """The external identities of a user."""

    async def providers(self) -> Mapping[str, bool]:
        """Which providers are set up on this server, by id, in their order."""
        ...

    async def list_identities(self, caller: Caller) -> Sequence[Identity]: ...

    async def remove_identity(self, caller: Caller, identity: Identity) -> None:
        """Raises `NotFound`."""
        ...


class EmailVerification(Protocol):
    """Verification of a mail address by a one-time code."""

    async def start_email(self, caller: Caller, email: str) -> CodeSent:
        """Sends a one-time code. Raises `Invalid`, `TooMany`, `Unavailable`."""
        ...

    async def verify_email(self, caller: Caller, otp: str) -> str:
        """The address that is verified now. Raises `Invalid`."""
        ...


class BotVerification(Protocol):
    """Verification of a phone number by a contact that is shared with the messenger bot."""

    async def start_bot_messenger(self, caller: Caller) -> BotLink:
        """Raises `Invalid` when the bot is not set up."""
        ...

    async def bot_webhook(self, headers: Mapping[str, str], body: bytes) -> None:
        """A call of the messenger platform. Header names are lower-case. Raises `Unauthenticated`, `Invalid`."""
        ...

    async def complete_bot_messenger(self, caller: Caller, token: str, messenger_id: str, phone: str) -> str:
        """The user whose identities were stored. Raises `Forbidden` without the service key, `Invalid`."""
        ...


class OAuthVerification(Protocol):
    """Verification by signing in at a provider."""

    async def start_oauth(self, caller: Caller, provider: str) -> str:
        """The address to send the browser to. Raises `Invalid`, `NotFound`."""
        ...

    async def complete_oauth(self, provider: str, state: str, code: str, error: str) -> OAuthResult:
        """The browser came back. Never refuses: the result says how it ended."""
        ...


class Events(Protocol):
    """What happens to messages, deliveries, confirmations, instances, uploads and identities."""

    async def watch(
        self, caller: Caller, after: int | None, kinds: Sequence[str], instance_ids: Sequence[int]
    ) -> AsyncGenerator[EventPage, None]:
        """Events behind the cursor `after`, None: from now on; of these kinds and instances, none: of all that are
        the caller's (an admin's: of everybody). The first page is empty: events are recorded from now on. Empty pages
        are signs of life. Raises `Invalid`, `NotFound`, `Forbidden`; while it goes on `Unavailable`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Verification:
    """Verified identities and the ways to verify them."""

    identities: VerifiedIdentities
    email: EmailVerification
    bot: BotVerification
    oauth: OAuthVerification


@dataclass(frozen=True, slots=True)
class UseCases:
    """All that can be asked of the service, for the inbound adapters."""

    access: Access
    sessions: Sessions
    keys: Keys
    catalogue: Catalogue
    instances: Instances
    checks: ConfigChecks
    operations: InstanceOperations
    messages: Messages
    conversations: Conversations
    callbacks: Callbacks
    verification: Verification
    bases: KnowledgeBases
    files: KnowledgeFiles
    base_files: BaseFiles
    sources: KnowledgeSources
    search: KnowledgeSearch
    questions: KnowledgeQuestions
    shared: SharedFiles
    events: Events
    subscriptions: Subscriptions
    pushes: PushLog
    schedules: Schedules
    resources: Resources
    monitoring: Monitoring
    web_chat: WebChat
