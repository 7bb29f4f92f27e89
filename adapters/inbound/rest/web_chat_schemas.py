"""The bodies of the routes of the web chat."""

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Text
from adapters.inbound.rest.message_schemas import Base64
from domain.web_chat.model import VisitorFile, VisitorMessage


class OpenChat(Body):
    visitor: str = Field("", description="The token of an earlier session, or empty.")
    identity: str = Field(
        "", description="A JSON Web Token (HS256) that the site's backend signed, or empty."
    )


class ChatSession(Answer):
    visitor: str = Field(description="The token for all further calls, to be kept in the browser.")
    title: str
    greeting: str
    colour: str
    maxFileBytes: int = Field(description="Of all files of a message.")
    maxTextLength: int = Field(description="In characters.")


class FileOfVisitor(Body):
    name: Text
    mimeType: Text = ""
    dataBase64: Base64


class PostChatMessage(Body):
    id: Text = Field(description="A UUID of the client; the same id again is the same message.")
    text: Text = ""
    choice: Text = Field("", description="The value of a pressed button; the text is then its label.")
    files: list[FileOfVisitor] = Field([], description="Together at most `maxFileBytes`.")

    def message(self) -> VisitorMessage:
        files = tuple(VisitorFile(file.name, file.mimeType, file.dataBase64) for file in self.files)
        return VisitorMessage(self.id.lower(), self.text, self.choice, files)


class ChatMessageTaken(Answer):
    id: str
