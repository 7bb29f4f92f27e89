"""What the routers share: callers, ids in paths, pages, JSON bodies, and the errors of the OpenAPI description."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from domain import limits, paging
from domain.access.model import Caller
from domain.json_text import TOO_DEEP, TOO_LONG, TOO_MANY, TooDeep, TooLong, TooMany, loads
from domain.knowledge.rules import DEFAULT_WINDOW, LARGEST_WINDOW, NO_BASE
from domain.paging import DEFAULT_LIMIT, Window, unknown_cursor
from domain.refusals import Fault, Invalid, NotFound
from ports.system import Clock, Ids, Span, no_span
from ports.use_cases import UseCases

PUBLIC = re.compile(
    r"/api/agent/verification/(providers|callback/[^/]*|bot-messenger-bot-webhook)"
    r"|/api/agent/(files|web-chat)/.*"
)
"""The paths under /api/agent/ that need no key; a callback of a platform needs none either."""

NO_INSTANCE = "there is no instance {}"
LARGEST_ID = 2**63 - 1
LARGEST_LIMIT = 1000
LARGEST_OFFSET = 2**31 - 1

ERROR_SCHEMA = {"$ref": "#/components/schemas/ErrorBody"}
MEANING = {
    400: "Malformed JSON, or a field that is missing, empty or wrong; the text names it.",
    401: "Missing or invalid API key.",
    403: "Not the owner, or not enough permission.",
    404: "What the path names does not exist.",
    405: "The method is not allowed here; Allow names those that are.",
    409: "The triple (user, channelName, channelId) is taken.",
    413: "The body is too large.",
    415: "The file's format is not supported.",
    416: "The range lies outside the file.",
    422: "A file cannot be read: corrupt, encrypted or empty.",
    429: "Asked too often; see Retry-After.",
    500: "Internal server error.",
    503: "The database or the queue is away; see Retry-After.",
}


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """`agent_url` is the public base address, `platform_url` that of the platform in front; `max_body` in
    bytes, as `max_upload` for the whole body of an upload; `max_streams`: streams of events at a time; what
    `trusted_proxies` say of the address of a client is believed;
    `verification_page`: where people verify who they are; `mcp_send`: MCP clients may send messages. `checks` raise
    when what they look at is not ready. `answered` is told of each callback: its channel, its
    status, the seconds. `span`: opens a span for each request."""

    agent_url: str
    platform_url: str
    max_body: int
    max_upload: int
    bind: Callable[[str], None]
    checks: Mapping[str, Callable[[], Awaitable[None]]]
    metrics: Callable[[], Awaitable[bytes]]
    answered: Callable[[str, int, float], None] = lambda _channel, _status, _seconds: None
    max_streams: int = 500
    trusted_proxies: str = "127.0.0.1"
    verification_page: str = "/console/identities"
    mcp_send: bool = False
    span: Span = no_span


@dataclass(frozen=True, slots=True)
class Gateway:
    """What handlers work with."""

    use_cases: UseCases
    clock: Clock
    ids: Ids
    options: GatewayOptions


def parsed_id(text: str) -> int | None:
    """The id that a path holds; None for what cannot be one."""
    plain = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if plain and 0 < int(text) <= LARGEST_ID else None


def named_instances(request: Request) -> list[int]:
    """The instances of the query, separated by commas. Raises `Invalid`."""
    ids = []
    for text in listed(request.query_params.getlist("instanceId")):
        instance_id = parsed_id(text)
        if instance_id is None:
            raise Invalid.of([Fault("instanceId", f"'{text[:30]}' is not the id of an instance")])
        ids.append(instance_id)
    return ids


def listed(values: Sequence[str]) -> list[str]:
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


def path_id(text: str, message: str) -> int:
    """Raises `NotFound` with that message for what cannot be an id."""
    number = parsed_id(text)
    if number is None:
        raise NotFound(message.format(text[:30]))
    return number


async def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def _use_cases(request: Request) -> UseCases:
    return (await _gateway(request)).use_cases


async def caller_of(request: Request) -> Caller:
    """The caller that the middleware has authenticated."""
    caller: Caller = request.state.caller
    return caller


async def instance_id(instanceId: str) -> int:
    return path_id(instanceId, NO_INSTANCE)


async def _delivery_id(deliveryId: str) -> int:
    return path_id(deliveryId, "there is no delivery {}")


async def _unanswered_id(unansweredId: str) -> int:
    return path_id(unansweredId, "there is no unanswered message {}")


async def base_id(id: str) -> int:
    return path_id(id, NO_BASE)


async def _page(request: Request) -> Window:
    """limit (default 5) and offset (default 0) of the query. Raises `Invalid`."""
    return _window(request, 5, LARGEST_LIMIT)


async def _text_window(request: Request) -> Window:
    """The same in characters of a text."""
    return _window(request, DEFAULT_WINDOW, LARGEST_WINDOW)


def _window(request: Request, default: int, most: int) -> Window:
    limit = whole_number(request, "limit", default, 1, most)
    return Window(limit, whole_number(request, "offset", 0, 0, LARGEST_OFFSET), 0)


def whole_number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A field of the query. Raises `Invalid`."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
        raise Invalid.of([Fault(name, f"must be a whole number from {least} to {most}")])
    return int(text)


_WORDS = {"true": True, "false": False, "": None}


def query_word(request: Request, name: str) -> bool | None:
    """A condition of the query. Raises `Invalid`."""
    text = request.query_params.get(name, "")
    if text not in _WORDS:
        raise Invalid.of([Fault(name, "must be true or false")])
    return _WORDS[text]


@dataclass(frozen=True, slots=True)
class RequestedCursor:
    """Where a list goes on: `cursor` is `next` of the answer before, empty for the first page."""

    limit: int
    cursor: str

    @property
    def number(self) -> int:
        """The cursor of a list that is ordered by ids, 0 for the first page. Raises `Invalid`."""
        number = parsed_id(self.cursor) if self.cursor else 0
        if number is None:
            raise unknown_cursor()
        return number


async def cursor_page(request: Request) -> RequestedCursor:
    """limit (default 50) and cursor of the query. Raises `Invalid`."""
    limit = whole_number(request, "limit", DEFAULT_LIMIT, 1, paging.LARGEST_LIMIT)
    cursor = request.query_params.get("cursor", "")
    if len(cursor) > limits.CURSOR:
        raise unknown_cursor()
    return RequestedCursor(limit, cursor)


CURSOR_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "limit",
        "in": "query",
        "description": f"How many, 1 to {paging.LARGEST_LIMIT}.",
        "example": DEFAULT_LIMIT,
        "schema": {
            "type": "integer",
            "default": DEFAULT_LIMIT,
            "minimum": 1,
            "maximum": paging.LARGEST_LIMIT,
        },
    },
    {
        "name": "cursor",
        "in": "query",
        "description": "The value of `next` in the answer before.",
        "schema": {"type": "string"},
    },
]
"""Of lists that go on from a cursor, in the OpenAPI description."""

INSTANCES_PARAMETER: dict[str, Any] = {
    "name": "instanceId",
    "in": "query",
    "description": "Only these instances, separated by commas.",
    "schema": {"type": "array", "items": {"type": "integer"}},
    "explode": False,
}

GatewayState = Annotated[Gateway, Depends(_gateway)]
Services = Annotated[UseCases, Depends(_use_cases)]
CurrentCaller = Annotated[Caller, Depends(caller_of)]
InstanceId = Annotated[int, Depends(instance_id)]
DeliveryId = Annotated[int, Depends(_delivery_id)]
UnansweredId = Annotated[int, Depends(_unanswered_id)]
BaseId = Annotated[int, Depends(base_id)]
RequestedPage = Annotated[Window, Depends(_page)]
RequestedWindow = Annotated[Window, Depends(_text_window)]
CursorPage = Annotated[RequestedCursor, Depends(cursor_page)]


def json_of(body: bytes) -> Any:
    """A body as JSON. Raises a 400 for one that is nested too deeply, or holds too long a number or too many values,
    and another `ValueError` for what is not JSON."""
    try:
        return loads(body)
    except TooMany:
        raise HTTPException(400, f"the body {TOO_MANY}") from None  # FastAPI hides other errors
    except TooDeep:
        raise HTTPException(400, f"the body {TOO_DEEP}") from None
    except TooLong:
        raise HTTPException(400, f"the body {TOO_LONG}") from None


class _JsonRequest(Request):
    async def json(self) -> Any:
        return json_of(await self.body())


Check = Callable[[UseCases, Request], Awaitable[None]]
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def before_body(check: Check) -> Callable[[Endpoint], Endpoint]:
    """Lets a `JsonRoute` make the check before a byte of the body is read. The check raises refusals."""

    def marked(endpoint: Endpoint) -> Endpoint:
        endpoint.before_body = check  # type: ignore[attr-defined]
        return endpoint

    return marked


class JsonRoute(APIRoute):
    """A route whose JSON body is read under the limits of all JSON, after the check of `before_body`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        check: Check | None = getattr(self.endpoint, "before_body", None)

        async def handled(request: Request) -> Response:
            if check is not None:
                await check(await _use_cases(request), request)
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


def errors(*statuses: int, key: bool = True) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for OpenAPI; 500 and 503 are on every one, 401 where it needs a `key`. FastAPI
    would keep a model for each of them."""
    everywhere = {401, 500, 503} if key else {500, 503}
    return {
        status: {"description": MEANING[status], "content": {"application/json": {"schema": ERROR_SCHEMA}}}
        for status in sorted({*statuses, *everywhere})
    }
