"""The connection to a remote core: deadlines, the caller's credential, refusals."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

import grpc

from adapters import trace_context
from adapters.outbound.core_client.cores import BalancedChannel, Cores, parse_targets
from adapters.outbound.net.tls import ClientTls
from adapters.rpc.metadata import (
    ACTING_FOR,
    CLIENT_ADDRESS,
    GATEWAY_KEY,
    OF_SESSION,
    REQUEST_ID,
    client_address,
    request_id,
)
from adapters.rpc.refusals import from_error
from domain import limits
from domain.refusals import Unauthenticated

T = TypeVar("T")

DEADLINE = 15.0
"""Seconds that a call has; one that may wait for a platform or a pairing code gets more."""

LONGEST_TOKEN = 2000
"""gRPC servers take 8 KiB of metadata in all."""

Metadata = tuple[tuple[str, str | bytes], ...]

credential: ContextVar[Metadata] = ContextVar("credential", default=())


def carry(token: str, acting_for: str | None, *, is_session: bool = False) -> None:
    """The calls of this task carry this credential from here on.

    Raises `Unauthenticated` for a token that metadata cannot carry: no key has other letters or such a length.
    """
    if not (token.isascii() and token.isprintable()) or len(token) > LONGEST_TOKEN:
        raise Unauthenticated("Unauthorized")
    metadata: Metadata = (("authorization", f"Bearer {token}"),)
    if is_session:
        metadata += (OF_SESSION,)
    if acting_for:
        metadata += ((ACTING_FOR, acting_for[: limits.USER_ID + 1].encode()),)
    credential.set(metadata)


class CoreConnection:
    """The cores that `target` lists (see `targets`), over TLS where it is given.

    `service_key` proves to a core that a gateway calls, as a client certificate does.
    """

    def __init__(self, target: str, tls: ClientTls | None = None, service_key: str = "") -> None:
        self._service_key = service_key
        self.cores = Cores(parse_targets(target), tls)
        self.channel = cast(grpc.aio.Channel, BalancedChannel(self.cores, of_streams=False))
        self.streams = cast(grpc.aio.Channel, BalancedChannel(self.cores, of_streams=True))
        """For streams of which there are many."""

    async def close(self) -> None:
        await self.cores.close()

    def as_gateway(self) -> Metadata:
        """Metadata of a call without a caller's credential: the proof that a gateway calls, and for which address."""
        metadata: Metadata = (("authorization", f"Bearer {self._service_key}"),) if self._service_key else ()
        address = client_address.get()
        return (*metadata, (CLIENT_ADDRESS, address)) if address else metadata

    def _metadata(self, given: Metadata | None) -> Metadata:
        """The metadata of a call: `given`, or else the caller's credential with where the caller is; the id of the
        request and the trace context."""
        metadata = given
        if metadata is None:
            metadata, address = credential.get(), client_address.get()
            if address and self._service_key:
                metadata += ((CLIENT_ADDRESS, address), (GATEWAY_KEY, self._service_key))
        if request := request_id.get():
            metadata += ((REQUEST_ID, request),)
        traceparent = trace_context.current()
        return (*metadata, (trace_context.HEADER, traceparent)) if traceparent else metadata

    async def call(
        self,
        method: Callable[..., Awaitable[T]],
        request: Any,
        *,
        deadline: float = DEADLINE,
        metadata: Metadata | None = None,
    ) -> T:
        """The answer; a refusal of the core is raised as the same refusal here. `metadata`: None for the caller's
        credential."""
        try:
            return await method(request, timeout=deadline, metadata=self._metadata(metadata))
        except grpc.aio.AioRpcError as error:
            refusal = from_error(error)
            if refusal is None:
                raise
            raise refusal from error

    async def stream(
        self,
        method: Callable[..., AsyncIterable[T]],
        request: Any,
        *,
        deadline: float | None = DEADLINE,
        metadata: Metadata | None = None,
    ) -> AsyncGenerator[T, None]:
        """The answers one by one; a refusal of the core is raised as the same refusal here. None: no deadline.
        `metadata`: None for the caller's credential."""
        call: Any = method(request, timeout=deadline, metadata=self._metadata(metadata))
        try:
            async for answer in call:
                yield answer
        except grpc.aio.AioRpcError as error:
            refusal = from_error(error)
            if refusal is None:
                raise
            raise refusal from error
        finally:
            call.cancel()
