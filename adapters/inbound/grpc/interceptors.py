"""Around every RPC: who calls, and refusals as rich errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from adapters import trace_context
from adapters.rpc.metadata import (
    CLIENT_ADDRESS,
    GATEWAY_KEY,
    OF_SESSION,
    REQUEST_ID,
    acting_for,
    client_address,
    is_request_id,
)
from adapters.rpc.refusals import to_status
from domain.access.model import Caller
from domain.access.service import AccessService
from domain.refusals import Forbidden, Invalid, Refusal, Unauthenticated
from domain.verification.model import SERVICE_ONLY
from ports.system import Ids

log = logging.getLogger("switchboard.grpc")

Metadata = tuple[tuple[str, str | bytes], ...]
Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

OF_GRPC = ("/grpc.health.v1.Health/", "/grpc.reflection.")
"""Services of the library: they need no key, and report their failures themselves."""
OPEN_SERVICES = (
    "/switchboard.access.v1.MailLinkService/",
    "/switchboard.access.v1.PlatformSignInService/",
    "/switchboard.access.v1.SingleSignOnService/",
    "/switchboard.channels.v1.CallbackService/",
    "/switchboard.channels.v1.MessageFileService/",
    "/switchboard.channels.v1.WebChatService/",
)
OPEN_METHODS = frozenset(
    {
        "/switchboard.access.v1.AccessService/SignIn",
        "/switchboard.access.v1.AccessService/SignOut",
        "/switchboard.access.v1.InvitationService/GetInvitation",
        "/switchboard.access.v1.InvitationService/AcceptInvitation",
        "/switchboard.access.v1.PasskeyService/GetPasskeyChallenge",
        "/switchboard.access.v1.PasskeyService/SignInWithPasskey",
        "/switchboard.verification.v1.VerificationService/ListProviders",
        "/switchboard.verification.v1.VerificationService/BotWebhook",
        "/switchboard.verification.v1.VerificationService/CompleteOAuth",
    }
)

SERVICE_METHODS = frozenset({"/switchboard.verification.v1.VerificationService/CompleteBotMessenger"})
"""Methods that need the internal service key."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Where a call comes from.

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


def serve(who: Caller, authenticate: Callable[[], Awaitable[Caller]]) -> None:
    """Sets who calls the RPC that this task serves, and what looks that up once more."""
    _caller.set(who)
    _authenticate.set(authenticate)


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
        bind: Callable[[str], object],
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
        metadata = tuple(handler_call_details.invocation_metadata or ())
        requested = str(dict(metadata).get(REQUEST_ID, ""))
        request_id = requested if is_request_id(requested) else self._ids.request_id()
        self._bind(request_id)
        if method.startswith(OF_GRPC):
            return handler
        trace_context.begin(str(dict(metadata).get(trace_context.HEADER, "")))
        if not _is_open(method):
            try:
                await self._authenticate(metadata, method, request_id)
            except Refusal as refusal:
                return _at_once(partial(_refuse, refusal))
            except Exception as error:  # noqa: BLE001 - becomes a status without a stack trace
                return _at_once(partial(self._failed, error, method))
        return self._wrapped(handler, method)

    def _wrapped(self, handler: Any, method: str) -> Any:
        """The handler with refusals and failures as statuses, and `NOT_PARSED` for bytes that are no message."""
        deserialize = handler.request_deserializer
        kinds = [
            "stream" if streams else "unary"
            for streams in (handler.request_streaming, handler.response_streaming)
        ]
        behaviour = getattr(handler, "_".join(kinds))

        def deserialized(content: bytes) -> Any:
            try:
                return deserialize(content)
            except DecodeError:
                return NOT_PARSED

        async def unary(request: Any, context: Context) -> Any:
            async with self._statuses(method, context):
                return await behaviour(_parsed(request), context)

        async def streaming(request: Any, context: Context) -> AsyncIterator[Any]:
            async with self._statuses(method, context):
                async for message in behaviour(_parsed(request), context):
                    yield message

        make = getattr(grpc, f"{'_'.join(kinds)}_rpc_method_handler")
        return make(
            streaming if handler.response_streaming else unary,
            request_deserializer=deserialize if handler.request_streaming else deserialized,
            response_serializer=handler.response_serializer,
        )

    @asynccontextmanager
    async def _statuses(self, method: str, context: Context) -> AsyncIterator[None]:
        """Notes where the call comes from; ends it with the status of what goes wrong."""
        at = self._peer_of(context)
        _peer.set(at)
        client_address.set(at.address)
        if not _is_open(method):
            _caller.set(replace(_caller.get(), address=at.address))
        try:
            yield
        except Refusal as refusal:
            await _refuse(refusal, context)
        except Exception as error:  # noqa: BLE001 - becomes a status without a stack trace
            await self._failed(error, method, context)

    def _peer_of(self, context: Context) -> Peer:
        metadata: Metadata = tuple(context.invocation_metadata() or ())
        names = dict(metadata)
        proofs = (_bearer(metadata), str(names.get(GATEWAY_KEY, "")))
        is_gateway = any(map(self._is_service_key, proofs)) or bool(context.peer_identities())
        # gRPC calls a connection `ipv4:192.0.2.1:50000`, or `ipv6:%5B2001:db8::1%5D:50000`.
        host, _, address = unquote(context.peer()).partition(":")
        if host in ("ipv4", "ipv6"):
            host = address.rpartition(":")[0].strip("[]")
        return Peer(host, is_gateway).on_behalf_of(str(names.get(CLIENT_ADDRESS, "")))

    async def _authenticate(self, metadata: Metadata, method: str, request_id: str) -> None:
        token = _bearer(metadata)
        if not token:
            raise Unauthenticated("Unauthorized")
        authenticate = partial(self._access.authenticate, token, acting_for(metadata))
        if OF_SESSION in metadata:
            authenticate = partial(self._access.authenticate_session, token)
        who = await authenticate()
        if method in SERVICE_METHODS and not who.is_service:
            raise Forbidden(SERVICE_ONLY)
        serve(replace(who, request_id=request_id), authenticate)

    async def _failed(self, error: Exception, method: str, context: Context) -> None:
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


def _parsed(request: Any) -> Any:
    """Raises `Invalid` for what could not be parsed."""
    if request is NOT_PARSED:
        raise Invalid(
            "the message is not of the type that this method takes, or holds text that is not UTF-8"
        )
    return request


def _at_once(end: Callable[[Context], Awaitable[None]]) -> Any:
    """A handler that only ends the call: for one of a unary call, gRPC would first read its whole message."""

    async def ended(_: Any, context: Context) -> None:
        await end(context)

    return grpc.stream_stream_rpc_method_handler(ended)


async def _refuse(refusal: Refusal, context: Context) -> None:
    status = rpc_status.to_status(to_status(refusal))
    await context.abort(status.code, status.details, status.trailing_metadata)
