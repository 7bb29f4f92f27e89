"""Messages of streams and long lists: gRPC clients take messages of 4 MB by default."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message
from switchboard.channels.v1 import callbacks_pb2
from switchboard.events.v1 import events_pb2
from switchboard.knowledge.v1 import knowledge_pb2

from adapters.rpc.messages import to_message, to_value
from domain.channels.messages import RawAnswer, RawCall
from domain.events import EventPage, LoggedEvent
from domain.knowledge.model import FileRecord
from domain.refusals import Fault, Invalid

M = TypeVar("M", bound=Message)

PAGE_BYTES = 3 * 1024 * 1024
"""Of the entries of one answer together; a single entry may be larger, up to about the same."""
PIECE = 500_000
"""Characters of a long text in one message: at most 2 MB in UTF-8."""


def fitting(messages: Iterable[M]) -> list[M]:
    """The first messages, as many as fit one answer together; at least one."""
    first: list[M] = []
    size = 0
    for message in messages:
        size += message.ByteSize()
        if first and size > PAGE_BYTES:
            break
        first.append(message)
    return first


def page(messages: Sequence[M], token: str) -> tuple[list[M], str]:
    """The page of a list that `token` names, and the token of the next one, empty after the last."""
    start = position(token)
    entries = fitting(messages[start:])
    end = start + len(entries)
    return entries, str(end) if entries and end < len(messages) else ""


def position(token: str) -> int:
    """The number that a page token stands for; 0 for the first page. Raises `Invalid`."""
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) < 19):
        raise Invalid.of([Fault("page_token", "must be the next_page_token of the answer before")])
    return int(token)


def pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit a message each; one empty piece for an empty text."""
    for start in range(0, len(text) or 1, PIECE):
        yield text[start : start + PIECE]


def file_messages(file: FileRecord) -> Iterator[knowledge_pb2.ListFilesResponse]:
    """The messages of a file: the record with the beginning of its text, then the rest."""
    beginning, *rest = pieces(file.text)
    yield knowledge_pb2.ListFilesResponse(file=to_message(replace(file, text=beginning), knowledge_pb2.File))
    for piece in rest:
        yield knowledge_pb2.ListFilesResponse(more_text=piece)


async def files_from_messages(messages: AsyncIterator[knowledge_pb2.ListFilesResponse]) -> list[FileRecord]:
    """The files of a stream of such messages."""
    files: list[tuple[knowledge_pb2.File, list[str]]] = []
    async for message in messages:
        if message.WhichOneof("part") == "file":
            files.append((message.file, [message.file.text]))
        else:
            files[-1][1].append(message.more_text)
    return [replace(to_value(file, FileRecord), text="".join(texts)) for file, texts in files]


def page_to_pb(page: EventPage) -> Iterator[events_pb2.WatchResponse]:
    """A message for each event, the last one with the cursor of the page."""
    for event in page.events:
        yield events_pb2.WatchResponse(event=to_message(event, events_pb2.Event), cursor=event.id)
    if not page.events or page.cursor > page.events[-1].id:
        yield events_pb2.WatchResponse(cursor=page.cursor)


def page_from_pb(message: events_pb2.WatchResponse) -> EventPage:
    events = (to_value(message.event, LoggedEvent),) if message.HasField("event") else ()
    return EventPage(events, message.cursor)


def call_into_pb(channel_id: str, instance_id: int, call: RawCall, message: callbacks_pb2.RawCall) -> None:
    """Fills a message that lies in a batch already: what is handed to a constructor would be copied."""
    message.request_id = call.id
    message.channel_id = channel_id
    message.instance_id = instance_id
    message.method = call.method
    message.callback = call.callback
    message.url = call.url
    message.headers.update(call.headers)
    message.body = call.body


def call_from_pb(message: callbacks_pb2.RawCall) -> RawCall:
    return RawCall(
        id=message.request_id,
        method=message.method,
        callback=message.callback,
        url=message.url,
        headers={name.lower(): value for name, value in message.headers.items()},
        body=message.body,
    )


def answer_to_pb(answer: RawAnswer) -> callbacks_pb2.RawAnswer:
    message = callbacks_pb2.RawAnswer()
    answer_into_pb(answer, message)
    return message


def answer_into_pb(answer: RawAnswer, message: callbacks_pb2.RawAnswer) -> None:
    """The same into a message that lies in a batch already."""
    message.status = answer.status
    message.body = answer.body
    message.streams = answer.streams
    if answer.headers:
        message.headers.update(answer.headers)


def answer_from_pb(message: callbacks_pb2.RawAnswer) -> RawAnswer:
    return RawAnswer(message.status, message.body, dict(message.headers), message.streams)


def piece_to_pb(piece: RawAnswer | bytes) -> callbacks_pb2.StreamAnswerResponse:
    if isinstance(piece, bytes):
        return callbacks_pb2.StreamAnswerResponse(body=piece)
    return callbacks_pb2.StreamAnswerResponse(head=answer_to_pb(piece))


def piece_from_pb(message: callbacks_pb2.StreamAnswerResponse) -> RawAnswer | bytes:
    return answer_from_pb(message.head) if message.HasField("head") else message.body
