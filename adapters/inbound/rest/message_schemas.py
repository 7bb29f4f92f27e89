"""The bodies of the routes of messages."""

import base64
import binascii
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import Answer, Body, Done, OptionalTimestamp, Text, Timestamp
from domain import limits
from domain.channels.answers import Choice, Template
from domain.conversations.history import HANDLER_MINUTES
from domain.conversations.model import NewFile, NewMessage

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
    name: Text = Field(max_length=255)
    mimeType: Text = Field("", max_length=255, description="Default: application/octet-stream.")
    url: Text | None = Field(None, max_length=limits.FILE_ADDRESS, description="Either this or dataBase64.")
    dataBase64: Base64 | None = Field(None, description="At most 10 MB of bytes in all files of a message.")


class ChoiceToSend(Body):
    label: Text = Field(max_length=limits.CHOICE_LABEL, description="What the button shows.")
    value: Text = Field(
        "", max_length=limits.CHOICE_VALUE, description="Comes back as the text. Default: the label."
    )


class TemplateToSend(Body):
    name: Text = Field(max_length=limits.TEMPLATE_NAME)
    language: Text = Field(max_length=limits.TEMPLATE_LANGUAGE, description="As the platform names it.")
    parameters: list[Text] = Field([], description="They fill the placeholders in their order.")

    def value(self) -> Template:
        return Template(self.name, self.language, tuple(self.parameters))


class SendMessage(Body):
    sessionId: Text | None = Field(
        None, max_length=limits.SESSION_ID, description="Continues a known conversation."
    )
    to: Text | None = Field(
        None,
        max_length=limits.ADDRESS,
        description="The platform's own address; without it and sessionId the configured default one.",
    )
    subject: Text | None = Field(None, max_length=limits.SUBJECT, description="Of a mail; beside to.")
    text: Text = Field("", max_length=limits.MESSAGE_TEXT, description="Markdown.")
    files: list[FileToSend] = Field([], description="At most 20.")
    choices: list[ChoiceToSend] = Field([], description="Replies that are offered as buttons.")
    template: TemplateToSend | None = Field(
        None, description="Takes the place of text and files where the platform has templates (WhatsApp)."
    )
    takeOver: bool = Field(
        True,
        description="With sessionId: a person answers the conversation from now on, for "
        f"{HANDLER_MINUTES} minutes after their last message. false: it stays with whoever has it.",
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
        )


class MessageQueued(Done):
    messageId: str
    sessionId: str
    status: Literal["queued"] = "queued"


class MessageFile(Answer):
    name: str
    mimeType: str
    size: int | None = Field(description="In bytes, where it is known.")
    url: str = Field(description="Empty for a file of the sender that was not fetched from the platform.")


class ConversationMessage(Answer):
    id: str
    sessionId: str
    direction: Literal["in", "out"]
    text: str
    files: list[MessageFile]
    author: AuthorName
    status: Literal["waiting", "done", "failed", "queued", "sent", "delivered", "read", "dead"] = Field(
        description="Inbound: waiting, done or failed. Outbound: queued, sent, delivered, read or dead."
    )
    error: str | None = Field(description="Why it failed or was given up.")
    requestId: str
    at: Timestamp
    senderName: str = Field(
        description="Who wrote an inbound message, where the platform tells it; else empty."
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
        "written",
        "queued",
        "sent",
        "delivered",
        "read",
        "dead",
    ] = Field(
        description="Inbound: received, asked (the resource), tool_asked, tool_decided, answered, done (without an"
        " answer of the resource) or failed. Outbound: written, queued, sent, delivered, read or dead."
    )
    at: OptionalTimestamp = Field(description="Null where no time is on record.")
    part: int | None = Field(description="Which of the messages into which the channel split it.")
    attempts: int | None = Field(description="Tries so far.")
    reason: str | None = Field(description="Why it failed, or the last try did.")
    tool: str | None
    decision: Literal["approved", "approved_for_session", "rejected", "expired", "withdrawn"] | None
    decider: str | None = Field(description="Who decided.")
    nextAttemptAt: OptionalTimestamp = Field(description="When it is tried again.")
    platformId: str | None = Field(description="What the platform calls the message.")


class MessageTimeline(Answer):
    messageId: str
    steps: list[TimelineStep]
