"""Events as Server-Sent Events."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field

from adapters.inbound.rest.page_stream import TEXT_EVENTS, PageStream
from adapters.inbound.rest.routing import Call, CommaSeparated, EventId, OnlyInstances, errors
from adapters.inbound.streams import while_allowed
from domain.access.model import Caller
from domain.events import EventKind, EventPage, LoggedEvent
from domain.refusals import TooMany
from domain.use_cases import UseCases

BUSY_SECONDS = 5.0
PIECE = 16 * 1024
"""Bytes that are written at once, or one event."""
FRAMES_CACHED = 32

STREAM = "Each event with its id, its kind, and as data an object with id, kind, at, instanceId, sessionId and data."

DESCRIPTION = """
What happens to the caller's messages, deliveries, confirmations, instances, uploads and identities; an
admin gets those of everybody. Ids grow, and order holds within a conversation. Comments every 15 seconds
are signs of life. A reader that takes nothing is cut off, and goes on from the last id that it got. An
event of kind `reset` stands where events between the cursor and it are gone: they are older than
EVENT_DAYS.

The `data` of each kind: `message.received` messageId, requestId, text, sender, files; `message.answered`
messageId, inReplyTo, requestId, text, author; `message.failed` messageId, requestId, error;
`message.feedback` rating, sender, messageId, inReplyTo, requestId, text, author, resource; `delivery.sent`
messageId, deliveryId; `delivery.dead` messageId, deliveryId, reason; `confirmation.asked` confirmationId,
messageId, tool, expiresAt; `confirmation.decided` confirmationId, messageId, tool, decision, decidedBy,
decider; `conversation.handler` handler, minutes; `conversation.changed` assignee, labels, state, snoozedUntil,
resource and messageId, or userId; `conversation.note` messageId, userId, mentions; `instance.health` healthy,
activity, error; `upload.ready` and `upload.failed` knowledgeBaseId, files, error; `identity.verified` field,
value; `budget.reached` budgetId, percent, month, userId, resourceId, amount, spent, currency;
`notification.created` notificationId, notification, userId.
"""

router = APIRouter(tags=["events"])


@router.get(
    "/api/agent/events",
    response_class=Response,
    responses={**errors(400, 403, 404, 429), 200: {"content": TEXT_EVENTS, "description": STREAM}},
    summary="Events as they happen, as Server-Sent Events",
    description=DESCRIPTION,
)
async def watch(
    call: Call,
    request: Request,
    kinds: Annotated[
        list[Annotated[str, Field(json_schema_extra={"enum": [*EventKind]})]],
        CommaSeparated,
        Query(
            description="Only these kinds of events, separated by commas.",
            examples=[["message.answered", "delivery.dead"]],
        ),
    ] = [],  # noqa: B006 - not changed
    instances: OnlyInstances = [],  # noqa: B006 - not changed
    after: Annotated[
        EventId,
        Query(description="Go on behind the event of this id; without it, from now on.", examples=[41]),
    ] = None,
    last_event_id: Annotated[
        EventId,
        Header(
            alias="Last-Event-ID",
            description="As `after`, and counts before it: browsers send it when they connect again.",
            examples=[41],
        ),
    ] = None,
) -> Response:
    cursor = after if last_event_id is None else last_event_id
    return await stream_of(request, call.services, call.caller, cursor, kinds, instances)


async def stream_of(
    request: Request,
    services: UseCases,
    caller: Caller,
    cursor: int | None,
    kinds: Sequence[str] = (),
    instance_ids: Sequence[int] = (),
) -> Response:
    """The stream of events behind `cursor`. `request.state.authenticate` is asked again while it goes on."""
    streams: Streams = request.app.state.streams
    streams.check()
    pages = await services.events.watch(caller, cursor, kinds, instance_ids)
    allowed = while_allowed(pages, caller, request.state.authenticate)
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
    """The events of a page in pieces of at most `PIECE` bytes or one event, then the cursor with a keep-alive comment
    if it is greater than the last id."""
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
