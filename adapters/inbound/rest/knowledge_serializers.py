"""Values of knowledge bases to the JSON of the REST interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.inbound.rest.serializers import timestamp
from domain.knowledge.model import Base, Chunk, ChunkPage, FileRecord, SearchResult, UploadedFile
from domain.knowledge.rules import upload_message


def base(value: Base) -> dict[str, Any]:
    return {
        "id": value.id,
        "name": value.name,
        "description": value.description,
        "created_by": value.created_by,
        "created_at": timestamp(value.created_at),
        "updated_at": timestamp(value.updated_at),
    }


def listed(value: Base) -> dict[str, Any]:
    return {**base(value), "permission_level": int(value.level or 0)}


def uploaded(files: Sequence[UploadedFile], *, respond_async: bool) -> dict[str, Any]:
    """The answer to an upload; a single file stands at the top as well."""
    shown = [
        {"fileId": each.hash, "fileName": each.name, "fileSize": each.size, "mimeType": each.mime_type}
        for each in files
    ]
    message = upload_message(len(files), respond_async=respond_async)
    body: dict[str, Any] = {"message": message, "files": shown}
    if len(shown) == 1:
        only = shown[0]
        body.update({"fileId": only["fileId"], "fileHash": only["fileId"], **only})
    if respond_async:
        body["files"] = [
            {**each, "status": file.status.value} for each, file in zip(shown, files, strict=True)
        ]
    return body


def file(value: FileRecord) -> dict[str, Any]:
    return {
        "id": value.id,
        "knowledge_base_id": value.base_id,
        "file_name": value.name,
        "file_path": value.blob_key,
        "fileHash": value.hash,
        "text": value.text,
        "created_at": timestamp(value.created_at),
        "updated_at": timestamp(value.updated_at),
        "status": value.status.value,
        "progress": round(value.progress, 3),
        "error": value.error,
    }


def result(value: SearchResult) -> dict[str, Any]:
    return {
        "chunk": value.text,
        "fileId": value.file_hash,
        "metadata": value.metadata,
        "similarity": value.similarity,
        "chunkId": value.chunk_id,
    }


def chunk(value: Chunk) -> dict[str, Any]:
    return {
        "chunkId": value.id,
        "userId": value.user_id,
        "chunk": value.text,
        "fileId": value.file_hash,
        "metadata": value.metadata,
        "createdAt": timestamp(value.created_at),
    }


def chunks(page: ChunkPage) -> dict[str, Any]:
    return {
        "chunks": [chunk(each) for each in page.chunks],
        "pagination": {
            "currentPage": page.current_page,
            "totalPages": page.total_pages,
            "totalCount": page.total,
            "limit": page.limit,
            "offset": page.offset,
        },
    }
