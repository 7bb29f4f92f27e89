"""Files of messages: the bytes of an answer's files, and the words of voice messages."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from domain.channels.answers import Artifact
from ports.files import Blobs, SharedFile
from ports.http import Http, HttpRequest
from ports.indexing import Parser

TIMEOUT = 60.0


@dataclass(eq=False)
class Artifacts:
    """`ports.channels.ArtifactReader`: our own copy where there is one, else the address that a resource gave,
    under the outbound address policy."""

    blobs: Blobs
    http: Http
    max_bytes: int

    def read(self, artifact: Artifact) -> AsyncIterator[bytes]:
        if artifact.blob is not None:
            return self.blobs.open(artifact.blob)
        return self.http.stream(
            HttpRequest(
                "GET",
                artifact.url,
                timeout=TIMEOUT,
                user_address=True,
                follow_redirects=True,
                max_bytes=self.max_bytes,
            )
        )


@dataclass(eq=False)
class ParsedSpeech:
    """`ports.files.Transcriber`."""

    parser: Parser
    blobs: Blobs

    async def transcribe(self, recording: SharedFile) -> str:
        async with self.blobs.local(recording.blob) as path:
            document = await self.parser.parse(path, recording.name)
        return " ".join(block.text for block in document.blocks if block.text)
