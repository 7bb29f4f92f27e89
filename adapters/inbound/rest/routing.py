"""What the routers share: the caller, ids in paths, pages, and the errors of the OpenAPI description."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from adapters.inbound.rest.schemas import ErrorBody
from domain.access.model import Caller
from domain.instances.model import Page
from domain.json_text import TOO_DEEP, TOO_LONG, TooDeep, TooLong, loads
from domain.refusals import Fault, Invalid, NotFound

PUBLIC = re.compile(
    r"/api/agent/verification/(providers|callback/[^/]*|bot-messenger-bot-webhook)|/api/agent/files/.*"
)
"""The paths under /api/agent/ that need no key; a callback of a platform needs none either."""

LARGEST_ID = 2**63 - 1
LARGEST_LIMIT = 1000
LARGEST_OFFSET = 2**31 - 1

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


class _JsonRequest(Request):
    async def json(self) -> Any:
        """The body as JSON. Raises a 400 for one that is nested too deeply, or holds too long a number."""
        try:
            return loads(await self.body())
        except TooDeep:
            raise HTTPException(400, f"the body {TOO_DEEP}") from None  # FastAPI hides other errors
        except TooLong:
            raise HTTPException(400, f"the body {TOO_LONG}") from None


Check = Callable[[Request], Awaitable[None]]
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
                await check(request)
            return await handle(_JsonRequest(request.scope, request.receive))

        return handled


def errors(*statuses: int, key: bool = True) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for OpenAPI; 500 and 503 are on every one, 401 where it needs a `key`."""
    everywhere = {401, 500, 503} if key else {500, 503}
    return {
        status: {"model": ErrorBody, "description": MEANING[status]}
        for status in sorted({*statuses, *everywhere})
    }


def caller_of(request: Request) -> Caller:
    """The caller that the gate has authenticated."""
    caller: Caller = request.state.caller
    return caller


def path_id(text: str, what: str) -> int:
    """An id from a path. Raises `NotFound` for what cannot be one."""
    if text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= LARGEST_ID:
        return int(text)
    raise NotFound(what.format(text[:30]))


def page_of(request: Request) -> Page:
    """limit (default 5) and offset (default 0) of the query. Raises `Invalid`."""
    values = {}
    for name, default, least, most in (("limit", 5, 1, LARGEST_LIMIT), ("offset", 0, 0, LARGEST_OFFSET)):
        text = request.query_params.get(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise Invalid.of([Fault(name, f"must be a whole number from {least} to {most}")])
        values[name] = int(text)
    return Page(values["limit"], values["offset"], 0)
