"""Files of messages over gRPC, for a gateway that runs apart."""

from collections.abc import AsyncIterator
from typing import Any

from switchboard.channels.v1 import files_pb2 as pb

from ports.files import SharedFiles


class MessageFileServicer:
    def __init__(self, files: SharedFiles) -> None:
        self._files = files

    async def OpenFile(self, request: pb.OpenFileRequest, context: Any) -> AsyncIterator[pb.OpenFileResponse]:
        file = await self._files.open(request.token)
        yield pb.OpenFileResponse(
            start=pb.FileStart(name=file.name, mime_type=file.mime_type, size=file.size)
        )
        async for piece in file.content:
            yield pb.OpenFileResponse(data=piece)
