"""The files of bases of a remote core."""

from switchboard.knowledge.v1 import base_files_pb2 as pb
from switchboard.knowledge.v1 import base_files_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import base_files as convert
from domain.access.model import Caller
from domain.knowledge.file_states import FileState, FileStatePage, FileText, UploadRules

SLOW = 60.0
"""Seconds for calls that may delete much."""


class RemoteBaseFiles:
    """Conforms to `BaseFiles`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = base_files_pb2_grpc.BaseFileServiceStub(core.channel)

    async def rules(self, caller: Caller) -> UploadRules:
        request = pb.GetUploadRulesRequest()
        return convert.rules_from_pb(await self._core.call(self._stub.GetUploadRules, request))

    async def states(
        self, caller: Caller, base_id: int, limit: int, cursor: int, name: str = ""
    ) -> FileStatePage:
        request = pb.ListFileStatesRequest(knowledge_base_id=base_id, limit=limit, cursor=cursor, name=name)
        return convert.states_from_pb(await self._core.call(self._stub.ListFileStates, request))

    async def state(self, caller: Caller, base_id: int, file_hash: str) -> FileState:
        request = pb.BaseFileRequest(knowledge_base_id=base_id, file_id=file_hash)
        return convert.STATE.from_pb(await self._core.call(self._stub.GetFileState, request))

    async def remove(self, caller: Caller, base_id: int, file_hash: str) -> None:
        request = pb.BaseFileRequest(knowledge_base_id=base_id, file_id=file_hash)
        await self._core.call(self._stub.DeleteFile, request, deadline=SLOW)

    async def retry(self, caller: Caller, base_id: int, file_hash: str) -> None:
        request = pb.BaseFileRequest(knowledge_base_id=base_id, file_id=file_hash)
        await self._core.call(self._stub.RetryFile, request)

    async def text(self, caller: Caller, base_id: int, file_hash: str, limit: int, offset: int) -> FileText:
        request = pb.ReadFileTextRequest(
            knowledge_base_id=base_id, file_id=file_hash, limit=limit, offset=offset
        )
        return convert.text_from_pb(await self._core.call(self._stub.ReadFileText, request))
