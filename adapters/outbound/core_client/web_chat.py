"""The web chat of a remote core."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from switchboard.channels.v1 import web_chat_pb2 as pb
from switchboard.channels.v1 import web_chat_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.rpc.messages import to_value
from domain.web_chat.model import ChatPage


class RemoteChats:
    """Chats that are followed: one call for each stream. What a reader does not take waits in the core."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._streams = web_chat_pb2_grpc.WebChatServiceStub(core.streams)

    async def watch(self, public_id: str, visitor: str, after: int) -> AsyncGenerator[ChatPage, None]:
        request = pb.WatchChatRequest(public_id=public_id, visitor=visitor, after=after)
        metadata = self._core.as_gateway()
        answers = self._core.stream(self._streams.WatchChat, request, deadline=None, metadata=metadata)
        return _pages(await anext(answers), answers)


async def _pages(
    first: pb.ChatPage, others: AsyncGenerator[pb.ChatPage, None]
) -> AsyncGenerator[ChatPage, None]:
    async with aclosing(others):
        yield to_value(first, ChatPage)
        async for message in others:
            yield to_value(message, ChatPage)
