"""The callback path, as a lean branch in front of the framework: it is the hot path."""

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from adapters.inbound.rest import asgi
from adapters.inbound.rest.errors import INTERNAL, STOPPING, error_response, message_of, response_to
from adapters.inbound.rest.routing import GatewayOptions, parsed_id
from adapters.trace_context import HEADER, current
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import NotFound, Refusal
from domain.use_cases import Callbacks
from ports.system import Ids

log = logging.getLogger(__name__)

UNKNOWN = "unknown"
"""The channel of calls that were refused: their address may name any."""
_SEGMENT = r"(?!\.{1,2}(?:/|$))[^/]{1,200}"
PATH = re.compile(rf"/api/agent/channels/([^/]{{1,100}})/([^/]+)/({_SEGMENT}(?:/{_SEGMENT}){{0,3}})/?")


class CallbackApp:
    """Answers calls on /api/agent/channels/:type/:instanceId/:callback, where the callback may have up to four
    segments; hands all else on.

    Platforms sign the public address that they called, not the one behind a proxy.
    """

    def __init__(self, app: asgi.App, callbacks: Callbacks, ids: Ids, options: GatewayOptions) -> None:
        self._app = app
        self._callbacks = callbacks
        self._ids = ids
        self._options = options

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        match = PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if match is None:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        traceparent = Headers(scope=scope).get(HEADER, "")
        with self._options.span("request", traceparent, method=scope["method"]):
            channel_id, status = await self._respond(match, scope, receive, send)
        if status:
            self._options.answered(channel_id, status, time.perf_counter() - started)

    async def _respond(
        self, match: re.Match[str], scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send
    ) -> tuple[str, int]:
        """The channel and the status that was answered; 0 where nobody was left to be answered."""
        request_id = self._ids.request_id()
        self._options.bind(request_id)
        try:
            channel_id, instance, callback = match.groups()
            call = await self._call(scope, receive, request_id, callback)
            instance_id = parsed_id(instance)
            if instance_id is None:
                raise NotFound(f"there is no instance {instance[:30]} of the channel '{channel_id}'")
            answer = await self._callbacks.handle(channel_id, instance_id, call)
            if answer.streams:
                pieces = self._callbacks.stream(channel_id, instance_id, call)
                request = Request(scope, receive)
                return channel_id, await self._stream(pieces, request, send, request_id)
        except (Refusal, HTTPException) as error:
            log.info("%s %s was refused: %s", scope["method"], scope["path"], message_of(error))
            response = response_to(error)
        except ClientDisconnect:
            log.info("a call broke off before its body was whole; nothing of it is taken")
            return UNKNOWN, 0
        except asyncio.CancelledError:
            response = error_response(503, STOPPING)
        except Exception:
            log.exception("a callback failed")
            response = error_response(500, INTERNAL)
        else:
            await send(_start(answer, scope["path"], request_id))
            await send({"type": "http.response.body", "body": answer.body})
            return channel_id, answer.status
        await response(scope, receive, asgi.ResponseRecorder(send, request_id, scope["path"]))
        return UNKNOWN, response.status_code

    async def _stream(
        self,
        pieces: AsyncGenerator[RawAnswer | bytes, None],
        request: Request,
        send: asgi.Send,
        request_id: str,
    ) -> int:
        """Writes an answer as it comes, until the caller leaves, and returns its status: 0 where nobody is left.
        Raises what fails before the head. A failure behind it breaks the connection off, so that nobody takes the
        answer for whole."""
        status = 0
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    if await request.is_disconnected():
                        return status
                    if isinstance(piece, RawAnswer):
                        status = piece.status
                        await send(_start(piece, request.url.path, request_id))
                        await _write(send, piece.body, more=piece.streams)
                        if not piece.streams:
                            return status
                    elif status and piece:
                        await _write(send, piece, more=True)
            await _write(send, b"", more=False)
        except (Exception, asyncio.CancelledError) as error:
            if not status:
                raise
            log.warning("a streamed answer broke off: %s", type(error).__name__)
        return status

    async def _call(
        self, scope: asgi.Scope, receive: asgi.Receive, request_id: str, callback: str
    ) -> RawCall:
        query = scope["query_string"].decode("latin-1")
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0]
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1")
            text = value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        body = await asgi.whole_body(receive, headers.get("content-length"), self._options.max_body)
        if traceparent := current():
            headers[HEADER] = traceparent
        return RawCall(
            id=request_id,
            method=scope["method"],
            callback=callback,
            url=f"{self._options.agent_url}{path}" + (f"?{query}" if query else ""),
            headers=headers,
            body=body,
        )


def _start(answer: RawAnswer, path: str, request_id: str) -> asgi.Message:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()
    ]
    if not answer.streams:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    headers.append((b"x-request-id", request_id.encode()))
    headers = asgi.checked_headers(answer.status, path, headers)
    return {"type": "http.response.start", "status": answer.status, "headers": headers}


async def _write(send: asgi.Send, body: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
