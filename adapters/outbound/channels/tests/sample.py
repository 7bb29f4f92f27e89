"""What a channel's tests give the contract suite."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.channels.answers import OutboundMessage
from domain.channels.messages import Attachment, ChannelMetadata, Config, Event, RawCall, Target
from ports.http import HttpAnswer, HttpFailed, HttpRequest


@dataclass(frozen=True)
class Opening:
    """An address to which a message can be sent first, and what becomes of it.

    `asked` are the platform's answers while it is opened. `sent_to` says where a request with a message goes, None
    where messages do not go out over HTTP. `answered` gives the event of an answer, None where the platform does not
    make it the same conversation. `config` replaces fields of the sample's config.
    """

    to: str
    session_id: str
    sent_to: Callable[[HttpRequest], bool] | None = None
    asked: Sequence[HttpAnswer] = ()
    answered: Callable[[], Event] | None = None
    subject: str = ""
    config: Config = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """A message that replies to another, which `author` wrote with `text`. `asked` are the platform's answers where
    it has to be read."""

    event: Callable[[], Event]
    text: str
    author: str
    asked: Sequence[HttpAnswer] = ()


@dataclass(frozen=True)
class Sample:
    """`genuine` calls each give one event; `forged` ones are refused.

    `fields` lists the config: name, type and R where it is required, joined by commas. `shown` gives what the
    platform counts of a text message. `prelude` are the answers that sending needs before the message itself goes
    out, such as a token. `addresses` are the settings that the channel asks for. `over_http`: messages go out over
    HTTP, so that the suite can play the platform. `account_by_target`: the target decides whose account an answer
    counts against. `typing_shown_seconds`: how long the platform shows that somebody is writing.
    `reacted_to` is the id of a message that the bot can react to.
    `openings` are addresses to which messages can be sent first, `no_addresses` such of another kind.
    `replies` are messages that reply to others. `of_recipient` are refusals that concern one person or conversation.
    `refused` gives an event of each reason of `Channel.refusals`.
    """

    config: Config
    fields: str = ""
    genuine: Mapping[str, RawCall] = field(default_factory=dict)
    forged: Mapping[str, RawCall] = field(default_factory=dict)
    metadata: ChannelMetadata = field(default_factory=dict)
    target: Target = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[[OutboundMessage], str] | None = None
    prelude: Sequence[HttpAnswer] = ()
    over_http: bool = True
    account_by_target: bool = False
    typing_shown_seconds: float = 0.0
    reacted_to: str = ""
    attachment: Attachment | None = None
    openings: Sequence[Opening] = ()
    no_addresses: Sequence[str] = ()
    replies: Sequence[Reply] = ()
    of_recipient: Sequence[HttpAnswer] = ()
    refused: Mapping[str, Callable[[], Event]] = field(default_factory=dict)


class Scripted:
    """An HTTP client that gives the prelude, and then always the same: an answer or a failure."""

    def __init__(self, prelude: Sequence[HttpAnswer], then: HttpAnswer | HttpFailed) -> None:
        self._prelude = list(prelude)
        self._then = then
        self.requests: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.requests.append(request)
        if self._prelude:
            return self._prelude.pop(0)
        if isinstance(self._then, HttpFailed):
            raise self._then
        return self._then

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        answer = await self.send(request)
        if not answer.ok:
            raise HttpFailed(f"HTTP {answer.status}", before_request=False)
        yield answer.body
