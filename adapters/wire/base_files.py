"""States and texts of files to protobuf and back."""

from switchboard.knowledge.v1 import base_files_pb2 as pb

from adapters.wire.conversion import Conversion
from domain.instances.model import Page
from domain.knowledge.documents import FormatSupport
from domain.knowledge.file_states import (
    ChunkPlace,
    FileState,
    FileStatePage,
    FileText,
    TextWindow,
    UploadRules,
)

STATE = Conversion(FileState, pb.FileState, knowledge_base_id="base_id", file_id="hash", file_name="name")
FORMAT = Conversion(FormatSupport, pb.FileFormat)
RULES = Conversion(UploadRules, pb.UploadRules)
PLACE = Conversion(ChunkPlace, pb.ChunkPlace)
TEXT = Conversion(FileText, pb.FileText)
WINDOW = Conversion(TextWindow, pb.TextWindow, file_id="file_hash")


def rules_to_pb(rules: UploadRules) -> pb.UploadRules:
    return RULES.to_pb(rules, formats=map(FORMAT.to_pb, rules.formats))


def rules_from_pb(message: pb.UploadRules) -> UploadRules:
    return RULES.from_pb(message, formats=[FORMAT.from_pb(each) for each in message.formats])


def states_to_pb(page: FileStatePage) -> pb.ListFileStatesResponse:
    return pb.ListFileStatesResponse(files=map(STATE.to_pb, page.files), next=page.next)


def states_from_pb(message: pb.ListFileStatesResponse) -> FileStatePage:
    following = message.next if message.HasField("next") else None
    return FileStatePage([STATE.from_pb(file) for file in message.files], following)


def text_to_pb(text: FileText) -> pb.FileText:
    return TEXT.to_pb(
        text,
        file=STATE.to_pb(text.file),
        chunks=map(PLACE.to_pb, text.chunks),
        limit=text.page.limit,
        offset=text.page.offset,
        total=text.page.total,
    )


def text_from_pb(message: pb.FileText) -> FileText:
    return TEXT.from_pb(
        message,
        file=STATE.from_pb(message.file),
        chunks=[PLACE.from_pb(place) for place in message.chunks],
        page=Page(message.limit, message.offset, message.total),
    )
