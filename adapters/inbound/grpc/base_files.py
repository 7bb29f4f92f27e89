"""The files of a base over gRPC, and search explained."""

from typing import Any

from switchboard.knowledge.v1 import base_files_pb2 as pb
from switchboard.knowledge.v1 import base_files_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.inbound.grpc.knowledge import DEFAULT_LIMIT
from adapters.wire import base_files as convert
from adapters.wire.explanations import explanation_to_pb
from adapters.wire.knowledge import options_from_pb
from adapters.wire.pages import limit_of
from domain.knowledge.rules import DEFAULT_WINDOW
from ports.knowledge import BaseFiles, KnowledgeFiles, KnowledgeSearch


class BaseFileServicer(base_files_pb2_grpc.BaseFileServiceServicer):
    def __init__(self, files: BaseFiles, texts: KnowledgeFiles, search: KnowledgeSearch) -> None:
        self._files = files
        self._texts = texts
        self._search = search

    async def GetUploadRules(self, request: pb.GetUploadRulesRequest, context: Any) -> pb.UploadRules:
        return convert.rules_to_pb(await self._files.rules(caller()))

    async def ListFileStates(
        self, request: pb.ListFileStatesRequest, context: Any
    ) -> pb.ListFileStatesResponse:
        base, limit = request.knowledge_base_id, limit_of(request.limit)
        return convert.states_to_pb(
            await self._files.states(caller(), base, limit, request.cursor, request.name)
        )

    async def GetFileState(self, request: pb.BaseFileRequest, context: Any) -> pb.FileState:
        state = await self._files.state(caller(), request.knowledge_base_id, request.file_id)
        return convert.STATE.to_pb(state)

    async def DeleteFile(self, request: pb.BaseFileRequest, context: Any) -> pb.DeleteFileResponse:
        await self._files.remove(caller(), request.knowledge_base_id, request.file_id)
        return pb.DeleteFileResponse()

    async def RetryFile(self, request: pb.BaseFileRequest, context: Any) -> pb.RetryFileResponse:
        await self._files.retry(caller(), request.knowledge_base_id, request.file_id)
        return pb.RetryFileResponse()

    async def ReadFileText(self, request: pb.ReadFileTextRequest, context: Any) -> pb.FileText:
        limit = request.limit if request.HasField("limit") else DEFAULT_LIMIT
        base, file = request.knowledge_base_id, request.file_id
        return convert.text_to_pb(await self._files.text(caller(), base, file, limit, request.offset))

    async def ReadTextWindow(self, request: pb.ReadTextWindowRequest, context: Any) -> pb.TextWindow:
        limit = request.limit if request.HasField("limit") else DEFAULT_WINDOW
        return convert.WINDOW.to_pb(await self._texts.text(caller(), request.file_id, limit, request.offset))

    async def ExplainSearch(self, request: pb.ExplainSearchRequest, context: Any) -> pb.ExplainSearchResponse:
        base, options = request.knowledge_base_id, options_from_pb(request.options)
        explanation = await self._search.explain(caller(), base, request.query, options)
        return explanation_to_pb(explanation)
