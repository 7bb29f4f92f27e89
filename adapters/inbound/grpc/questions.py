"""Questions to knowledge bases over gRPC."""

from typing import Any

from switchboard.knowledge.v1 import questions_pb2 as pb
from switchboard.knowledge.v1 import questions_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import questions as convert
from ports.knowledge import KnowledgeQuestions


class QuestionServicer(questions_pb2_grpc.QuestionServiceServicer):
    def __init__(self, questions: KnowledgeQuestions) -> None:
        self._questions = questions

    async def Ask(self, request: pb.AskRequest, context: Any) -> pb.AskResponse:
        history = [convert.TURN.from_pb(turn) for turn in request.history]
        base, question = request.knowledge_base_id, request.question
        return convert.answer_to_pb(await self._questions.ask(caller(), base, question, history))
