"""Refusals to HTTP: one table, one body shape `{"error": string}`."""

import json
import logging
import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from domain import refusals
from domain.access.service import NO_KEY
from domain.knowledge.rules import NO_BASE
from domain.knowledge.sources.service import NO_SOURCE

log = logging.getLogger(__name__)

STATUS: Mapping[type[refusals.Refusal], int] = {
    refusals.Invalid: 400,
    refusals.Unauthenticated: 401,
    refusals.Forbidden: 403,
    refusals.NotFound: 404,
    refusals.Conflict: 409,
    refusals.TooLarge: 413,
    refusals.Unsupported: 415,
    refusals.Unreadable: 422,
    refusals.TooMany: 429,
    refusals.NotBuilt: 501,
    refusals.Unavailable: 503,
}

INTERNAL = "Internal server error"
STOPPING = "the service is stopping"
"""For calls that outlast the grace of a stop: the server cancels them."""
ABSENT = {
    "agentId": "there is no agent {}",
    "budgetId": "there is no budget {}",
    "deliveryId": "there is no delivery {}",
    "id": NO_BASE,
    "instanceId": "there is no instance {}",
    "invitationId": "there is no invitation {}",
    "keyId": NO_KEY,
    "passkeyId": "there is no passkey {}",
    "personId": "there is no person {}",
    "pushId": "there is no push {}",
    "requestId": "there is no request {}",
    "snippetId": "there is no snippet {}",
    "approvalId": "there is no approval {}",
    "sourceId": NO_SOURCE,
    "subscriptionId": "there is no subscription {}",
    "teamId": "there is no team {}",
    "unansweredId": "there is no unanswered message {}",
}
"""What is said of an id in a path that cannot be one."""
ALWAYS_ANSWERED = ("/healthz", "/readyz", "/metrics")
"""Paths of health checks: answered where there are too many connections, and kept out of the log."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
UNPARSED = "There was an error parsing the body"
"""What FastAPI says of a body that its JSON parser gives up on."""


WRONG_BODY = "the body must be a JSON object, sent with the header Content-Type: application/json"
WHOLE_BODY = {
    "dict_type": WRONG_BODY,
    "missing": "the body is missing; send a JSON object",
    "model_attributes_type": WRONG_BODY,
}
TEXTS = {
    "bool_parsing": "must be true or false",
    "dict_type": "must be a JSON object",
    "extra_forbidden": "is not a field of this request; leave it out, or correct its name",
    "int_parsing": "must be a whole number",
    "missing": "is required",
    "model_attributes_type": "must be a JSON object",
}
"""What is said of an error, by the type that pydantic gives it; of all others its own message."""


class JsonResponse(Response):
    """JSON by the standard library, which keeps integers of any size and the order of keys."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def status_of(refusal: refusals.Refusal) -> int:
    return next((STATUS[kind] for kind in type(refusal).__mro__ if kind in STATUS), 400)


def headers_of(refusal: refusals.Refusal) -> dict[str, str]:
    """Retry-After where the refusal is one of time, WWW-Authenticate where it is one of credentials."""
    if isinstance(refusal, (refusals.TooMany, refusals.Unavailable)):
        return {"retry-after": str(max(1, math.ceil(refusal.retry_after)))}
    if isinstance(refusal, refusals.Unauthenticated):
        return {"www-authenticate": "Bearer"}
    return {}


def error_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> JsonResponse:
    safe = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return JsonResponse({"error": message}, status_code=status, headers={**(headers or {}), **safe})


def message_of(error: refusals.Refusal | HTTPException) -> str:
    return error.message if isinstance(error, refusals.Refusal) else error.detail


def response_to(error: refusals.Refusal | HTTPException) -> JsonResponse:
    if isinstance(error, refusals.Refusal):
        return error_response(status_of(error), error.message, headers_of(error))
    return error_response(error.status_code, error.detail, error.headers)


def install(app: FastAPI) -> None:
    """Every error of the app answers in the one shape."""
    app.add_exception_handler(refusals.Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, refusals.Refusal)
    return response_to(error)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return invalid_response(error)


def invalid_response(error: RequestValidationError) -> JsonResponse:
    """400 with all that is wrong; 404 for an id in the path that cannot be one."""
    for fault in error.errors():
        if fault["loc"][0] == "path":
            return error_response(404, ABSENT[str(fault["loc"][1])].format(str(fault["input"])[:30]))
    return error_response(400, "; ".join(fault_text(fault) for fault in error.errors()))


def fault_text(fault: Mapping[str, Any]) -> str:
    """What pydantic found wrong with a body; the first step of its place is where the body was."""
    location = list(fault["loc"])
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in location[1:] or location)
    where = "".join(steps).removeprefix(".")
    kind = fault["type"]
    if kind == "json_invalid":
        return f"the body is not valid JSON ({fault['ctx']['error']} at position {location[-1]})"
    if where == "body" and kind in WHOLE_BODY:
        return WHOLE_BODY[kind]
    if kind in TEXTS:
        return f"{where}: {TEXTS[kind]}"
    if kind in ("too_long", "string_too_long"):
        unit = "characters" if isinstance(fault["input"], str) else "entries"
        return f"{where}: must have at most {fault['ctx']['max_length']} {unit}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return f"{where}: {message[:1].lower()}{message[1:]}"


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path[:200]
    match error.status_code:
        case 400 if error.detail == UNPARSED:
            return error_response(400, "the body is not JSON in UTF-8")
        case 404:
            return error_response(404, f"there is nothing at {path}")
        case 405:  # the framework tells the methods of one route alone; a path may have a route for each
            calls = {method: {**request.scope, "method": method} for method in METHODS}
            allowed = [
                method
                for method, call in calls.items()
                if any(route.matches(call)[0] is Match.FULL for route in request.app.routes)
            ]
            message = f"{request.method} is not allowed at {path}"
            return error_response(405, message, {"allow": ", ".join(allowed)})
    return response_to(error)


async def _unexpected(request: Request, error: Exception) -> Response:
    return error_response(500, INTERNAL)
