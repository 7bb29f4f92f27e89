"""RPCs that are written by hand: those that need more of a call than its request, and streams.

Files cross in pieces of at most 64 KiB.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from switchboard.access.v1 import access_pb2
from switchboard.channels.v1 import files_pb2, instances_pb2, web_chat_pb2
from switchboard.events.v1 import events_pb2
from switchboard.knowledge.v1 import knowledge_pb2

from adapters.inbound.grpc.interceptors import authenticate_again, caller, peer
from adapters.inbound.streams import while_allowed
from adapters.inbound.visitor_limits import MOST_STREAMS_OF_CORE, VisitorLimits, address_key, visitor_key
from adapters.rpc.messages import to_message, to_value
from adapters.rpc.streams import PAGE_BYTES, file_messages, fitting, page_to_pb, position
from domain.access.service import SessionService
from domain.instances.service import InstanceService
from domain.knowledge.files import FilesService
from domain.knowledge.model import FilesWanted
from domain.knowledge.rules import upload_message
from domain.refusals import Fault, Invalid, TooLarge, TooMany
from domain.subscriptions.service import EventStreams
from domain.web_chat.model import VisitorMessage
from domain.web_chat.service import WebChatService
from ports.files import SharedFiles
from ports.knowledge import IncomingFile


class AccessServicer:
    """The methods of AccessService that need more of a call than its request."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    async def WhoAmI(self, request: access_pb2.WhoAmIRequest, context: Any) -> access_pb2.WhoAmIResponse:
        return to_message(caller(), access_pb2.WhoAmIResponse)

    async def SignIn(self, request: access_pb2.SignInRequest, context: Any) -> access_pb2.SignInResponse:
        address = peer().on_behalf_of(request.address).address
        session = await self._sessions.sign_in(request.credential, address, request.user_agent)
        return to_message(session, access_pb2.SignInResponse)


MOST_STREAMS = 800
"""Streams that are open at a time; further calls need some of those that the server takes."""
BUSY_SECONDS = 5.0


class EventServicer:
    def __init__(self, events: EventStreams) -> None:
        self._events = events
        self._streams = 0

    async def Watch(
        self, request: events_pb2.WatchRequest, context: Any
    ) -> AsyncIterator[events_pb2.WatchResponse]:
        after = request.after if request.HasField("after") else None
        if after is not None and after < 0:
            raise Invalid.of([Fault("after", "must not be negative")])
        if self._streams >= MOST_STREAMS:
            raise TooMany(f"{MOST_STREAMS} streams of events are open; end some of them", BUSY_SECONDS)
        pages = await self._events.watch(caller(), after, request.kinds, request.instance_ids)
        self._streams += 1
        try:
            async with aclosing(while_allowed(pages, caller(), authenticate_again())) as allowed:
                async for page in allowed:
                    for message in page_to_pb(page):
                        yield message
        finally:
            self._streams -= 1


class InstanceServicer:
    def __init__(self, instances: InstanceService) -> None:
        self._instances = instances

    async def ListInstances(
        self, request: instances_pb2.ListInstancesRequest, context: Any
    ) -> instances_pb2.ListInstancesResponse:
        stored = await self._instances.page(caller(), position(request.page_token), PAGE_BYTES)
        instances = fitting(to_message(view, instances_pb2.Instance) for view in stored.views)
        more = stored.more or len(instances) < len(stored.views)
        token = str(instances[-1].id) if more else ""
        return instances_pb2.ListInstancesResponse(instances=instances, next_page_token=token)


class MessageFileServicer:
    def __init__(self, files: SharedFiles) -> None:
        self._files = files

    async def OpenFile(
        self, request: files_pb2.OpenFileRequest, context: Any
    ) -> AsyncIterator[files_pb2.OpenFileResponse]:
        file = await self._files.open(request.token)
        yield files_pb2.OpenFileResponse(
            start=files_pb2.FileStart(name=file.name, mime_type=file.mime_type, size=file.size)
        )
        async for piece in file.content:
            yield files_pb2.OpenFileResponse(data=piece)


LONGEST_ORIGIN = 300


