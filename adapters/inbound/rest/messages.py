"""Messages of conversations over REST."""

import base64
import binascii
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header
from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import (
    REQUEST_ID,
    Answer,
    Body,
    Done,
    Id,
    OptionalTimestamp,
    Text,
    Timestamp,
    is_empty,
    is_none,
)
from adapters.inbound.rest.instances import BASE
from adapters.inbound.rest.routing import Call, InstanceId, JsonRoute, MessageId, ResponderRoute, errors
from domain import limits
from domain.channels.answers import Choice, Template
from domain.conversations.history import HANDLER_MINUTES
from domain.conversations.model import Message, NewFile, NewMessage, QueuedSend, Timeline

AuthorName = Literal["sender", "resource", "person", "system"]


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not base64") from None


Base64 = Annotated[bytes, BeforeValidator(_decoded, json_schema_input_type=str)]


class FileToSend(Body):
    name: Text = Field(max_length=255, examples=["report.pdf"])
    mimeType: Text = Field(
        "", max_length=255, description="Default: application/octet-stream.", examples=["application/pdf"]
    )
    url: Text | None = Field(
        None,
        max_length=limits.FILE_ADDRESS,
        description="Either this or dataBase64.",
        examples=["https://files.example.com/report.pdf"],
    )
    dataBase64: Base64 | None = Field(None, description="At most 10 MB of bytes in all files of a message.")


class ChoiceToSend(Body):
    label: Text = Field(
        max_length=limits.CHOICE_LABEL, description="What the button shows.", examples=["Yes"]
    )
    value: Text = Field(
        "",
        max_length=limits.CHOICE_VALUE,
        description="Comes back as the text. Default: the label.",
        examples=["order"],
    )


class TemplateToSend(Body):
    name: Text = Field(max_length=limits.TEMPLATE_NAME, examples=["order_ready"])
    language: Text = Field(
        max_length=limits.TEMPLATE_LANGUAGE, description="As the platform names it.", examples=["en_US"]
    )
    parameters: list[Text] = Field(
        [], description="They fill the placeholders in their order.", examples=[["4711"]]
    )

    def value(self) -> Template:
        return Template(self.name, self.language, tuple(self.parameters))


class SendMessage(Body):
    sessionId: Text | None = Field(
        None,
        max_length=limits.SESSION_ID,
        description="Continues a known conversation.",
        examples=["C0123456789"],
    )
    to: Text | None = Field(
        None,
        max_length=limits.ADDRESS,
        description="The platform's own address; without it and sessionId the configured default one.",
    )
    subject: Text | None = Field(None, max_length=limits.SUBJECT, description="Of a mail; beside to.")
    text: Text = Field(
        "", max_length=limits.MESSAGE_TEXT, description="Markdown.", examples=["Your order 4711 is ready."]
    )
    files: list[FileToSend] = Field([], description="At most 20.")
    choices: list[ChoiceToSend] = Field([], description="Replies that are offered as buttons.")
    template: TemplateToSend | None = Field(
        None, description="Takes the place of text and files where the platform has templates (WhatsApp)."
    )
    takeOver: bool | None = Field(
        None,
        description="With sessionId: you answer the conversation from now on, for "
        f"{HANDLER_MINUTES} minutes after your last message, and are its assignee; 409, and nothing is sent, where"
        " another user has it. true: you take it from them. false: it stays with whoever has it.",
    )

    snippetId: Id | None = Field(
        None, description="The snippet whose text is sent, in place of text.", examples=[7]
    )

    def message(self) -> NewMessage:
        return NewMessage(
            session_id=self.sessionId,
            to=self.to,
            subject=self.subject,
            text=self.text,
            files=tuple(NewFile(file.name, file.mimeType, file.url, file.dataBase64) for file in self.files),
            choices=tuple(Choice(choice.label, choice.value) for choice in self.choices),
            template=self.template.value() if self.template else None,
            take_over=self.takeOver,
            snippet_id=self.snippetId,
        )


class MessageQueued(Done):
    messageId: str = Field(examples=["send-7"])
    sessionId: str = Field(examples=["C0123456789"])
    status: Literal["queued"] = Field("queued", examples=["queued"])


class MessageFile(Answer):
    name: str = Field(examples=["report.pdf"])
    mimeType: str = Field(examples=["application/pdf"])
    size: int | None = Field(description="In bytes, where it is known.", examples=[48213])
    url: str = Field(
        description="Empty for a file of the sender that was not fetched from the platform.",
        examples=["https://files.example.com/report.pdf"],
    )


