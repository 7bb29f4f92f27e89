"""The channel port: a channel is a value with one optional field per capability."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from domain.channels.answers import Artifact, OutboundMessage
from domain.channels.messages import ChannelMetadata, Sent, Target
from domain.channels.model import ChannelDefinition, PlatformAddress, Proof
from domain.channels.rich import RichKind
from domain.channels.typed import ChannelConfig, ChannelTarget, JsonModel
from domain.instances.model import Instance
from ports import capabilities
from ports.connections import Connector, Pairing
from ports.conversations import ChatLog, ChatSite
from ports.http import Addresses, Http, WebSockets
from ports.system import Clock, Ids

C = TypeVar("C")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel(Generic[C, T]):
    """One channel, as `build` of its folder returns it. A capability that the platform does not have is None.

    `config` and `target` convert the stored JSON objects to the channel's own types. `rich_kinds` of an answer
    come to its sender as they are, others as text. `takes_opt_outs`: people end the messages to them with a word
    (`Received.opt_outs`). `first_line_decides`: the first line of a message, without punctuation, decides about a
    tool, as other lines may follow. `refusals` are the reasons for which messages are refused (`Event.refused`), that
    of senders who are not verified aside. `thumb_buttons`: people are asked by two buttons below an answer whether it
    helped. `call_proof` and `connection_proof` say who proves the senders of events that come by a call, and over a
    connection; all others are proved by the instance's owner.
    """

    definition: ChannelDefinition
    config: JsonModel[C]
    target: JsonModel[T]
    addresses: tuple[PlatformAddress, ...] = ()
    webhook: capabilities.Webhook[C] | None = None
    metadata: capabilities.MetadataSource[C] | None = None
    placer: capabilities.EventPlacer[C] | None = None
    call_responder: capabilities.CallResponder[C] | None = None
    call_streamer: capabilities.CallStreamer[C, T] | None = None
    sender: capabilities.ReplySender[C, T] | None = None
    opener: capabilities.ConversationOpener[C, T] | None = None
    conversation_target: capabilities.ConversationTarget[T] | None = None
    template_rules: capabilities.TemplateRules | None = None
    limits: capabilities.RateLimits[C, T] | None = None
    read_limits: capabilities.ReadLimits[C] | None = None
    poller: capabilities.Poller[C] | None = None
    poll_ack: capabilities.PollAck[C] | None = None
    push_watcher: capabilities.PushWatcher[C] | None = None
    scheduler: capabilities.Scheduler[C] | None = None
    forwarding: capabilities.AnswerForwarding[C] | None = None
    registrar: capabilities.Registrar[C] | None = None
    probe: capabilities.Probe[C] | None = None
    fetcher: capabilities.AttachmentFetcher[C] | None = None
    folder: capabilities.BaseFolder[C] | None = None
    describer: capabilities.AttachmentDescriber[C] | None = None
    sender_filter: capabilities.SenderFilter[C] | None = None
    quoted_reader: capabilities.QuotedReader[C, T] | None = None
    thread_reader: capabilities.ThreadReader[C, T] | None = None
    typing: capabilities.TypingIndicator[C, T] | None = None
    reactions: capabilities.MessageReactions[C, T] | None = None
    waiting: capabilities.WaitingIndicator[C, T] | None = None
    streaming: capabilities.StreamingReply[C, T] | None = None
    button_ack: capabilities.ButtonAck[C, T] | None = None
    prompt_closer: capabilities.PromptCloser[C, T] | None = None
    forms: capabilities.FormRules[C, T] | None = None
    form_dialog: capabilities.FormDialog[C, T] | None = None
    button_limit: capabilities.ButtonLimit[C, T] | None = None
    connector: Connector[C] | None = None
    pairing: Pairing | None = None
    chat_site: ChatSite[C] | None = None
    rich_kinds: frozenset[RichKind] = frozenset()
    thumb_buttons: bool = False
    refusals: tuple[str, ...] = ()
    takes_opt_outs: bool = False
    first_line_decides: bool = False
    call_proof: Proof = Proof.OWNER
    connection_proof: Proof = Proof.OWNER

    def buttons(self, config: C, target: T) -> int:
        """How many choices a message offers as buttons."""
        limit = self.button_limit
        return limit.buttons(config, target) if limit else self.definition.buttons


AnyChannel = Channel[ChannelConfig, ChannelTarget]
"""A channel whose own types only its folder knows; its models give the values that its capabilities take."""


class Channels(Protocol):
    """The channels of this installation."""

    def all(self) -> Sequence[AnyChannel]:
        """In the order of the catalogue."""

    def find(self, channel_id: str) -> AnyChannel | None: ...


class ArtifactReader(Protocol):
    """Reads the bytes of an answer's file, our own copy or a foreign address under the address policy."""

    def read(self, artifact: Artifact) -> AsyncIterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class ChannelDependencies:
    """What a channel is built with. `address` gives a platform's base address, which a setting may replace; `hosts`
    resolves the hosts that a user gave for protocols other than HTTP; channels keep files below `data_folder`;
    `web_chat` is what visitors of web pages see."""

    http: Http
    websockets: WebSockets
    artifacts: ArtifactReader
    clock: Clock
    ids: Ids
    address: Callable[[PlatformAddress], str]
    hosts: Addresses
    data_folder: Path
    web_chat: ChatLog


@dataclass(frozen=True, slots=True)
class DraftAddress:
    """Where a draft is shown. `key` is the idempotency key of sending it."""

    instance: Instance
    channel: AnyChannel
    session_key: str
    target: Target
    key: str


class DraftSender(Protocol):
    async def show(self, address: DraftAddress, message: OutboundMessage, draft: str) -> Sent:
        """Edits the message `draft`, or sends one where that is empty, if the platform's limits allow it now:
        `RETRY_AFTER` says when they do. Never raises."""


class MetadataCache(Protocol):
    async def of(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata:
        """The metadata, fetched when they are missing or old.

        Never raises for a platform that is away: then the last metadata is used, or none.
        """

    async def renewed(self, instance: Instance, channel: AnyChannel) -> ChannelMetadata | None:
        """The metadata, fetched anew because those held did not suffice; None when that was tried a moment ago."""
