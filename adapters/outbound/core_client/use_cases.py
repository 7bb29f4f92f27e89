"""The use cases of a remote core: the tables' clients, and those written by hand, mostly streams."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from switchboard.access.v1 import access_pb2, access_pb2_grpc
from switchboard.channels.v1 import (
    files_pb2,
    files_pb2_grpc,
    instances_pb2,
    instances_pb2_grpc,
    web_chat_pb2,
    web_chat_pb2_grpc,
)
from switchboard.events.v1 import events_pb2, events_pb2_grpc
from switchboard.knowledge.v1 import knowledge_pb2, knowledge_pb2_grpc

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection, carry
from adapters.rpc.engine import public_methods, remote
from adapters.rpc.messages import to_value
from adapters.rpc.streams import files_from_messages, page_from_pb
from adapters.rpc.tables import SERVICES
from domain.access.model import Caller
from domain.access.service import AccessService
from domain.access.sharing import Level, require
from domain.events import EventPage
from domain.instances.model import InstancePage, InstanceView
from domain.instances.service import InstanceService
from domain.knowledge.files import FilesService
from domain.knowledge.model import ALL_FILES, FileRecord, FilesWanted, UploadedFile
from domain.knowledge.rules import check_files_wanted
from domain.refusals import NotFound
from domain.subscriptions.service import EventStreams
from domain.use_cases import Callbacks, UseCases
from domain.web_chat.model import ChatPage
from domain.web_chat.service import WebChatService
from ports.files import OpenFile, SharedFiles
from ports.knowledge import Download, IncomingFile


class RemoteAccess:
    """The methods of `AccessService` that inbound adapters call."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = access_pb2_grpc.AccessServiceStub(core.channel)

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        carry(token, acting_for)
        return to_value(await self._core.call(self._stub.WhoAmI, access_pb2.WhoAmIRequest()), Caller)

    async def authenticate_session(self, token: str) -> Caller:
        carry(token, None, is_session=True)
        return to_value(await self._core.call(self._stub.WhoAmI, access_pb2.WhoAmIRequest()), Caller)


P = TypeVar("P")


