"""Questions to knowledge bases and their answers to protobuf and back."""

from switchboard.knowledge.v1 import questions_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.knowledge.answers.model import EarlierTurn, KnowledgeAnswer
from domain.routing.model import Citation

TURN = Conversion(EarlierTurn, pb.EarlierTurn)
CITATION = Conversion(Citation, pb.Citation)


def answer_to_pb(answer: KnowledgeAnswer) -> pb.AskResponse:
    return pb.AskResponse(answer=answer.answer, citations=map(CITATION.to_pb, answer.citations))


def answer_from_pb(message: pb.AskResponse) -> KnowledgeAnswer:
    return KnowledgeAnswer(message.answer, tuple(map(CITATION.from_pb, message.citations)))
