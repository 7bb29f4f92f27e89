"""The web chat of a remote core."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from switchboard.channels.v1 import web_chat_pb2 as pb
from switchboard.channels.v1 import web_chat_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire.web_chat import SESSION, page_from_pb, posted_to_pb
from domain.web_chat.model import ChatPage, ChatSession, VisitorMessage


class RemoteWebChat:
    """`ports.use_cases.WebChat`: one call for each stream. What a reader does not take waits in the core."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = web_chat_pb2_grpc.WebChatServiceStub(core.channel)
        self._streams = web_chat_pb2_grpc.WebChatServiceStub(core.streams)

    async def is_allowed(self, public_id: str, origin: str) -> bool:
        request = pb.CheckOriginRequest(public_id=public_id, origin=origin)
        answer = await self._core.call(self._stub.CheckOrigin, request, metadata=self._core.as_gateway())
        return answer.allowed

    async def open(self, public_id: str, visitor: str, identity: str) -> ChatSession:
        request = pb.OpenChatRequest(public_id=public_id, visitor=visitor, identity=identity)
        answer = await self._core.call(self._stub.OpenChat, request, metadata=self._core.as_gateway())
        return SESSION.from_pb(answer)

    async def post(self, public_id: str, visitor: str, message: VisitorMessage) -> None:
        request = posted_to_pb(public_id, visitor, message)
        await self._core.call(self._stub.PostMessage, request, metadata=self._core.as_gateway())

    async def watch(self, public_id: str, visitor: str, after: int) -> AsyncGenerator[ChatPage, None]:
        request = pb.WatchChatRequest(public_id=public_id, visitor=visitor, after=after)
        metadata = self._core.as_gateway()
        answers = self._core.stream(self._streams.WatchChat, request, deadline=None, metadata=metadata)
        return _pages(await anext(answers), answers)


async def _pages(
    first: pb.ChatPage, others: AsyncGenerator[pb.ChatPage, None]
) -> AsyncGenerator[ChatPage, None]:
    async with aclosing(others):
        yield page_from_pb(first)
        async for message in others:
            yield page_from_pb(message)