class WebChatServicer:
    """Counts visitors by their tokens, and by the address that a gateway names, else by that of the caller."""

    def __init__(self, web_chat: WebChatService) -> None:
        self._web_chat = web_chat
        self._limits = VisitorLimits(MOST_STREAMS_OF_CORE)

    async def CheckOrigin(
        self, request: web_chat_pb2.CheckOriginRequest, context: Any
    ) -> web_chat_pb2.CheckOriginResponse:
        public_id, origin = request.public_id[:LONGEST_ORIGIN], request.origin[:LONGEST_ORIGIN]
        allowed = await self._limits.is_allowed(_address(), public_id, origin, self._web_chat.is_allowed)
        return web_chat_pb2.CheckOriginResponse(allowed=allowed)

    async def OpenChat(
        self, request: web_chat_pb2.OpenChatRequest, context: Any
    ) -> web_chat_pb2.OpenChatResponse:
        self._limits.session(_address())
        session = await self._web_chat.open(request.public_id, request.visitor, request.identity)
        return to_message(session, web_chat_pb2.OpenChatResponse)

    async def PostMessage(
        self, request: web_chat_pb2.PostMessageRequest, context: Any
    ) -> web_chat_pb2.PostMessageResponse:
        self._limits.message(_address(), visitor_key(request.visitor), request.ByteSize())
        await self._web_chat.post(request.public_id, request.visitor, to_value(request, VisitorMessage))
        return web_chat_pb2.PostMessageResponse()

    async def WatchChat(
        self, request: web_chat_pb2.WatchChatRequest, context: Any
    ) -> AsyncIterator[web_chat_pb2.ChatPage]:
        if request.after < 0:
            raise Invalid.of([Fault("after", "must not be negative")])
        holder = (_address(), visitor_key(request.visitor))
        self._limits.open_stream(*holder)
        try:
            pages = await self._web_chat.watch(request.public_id, request.visitor, request.after)
            async with aclosing(pages):
                async for page in pages:
                    yield to_message(page, web_chat_pb2.ChatPage)
        finally:
            self._limits.close_stream(*holder)


def _address() -> str:
    return address_key(peer().address)


PIECE = 64 * 1024
UNORDERED = "an upload is an UploadStart, then for each file a FileStart and its data"


class KnowledgeServicer:
    def __init__(self, files: FilesService) -> None:
        self._files = files

    async def Upload(
        self, request_iterator: AsyncIterator[knowledge_pb2.UploadRequest], context: Any
    ) -> knowledge_pb2.UploadResponse:
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("part") != "start":
            raise Invalid(UNORDERED)
        start = first.start
        done = await self._files.upload(
            caller(), start.knowledge_base_id, _incoming(request_iterator), start.respond_async
        )
        message = upload_message(len(done), respond_async=start.respond_async)
        return knowledge_pb2.UploadResponse(
            message=message, files=[to_message(file, knowledge_pb2.UploadedFile) for file in done]
        )

    async def ListFiles(
        self, request: knowledge_pb2.ListFilesRequest, context: Any
    ) -> AsyncIterator[knowledge_pb2.ListFilesResponse]:
        limit = request.limit if request.HasField("limit") else None
        filter_ = FilesWanted(limit, request.offset, request.name, not request.without_text)
        for file in await self._files.list(caller(), request.knowledge_base_id, filter_):
            for message in file_messages(file):
                yield message

    async def GetFile(self, request: knowledge_pb2.GetFileRequest, context: Any) -> knowledge_pb2.File:
        file = to_message(await self._files.get(caller(), request.file_hash), knowledge_pb2.File)
        if file.ByteSize() > PAGE_BYTES:
            raise TooLarge(
                f"the text of the file is over {PAGE_BYTES // 1024 // 1024} MB; StreamFile gives it"
            )
        return file

    async def StreamFile(
        self, request: knowledge_pb2.GetFileRequest, context: Any
    ) -> AsyncIterator[knowledge_pb2.ListFilesResponse]:
        for message in file_messages(await self._files.get(caller(), request.file_hash)):
            yield message

    async def Download(
        self, request: knowledge_pb2.DownloadRequest, context: Any
    ) -> AsyncIterator[knowledge_pb2.DownloadResponse]:
        length = request.length if request.HasField("length") else None
        file = await self._files.download(caller(), request.file_hash, request.offset, length)
        yield knowledge_pb2.DownloadResponse(
            start=knowledge_pb2.DownloadStart(file_name=file.name, size=file.size)
        )
        async for piece in file.content:
            yield knowledge_pb2.DownloadResponse(data=piece)


async def _incoming(requests: AsyncIterator[knowledge_pb2.UploadRequest]) -> AsyncIterator[IncomingFile]:
    """The files of an upload; each content ends where the next FileStart stands."""
    following: list[knowledge_pb2.UploadRequest] = []
    async for request in requests:
        following.append(request)
        while following:
            start = following.pop()
            if start.WhichOneof("part") != "file":
                raise Invalid(UNORDERED)
            yield IncomingFile(start.file.file_name, _content(requests, following))


async def _content(
    requests: AsyncIterator[knowledge_pb2.UploadRequest], following: list[knowledge_pb2.UploadRequest]
) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.WhichOneof("part") != "data":
            following.append(request)
            return
        yield request.data
