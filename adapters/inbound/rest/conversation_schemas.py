"""The bodies of the routes of conversations."""

from typing import Annotated, Literal

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, OptionalTimestamp, Timestamp, WholeNumber, attribute
from adapters.inbound.rest.message_schemas import ConversationMessage
from domain.conversations.history import HANDLER_MINUTES, MOST_MINUTES

Next = Annotated[str | None, Field(description="The cursor of the next page; null on the last one.")]


class ConversationSender(Answer):
    externalId: str = Field(description="The platform's id; empty where nobody has written yet.")
    displayName: str
    userId: str | None = Field(description="The platform user, where the instance identifies its senders.")


class Conversation(Answer):
    instanceId: int
    channelId: str
    channelName: str
    sessionId: str
    sender: ConversationSender = Field(description="Who wrote last.")
    lastText: str = Field(description="The beginning of the latest message.")
    lastAt: Timestamp
    messages: int = Field(description="Counted up to 1000.")
    waiting: bool = Field(description="Whether messages of the sender have no answer yet.")
    handler: Literal["resource", "person"]
    handlerUntil: OptionalTimestamp = attribute(
        "held_until", description="Until when a person has the conversation; null where the resource has it."
    )
    handledBy: str | None = attribute(
        "held_by",
        description="The user who took it over; null where the resource has it, or asked for a person.",
    )
    pendingConfirmation: bool = Field(description="Whether a question about a tool is open.")


class ConversationList(Answer):
    conversations: list[Conversation] = attribute(
        "items",
        description="A page of a search may hold fewer than the limit, even none, while others follow.",
    )
    next: Next


class MessageList(Answer):
    messages: list[ConversationMessage] = attribute("items")
    next: Next


class SetHandler(Body):
    handler: Literal["person", "resource"]
    minutes: WholeNumber | None = Field(
        None,
        ge=1,
        le=MOST_MINUTES,
        description=f"How long a person has the conversation after each message of theirs; {HANDLER_MINUTES}"
        " where it is not given.",
    )
