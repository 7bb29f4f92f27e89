"""Knowledge bases, files and chunks to protobuf and back. Manifests cross as JSON text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.wire.json_text import json_object, json_text
from adapters.wire.pages import fitting, pieces
from adapters.wire.timestamps import from_us, to_us
from domain.knowledge.model import (
    Base,
    BaseChange,
    Chunk,
    ChunkPage,
    FileRecord,
    FileStatus,
    Level,
    NewBase,
    SearchResult,
    UploadedFile,
)

LARGEST_PAGE = 2**31 - 1


def base_to_pb(base: Base) -> pb.Base:
    return pb.Base(
        id=base.id,
        name=base.name,
        description=base.description,
        created_by=base.created_by,
        created_at_us=to_us(base.created_at),
        updated_at_us=to_us(base.updated_at),
        permission_level=base.level,
    )


def base_from_pb(message: pb.Base) -> Base:
    level = Level(message.permission_level) if message.HasField("permission_level") else None
    return Base(
        message.id,
        message.name,
        message.description,
        message.created_by,
        from_us(message.created_at_us),
        from_us(message.updated_at_us),
        level,
    )


def new_to_pb(new: NewBase) -> pb.CreateBaseRequest:
    return pb.CreateBaseRequest(
        name=new.name, description=new.description, manifest_json=json_text(new.manifest)
    )


def new_from_pb(message: pb.CreateBaseRequest) -> NewBase:
    if not message.manifest_json:
        return NewBase(message.name, message.description)
    return NewBase(message.name, message.description, json_object(message.manifest_json, "manifest_json"))


def change_to_pb(base_id: int, change: BaseChange) -> pb.UpdateBaseRequest:
    return pb.UpdateBaseRequest(id=base_id, name=change.name, description=change.description)


def change_from_pb(message: pb.UpdateBaseRequest) -> BaseChange:
    return BaseChange(
        message.name if message.HasField("name") else None,
        message.description if message.HasField("description") else None,
    )


def uploaded_to_pb(file: UploadedFile) -> pb.UploadedFile:
    return pb.UploadedFile(
        file_id=file.hash,
        file_name=file.name,
        file_size=file.size,
        mime_type=file.mime_type,
        status=file.status,
    )


def uploaded_from_pb(message: pb.UploadedFile) -> UploadedFile:
    status = FileStatus(message.status)
    return UploadedFile(message.file_id, message.file_name, message.file_size, message.mime_type, status)


def file_parts(file: FileRecord) -> Iterator[pb.ListFilesResponse]:
    """The messages of a file: the record with the beginning of its text, then the rest."""
    beginning, *rest = pieces(file.text)
    yield pb.ListFilesResponse(file=file_to_pb(replace(file, text=beginning)))
    for piece in rest:
        yield pb.ListFilesResponse(more_text=piece)


async def files_from_parts(parts: AsyncIterator[pb.ListFilesResponse]) -> list[FileRecord]:
    """The files of a stream of such messages."""
    found: list[tuple[pb.File, list[str]]] = []
    async for part in parts:
        if part.WhichOneof("part") == "file":
            found.append((part.file, [part.file.text]))
        else:
            found[-1][1].append(part.more_text)
    return [replace(file_from_pb(file), text="".join(texts)) for file, texts in found]


def file_to_pb(file: FileRecord) -> pb.File:
    return pb.File(
        id=file.id,
        knowledge_base_id=file.base_id,
        file_name=file.name,
        file_path=file.blob_key,
        file_hash=file.hash,
        text=file.text,
        created_at_us=to_us(file.created_at),
        updated_at_us=to_us(file.updated_at),
        status=file.status,
        progress=file.progress,
        error=file.error,
        size=file.size,
        mime_type=file.mime_type,
        uploaded_by=file.uploaded_by,
    )


def file_from_pb(message: pb.File) -> FileRecord:
    return FileRecord(
        id=message.id,
        base_id=message.knowledge_base_id,
        name=message.file_name,
        blob_key=message.file_path,
        hash=message.file_hash,
        size=message.size,
        mime_type=message.mime_type,
        text=message.text,
        uploaded_by=message.uploaded_by,
        created_at=from_us(message.created_at_us),
        updated_at=from_us(message.updated_at_us),
        status=FileStatus(message.status),
        progress=message.progress,
        error=message.error if message.HasField("error") else None,
    )


def chunk_to_pb(chunk: Chunk) -> pb.Chunk:
    return pb.Chunk(
        chunk_id=chunk.id,
        user_id=chunk.user_id,
        chunk=chunk.text,
        file_id=chunk.file_hash,
        metadata=chunk.metadata,
        created_at_us=to_us(chunk.created_at),
    )


def chunk_from_pb(message: pb.Chunk) -> Chunk:
    metadata = message.metadata if message.HasField("metadata") else None
    created = from_us(message.created_at_us)
    return Chunk(message.chunk_id, message.user_id, message.chunk, message.file_id, metadata, created)


def page_to_pb(page: ChunkPage) -> pb.ListChunksResponse:
    chunks = fitting(map(chunk_to_pb, page.chunks))
    return pb.ListChunksResponse(chunks=chunks, total=page.total, limit=page.limit, offset=page.offset)


def page_from_pb(message: pb.ListChunksResponse) -> ChunkPage:
    chunks = [chunk_from_pb(each) for each in message.chunks]
    return ChunkPage(chunks, message.total, message.limit, message.offset)


def result_to_pb(result: SearchResult) -> pb.SearchResult:
    return pb.SearchResult(
        chunk=result.text,
        file_id=result.file_hash,
        metadata=result.metadata,
        similarity=result.similarity,
        chunk_id=result.chunk_id,
        file_name=result.file_name,
    )


def result_from_pb(message: pb.SearchResult) -> SearchResult:
    return SearchResult(
        message.chunk_id,
        message.chunk,
        message.file_id,
        message.metadata if message.HasField("metadata") else None,
        message.similarity,
        message.file_name,
    )
