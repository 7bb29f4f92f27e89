"""The web chat for panels on pages anywhere: CORS by the origins of each instance, limits, Server-Sent Events."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from adapters.inbound.rest import web_chat_schemas as schemas
from adapters.inbound.rest.auth_middleware import VISITOR_BODY
from adapters.inbound.rest.errors import invalid_response, response_to
from adapters.inbound.rest.page_stream import TEXT_EVENTS, PageStream
from adapters.inbound.rest.routing import LARGEST_ID, Gateway, JsonRoute, Services, before_body, errors
from adapters.inbound.visitor_limits import VisitorLimits, address_key, visitor_key
from adapters.rpc.metadata import client_address
from domain.refusals import Fault, Forbidden, Invalid, Refusal, Unauthenticated
from domain.values import iso_milliseconds
from domain.web_chat.model import ChatPage, ChatSession, StoredMessage
from ports.conversations import WebChat
from ports.use_cases import UseCases

BASE = "/api/agent/web-chat/{publicId}"
AFTER = {
    "parameters": [{"name": "after", "in": "query", "schema": {"type": "integer"}}],
}
STREAM = """
What is shown to the visitor of the token: events `message`, `removed`, `typing` and `cleared`, described in
docs/channels/web-chat.md. Begins with the latest messages, or behind the cursor `after`, which is the id of the last
event. Comments every 15 seconds are signs of life.
"""
PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
}
LONGEST_ORIGIN = 300


class VisitorRoute(JsonRoute):
    """A route for pages of the origins that the instance allows; they may read its errors too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            gateway: Gateway = request.app.state.gateway
            client_address.set(_host(request))
            cors = await _cors(gateway.use_cases.web_chat, request)
            try:
                response = await handle(request)
            except RequestValidationError as error:
                response = invalid_response(error)
            except (Refusal, HTTPException) as error:
                response = response_to(error)
            response.headers.update(cors)
            return response

        return handled


def _other_origin(request: Request) -> str:
    """That of the page that calls; empty for a page of this gateway, under whichever name it was opened."""
    origin = request.headers.get("origin", "")
    return "" if urlsplit(origin).netloc == request.headers.get("host") else origin


async def _cors(web_chat: WebChat, request: Request) -> dict[str, str]:
    """Pages of this gateway may always call. Raises `Forbidden`, `NotFound`, `TooMany`."""
    origin = _other_origin(request)[:LONGEST_ORIGIN]
    public_id = request.path_params["publicId"][:LONGEST_ORIGIN]
    allowed = await _limits(request).is_allowed(_address(request), public_id, origin, web_chat.is_allowed)
    if origin and not allowed:
        raise Forbidden(
            "this page may not show the chat: its origin is not in allowedOrigins of the instance"
        )
    if not origin:
        return {"vary": "Origin"}
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "Retry-After, X-Request-Id",
        "vary": "Origin",
    }


router = APIRouter(route_class=VisitorRoute, tags=["web chat"])


def _host(request: Request) -> str:
    return request.client.host if request.client else ""


def _address(request: Request) -> str:
    return address_key(_host(request))


def _token(request: Request) -> str:
    """Raises `Unauthenticated`."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the visitor token is missing; open a session first")
    return token.strip()


def _limits(request: Request) -> VisitorLimits:
    limits: VisitorLimits = request.app.state.visitor_limits
    return limits


@router.options(BASE + "/session", include_in_schema=False)
@router.options(BASE + "/messages", include_in_schema=False)
@router.options(BASE + "/stream", include_in_schema=False)
async def preflight() -> Response:
    return Response(status_code=204, headers=PREFLIGHT)


async def _open_limit(services: UseCases, request: Request) -> None:
    _limits(request).session(_address(request))


@router.post(
    BASE + "/session",
    response_model=schemas.ChatSession,
    responses=errors(400, 401, 403, 404, 413, 429, key=False),
    summary="Open the chat of a web page",
)
@before_body(_open_limit)
async def open_session(services: Services, publicId: str, body: schemas.OpenChat) -> ChatSession:
    """A visitor token, and how the panel looks. A valid token comes back as it is; nothing is stored."""
    return await services.web_chat.open(publicId, body.visitor, body.identity)


async def _message_limit(services: UseCases, request: Request) -> None:
    declared = request.headers.get("content-length", "")
    size = int(declared) if declared.isascii() and declared.isdigit() else VISITOR_BODY
    _limits(request).message(_address(request), visitor_key(_token(request)), size)


@router.post(
    BASE + "/messages",
    status_code=202,
    response_model=schemas.ChatMessageTaken,
    responses=errors(400, 401, 403, 404, 413, 429, key=False),
    summary="Write a message as a visitor",
)
@before_body(_message_limit)
async def post_message(
    services: Services, publicId: str, request: Request, body: schemas.PostChatMessage
) -> schemas.ChatMessageTaken:
    """Needs the visitor token as bearer token. The same `id` again is the same message."""
    message = body.message()
    await services.web_chat.post(publicId, _token(request), message)
    return schemas.ChatMessageTaken(id=message.id)


@router.get(
    BASE + "/stream",
    response_class=Response,
    responses={
        **errors(400, 401, 403, 404, 429, key=False),
        200: {"content": TEXT_EVENTS, "description": "What is shown, as it changes."},
    },
    summary="What a visitor sees, as Server-Sent Events",
    description=STREAM,
    openapi_extra=AFTER,
)
async def stream(services: Services, publicId: str, request: Request) -> Response:
    token, limits = _token(request), _limits(request)
    holder = (_address(request), visitor_key(token))
    after = _after(request)
    limits.open_stream(*holder)
    with ExitStack() as open_stream:
        open_stream.callback(limits.close_stream, *holder)
        pages = await services.web_chat.watch(publicId, token, after)
        first = await anext(pages)
        return PageStream(b"\n" + b"".join(_frames(first)), pages, _frames, open_stream.pop_all())


def _after(request: Request) -> int:
    """Raises `Invalid`."""
    text = request.query_params.get("after") or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= LARGEST_ID):
        raise Invalid.of([Fault("after", "must be the id of an event, a whole number")])
    return int(text)


def _frames(page: ChatPage) -> Iterator[bytes]:
    """The events of a page. Only the last one has its cursor: a client that got fewer asks for all of them again."""
    yield b"".join(_events(page)) + b"id: %d\n: still here\n\n" % page.cursor


def _events(page: ChatPage) -> Iterator[bytes]:
    if page.cleared:
        yield b"event: cleared\ndata: {}\n\n"
    for message in page.messages:
        yield _event(message)
    if page.typing_seconds:
        yield b'event: typing\ndata: {"seconds":%.1f}\n\n' % page.typing_seconds


def _event(message: StoredMessage) -> bytes:
    if message.body is None:
        return b"event: removed\ndata: %s\n\n" % orjson.dumps({"id": message.id})
    at = iso_milliseconds(message.at)
    shown = {"id": message.id, "at": at, "draft": message.draft, **message.body}
    return b"event: message\ndata: %s\n\n" % orjson.dumps(shown)
