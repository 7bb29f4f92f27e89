"""Around every RPC: who calls, and refusals as rich errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from adapters import trace_context
from adapters.rpc.metadata import CLIENT_ADDRESS, OF_SESSION, acting_for
from adapters.rpc.refusals import to_status
from domain.access.model import Caller
from domain.access.service import AccessService
from domain.refusals import Forbidden, Invalid, Refusal, Unauthenticated
from domain.verification.model import SERVICE_ONLY
from ports.system import Ids

log = logging.getLogger("switchboard.grpc")

Metadata = tuple[tuple[str, str | bytes], ...]

OF_GRPC = ("/grpc.health.v1.Health/", "/grpc.reflection.")
"""Services of the library: they need no key, and report their failures themselves."""
OPEN_SERVICES = (
    "/switchboard.channels.v1.CallbackService/",
    "/switchboard.channels.v1.MessageFileService/",
    "/switchboard.channels.v1.WebChatService/",
)
OPEN_METHODS = frozenset(
    {
        "/switchboard.access.v1.AccessService/SignIn",
        "/switchboard.access.v1.AccessService/SignOut",
        "/switchboard.verification.v1.VerificationService/ListProviders",
        "/switchboard.verification.v1.VerificationService/BotWebhook",
        "/switchboard.verification.v1.VerificationService/CompleteOAuth",
    }
)

SERVICE_METHODS = frozenset({"/switchboard.verification.v1.VerificationService/CompleteBotMessenger"})
"""Methods that need the internal service key."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Who calls a method that needs no credential of a caller.

    `address`: that of the person for whom a gateway calls, else that of the connection. `is_gateway`: the service key
    or a client certificate proves that the call may say what only a gateway knows.
    """

    address: str = ""
    is_gateway: bool = False

    def on_behalf_of(self, address: str) -> Peer:
        """The peer with the address that the call names, which counts from a gateway alone."""
        return replace(self, address=address) if self.is_gateway and address else self


NOBODY = Peer()

NOT_PARSED = object()
"""Stands for a message that is not what its method takes: gRPC itself would answer UNKNOWN, and log a stack trace."""

_caller: ContextVar[Caller] = ContextVar("caller")
_authenticate: ContextVar[Callable[[], Awaitable[Caller]]] = ContextVar("authenticate")
_peer: ContextVar[Peer] = ContextVar("peer", default=NOBODY)


def caller() -> Caller:
    """The caller of the RPC that is being served."""
    return _caller.get()


def authenticate_again() -> Callable[[], Awaitable[Caller]]:
    """What looks up once more who stands behind the credential of this RPC. Raises `Unauthenticated`."""
    return _authenticate.get()


def peer() -> Peer:
    """Who calls the method that is being served, where that needs no credential of a caller."""
    return _peer.get()


class Guard(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]
    """Authenticates, and turns refusals and failures into statuses that hold no stack trace.

    `is_service_key` compares a token with the internal service key, by which gateways are known.
    """

    def __init__(
        self,
        access: AccessService,
        is_service_key: Callable[[str], bool],
        ids: Ids,
        bind: Callable[[str], None],
    ) -> None:
        self._access = access
        self._is_service_key = is_service_key
        self._ids = ids
        self._bind = bind

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        self._bind(self._ids.request_id())
        if method.startswith(OF_GRPC):
            return handler
        metadata = tuple(handler_call_details.invocation_metadata or ())
        trace_context.begin(str(dict(metadata).get(trace_context.HEADER, "")))
        if not _is_open(method):
            try:
                await self._authenticate(metadata, method)
            except Refusal as refusal:
                return _at_once(partial(_refuse, refusal))
            except Exception as error:  # noqa: BLE001 - becomes a status without a stack trace
                return _at_once(partial(self._failed, error, method))
        return self._wrapped(handler, method)

    def _wrapped(self, handler: Any, method: str) -> Any:
        kinds = (
            "stream" if handler.request_streaming else "unary",
            "stream" if handler.response_streaming else "unary",
        )
        behaviour = getattr(handler, "_".join(kinds))
        wrap = self._streaming if handler.response_streaming else self._unary
        make = getattr(grpc, f"{kinds[0]}_{kinds[1]}_rpc_method_handler")
        return make(
            wrap(behaviour, method),
            request_deserializer=handler.request_deserializer
            if handler.request_streaming
            else _forgiving(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    def _unary(self, behaviour: Any, method: str) -> Any:
        async def served(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            self._note_peer(context, method)
            try:
                return await behaviour(_parsed(request), context)
            except Refusal as refusal:
                await _refuse(refusal, context)
            except Exception as error:  # noqa: BLE001 - becomes a status without a stack trace
                await self._failed(error, method, context)

        return served

    def _streaming(self, behaviour: Any, method: str) -> Any:
        async def served(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[Any]:
            self._note_peer(context, method)
            try:
                async for message in behaviour(_parsed(request), context):
                    yield message
            except Refusal as refusal:
                await _refuse(refusal, context)
            except Exception as error:  # noqa: BLE001 - becomes a status without a stack trace
                await self._failed(error, method, context)

        return served

    def _note_peer(self, context: grpc.aio.ServicerContext[Any, Any], method: str) -> None:
        if _is_open(method):
            metadata: Metadata = tuple(context.invocation_metadata() or ())
            proved = self._is_service_key(_bearer(metadata)) or bool(context.peer_identities())
            caller = Peer(_host(context.peer()), proved)
            _peer.set(caller.on_behalf_of(str(dict(metadata).get(CLIENT_ADDRESS, ""))))

    async def _authenticate(self, metadata: Metadata, method: str) -> None:
        token = _bearer(metadata)
        if not token:
            raise Unauthenticated("Unauthorized")
        authenticate = partial(self._access.authenticate, token, acting_for(metadata))
        if OF_SESSION in metadata:
            authenticate = partial(self._access.authenticate_session, token)
        who = await authenticate()
        if method in SERVICE_METHODS and not who.is_service:
            raise Forbidden(SERVICE_ONLY)
        _caller.set(who)
        _authenticate.set(authenticate)

    async def _failed(
        self, error: Exception, method: str, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        if isinstance(error, (grpc.aio.AbortError, NotImplementedError)):
            raise error
        log.error("%s failed", method, exc_info=error)
        await context.abort(grpc.StatusCode.INTERNAL, "Internal server error")


def _is_open(method: str) -> bool:
    return method.startswith(OPEN_SERVICES) or method in OPEN_METHODS


def _bearer(metadata: Metadata) -> str:
    """The token of the call; empty if it has none."""
    scheme, _, token = str(dict(metadata).get("authorization", "")).partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _host(peer: str) -> str:
    """The address in what gRPC says of a connection: `ipv4:192.0.2.1:50000`, `ipv6:%5B2001:db8::1%5D:50000`."""
    family, _, address = unquote(peer).partition(":")
    return address.rpartition(":")[0].strip("[]") if family in ("ipv4", "ipv6") else family


def _forgiving(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """The same, with `NOT_PARSED` where the bytes are no message."""

    def deserialized(content: bytes) -> Any:
        try:
            return deserialize(content)
        except DecodeError:
            return NOT_PARSED

    return deserialized


def _parsed(request: Any) -> Any:
    """Raises `Invalid` for what could not be parsed."""
    if request is NOT_PARSED:
        raise Invalid(
            "the message is not of the type that this method takes, or holds text that is not UTF-8"
        )
    return request


def _at_once(end: Callable[[grpc.aio.ServicerContext[Any, Any]], Awaitable[None]]) -> Any:
    """A handler that only ends the call: for one of a unary call, gRPC would first read its whole message."""

    async def ended(_: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        await end(context)

    return grpc.stream_stream_rpc_method_handler(ended)


async def _refuse(refusal: Refusal, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    status = rpc_status.to_status(to_status(refusal))
    await context.abort(status.code, status.details, status.trailing_metadata)
