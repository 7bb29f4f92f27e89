"""Streamed answers of services with protocols of their own: events with JSON, or one JSON value in their place."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from adapters.outbound.resources.answers import ServerEvents, is_event_stream
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES, BadAnswer
from domain.json_text import loads
from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpRequest


async def json_events(http: Http, request: HttpRequest) -> AsyncIterator[Any]:
    """The values of the events of an answer, or the value of an answer that is no stream.

    Raises `HttpFailed`, `BadAnswer`.
    """
    heads: list[HttpAnswer] = []
    events, body = ServerEvents(MAX_ANSWER_BYTES), bytearray()
    pieces = http.stream(replace(request, max_bytes=MAX_ANSWER_BYTES, on_head=heads.append))
    async with aclosing(cast(AsyncGenerator[bytes, None], pieces)) as closing:
        async for piece in closing:
            if not is_event_stream(heads[0]):
                body += piece
                continue
            for data in events.feed(piece):
                yield _value(data)
    if body:
        yield await off_loop(len(body), _value, bytes(body))


def _value(data: bytes) -> Any:
    try:
        return loads(data)
    except ValueError:
        raise BadAnswer("an event or answer is not JSON, or nested too deeply") from None