class ConversationMessage(Answer):
    id: str = Field(examples=["send-7"])
    sessionId: str = Field(examples=["C0123456789"])
    direction: Literal["in", "out", "note"] = Field(
        description="A note is read by those who work on the conversation alone; it is never sent.",
        examples=["out"],
    )
    text: str = Field(examples=["Your order 4711 is ready."])
    files: list[MessageFile]
    author: AuthorName = Field(examples=["person"])
    status: Literal["waiting", "done", "failed", "queued", "sent", "delivered", "read", "dead"] = Field(
        description="Inbound: waiting, done or failed. Outbound: queued, sent, delivered, read or dead.",
        examples=["delivered"],
    )
    error: str | None = Field(description="Why it failed or was given up.")
    requestId: str = Field(examples=[REQUEST_ID])
    at: Timestamp
    senderName: str = Field(
        description="Who wrote an inbound message, where the platform tells it; else empty.", examples=[""]
    )
    resource: str | None = Field(
        description="Of an answer: the resource that made it, where one did.",
        examples=["agent::german_0"],
        exclude_if=is_none,
    )
    route: str | None = Field(
        description="Of an answer: why that resource was asked, where it is not the instance's own.",
        examples=["route 2, language de"],
        exclude_if=is_none,
    )
    userId: str | None = Field(description="Of a note: who wrote it.", examples=["ann"], exclude_if=is_none)
    mentions: list[str] = Field(
        description="Of a note: whom it names by `@name`, as `user:ID` or `team:ID`.",
        examples=[["user:bob"]],
        exclude_if=is_empty,
    )


class TimelineStep(Answer):
    kind: Literal[
        "received",
        "asked",
        "tool_asked",
        "tool_decided",
        "answered",
        "done",
        "failed",
        "changed",
        "written",
        "queued",
        "sent",
        "delivered",
        "read",
        "dead",
    ] = Field(
        description="Inbound: received, asked (the resource), tool_asked, tool_decided, answered, done (without an"
        " answer of the resource), failed or changed (the conversation). Outbound: written, queued, sent,"
        " delivered, read or dead.",
        examples=["sent"],
    )
    at: OptionalTimestamp = Field(description="Null where no time is on record.")
    part: int | None = Field(description="Which of the messages into which the channel split it.")
    attempts: int | None = Field(description="Tries so far.", examples=[2])
    reason: str | None = Field(description="Why it failed, or the last try did.", examples=["HTTP 503"])
    tool: str | None
    parameters: dict[str, Any] | None = Field(
        description="Those that were shown with the question.", examples=[{"order": 4711}], exclude_if=is_none
    )
    decision: Literal["approved", "approved_for_session", "rejected", "expired", "withdrawn"] | None
    decider: str | None = Field(description="Who decided, or is asked to: user:ID or team:ID.")
    nextAttemptAt: OptionalTimestamp = Field(description="When it is tried again.", examples=[None])
    platformId: str | None = Field(
        description="What the platform calls the message.", examples=["1760000000.000100"]
    )
    resource: str | None = Field(
        description="The resource that was asked.", examples=["agent::german_0"], exclude_if=is_none
    )
    route: str | None = Field(
        description="Why that one was asked, where it is not the instance's own.",
        examples=["route 2, language de"],
        exclude_if=is_none,
    )
    change: str | None = Field(
        description="What the answer did to the conversation.",
        examples=["assigned to team:support, labelled sale, closed"],
        exclude_if=is_none,
    )


class MessageTimeline(Answer):
    messageId: str = Field(examples=["send-7"])
    steps: list[TimelineStep]


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="1 to 200 printable ASCII characters without blanks.",
        examples=["order-4711-ready"],
    ),
]
router = APIRouter(route_class=JsonRoute, tags=["messages"])
owned = APIRouter(route_class=ResponderRoute)


@owned.post(
    BASE + "/{instanceId}/messages",
    status_code=202,
    response_model=MessageQueued,
    responses=errors(400, 403, 404, 409, 413),
    summary="Send a message",
)
async def send_message(
    call: Call, instance: InstanceId, body: SendMessage, key: IdempotencyKey = None
) -> QueuedSend:
    """Sends a message that answers none: to a known conversation (`sessionId`), to the platform's own address (`to`),
    or to the instance's default address. It is delivered as answers are. The same `Idempotency-Key` within 24 hours
    gives the same answer and sends nothing; 409 with another body. 409 too where the platform takes only templates
    now (WhatsApp, 24 hours after the person last wrote), and where another user has the conversation: see
    `takeOver`."""
    return await call.services.messages.send(call.caller, instance, body.message(), key)


@router.get(
    BASE + "/{instanceId}/messages/{messageId}",
    response_model=ConversationMessage,
    responses=errors(403, 404),
    summary="One message",
)
async def get_message(call: Call, instance: InstanceId, messageId: MessageId) -> Message:
    """A message of either direction: what it says, where it is, and why it failed or was given up."""
    return await call.services.messages.message(call.caller, instance, messageId)


@router.get(
    BASE + "/{instanceId}/messages/{messageId}/timeline",
    response_model=MessageTimeline,
    responses=errors(403, 404),
    summary="What happened to a message",
)
async def get_timeline(call: Call, instance: InstanceId, messageId: MessageId) -> Timeline:
    """The steps of a message in their order, with times, tries and reasons. The answer to a message is one of its
    own, with the same request id."""
    [timeline] = await call.services.messages.timelines(call.caller, instance, [messageId])
    return timeline


router.include_router(owned)
