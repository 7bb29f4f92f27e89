"""The web chat over gRPC, under the limits that visitors have over REST."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from switchboard.channels.v1 import web_chat_pb2 as pb

from adapters.inbound.grpc.interceptors import peer
from adapters.inbound.visitor_limits import MOST_STREAMS_OF_CORE, VisitorLimits, address_key, visitor_key
from adapters.rpc.messages import to_message, to_value
from domain.refusals import Fault, Invalid
from domain.web_chat.model import VisitorMessage
from ports.conversations import WebChat

LONGEST_ORIGIN = 300


class WebChatServicer:
    """Counts visitors by their tokens, and by the address that a gateway names, else by that of the caller."""

    def __init__(self, web_chat: WebChat) -> None:
        self._web_chat = web_chat
        self._limits = VisitorLimits(MOST_STREAMS_OF_CORE)

    async def CheckOrigin(self, request: pb.CheckOriginRequest, context: Any) -> pb.CheckOriginResponse:
        public_id, origin = request.public_id[:LONGEST_ORIGIN], request.origin[:LONGEST_ORIGIN]
        allowed = await self._limits.is_allowed(_address(), public_id, origin, self._web_chat.is_allowed)
        return pb.CheckOriginResponse(allowed=allowed)

    async def OpenChat(self, request: pb.OpenChatRequest, context: Any) -> pb.OpenChatResponse:
        self._limits.session(_address())
        session = await self._web_chat.open(request.public_id, request.visitor, request.identity)
        return to_message(session, pb.OpenChatResponse)

    async def PostMessage(self, request: pb.PostMessageRequest, context: Any) -> pb.PostMessageResponse:
        self._limits.message(_address(), visitor_key(request.visitor), request.ByteSize())
        await self._web_chat.post(request.public_id, request.visitor, to_value(request, VisitorMessage))
        return pb.PostMessageResponse()

    async def WatchChat(self, request: pb.WatchChatRequest, context: Any) -> AsyncIterator[pb.ChatPage]:
        if request.after < 0:
            raise Invalid.of([Fault("after", "must not be negative")])
        holder = (_address(), visitor_key(request.visitor))
        self._limits.open_stream(*holder)
        try:
            pages = await self._web_chat.watch(request.public_id, request.visitor, request.after)
            async with aclosing(pages):
                async for page in pages:
                    yield to_message(page, pb.ChatPage)
        finally:
            self._limits.close_stream(*holder)


def _address() -> str:
    return address_key(peer().address)
