"""Files of messages: the bytes of an answer's files, and the words of voice messages."""

from collections.abc import AsyncIterator

from domain.channels.answers import Artifact
from ports.files import Blobs, SharedFile
from ports.http import Http, HttpRequest
from ports.indexing import Parser

TIMEOUT = 60.0


class Artifacts:
    """`ports.channels.ArtifactReader`: our own copy where there is one, else the address that a resource gave,
    under the outbound address policy."""

    def __init__(self, blobs: Blobs, http: Http, max_bytes: int) -> None:
        self._blobs = blobs
        self._http = http
        self._max_bytes = max_bytes

    def read(self, artifact: Artifact) -> AsyncIterator[bytes]:
        if artifact.blob is not None:
            return self._blobs.open(artifact.blob)
        return self._http.stream(
            HttpRequest(
                "GET",
                artifact.url,
                timeout=TIMEOUT,
                user_address=True,
                follow_redirects=True,
                max_bytes=self._max_bytes,
            )
        )


class ParsedSpeech:
    """`ports.files.Transcriber`."""

    def __init__(self, parser: Parser, blobs: Blobs) -> None:
        self._parser = parser
        self._blobs = blobs

    async def transcribe(self, recording: SharedFile) -> str:
        async with self._blobs.local(recording.blob) as path:
            document = await self._parser.parse(path, recording.name)
        return " ".join(block.text for block in document.blocks if block.text)
