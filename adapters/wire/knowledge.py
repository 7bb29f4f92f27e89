"""Knowledge bases, files and chunks to protobuf and back. Manifests cross as JSON text."""

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import replace

from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.pages import fitting, pieces
from domain.knowledge.model import (
    Base,
    BaseChange,
    Chunk,
    ChunkPage,
    FileRecord,
    NewBase,
    SearchResult,
    UploadedFile,
)
from domain.knowledge.search.options import SearchOptions, mode_of

BASE = Conversion(Base, pb.Base, permission_level="level")
NEW = Conversion(NewBase, pb.CreateBaseRequest)
CHANGE = Conversion(BaseChange, pb.UpdateBaseRequest)
UPLOADED = Conversion(UploadedFile, pb.UploadedFile, file_id="hash", file_name="name", file_size="size")
FILE = Conversion(
    FileRecord, pb.File, knowledge_base_id="base_id", file_name="name", file_path="blob_key", file_hash="hash"
)
CHUNK = Conversion(Chunk, pb.Chunk, chunk_id="id", chunk="text", file_id="file_hash")
OPTIONS = Conversion(SearchOptions, pb.SearchOptions)
RESULT = Conversion(SearchResult, pb.SearchResult, chunk="text", file_id="file_hash")


def new_from_pb(message: pb.CreateBaseRequest) -> NewBase:
    return NEW.from_pb(message) if message.manifest_json else NewBase(message.name, message.description)


def file_messages(file: FileRecord) -> Iterator[pb.ListFilesResponse]:
    """The messages of a file: the record with the beginning of its text, then the rest."""
    beginning, *rest = pieces(file.text)
    yield pb.ListFilesResponse(file=FILE.to_pb(replace(file, text=beginning)))
    for piece in rest:
        yield pb.ListFilesResponse(more_text=piece)


async def files_from_messages(messages: AsyncIterator[pb.ListFilesResponse]) -> list[FileRecord]:
    """The files of a stream of such messages."""
    files: list[tuple[pb.File, list[str]]] = []
    async for message in messages:
        if message.WhichOneof("part") == "file":
            files.append((message.file, [message.file.text]))
        else:
            files[-1][1].append(message.more_text)
    return [replace(FILE.from_pb(file), text="".join(texts)) for file, texts in files]


def options_to_pb(options: SearchOptions) -> pb.SearchOptions:
    return OPTIONS.to_pb(options)


def options_from_pb(message: pb.SearchOptions) -> SearchOptions:
    """What is not set stays the default. Raises `Invalid`."""
    given = {field.name: value for field, value in message.ListFields()}
    if "mode" in given:
        given["mode"] = mode_of(message.mode)
    return SearchOptions(**{**given, "file_ids": tuple(message.file_ids)})


def result_to_pb(result: SearchResult) -> pb.SearchResult:
    return RESULT.to_pb(result, highlights=highlights_to_pb(result.highlights))


def result_from_pb(message: pb.SearchResult) -> SearchResult:
    return RESULT.from_pb(message, highlights=highlights_from_pb(message.highlights))


def highlights_to_pb(places: Iterable[tuple[int, int]]) -> list[pb.Highlight]:
    return [pb.Highlight(start=start, end=end) for start, end in places]


def highlights_from_pb(places: Iterable[pb.Highlight]) -> list[tuple[int, int]]:
    return [(place.start, place.end) for place in places]


def page_to_pb(page: ChunkPage) -> pb.ListChunksResponse:
    chunks = fitting(map(CHUNK.to_pb, page.chunks))
    return pb.ListChunksResponse(chunks=chunks, total=page.total, limit=page.limit, offset=page.offset)


def page_from_pb(message: pb.ListChunksResponse) -> ChunkPage:
    chunks = list(map(CHUNK.from_pb, message.chunks))
    return ChunkPage(chunks, message.total, message.limit, message.offset)
