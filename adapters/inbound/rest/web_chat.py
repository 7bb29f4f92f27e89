"""The web chat for panels on pages anywhere: CORS by the origins of each instance, limits, Server-Sent Events."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Annotated, Any
from urllib.parse import urlsplit

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException

from adapters.inbound.rest.auth_middleware import VISITOR_BODY
from adapters.inbound.rest.bodies import REQUEST_ID, Answer, Body, Text
from adapters.inbound.rest.errors import invalid_response, response_to
from adapters.inbound.rest.messages import Base64
from adapters.inbound.rest.page_stream import TEXT_EVENTS, PageStream
from adapters.inbound.rest.routing import EventId, Gateway, JsonRoute, Services, errors
from adapters.inbound.visitor_limits import VisitorLimits, address_key, visitor_key
from domain.refusals import Forbidden, Refusal, Unauthenticated
from domain.values import iso_milliseconds
from domain.web_chat import model
from domain.web_chat.model import ChatPage, VisitorFile, VisitorMessage
from domain.web_chat.service import WebChatService


class OpenChat(Body):
    visitor: str = Field("", description="The token of an earlier session, or empty.", examples=[""])
    identity: str = Field(
        "", description="A JSON Web Token (HS256) that the site's backend signed, or empty.", examples=[""]
    )


class ChatSession(Answer):
    visitor: str = Field(
        description="The token for all further calls, to be kept in the browser.",
        examples=["9lXq0YfD1sU2n8Zb3KcVtQ"],
    )
    title: str = Field(examples=["Help"])
    greeting: str = Field(examples=["How can we help?"])
    colour: str = Field(examples=["#0b5fff"])
    maxFileBytes: int = Field(description="Of all files of a message.")
    maxTextLength: int = Field(description="In characters.")


class FileOfVisitor(Body):
    name: Text = Field(examples=["plan.txt"])
    mimeType: Text = Field("", examples=["text/plain"])
    dataBase64: Base64 = Field(examples=["SGVsbG8="])


class PostChatMessage(Body):
    id: Text = Field(
        description="A UUID of the client; the same id again is the same message.", examples=[REQUEST_ID]
    )
    text: Text = Field("", examples=["How late is it?"])
    choice: Text = Field("", description="The value of a pressed button; the text is then its label.")
    files: list[FileOfVisitor] = Field([], description="Together at most `maxFileBytes`.")

    def message(self) -> VisitorMessage:
        files = tuple(VisitorFile(file.name, file.mimeType, file.dataBase64) for file in self.files)
        return VisitorMessage(self.id.lower(), self.text, self.choice, files)


class ChatMessageTaken(Answer):
    id: str = Field(examples=[REQUEST_ID])


BASE = "/api/agent/web-chat/{publicId}"
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


async def _cors(web_chat: WebChatService, request: Request) -> dict[str, str]:
    """Pages of this gateway, whose host is that of the request, may always call. Raises `Forbidden`, `NotFound`,
    `TooMany`."""
    origin = request.headers.get("origin", "")[:LONGEST_ORIGIN]
    if urlsplit(origin).netloc == request.headers.get("host"):
        origin = ""
    public_id = request.path_params["publicId"][:LONGEST_ORIGIN]
    allowed = await _limits(request).is_allowed(_address(request), public_id, origin, web_chat.is_allowed)
    if not origin:
        return {"vary": "Origin"}
    if not allowed:
        raise Forbidden(
            "this page may not show the chat: its origin is not in allowedOrigins of the instance"
        )
    return {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "Retry-After, X-Request-Id",
        "vary": "Origin",
    }


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


class SessionRoute(VisitorRoute):
    async def before_body(self, request: Request) -> None:
        """Raises `TooMany`."""
        _limits(request).session(_address(request))


class MessageRoute(VisitorRoute):
    async def before_body(self, request: Request) -> None:
        """Raises `TooMany`, `Unauthenticated`."""
        declared = request.headers.get("content-length", "")
        size = int(declared) if declared.isascii() and declared.isdigit() else VISITOR_BODY
        _limits(request).message(_address(request), visitor_key(_token(request)), size)


router = APIRouter(route_class=VisitorRoute, tags=["web chat"])
sessions = APIRouter(route_class=SessionRoute)
messages = APIRouter(route_class=MessageRoute)

PublicId = Annotated[
    str,
    Path(
        alias="publicId",
        description="Id by which web pages name an instance: its publicId.",
        examples=["12-4f2c9a1b7d3e5f60718a"],
    ),
]


@router.options(BASE + "/session", include_in_schema=False)
@router.options(BASE + "/messages", include_in_schema=False)
@router.options(BASE + "/stream", include_in_schema=False)
async def preflight() -> Response:
    return Response(status_code=204, headers=PREFLIGHT)


@sessions.post(
    BASE + "/session",
    response_model=ChatSession,
    responses=errors(400, 401, 403, 404, 413, 429, key=False),
    summary="Open the chat of a web page",
)
async def open_session(services: Services, public_id: PublicId, body: OpenChat) -> model.ChatSession:
    """A visitor token, and how the panel looks. A valid token comes back as it is; nothing is stored."""
    return await services.web_chat.open(public_id, body.visitor, body.identity)


@messages.post(
    BASE + "/messages",
    status_code=202,
    response_model=ChatMessageTaken,
    responses=errors(400, 401, 403, 404, 413, 429, key=False),
    summary="Write a message as a visitor",
)
async def post_message(
    services: Services, public_id: PublicId, request: Request, body: PostChatMessage
) -> ChatMessageTaken:
    """Needs the visitor token as bearer token. The same `id` again is the same message."""
    message = body.message()
    await services.web_chat.post(public_id, _token(request), message)
    return ChatMessageTaken(id=message.id)


@router.get(
    BASE + "/stream",
    response_class=Response,
    responses={
        **errors(400, 401, 403, 404, 429, key=False),
        200: {"content": TEXT_EVENTS, "description": "What is shown, as it changes."},
    },
    summary="What a visitor sees, as Server-Sent Events",
    description=STREAM,
)
async def stream(
    services: Services,
    public_id: PublicId,
    request: Request,
    after: Annotated[
        EventId,
        Query(description="Go on behind the event of this id; without it, from now on.", examples=[41]),
    ] = None,
) -> Response:
    token, limits = _token(request), _limits(request)
    holder = (_address(request), visitor_key(token))
    limits.open_stream(*holder)
    with ExitStack() as open_stream:
        open_stream.callback(limits.close_stream, *holder)
        pages = await services.web_chat.watch(public_id, token, after or 0)
        first = await anext(pages)
        return PageStream(b"\n" + b"".join(_frames(first)), pages, _frames, open_stream.pop_all())


def _frames(page: ChatPage) -> Iterator[bytes]:
    """The events of a page. Only the last one has its cursor: a client that got fewer asks for all of them again."""
    frame = bytearray()
    if page.cleared:
        frame += b"event: cleared\ndata: {}\n\n"
    for message in page.messages:
        if message.body is None:
            frame += b"event: removed\ndata: %s\n\n" % orjson.dumps({"id": message.id})
        else:
            shown = {
                "id": message.id,
                "at": iso_milliseconds(message.at),
                "draft": message.draft,
                **message.body,
            }
            frame += b"event: message\ndata: %s\n\n" % orjson.dumps(shown)
    if page.typing_seconds:
        frame += b'event: typing\ndata: {"seconds":%.1f}\n\n' % page.typing_seconds
    yield bytes(frame) + b"id: %d\n: still here\n\n" % page.cursor


router.include_router(sessions)
router.include_router(messages)
