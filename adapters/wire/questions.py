"""Questions to knowledge bases and their answers to protobuf and back."""

from switchboard.knowledge.v1 import questions_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.knowledge.answers.model import EarlierTurn, KnowledgeAnswer
from domain.routing.model import Citation

TURN = Conversion(EarlierTurn, pb.EarlierTurn)
CITATION = Conversion(Citation, pb.Citation)


def answer_to_pb(answer: KnowledgeAnswer) -> pb.AskResponse:
    citations = map(CITATION.to_pb, answer.citations)
    return pb.AskResponse(answer=answer.answer, citations=citations, unsearched=not answer.searched)


def answer_from_pb(message: pb.AskResponse) -> KnowledgeAnswer:
    citations = tuple(map(CITATION.from_pb, message.citations))
    return KnowledgeAnswer(message.answer, citations, searched=not message.unsearched)
