"""Explained searches to protobuf and back."""

from switchboard.knowledge.v1 import base_files_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.knowledge import highlights_from_pb, highlights_to_pb
from domain.knowledge.search.explanation import ExplainedHit, Explanation, QueryWord

WORD = Conversion(QueryWord, pb.QueryWord)
HIT = Conversion(ExplainedHit, pb.ExplainedHit, chunk="text", file_id="file_hash")


def explanation_to_pb(explanation: Explanation) -> pb.ExplainSearchResponse:
    return pb.ExplainSearchResponse(
        words=map(WORD.to_pb, explanation.words),
        hits=map(_hit_to_pb, explanation.hits),
        by_meaning=explanation.by_meaning,
    )


def explanation_from_pb(message: pb.ExplainSearchResponse) -> Explanation:
    words = [WORD.from_pb(word) for word in message.words]
    return Explanation(words, [_hit_from_pb(hit) for hit in message.hits], message.by_meaning)


def _hit_to_pb(hit: ExplainedHit) -> pb.ExplainedHit:
    return HIT.to_pb(hit, highlights=highlights_to_pb(hit.highlights))


def _hit_from_pb(message: pb.ExplainedHit) -> ExplainedHit:
    return HIT.from_pb(message, highlights=highlights_from_pb(message.highlights))
