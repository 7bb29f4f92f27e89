"""The web chat: visitors, their tokens and messages, and the stream of a conversation."""

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime

from domain import limits
from domain.channels.messages import Attachment, Event, Sender
from domain.channels.typed import ChannelConfig
from domain.confirmations.model import is_approval
from domain.conversations.choices import is_reference
from domain.file_names import file_name, mime_type
from domain.files import StoredFiles, file_fault, one_piece
from domain.instances.model import ACTIVE, Instance
from domain.refusals import Fault, Invalid, NotFound, TooLarge, Unauthenticated
from domain.web_chat.model import (
    LONGEST_TEXT,
    MOST_FILES,
    TOKEN_HOURS,
    ChatMessage,
    ChatPage,
    ChatPlace,
    ChatSession,
    SignedIdentity,
    Site,
    Visitor,
    VisitorMessage,
    plain_nodes,
    public_id,
)
from ports.capabilities import OpenRequest
from ports.channels import AnyChannel, Channels
from ports.conversations import ChatFeed, ChatLog, ChatSite, TokenSigner
from ports.files import FilePlace
from ports.instances import InstanceStore
from ports.queue import Inbox
from ports.system import Clock, Ids, Meter

VISITOR_BYTES = 16
"""Of the random id of an anonymous visitor: 22 characters."""


@dataclass(frozen=True, slots=True)
class _Chat:
    """An instance with what its channel says of it."""

    instance: Instance
    channel: AnyChannel
    capability: ChatSite[ChannelConfig]
    config: ChannelConfig
    site: Site


@dataclass(eq=False)
class VisitorService:
    """Knows instances by their public ids, and visitors by their tokens."""

    instances: InstanceStore
    channels: Channels
    signer: TokenSigner
    clock: Clock
    ids: Ids

    async def chat(self, name: str) -> _Chat:
        """The instance of a public id. Raises `NotFound`."""
        number = name.partition("-")[0]
        is_id = number.isascii() and number.isdigit() and len(number) < 19
        instance = await self.instances.cached(int(number)) if is_id else None
        channel = self.channels.find(instance.channel_id) if instance and instance.status == ACTIVE else None
        if instance is None or channel is None or channel.chat_site is None or public_id(instance) != name:
            raise NotFound("there is no such chat; the page names one that was removed")
        config = channel.config.load(instance.config)
        return _Chat(instance, channel, channel.chat_site, config, channel.chat_site.site(config))

    def open(self, chat: _Chat, token: str, identity: str) -> Visitor:
        """Raises `Unauthenticated` for an identity that is forged or over."""
        now = self.clock.now()
        if identity:
            return signed(chat.capability.identified(chat.config, identity, now), now)
        try:
            visitor = self.known(chat, token)
        except Unauthenticated:
            return anonymous(self.ids.token(VISITOR_BYTES))
        return anonymous(self.ids.token(VISITOR_BYTES)) if visitor.expires else visitor

    def known(self, chat: _Chat, token: str) -> Visitor:
        """Raises `Unauthenticated`."""
        return visitor_of(self.signer, chat.instance, chat.site, token, self.clock.now())

    def token(self, chat: _Chat, visitor: Visitor) -> str:
        return token_of(self.signer, chat.instance, chat.site, visitor)


