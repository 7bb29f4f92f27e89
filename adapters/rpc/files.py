"""Files of bases as streams of messages: the text of a file may be longer than a message."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.rpc.messages import to_message, to_value
from adapters.rpc.pages import pieces
from domain.knowledge.model import FileRecord


def file_messages(file: FileRecord) -> Iterator[pb.ListFilesResponse]:
    """The messages of a file: the record with the beginning of its text, then the rest."""
    beginning, *rest = pieces(file.text)
    yield pb.ListFilesResponse(file=to_message(replace(file, text=beginning), pb.File))
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
    return [replace(to_value(file, FileRecord), text="".join(texts)) for file, texts in files]
