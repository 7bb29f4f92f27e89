"""In front of the routes: request ids, credentials, the size of bodies, the log. Plain ASGI, no framework."""

import asyncio
import logging
import re
import time
from dataclasses import replace
from functools import partial

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from adapters.inbound.rest.asgi import App, Receive, ResponseRecorder, Scope, Send, limited
from adapters.inbound.rest.errors import ALWAYS_ANSWERED, INTERNAL, STOPPING, error_response, response_to
from adapters.inbound.rest.routing import PUBLIC, GatewayOptions
from adapters.rpc import metadata
from adapters.trace_context import HEADER
from domain.access.model import Caller
from domain.access.service import AccessService
from domain.refusals import Fault, Forbidden, Invalid, Refusal, Unauthenticated
from domain.verification.model import SERVICE_ONLY
from ports.system import Ids

log = logging.getLogger("switchboard.http")

UNAUTHORIZED = "Unauthorized"
PROTECTED = re.compile(r"/api/agent/.*|/mcp", re.DOTALL)
"""Paths that need a key, but for those that are public."""
SERVICE_PATHS = ("/api/agent/verification/bot-messenger-callback",)
"""Paths that need the internal service key."""
STREAMED = re.compile(r"/api/agent/kb/[^/]+/uploadfile|/console/knowledge/[^/]+/upload")
"""Paths whose bodies are uploads."""
MESSAGES = re.compile(r"/api/agent/channel-instances/[^/]+/messages")
"""The path whose bodies may hold files."""
MESSAGE_BODY = 15 * 1024 * 1024
"""Bytes of a message with files: base64 takes a third more than they have."""
VISITOR_MESSAGES = re.compile(r"/api/agent/web-chat/[^/]+/messages")
VISITOR_BODY = 8 * 1024 * 1024
"""The same of the visitors of web pages."""
PRIVATE = re.compile(
    r"/api/agent/(?:verification/identities|files|channel-instances/[^/]+/conversations)/(.+)"
)
"""Paths whose group is kept out of the log."""
CLOSED_OUTSIDE = ("/metrics", "/readyz")
"""Paths that a reverse proxy closes to the outside by their names. They answer to no other spelling of the request's
target, such as `/metrics#`, `/%6detrics` or `http://host/metrics`."""
UNKNOWN_PROXY = (
    "%s sends X-Forwarded-For and is not in TRUSTED_PROXIES: if it is your reverse proxy, everybody behind it counts"
    " as one address; set TRUSTED_PROXIES=%s"
)


class AuthMiddleware:
    """Authenticates before a byte of the body is read."""

    def __init__(self, app: App, access: AccessService, ids: Ids, options: GatewayOptions) -> None:
        self._app = app
        self._access = access
        self._ids = ids
        self._options = options
        self._warned_of_proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = _path(scope)
        scope = {**scope, "path": path}
        peer, headers = scope.get("client"), Headers(scope=scope)
        requested = headers.get("x-request-id", "")
        request_id = requested if metadata.is_request_id(requested) else self._ids.request_id()
        self._options.bind(request_id)
        metadata.request_id.set(request_id)
        metadata.client_address.set(scope["client"][0] if scope.get("client") else "")
        response = ResponseRecorder(send, request_id, path)
        started = time.monotonic()
        with self._options.span("request", headers.get(HEADER, ""), method=scope["method"]):
            await self._answer(scope, headers, receive, response)
            shown = f"{path[: match.start(1)]}***" if (match := PRIVATE.fullmatch(path)) else path
            # Probes come every few seconds, and would fill the log.
            level = logging.DEBUG if path in ALWAYS_ANSWERED else logging.INFO
            milliseconds = round((time.monotonic() - started) * 1000, 1)
            log.log(level, "%s %s %s", scope["method"], shown, response.status, extra={"ms": milliseconds})
        if "x-forwarded-for" in headers and peer and scope["client"] == peer and not self._warned_of_proxy:
            self._warned_of_proxy = True
            log.warning(UNKNOWN_PROXY, peer[0], peer[0])

    async def _answer(
        self, scope: Scope, headers: Headers, receive: Receive, response: ResponseRecorder
    ) -> None:
        limit = self._options.max_body
        if STREAMED.fullmatch(scope["path"]):
            limit = self._options.max_upload
        elif MESSAGES.fullmatch(scope["path"]):
            limit = max(limit, MESSAGE_BODY)
        elif VISITOR_MESSAGES.fullmatch(scope["path"]):
            limit = max(limit, VISITOR_BODY)
        try:
            await self._authenticate(scope, headers)
            body = limited(receive, headers.get("content-length"), limit)
            await self._app(scope, body, response)
        except (Refusal, HTTPException) as error:
            await response_to(error)(scope, receive, response)
        except asyncio.CancelledError:
            if response.started:
                raise
            await error_response(503, STOPPING)(scope, receive, response)
        except ClientDisconnect:
            log.info("the client left before its request was whole")
        except Exception:
            log.exception("a request failed")
            if not response.started:
                await error_response(500, INTERNAL)(scope, receive, response)

    async def _authenticate(self, scope: Scope, headers: Headers) -> None:
        path = scope["path"]
        if not PROTECTED.fullmatch(path) or PUBLIC.fullmatch(path):
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated(UNAUTHORIZED)
        authenticate = partial(self._access.authenticate, token.strip(), acting_for(headers))
        caller = with_origin(await authenticate())
        if path in SERVICE_PATHS and not caller.is_service:
            raise Forbidden(SERVICE_ONLY)
        scope.setdefault("state", {}).update(caller=caller, authenticate=authenticate)


def with_origin(caller: Caller) -> Caller:
    """The caller with where the request came from, and its id."""
    return replace(caller, address=metadata.client_address.get(), request_id=metadata.request_id.get())


def _path(scope: Scope) -> str:
    """A slash at the end of a path means nothing. A redirect to the path without it would not do: senders of
    callbacks and many clients follow none. A line end means something: the path with it is another one, which the
    patterns of routes would take for the one without."""
    path: str = scope["path"]
    if len(path) > 1 and path.endswith("/"):
        path = path[:-1]
    if path in CLOSED_OUTSIDE or path.endswith("\n"):
        path = scope.get("target", scope["raw_path"]).partition(b"?")[0].decode("latin-1")
    return path


def acting_for(headers: Headers) -> str | None:
    """The user that a service acts for, None if it names none. Header values are read as Latin-1, names are sent as
    UTF-8. Raises `Invalid` for several: a client's own would stand before that of a proxy which adds one."""
    names = headers.getlist("x-user-id")
    if len(names) > 1:
        raise Invalid.of(
            [Fault("x-user-id", "is there more than once: have the proxy replace what clients send")]
        )
    try:
        return names[0].encode("latin-1").decode() if names and names[0] else None
    except UnicodeDecodeError:
        return names[0]
