"""The MCP endpoint: what a request must be, before the SDK gets it. The SDK is imported at the first request."""

import asyncio
from collections.abc import Callable
from importlib import import_module
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from adapters.inbound.rest.asgi import App, Message, Receive, Scope, Send
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import Gateway, json_of
from domain.refusals import Forbidden

PATH = "/mcp"
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
ONE_MESSAGE = (
    'the body must be one JSON-RPC message: an object with "jsonrpc": "2.0", a method, an id where an answer is'
    " wanted, and params that are an object; batches are not supported"
)


class McpApp:
    """Answers POST /mcp, one JSON-RPC message each; hands all else on.

    There are no sessions: whoever sends a request is authenticated in front, each time, and any gateway can answer.
    """

    def __init__(self, app: App, gateway: Gateway) -> None:
        self._app = app
        self._gateway = gateway
        self._serve: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        _check(request, self._gateway.options.agent_url)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        try:
            message = json_of(body)
        except (HTTPException, ValueError) as error:
            reason = error.detail if isinstance(error, HTTPException) else "the body is not JSON in UTF-8"
            await _refusal(PARSE_ERROR, reason)(scope, receive, send)
            return
        if not _is_message(message):
            await _refusal(INVALID_REQUEST, ONE_MESSAGE)(scope, receive, send)
            return
        if self._serve is None:  # the SDK is imported in a thread: that takes about half a second
            module = await asyncio.to_thread(import_module, "adapters.inbound.mcp.server")
            build: Callable[[Gateway], App] = module.build_server
            self._serve = self._serve or build(self._gateway)
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            """The body that was read, then what else comes."""
            return messages.pop() if messages else await receive()

        await self._serve(scope, replayed, send)


def _check(request: Request, public: str) -> None:
    """Raises `Forbidden` for a page of another site, HTTPException for any other kind of request. `public`: our
    address as browsers know it, which a proxy may replace."""
    origin = request.headers.get("origin")
    if origin and urlsplit(origin).netloc not in (request.headers.get("host", ""), urlsplit(public).netloc):
        raise Forbidden("pages of other sites may not use this: the header Origin names another host")
    if request.method != "POST":
        reason = f"{request.method} is not allowed at {PATH}: there are no sessions and no streams to open"
        raise HTTPException(405, reason, {"allow": "POST"})
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be JSON, sent with the header Content-Type: application/json")


def _is_message(message: object) -> bool:
    """Return True for a request, a notification or an answer of JSON-RPC 2.0 (sections 4, 5), as narrowed by MCP."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    if "id" in message and type(message["id"]) not in (str, int):
        return False
    if "method" not in message:
        return "id" in message and ("result" in message or "error" in message)
    return isinstance(message["method"], str) and isinstance(message.get("params", {}), dict)


def _refusal(code: int, message: str) -> JsonResponse:
    """The answer to a body that is no message: it has no id to answer to."""
    error = {"code": code, "message": message}
    return JsonResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=400)
