"""The files of an answer: their payloads, their content within a platform's limit, and links in their place."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from domain.channels.answers import Artifact
from domain.channels.messages import Sent
from domain.refusals import NotFound
from ports.channels import ArtifactReader
from ports.http import HttpFailed

FILE = "file"


class FileUnavailable(Exception):
    """The file is over the platform's limit or cannot be read: its link is sent in its place."""


def artifact_of(payload: Mapping[str, Any]) -> Artifact:
    """The file of a payload of `messages.file_payloads`."""
    return Artifact(
        name=payload["name"],
        mime_type=payload["mimeType"],
        url=payload["url"],
        blob=payload["blob"],
        size=payload["size"],
    )


def link_text(artifact: Artifact) -> str:
    """The text that replaces a file which cannot be sent."""
    return f"{artifact.name}: {artifact.url}"


async def send_file(
    reader: ArtifactReader,
    payload: Mapping[str, Any],
    limit: int,
    upload: Callable[[Artifact, bytes], Awaitable[Sent | None]],
    send_text: Callable[[str], Awaitable[Sent]],
) -> Sent:
    """Sends the file of a payload with `upload`. Where the file is over `limit` bytes, cannot be read, or the
    platform refuses it (`upload` returns None), `send_text` sends its link."""
    artifact = artifact_of(payload)
    try:
        content = await content_of(reader, artifact, limit)
    except FileUnavailable:
        return await send_text(link_text(artifact))
    sent = await upload(artifact, content)
    return await send_text(link_text(artifact)) if sent is None else sent


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


def pieces(content: bytes, size: int = 65536) -> Iterator[bytes]:
    """The content in pieces of at most `size` bytes."""
    return (content[start : start + size] for start in range(0, len(content), size))
