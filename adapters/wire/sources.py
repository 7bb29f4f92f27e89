"""Sources of bases to protobuf and back."""

from switchboard.knowledge.v1 import sources_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.knowledge.sources.model import Source, SourceList, SourcePage, SourcePageList

SOURCE = Conversion(Source, pb.Source, knowledge_base_id="base_id")
PAGE = Conversion(SourcePage, pb.SourcePage, file_id="file_hash")


def sources_to_pb(listed: SourceList) -> pb.ListSourcesResponse:
    return pb.ListSourcesResponse(sources=map(SOURCE.to_pb, listed.sources), next=listed.next)


def sources_from_pb(message: pb.ListSourcesResponse) -> SourceList:
    following = message.next if message.HasField("next") else None
    return SourceList([SOURCE.from_pb(source) for source in message.sources], following)


def pages_to_pb(listed: SourcePageList) -> pb.ListSourcePagesResponse:
    return pb.ListSourcePagesResponse(pages=map(PAGE.to_pb, listed.pages), next=listed.next)


def pages_from_pb(message: pb.ListSourcePagesResponse) -> SourcePageList:
    following = message.next if message.HasField("next") else None
    return SourcePageList([PAGE.from_pb(page) for page in message.pages], following)
