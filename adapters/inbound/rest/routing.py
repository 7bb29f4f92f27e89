"""What the routers share: callers, ids in paths, pages, JSON bodies, and the errors of the OpenAPI description."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BeforeValidator, Field
from starlette.exceptions import HTTPException

from adapters.inbound.rest.bodies import HASH
from domain import limits
from domain.access.model import Caller
from domain.access.sharing import InstanceLevel, require_level
from domain.json_text import TOO_DEEP, TOO_LONG, TOO_MANY, TooDeep, TooLong, TooMany, loads
from domain.knowledge.rules import DEFAULT_WINDOW, LARGEST_WINDOW
from domain.paging import DEFAULT_LIMIT, LARGEST_LIMIT, Window, unknown_cursor
from domain.refusals import NotFound
from domain.use_cases import UseCases
from ports.system import Clock, Ids, Span, no_span

PUBLIC = re.compile(
    r"/api/agent/verification/(providers|callback/[^/]*|bot-messenger-bot-webhook)"
    r"|/api/agent/(files|web-chat)/.*"
)
"""The paths under /api/agent/ that need no key; a callback of a platform needs none either."""

NO_INSTANCE = "there is no instance {}"
LARGEST_ID = 2**63 - 1
LARGEST_PAGE = 1000

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
    """What the gateway is set up with.

    `agent_url`: public base address. `platform_url`: address of the platform in front. `max_body`, `max_upload`:
    bytes of a body and of a whole upload. `max_streams`: open streams of events. `trusted_proxies`: whose
    X-Forwarded-For is believed. `verification_page`: where people verify who they are. `mcp_send`: MCP clients may
    send messages.
    `checks` raise when what they look at is not ready. `answered` is called for each callback with its channel, its
    status and the seconds. `span` opens a span for each request.
    """

    agent_url: str
    platform_url: str
    max_body: int
    max_upload: int
    bind: Callable[[str], object]
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


async def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


async def _use_cases(request: Request) -> UseCases:
    return (await _gateway(request)).use_cases


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call with a key: who calls, and the use cases."""

    services: UseCases
    caller: Caller


async def call_of(request: Request) -> ApiCall:
    """The call of the caller whom the middleware has authenticated."""
    return ApiCall(await _use_cases(request), request.state.caller)


def parsed_id(text: str) -> int | None:
    """The id that a text stands for; None for what cannot be one."""
    plain = text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if plain and 0 < int(text) <= LARGEST_ID else None


def path_id(text: str, message: str) -> int:
    """Raises `NotFound` with that message for what cannot be an id."""
    number = parsed_id(text)
    if number is None:
        raise NotFound(message.format(text[:30]))
    return number


def comma_separated(values: Sequence[str]) -> list[str]:
    return [item.strip() for value in values for item in value.split(",") if item.strip()]


EmptyIsNone = BeforeValidator(lambda text: None if text == "" else text)
EmptyIsFalse = BeforeValidator(lambda text: text or False)
CommaSeparated = BeforeValidator(comma_separated)
EventId = Annotated[int | None, Field(ge=0, le=LARGEST_ID), EmptyIsNone]


def id_in_path(name: str, description: str, example: int) -> Any:
    """An id in a path. What cannot be one is answered with 404: see `errors.ABSENT`."""
    return Path(alias=name, ge=1, le=LARGEST_ID, description=description, examples=[example])


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


async def _cursor_page(
    limit: Annotated[
        int,
        Query(
            ge=1, le=LARGEST_LIMIT, description=f"How many, 1 to {LARGEST_LIMIT}.", examples=[DEFAULT_LIMIT]
        ),
    ] = DEFAULT_LIMIT,
    cursor: Annotated[
        str,
        Query(
            max_length=limits.CURSOR,
            description="The value of `next` in the answer before.",
            examples=["WzE3NjcyMjU2MDAwMDAwMDAsIjQ3MTEiXQ"],
        ),
    ] = "",
) -> RequestedCursor:
    return RequestedCursor(limit, cursor)


Offset = Annotated[
    int, Query(ge=0, le=2**31 - 1, description="How many to leave out at the beginning.", examples=[0])
]


async def _window(
    limit: Annotated[
        int, Query(ge=1, le=LARGEST_PAGE, description=f"How many, 1 to {LARGEST_PAGE}.", examples=[5])
    ] = 5,
    offset: Offset = 0,
) -> Window:
    return Window(limit, offset, 0)


async def _text_window(
    limit: Annotated[
        int, Query(ge=1, le=LARGEST_WINDOW, description="How many characters.", examples=[5000])
    ] = DEFAULT_WINDOW,
    offset: Offset = 0,
) -> Window:
    return Window(limit, offset, 0)


Call = Annotated[ApiCall, Depends(call_of)]
GatewayState = Annotated[Gateway, Depends(_gateway)]
Services = Annotated[UseCases, Depends(_use_cases)]
InstanceId = Annotated[int, id_in_path("instanceId", "Id of an instance.", 1)]
BaseId = Annotated[int, id_in_path("id", "Id of a knowledge base.", 1)]
FileHash = Annotated[str, Path(alias="fileId", description="Hash of a file.", examples=[HASH])]
MessageId = Annotated[str, Path(alias="messageId", description="Id of a message.", examples=["send-7"])]
ChannelType = Annotated[str, Path(alias="type", description="Id of a channel.", examples=["http-webhook"])]
RequestedPage = Annotated[Window, Depends(_window)]
RequestedWindow = Annotated[Window, Depends(_text_window)]
CursorPage = Annotated[RequestedCursor, Depends(_cursor_page)]
DeliveryStatus = Annotated[
    Literal["pending", "sent", "dead"] | None,
    EmptyIsNone,
    Query(description="Only deliveries in this state.", examples=["dead"]),
]
OnlyInstances = Annotated[
    list[Annotated[int, Field(ge=1, le=LARGEST_ID)]],
    CommaSeparated,
    Query(alias="instanceId", description="Only these instances, separated by commas.", examples=[[1, 2]]),
]


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


class JsonRoute(APIRoute):
    """A route whose JSON body is read under the limits of all JSON."""

    async def before_body(self, request: Request) -> None:
        """Checks a request before a byte of its body is read, which FastAPI reads before all dependencies."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            await self.before_body(request)
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


class ManagerRoute(JsonRoute):
    """A route whose body is read only for callers with this permission on the instance."""

    needed = InstanceLevel.MANAGE

    async def before_body(self, request: Request) -> None:
        """Raises `NotFound`, `Forbidden`."""
        instance_id = path_id(request.path_params["instanceId"], NO_INSTANCE)
        call = await call_of(request)
        require_level(await call.services.instances.level(call.caller, instance_id), self.needed)


class ResponderRoute(ManagerRoute):
    needed = InstanceLevel.ANSWER


def errors(*statuses: int, key: bool = True) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for OpenAPI; 500 and 503 are on every one, 401 where it needs a `key`. FastAPI
    would keep a model for each of them."""
    everywhere = {401, 500, 503} if key else {500, 503}
    return {
        status: {"description": MEANING[status], "content": {"application/json": {"schema": ERROR_SCHEMA}}}
        for status in sorted({*statuses, *everywhere})
    }
