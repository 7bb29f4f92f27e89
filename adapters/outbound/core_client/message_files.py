"""Files of messages from a remote core."""

from collections.abc import AsyncIterator

from switchboard.channels.v1 import files_pb2 as pb
from switchboard.channels.v1 import files_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from domain.refusals import NotFound
from ports.files import OpenFile

DEADLINE = 600.0


class RemoteSharedFiles:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = files_pb2_grpc.MessageFileServiceStub(core.channel)

    async def open(self, token: str) -> OpenFile:
        request = pb.OpenFileRequest(token=token)
        answers = self._core.stream(self._stub.OpenFile, request, deadline=DEADLINE)
        first = await anext(answers, None)
        if first is None:
            raise NotFound("the file is gone")
        start = first.start
        return OpenFile(start.name, start.mime_type, start.size, _data(answers))


async def _data(answers: AsyncIterator[pb.OpenFileResponse]) -> AsyncIterator[bytes]:
    async for answer in answers:
        yield answer.data
