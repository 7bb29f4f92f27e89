"""Events as Server-Sent Events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import orjson
from fastapi import APIRouter, Request, Response

from adapters.inbound.rest.page_stream import TEXT_EVENTS, PageStream
from adapters.inbound.rest.routing import (
    INSTANCES_PARAMETER,
    LARGEST_ID,
    CurrentCaller,
    Services,
    errors,
    listed,
    named_instances,
)
from adapters.inbound.streams import while_allowed
from domain.access.model import Caller
from domain.events import EventKind, EventPage, LoggedEvent
from domain.refusals import Fault, Invalid, TooMany
from ports.use_cases import UseCases

BUSY_SECONDS = 5.0
PIECE = 16 * 1024
"""Bytes that are written at once, or one event."""
FRAMES_CACHED = 32

PARAMETERS = {
    "parameters": [
        {
            "name": "kinds",
            "in": "query",
            "schema": {"type": "array", "items": {"enum": list(EventKind)}},
            "explode": False,
        },
        INSTANCES_PARAMETER,
        {
            "name": "after",
            "in": "query",
            "schema": {"type": "integer"},
        },
        {
            "name": "Last-Event-ID",
            "in": "header",
            "schema": {"type": "integer"},
        },
    ]
}
STREAM = "Each event with its id, its kind, and as data an object with id, kind, at, instanceId, sessionId and data."

DESCRIPTION = """
What happens to the caller's messages, deliveries, confirmations, instances, uploads and identities; an
admin gets those of everybody. Ids grow, and order holds within a conversation. Comments every 15 seconds
are signs of life. A reader that takes nothing is cut off, and goes on from the last id that it got. An
event of kind `reset` stands where events between the cursor and it are gone: they are older than
EVENT_DAYS.

The `data` of each kind: `message.received` messageId, requestId, text, sender, files; `message.answered`
messageId, inReplyTo, requestId, text, author; `message.failed` messageId, requestId, error; `delivery.sent`
messageId, deliveryId; `delivery.dead` messageId, deliveryId, reason; `confirmation.asked` confirmationId,
messageId, tool, expiresAt; `confirmation.decided` confirmationId, messageId, tool, decision, decidedBy,
decider; `conversation.handler` handler, minutes; `instance.health` healthy, activity, error; `upload.ready`
and `upload.failed` knowledgeBaseId, files, error; `identity.verified` field, value.
"""

router = APIRouter(tags=["events"])


@router.get(
    "/api/agent/events",
    response_class=Response,
    responses={
        **errors(400, 403, 404, 429),
        200: {"content": TEXT_EVENTS, "description": STREAM},
    },
    summary="Events as they happen, as Server-Sent Events",
    description=DESCRIPTION,
    openapi_extra=PARAMETERS,
)
async def watch(services: Services, caller: CurrentCaller, request: Request) -> Response:
    return await stream_of(request, services, caller)


async def stream_of(request: Request, services: UseCases, caller: Caller) -> Response:
    """The stream that the request's query asks for. `request.state.authenticate` is asked again while it goes on."""
    query = request.query_params
    instance_ids = named_instances(request)
    streams: Streams = request.app.state.streams
    streams.check()
    pages = await services.events.watch(
        caller, _cursor(request), listed(query.getlist("kinds")), instance_ids
    )
    allowed = while_allowed(pages, request.state.authenticate)
    first = await anext(allowed)
    return PageStream(b"id: %d\n\n" % first.cursor, allowed, _frames, streams.counted())


class Streams:
    """How many streams are open in this gateway, and how many may be."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.open = 0

    def check(self) -> None:
        """Raises `TooMany`: the other connections are for everybody else."""
        if self.open >= self._most:
            raise TooMany(f"{self._most} streams of events are open; end some of them", BUSY_SECONDS)

    @contextmanager
    def counted(self) -> Iterator[None]:
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1


def _frames(page: EventPage) -> Iterator[bytes]:
    """The events of a page, in pieces: the transport takes no more than one beyond what it has room for. Behind them,
    or where there is none, the cursor, with a comment as a sign of life."""
    piece = bytearray()
    for event in page.events:
        piece += _frame(event)
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    if not page.events or page.cursor > page.events[-1].id:
        piece += b": still here\nid: %d\n\n" % page.cursor
    if piece:
        yield bytes(piece)


@lru_cache(FRAMES_CACHED)
def _frame(event: LoggedEvent) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        event.id,
        event.kind.encode(),
        orjson.dumps(event.document()),
    )


def _cursor(request: Request) -> int | None:
    """Raises `Invalid`."""
    for name, text in (
        ("Last-Event-ID", request.headers.get("last-event-id")),
        ("after", request.query_params.get("after")),
    ):
        if not text:
            continue
        if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_ID):
            raise Invalid.of([Fault(name, "must be the id of an event, a whole number")])
        return int(text)
    return None
