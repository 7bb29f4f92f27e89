"""The files of an answer as parts to send, and their bytes within a platform's limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.channels.messages import Artifact
from domain.refusals import NotFound
from ports.channels import ArtifactReader
from ports.http import HttpFailed

FILE = "file"


class FileUnavailable(Exception):
    """The file is over the platform's limit or cannot be read: its link is sent in its place."""


def file_payload(artifact: Artifact) -> dict[str, Any]:
    """The payload of a part that sends one file."""
    return {
        "kind": FILE,
        "name": artifact.name,
        "mimeType": artifact.mime_type,
        "url": artifact.url,
        "blob": artifact.blob,
        "size": artifact.size,
    }


def artifact_of(payload: Mapping[str, Any]) -> Artifact:
    """The file that `file_payload` described."""
    return Artifact(
        name=payload["name"],
        mime_type=payload["mimeType"],
        url=payload["url"],
        blob=payload["blob"],
        size=payload["size"],
    )


def link_text(artifact: Artifact) -> str:
    """What is sent in place of a file that cannot be sent."""
    return f"{artifact.name}: {artifact.url}"


async def content_of(reader: ArtifactReader, artifact: Artifact, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes. Raises `FileUnavailable`."""
    if artifact.size is not None and artifact.size > limit:
        raise FileUnavailable(f"{artifact.name} has {artifact.size} bytes, the platform takes {limit}")
    content = bytearray()
    try:
        async for piece in reader.read(artifact):
            content += piece
            if len(content) > limit:
                raise FileUnavailable(f"{artifact.name} is over the {limit} bytes that the platform takes")
    except (HttpFailed, NotFound) as error:
        raise FileUnavailable(f"{artifact.name} cannot be read: {error}") from error
    return bytes(content)
