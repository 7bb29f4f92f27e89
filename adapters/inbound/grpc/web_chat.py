"""The web chat over gRPC, for a gateway that runs apart."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from switchboard.channels.v1 import web_chat_pb2 as pb
from switchboard.channels.v1 import web_chat_pb2_grpc

from adapters.wire.web_chat import SESSION, page_to_pb, posted_from_pb
from domain.refusals import Fault, Invalid, TooMany
from ports.web_chat import WebChat

MOST_STREAMS = 3000
"""Streams that are open at a time; further calls need some of those that the server takes."""
BUSY_SECONDS = 5.0


class WebChatServicer(web_chat_pb2_grpc.WebChatServiceServicer):
    def __init__(self, web_chat: WebChat) -> None:
        self._web_chat = web_chat
        self._streams = 0

    async def CheckOrigin(self, request: pb.CheckOriginRequest, context: Any) -> pb.CheckOriginResponse:
        return pb.CheckOriginResponse(
            allowed=await self._web_chat.is_allowed(request.public_id, request.origin)
        )

    async def OpenChat(self, request: pb.OpenChatRequest, context: Any) -> pb.OpenChatResponse:
        return SESSION.to_pb(await self._web_chat.open(request.public_id, request.visitor, request.identity))

    async def PostMessage(self, request: pb.PostMessageRequest, context: Any) -> pb.PostMessageResponse:
        await self._web_chat.post(request.public_id, request.visitor, posted_from_pb(request))
        return pb.PostMessageResponse()

    async def WatchChat(self, request: pb.WatchChatRequest, context: Any) -> AsyncIterator[pb.ChatPage]:
        if request.after < 0:
            raise Invalid.of([Fault("after", "must not be negative")])
        if self._streams >= MOST_STREAMS:
            raise TooMany("too many people use the chat at the moment; try again shortly", BUSY_SECONDS)
        pages = await self._web_chat.watch(request.public_id, request.visitor, request.after)
        self._streams += 1
        try:
            async with aclosing(pages):
                async for page in pages:
                    yield page_to_pb(page)
        finally:
            self._streams -= 1
