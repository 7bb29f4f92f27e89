"""Conversations to protobuf and back."""

from switchboard.channels.v1 import conversations_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.messages import message_from_pb, message_to_pb
from domain.conversations.model import (
    ConversationFilter,
    ConversationPage,
    ConversationSender,
    ConversationView,
    Handler,
    MessagePage,
    MessagesWanted,
)
from domain.paging import DEFAULT_LIMIT
from domain.refusals import Fault, Invalid

VIEW = Conversion(ConversationView, pb.Conversation)
SENDER = Conversion(ConversationSender, pb.ConversationSender)

Listing = pb.ListConversationsRequest | pb.ListMessagesRequest | pb.ListFailedMessagesRequest


def limit_of(request: Listing) -> int:
    return request.limit if request.HasField("limit") else DEFAULT_LIMIT


def filter_from_pb(request: pb.ListConversationsRequest) -> ConversationFilter:
    """Raises `Invalid`."""
    return ConversationFilter(
        request.query,
        request.waiting if request.HasField("waiting") else None,
        parsed_handler(request.handler) if request.HasField("handler") else None,
        (request.instance_id,) if request.instance_id else tuple(request.instance_ids),
        request.session_id if request.HasField("session_id") else None,
    )


def parsed_handler(name: str) -> Handler:
    """Raises `Invalid`."""
    if name not in list(Handler):
        raise Invalid.of([Fault("handler", "must be 'person' or 'resource'")])
    return Handler(name)


def filter_to_pb(wanted: ConversationFilter, limit: int, cursor: str | None) -> pb.ListConversationsRequest:
    return pb.ListConversationsRequest(
        query=wanted.query,
        waiting=wanted.waiting,
        handler=wanted.handler,
        instance_ids=wanted.instance_ids,
        session_id=wanted.session_id,
        limit=limit,
        cursor=cursor or "",
    )


def wanted_from_pb(request: pb.ListMessagesRequest) -> MessagesWanted:
    return MessagesWanted(limit_of(request), request.cursor or None, request.latest_first)


def wanted_to_pb(instance_id: int, session_id: str, wanted: MessagesWanted) -> pb.ListMessagesRequest:
    return pb.ListMessagesRequest(
        instance_id=instance_id,
        session_id=session_id,
        limit=wanted.limit,
        cursor=wanted.cursor or "",
        latest_first=wanted.latest_first,
    )


def conversations_to_pb(page: ConversationPage) -> pb.ListConversationsResponse:
    views = [VIEW.to_pb(view, sender=SENDER.to_pb(view.sender)) for view in page.conversations]
    return pb.ListConversationsResponse(conversations=views, next=page.next)


def conversations_from_pb(message: pb.ListConversationsResponse) -> ConversationPage:
    views = [VIEW.from_pb(view, sender=SENDER.from_pb(view.sender)) for view in message.conversations]
    return ConversationPage(views, message.next if message.HasField("next") else None)


def messages_to_pb(page: MessagePage) -> pb.ListMessagesResponse:
    return pb.ListMessagesResponse(messages=map(message_to_pb, page.messages), next=page.next)


def messages_from_pb(message: pb.ListMessagesResponse) -> MessagePage:
    messages = [message_from_pb(each) for each in message.messages]
    return MessagePage(messages, message.next if message.HasField("next") else None)
