"""The web chat: what the service does as its platform."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Protocol, TypeVar

from domain.web_chat.model import (
    ChatMessage,
    ChatPage,
    ChatPlace,
    ChatSession,
    SignedIdentity,
    Site,
    VisitorMessage,
)

C = TypeVar("C", contravariant=True)


class ChatSite(Protocol[C]):
    """The capability of a channel whose panel is part of web pages. Pure."""

    def site(self, config: C) -> Site: ...

    def identified(self, config: C, token: str, now: datetime) -> SignedIdentity:
        """Who the site's backend says that a visitor is. Raises `Unauthenticated`."""
        ...


class ChatLog(Protocol):
    """What visitors see. Each method raises `Unavailable`, and is harmless when it is done twice."""

    async def write(self, place: ChatPlace, message: ChatMessage) -> None:
        """Stores a message, in place of the one with its id; begins the conversation where there is none."""
        ...

    async def change(self, place: ChatPlace, message: ChatMessage) -> bool:
        """The same for a conversation that there is already, else nothing. False: there is none."""
        ...

    async def remove(self, place: ChatPlace, message_id: str) -> None: ...

    async def typing(self, place: ChatPlace, seconds: float) -> None:
        """An answer is being written, for so long or until the next message."""
        ...


class ChatIntake(Protocol):
    async def receive(self, place: ChatPlace, message: ChatMessage) -> None:
        """Stores a visitor's message, once by its id. Raises `Unavailable`."""
        ...


class ChatFeed(Protocol):
    """The conversations for those who look at them."""

    def follow(self, place: ChatPlace, after: int) -> AsyncGenerator[ChatPage, None]:
        """What is new behind the cursor `after`, 0 for the latest messages; the first page comes at once, further
        ones as things happen or after a while as signs of life. Raises `Unavailable`."""
        ...


class TokenSigner(Protocol):
    """Signs texts that are given away, and knows them again."""

    def sign(self, payload: bytes) -> str: ...

    def read(self, token: str) -> bytes | None:
        """None for a token that is forged."""
        ...


class WebChat(Protocol):
    """What panels ask. Each method raises `NotFound` for a public id that is unknown."""

    async def is_allowed(self, public_id: str, origin: str) -> bool:
        """Whether pages of that origin may show the chat."""
        ...

    async def open(self, public_id: str, visitor: str, identity: str) -> ChatSession:
        """`visitor`: the token of an earlier session; `identity`: what the site's backend signed; either may be
        empty. Raises `Unauthenticated` for an identity that is forged or over."""
        ...

    async def post(self, public_id: str, visitor: str, message: VisitorMessage) -> None:
        """Takes in a message, once by its id. Raises `Unauthenticated`, `Invalid`, `TooLarge`."""
        ...

    async def watch(self, public_id: str, visitor: str, after: int) -> AsyncGenerator[ChatPage, None]:
        """What is shown to a visitor, from the cursor `after` or with 0 the latest messages. Ends when the visitor
        token is over. Raises `Unauthenticated`, `NotFound` while it goes on."""
        ...
