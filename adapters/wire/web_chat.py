"""The web chat to protobuf and back."""

from switchboard.channels.v1 import web_chat_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.web_chat.model import ChatPage, ChatSession, StoredMessage, VisitorFile, VisitorMessage

SESSION = Conversion(ChatSession, pb.OpenChatResponse)
FILE = Conversion(VisitorFile, pb.VisitorFile)
POSTED = Conversion(VisitorMessage, pb.PostMessageRequest)
MESSAGE = Conversion(StoredMessage, pb.ChatMessage)
PAGE = Conversion(ChatPage, pb.ChatPage)


def posted_to_pb(public_id: str, visitor: str, message: VisitorMessage) -> pb.PostMessageRequest:
    files = map(FILE.to_pb, message.files)
    return POSTED.to_pb(message, public_id=public_id, visitor=visitor, files=files)


def posted_from_pb(request: pb.PostMessageRequest) -> VisitorMessage:
    return POSTED.from_pb(request, files=tuple(map(FILE.from_pb, request.files)))


def page_to_pb(page: ChatPage) -> pb.ChatPage:
    return PAGE.to_pb(page, messages=map(MESSAGE.to_pb, page.messages))


def page_from_pb(message: pb.ChatPage) -> ChatPage:
    return PAGE.from_pb(message, messages=tuple(map(MESSAGE.from_pb, message.messages)))
