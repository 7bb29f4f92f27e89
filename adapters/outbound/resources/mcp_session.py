"""A session with an MCP server, by the client of the SDK, over the client of all outgoing HTTP. Each listing of tools
and each call has a session of its own, which ends with it.

https://modelcontextprotocol.io/specification
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.model_settings import McpServer
from adapters.outbound.resources.model_tools import MAX_RESULT
from adapters.version import VERSION
from domain.json_text import loads
from ports.http import AnswerTooLarge, Http, HttpAnswer, HttpFailed, HttpRequest

MAX_BYTES = 1_000_000
"""Of one answer of a server."""
MAX_PAGES = 10
"""Of one list of tools."""
CLOSE_SECONDS = 2.0
"""For the request that ends a session."""
_LOST = "SSE stream ended"
"""How the SDK's error for an answer that breaks off begins; servers use its code, -32000, for errors of their own."""
_OWN_HEADERS = frozenset({"accept-encoding", "user-agent", "connection", "host", "content-length"})
"""Set by the client that sends the request."""
_DECODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers of an answer that are not true of the body as it is handed on."""


class McpFailed(Exception):
    """A server that did not answer as it should; the message says why, in words for the log. `begun`: the server may
    have worked on the request. `is_too_large`: its answer has over `MAX_BYTES`."""

    def __init__(self, message: str, *, begun: bool, is_too_large: bool = False) -> None:
        super().__init__(message)
        self.begun = begun
        self.is_too_large = is_too_large


class HttpTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of the SDK by `ports.http.Http`: the address policy, which each redirect passes anew, TLS
    and limits are those of all other requests. `failure` says what went wrong last."""

    def __init__(self, http: Http, seconds: float) -> None:
        self._http = http
        self._seconds = seconds
        self.failure = ""
        self.begun = self.is_too_large = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405, request=request)  # a stream of what nobody asked for: nobody hears it
        heads: list[HttpAnswer] = []
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OWN_HEADERS}
        outgoing = HttpRequest(
            request.method,
            str(request.url),
            headers=headers,
            content=await request.aread() or None,
            timeout=CLOSE_SECONDS if request.method == "DELETE" else self._seconds,
            max_bytes=MAX_BYTES,
            on_head=heads.append,
        )
        pieces = cast(AsyncGenerator[bytes, None], self._http.stream(outgoing))
        try:
            first = await anext(pieces, b"")
        except HttpFailed as error:
            self.failure = str(error)
            self.begun = self.begun or not error.before_request
            if error.answer is None:
                raise httpx2.ConnectError(str(error), request=request) from error
            refusal = error.answer
            return httpx2.Response(
                refusal.status, headers=_headers(refusal), content=refusal.body, request=request
            )
        self.begun = True
        [head] = heads
        body = _Body(self, first, pieces)
        return httpx2.Response(head.status, headers=_headers(head), stream=body, request=request)


class _Body(httpx2.AsyncByteStream):
    """The body of an answer as it comes."""

    def __init__(self, transport: HttpTransport, first: bytes, pieces: AsyncGenerator[bytes, None]) -> None:
        self._transport = transport
        self._first = first
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._first
        try:
            async for piece in self._pieces:
                yield piece
        except HttpFailed as error:
            self._transport.failure = str(error)
            self._transport.is_too_large = isinstance(error, AnswerTooLarge)
            raise httpx2.ReadError(str(error)) from error

    async def aclose(self) -> None:
        await self._pieces.aclose()


def _headers(answer: HttpAnswer) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in _DECODED}


@asynccontextmanager
async def _session(http: Http, server: McpServer, seconds: float) -> AsyncIterator[Client]:
    """An open session, which is closed with the block. Raises `McpFailed` for whatever goes wrong in it."""
    transport = HttpTransport(http, seconds)
    headers = call_headers(server.token, server.headers)
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(transport=transport, headers=headers, timeout=None) as client,
            Client(
                streamable_http_client(server.url, http_client=client),
                client_info=types.Implementation(name="switchboard", version=VERSION),
                cache=None,
            ) as session,
        ):
            yield session
    except TimeoutError as error:
        raise McpFailed(f"does not answer within {seconds:g} s", begun=transport.begun) from error
    except Exception as error:
        reason = transport.failure or _reason(error)
        raise McpFailed(reason[:300], begun=transport.begun, is_too_large=transport.is_too_large) from error


def _reason(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return f"answers with error {error.code}: {error.message}"
    return "does not keep to the protocol"


async def listed_tools(http: Http, server: McpServer, seconds: float) -> Sequence[types.Tool]:
    """The tools that a server has, at most those of `MAX_PAGES` pages. Raises `McpFailed`."""
    tools: list[types.Tool] = []
    async with _session(http, server, seconds) as client:
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
    return tools


async def called_tool(
    http: Http,
    server: McpServer,
    name: str,
    parameters: Mapping[str, Any],
    seconds: float,
) -> str:
    """The answer of a tool in words for a model. Raises `McpFailed`.

    The answer is not checked against the schema that the server gives for it: patterns of a hostile schema could take
    any time, and the model reads whatever comes.
    """
    call = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=dict(parameters)))
    async with _session(http, server, seconds) as client:
        try:
            result = await client.session.send_request(call, types.CallToolResult)
        except MCPError as error:
            if error.message.startswith(_LOST):
                raise  # no answer of the server, which may have run the tool
            if error.code != types.HEADER_MISMATCH:
                return f"The tool failed: {error.message}"[:MAX_RESULT]
            # The server wants parameters in headers, which the SDK knows of once it has listed the tools.
            await client.session.list_tools()
            result = await client.session.send_request(call, types.CallToolResult)
    # Files are named in words. Structured content is JSON, unless a text says the same.
    parts = [_part(block) for block in result.content]
    structured = result.structured_content
    if structured is not None and not any(_says(block, structured) for block in result.content):
        parts.append(json.dumps(structured, ensure_ascii=False))
    text = ("\n".join(filter(None, parts)) or "The tool gave no answer.")[:MAX_RESULT]
    return f"The tool failed: {text}"[:MAX_RESULT] if result.is_error else text


def _says(block: types.ContentBlock, structured: Any) -> bool:
    """Return True if the block repeats structured content, as servers do for older clients. The SDK wraps a value
    that is no object as `{"result": value}`."""
    if not isinstance(block, types.TextContent):
        return False
    try:
        value = loads(block.text)
    except ValueError:
        value = block.text
    return structured in (value, {"result": value}, {"result": block.text})


def _part(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            size = len(block.data) * 3 // 4
            return f"[{block.type}: {block.mime_type}, about {size} bytes, left out]"
        case types.ResourceLink():
            return f"[resource: {block.name}, {block.uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return resource.text
    return f"[resource: {block.resource.uri}, left out]"