@dataclass(eq=False)
class WebChatService:
    """What panels ask. Each method raises `NotFound` for an unknown public id.

    `own_origin`: where the console is; its pages may show every chat.
    """

    visitors: VisitorService
    log: ChatLog
    feed: ChatFeed
    files: StoredFiles
    inbox: Inbox
    meter: Meter
    own_origin: str
    max_file_bytes: int

    async def is_allowed(self, public_id: str, origin: str) -> bool:
        """Return True if pages of that origin may show the chat."""
        chat = await self.visitors.chat(public_id)
        return origin == self.own_origin or origin in chat.site.origins

    async def open(self, public_id: str, visitor: str, identity: str) -> ChatSession:
        """`visitor`: the token of an earlier session; `identity`: what the site's backend signed; either may be
        empty. Raises `Unauthenticated` for an identity that is forged or over."""
        chat = await self.visitors.chat(public_id)
        token = self.visitors.token(chat, self.visitors.open(chat, visitor, identity))
        site = chat.site
        return ChatSession(token, site.title, site.greeting, site.colour, self.max_file_bytes, LONGEST_TEXT)

    async def post(self, public_id: str, visitor: str, message: VisitorMessage) -> None:
        """The message is shown to its visitor before it is handed on: one that comes again is complete by then."""
        chat = await self.visitors.chat(public_id)
        who = self.visitors.known(chat, visitor)
        check_message(message, self.max_file_bytes)
        if claims_choice(message):
            message = replace(message, text=message.text or message.choice)
        place = ChatPlace(chat.instance.id, who.session_id)
        belongs = FilePlace(place.instance_id, place.session_id, inbound=True)
        files = [
            await self.files.store(
                one_piece(file.data), file_name(file.name), mime_type(file.mime_type), belongs
            )
            for file in message.files
        ]
        if message.text.strip() or files:
            shown = [
                {
                    "name": file.name,
                    "mimeType": file.mime_type,
                    "size": size,
                    "url": self.files.address(file),
                }
                for file, size in files
            ]
            content = plain_nodes(message.text)
            body = {"from": "visitor", "content": content, "files": shown, "choices": []}
            await self.log.receive(place, ChatMessage(message.id, body))
        attachments = [
            Attachment(file.name, file.mime_type, {"blob": file.blob}, size) for file, size in files
        ]
        opener = chat.channel.opener
        assert opener is not None
        request = OpenRequest(to=who.session_id, instance_id=chat.instance.id, callback_address="")
        opened = await opener.open(chat.config, request)
        event = Event(
            key=f"{who.session_id}/{message.id}",
            session_id=opened.session_id,
            sender=Sender(who.session_id, who.name, who.identities),
            text=message.text or message.choice,
            target=chat.channel.target.dump(opened.target),
            attachments=tuple(attachments),
            choice=message.choice or None,
            claims_choice=claims_choice(message),
            message_id=message.id,
        )
        (stored,) = await self.inbox.add(chat.instance.id, [event])
        self.meter.accepted(chat.channel.definition.id, stored.fresh)

    async def watch(self, public_id: str, visitor: str, after: int) -> AsyncGenerator[ChatPage, None]:
        """Yields the changes behind the cursor `after`, or with 0 the latest messages. Ends when the visitor token
        expires. Raises `Unauthenticated`, `NotFound` during the stream."""
        chat = await self.visitors.chat(public_id)
        who = self.visitors.known(chat, visitor)
        return self._pages(
            public_id, visitor, self.feed.follow(ChatPlace(chat.instance.id, who.session_id), after)
        )

    async def _pages(
        self, public_id: str, visitor: str, pages: AsyncGenerator[ChatPage, None]
    ) -> AsyncGenerator[ChatPage, None]:
        async with aclosing(pages):
            async for page in pages:
                self.visitors.known(await self.visitors.chat(public_id), visitor)
                yield page


OVER = "this chat session is over; load the page again"
LONGEST_TOKEN = 4000


def anonymous(token: str) -> Visitor:
    """A visitor nobody knows, of that random token."""
    return Visitor(f"v-{token}")


def signed(identity: SignedIdentity, now: datetime) -> Visitor:
    expires = int(now.timestamp()) + TOKEN_HOURS * 3600
    return Visitor(f"u-{identity.subject}", identity.name, identity.email, expires)


def token_of(signer: TokenSigner, instance: Instance, site: Site, visitor: Visitor) -> str:
    """The token of a signed identity is void once the site's secret was changed."""
    return signer.sign(_content(instance, site, visitor))


def visitor_of(signer: TokenSigner, instance: Instance, site: Site, token: str, now: datetime) -> Visitor:
    """Raises `Unauthenticated` for a token that is forged, over, or of another instance."""
    payload = signer.read(token) if len(token) <= LONGEST_TOKEN else None
    if payload is None:
        raise Unauthenticated(OVER)
    visitor = Visitor(*json.loads(payload)[2:])
    is_over = visitor.expires and visitor.expires <= now.timestamp()
    if is_over or payload != _content(instance, site, visitor):
        raise Unauthenticated(OVER)
    return visitor


def _content(instance: Instance, site: Site, visitor: Visitor) -> bytes:
    secret = hashlib.sha256(site.secret.encode()).hexdigest()[:16] if visitor.expires else ""
    member = [instance.id, secret, visitor.session_id, visitor.name, visitor.email, visitor.expires]
    return json.dumps(member, separators=(",", ":")).encode()


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_message(message: VisitorMessage, most_file_bytes: int) -> None:
    """Raises `Invalid`, `TooLarge`."""
    if faults := list(_faults(message)):
        raise Invalid.of(faults)
    if sum(len(file.data) for file in message.files) > most_file_bytes:
        raise TooLarge(f"the files are over {most_file_bytes // (1024 * 1024)} MB together")


def claims_choice(message: VisitorMessage) -> bool:
    """The choice is no reference of a button: the visitor may have made it up."""
    return bool(message.choice) and not is_reference(message.choice) and not is_approval(message.choice)


def _faults(message: VisitorMessage) -> Iterator[Fault]:
    if not _UUID.fullmatch(message.id):
        yield Fault("id", "must be a UUID")
    if fault := limits.text_fault(message.text, LONGEST_TEXT):
        yield Fault("text", fault)
    if fault := limits.text_fault(message.choice, limits.CHOICE_VALUE):
        yield Fault("choice", fault)
    if len(message.files) > MOST_FILES:
        yield Fault("files", f"are more than {MOST_FILES}")
    if not (message.text.strip() or message.choice or message.files):
        yield Fault("text", "must not be empty")
    for number, file in enumerate(message.files):
        if of_file := file_fault(file.name, file.mime_type, None, file.data):
            yield Fault(f"files[{number}].{of_file.field}".rstrip("."), of_file.message)