class RemoteEvents:
    """The methods of `EventStreams`: one call for each reader. What a reader does not take waits in the core."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = events_pb2_grpc.EventsStub(core.channel)

    async def watch(
        self, caller: Caller, after: int | None, kinds: Sequence[str], instance_ids: Sequence[int]
    ) -> AsyncGenerator[EventPage, None]:
        request = events_pb2.WatchRequest(after=after, kinds=kinds, instance_ids=instance_ids)
        answers = self._core.stream(self._stub.Watch, request, deadline=None)
        return _pages(await anext(answers), answers, page_from_pb)


async def _pages(
    first: Any, others: AsyncGenerator[Any, None], convert: Callable[[Any], P]
) -> AsyncGenerator[P, None]:
    async with aclosing(others):
        yield convert(first)
        async for message in others:
            yield convert(message)


class RemoteInstancePages:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = instances_pb2_grpc.InstanceServiceStub(core.channel)

    async def page(self, caller: Caller, after: int, most_bytes: int) -> InstancePage:
        """As many as the core sends in one message, whatever `most_bytes` says."""
        request = instances_pb2.ListInstancesRequest(page_token=str(after))
        answer = await self._core.call(self._stub.ListInstances, request)
        views = [to_value(instance, InstanceView) for instance in answer.instances]
        return InstancePage(views, bool(answer.next_page_token))


PIECE = 64 * 1024
SLOW = 60.0
"""Seconds for a list of files with their texts."""
UPLOAD = 6 * 3600.0
"""Seconds that an upload may take, its processing included."""


class RemoteFiles:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = knowledge_pb2_grpc.KnowledgeServiceStub(core.channel)

    async def upload(
        self, caller: Caller, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool = False
    ) -> Sequence[UploadedFile]:
        """What the core checks is checked here as well, before a byte of the files is read. Raises refusals."""
        _ = caller.user
        base = await self._core.call(self._stub.GetBase, knowledge_pb2.GetBaseRequest(id=base_id))
        require(Level(base.permission_level), Level.UPDATE)
        failures: list[Exception] = []

        async def requests() -> AsyncIterator[knowledge_pb2.UploadRequest]:
            start = knowledge_pb2.UploadStart(knowledge_base_id=base_id, respond_async=respond_async)
            yield knowledge_pb2.UploadRequest(start=start)
            try:
                async for file in files:
                    yield knowledge_pb2.UploadRequest(file=knowledge_pb2.FileStart(file_name=file.name))
                    async for piece in file.content:
                        for start_of_piece in range(0, len(piece), PIECE):
                            data = piece[start_of_piece : start_of_piece + PIECE]
                            yield knowledge_pb2.UploadRequest(data=data)
            except Exception as error:
                failures.append(error)
                raise

        try:
            done = await self._core.call(self._stub.Upload, requests(), deadline=UPLOAD)
        except (Exception, asyncio.CancelledError):
            if failures:  # the body that came in broke, and gRPC cancels the call for it
                raise failures[0] from None
            raise
        return [to_value(file, UploadedFile) for file in done.files]

    async def list(
        self, caller: Caller, base_id: int, wanted: FilesWanted = ALL_FILES
    ) -> Sequence[FileRecord]:
        check_files_wanted(wanted)
        request = knowledge_pb2.ListFilesRequest(
            knowledge_base_id=base_id,
            limit=wanted.limit,
            offset=wanted.offset,
            name=wanted.name,
            without_text=not wanted.with_text,
        )
        answers = self._core.stream(self._stub.ListFiles, request, deadline=SLOW)
        return await files_from_messages(answers)

    async def get(self, caller: Caller, file_hash: str) -> FileRecord:
        request = knowledge_pb2.GetFileRequest(file_hash=file_hash)
        answers = self._core.stream(self._stub.StreamFile, request, deadline=SLOW)
        return (await files_from_messages(answers))[0]

    async def download(
        self, caller: Caller, file_hash: str, offset: int = 0, length: int | None = None
    ) -> Download:
        request = knowledge_pb2.DownloadRequest(file_hash=file_hash, offset=offset, length=length)
        answers = self._core.stream(self._stub.Download, request, deadline=UPLOAD)
        first = await anext(answers, None)
        if first is None:
            raise NotFound("File not found")
        return Download(first.start.file_name, first.start.size, _data(answers))


async def _data(answers: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    async for answer in answers:
        yield answer.data


FILE_SECONDS = 600.0


class RemoteSharedFiles:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = files_pb2_grpc.MessageFileServiceStub(core.channel)

    async def open(self, token: str) -> OpenFile:
        request = files_pb2.OpenFileRequest(token=token)
        answers = self._core.stream(self._stub.OpenFile, request, deadline=FILE_SECONDS)
        first = await anext(answers, None)
        if first is None:
            raise NotFound("the file is gone")
        start = first.start
        return OpenFile(start.name, start.mime_type, start.size, _data(answers))


class RemoteChats:
    """Chats that are followed: one call for each stream. What a reader does not take waits in the core."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._streams = web_chat_pb2_grpc.WebChatServiceStub(core.streams)

    async def watch(self, public_id: str, visitor: str, after: int) -> AsyncGenerator[ChatPage, None]:
        request = web_chat_pb2.WatchChatRequest(public_id=public_id, visitor=visitor, after=after)
        metadata = self._core.as_gateway()
        answers = self._core.stream(self._streams.WatchChat, request, deadline=None, metadata=metadata)
        return _pages(await anext(answers), answers, partial(to_value, kind=ChatPage))


def remote_use_cases(core: CoreConnection, callbacks: RemoteCallbacks) -> UseCases:
    methods = {key: call for service in SERVICES for key, call in service.methods(core).items()}
    by_hand: dict[type, object] = {
        AccessService: RemoteAccess(core),
        Callbacks: callbacks,
        EventStreams: RemoteEvents(core),
        InstanceService: RemoteInstancePages(core),
        FilesService: RemoteFiles(core),
        SharedFiles: RemoteSharedFiles(core),
        WebChatService: RemoteChats(core),
    }
    for port, written in by_hand.items():
        methods |= {(port, name): method for name, method in public_methods(written).items()}
    return remote(UseCases, methods)
