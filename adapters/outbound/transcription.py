"""Speech of voice messages, recognised by the parser of sound files."""

from ports.blobs import Blobs
from ports.files import SharedFile
from ports.parsing import Parser


class ParsedSpeech:
    """`ports.files.Transcriber`."""

    def __init__(self, parser: Parser, blobs: Blobs) -> None:
        self._parser = parser
        self._blobs = blobs

    async def transcribe(self, recording: SharedFile) -> str:
        async with self._blobs.local(recording.blob) as path:
            document = await self._parser.parse(path, recording.name)
        return " ".join(block.text for block in document.blocks if block.text)
