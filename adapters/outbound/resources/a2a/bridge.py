"""Carries the requests of the A2A library over `ports.http.Http`, and checks each answer before the library reads
it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from adapters.outbound.net.urls import safe_url
from adapters.outbound.resources.a2a.contents import Contents
from adapters.outbound.resources.answers import EVENTS, GATHER_SECONDS, ServerEvents, is_event_stream
from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES, MAX_TEXT, BadAnswer
from domain.json_text import has_too_many, loads
from domain.rendering import off_loop
from ports.http import AddressRefused, Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

MOST_VALUES = 20_000
"""In one answer or event. The library reads them one by one, some 10 us each, while the event loop waits."""
MOST_CHARACTERS = MAX_TEXT + 100_000
"""In one answer or event: the text, and ids and names beside it. The library needs 50 ns for each."""
EVENTS_AT_ONCE = 50
"""After so many events others get a turn."""

_SENT = ("accept", "content-type", "a2a-version", "a2a-extensions")
"""Headers of the library that go out; all others are the HTTP client's part."""
_LINE_ENDS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
"""Characters that the library takes for the end of a line, in UTF-8, and their escapes in JSON."""


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address. Raises `ValueError`."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


class Bridge(httpx.AsyncBaseTransport):
    """Addresses of another origin than that of the rule come from the agent card: they get no token, and the outbound
    address policy applies to them. Raises `HttpFailed`, `BadAnswer`."""

    def __init__(self, http: Http, url: str, token: str | None) -> None:
        self.contents = Contents()
        self._http = http
        self._origin = origin(url)
        self._token = token

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.contents.clear()
        heads: list[HttpAnswer] = []
        call = self._call(request, heads)
        pieces = cast(AsyncGenerator[bytes, None], self._http.stream(call))
        try:
            first = await anext(pieces, b"")
        except AddressRefused as refused:
            url = str(request.url)
            reason = f"the agent is to be called at {safe_url(url)[:200]}, which OUTBOUND_POLICY forbids: {refused}"
            raise DownstreamFailed(reason, retryable=False, begun=False) from refused
        except HttpFailed as failed:
            if failed.answer is None or not _is_told(failed.answer):
                raise
            return _response(failed.answer, failed.answer.body)
        head = heads[0]
        if is_event_stream(head):
            return httpx.Response(
                200, headers={"content-type": EVENTS}, stream=_Events(first, pieces, self.contents)
            )
        async with aclosing(pieces) as rest:
            text = b"".join([first, *[piece async for piece in rest]])
        return _response(head, await off_loop(len(text), _checked, text, self.contents))

    def _call(self, request: httpx.Request, heads: list[HttpAnswer]) -> HttpRequest:
        url = str(request.url)
        headers = {name: request.headers[name] for name in _SENT if name in request.headers}
        is_own = origin(url) == self._origin
        return HttpRequest(
            request.method,
            url,
            headers=call_headers(self._token if is_own else None, headers),
            content=request.content or None,
            timeout=request.extensions["timeout"]["read"],
            user_address=not is_own,
            max_bytes=request.extensions.get("max_bytes", MAX_ANSWER_BYTES),
            gather_seconds=GATHER_SECONDS,
            on_head=heads.append,
        )


class _Events(httpx.AsyncByteStream):
    """The events of an answer, each checked and written anew."""

    def __init__(self, first: bytes, pieces: AsyncGenerator[bytes, None], contents: Contents) -> None:
        self._first = first
        self._pieces = pieces
        self._contents = contents

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader, count, piece = ServerEvents(MAX_ANSWER_BYTES), 0, self._first
        while piece:
            for data in reader.feed(piece):
                yield await off_loop(len(data), _event, data, self._contents)
                count += 1
                if count % EVENTS_AT_ONCE == 0:
                    await asyncio.sleep(0)
            piece = await anext(self._pieces, b"")

    async def aclose(self) -> None:
        await self._pieces.aclose()


def _checked(text: bytes, contents: Contents) -> bytes:
    """The JSON text of an object, without the contents of large files. Raises `BadAnswer`."""
    try:
        text.decode()
        value = loads(text)
    except ValueError:
        raise BadAnswer("it is not JSON in UTF-8, or nested too deeply") from None
    if not isinstance(value, dict):
        raise BadAnswer("it is not a JSON object")
    if has_too_many(text, MOST_VALUES):
        raise BadAnswer(f"it holds over {MOST_VALUES} values")
    if _characters(value) > MOST_CHARACTERS:
        raise BadAnswer(f"its text has over {MAX_TEXT} characters")
    return contents.take_out(text, value)


def _characters(value: Any) -> int:
    """Of all texts but the base64 of files. The library looks at each of them while the event loop waits."""
    if isinstance(value, dict):
        return sum(_characters(item) for name, item in value.items() if name != "raw")
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 0


def _event(data: bytes, contents: Contents) -> bytes:
    """Raises `BadAnswer`."""
    data = _checked(data, contents).replace(b"\n", b" ")  # between values, as a text in JSON has none
    for character, escape in _LINE_ENDS:
        data = data.replace(character, escape)
    return b"data: " + data + b"\n\n"


def _is_told(answer: HttpAnswer) -> bool:
    """Return True for an error in the protocol's words, which says more than the status."""
    value = answer.json()
    return answer.status < 500 and answer.status != 429 and isinstance(value, dict) and "error" in value


def _response(answer: HttpAnswer, body: bytes) -> httpx.Response:
    return httpx.Response(answer.status, headers={"content-type": "application/json"}, content=body)
