"""Questions to knowledge bases of a remote core."""

from collections.abc import Sequence

from switchboard.knowledge.v1 import questions_pb2 as pb
from switchboard.knowledge.v1 import questions_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import questions as convert
from domain.access.model import Caller
from domain.knowledge.answers.model import EarlierTurn, KnowledgeAnswer

SLOW = 130.0
"""Seconds for an answer: a model has 120."""


class RemoteQuestions:
    """Conforms to `KnowledgeQuestions`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = questions_pb2_grpc.QuestionServiceStub(core.channel)

    async def ask(
        self, caller: Caller, base_id: int, question: str, history: Sequence[EarlierTurn] = ()
    ) -> KnowledgeAnswer:
        turns = map(convert.TURN.to_pb, history)
        request = pb.AskRequest(knowledge_base_id=base_id, question=question, history=turns)
        return convert.answer_from_pb(await self._core.call(self._stub.Ask, request, deadline=SLOW))
