"""What stubs take for a channel: each call goes to one of the cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import grpc
from grpc_status import rpc_status

from adapters.outbound.core_client.cores import Cores
from adapters.outbound.core_client.endpoints import Endpoint
from adapters.rpc.tables import REPEATABLE

UNSENT = ("failed to connect to all addresses", "dns resolution failed", "name resolution failure")
"""How gRPC describes an UNAVAILABLE of a core to which there was no connection."""


class BalancedChannel:
    """The part of `grpc.aio.Channel` that generated stubs use."""

    def __init__(self, cores: Cores, *, of_streams: bool) -> None:
        self._cores = cores
        self._of_streams = of_streams

    def unary_unary(self, path: str, **options: Any) -> Any:
        return partial(self._call, path, self._method("unary_unary", path, options))

    def unary_stream(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("unary_stream", path, options))

    def stream_unary(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("stream_unary", path, options))

    def stream_stream(self, path: str, **options: Any) -> Any:
        return self._begin(self._method("stream_stream", path, options))

    def _method(self, kind: str, path: str, options: dict[str, Any]) -> Callable[[Endpoint], Any]:
        """The method at one core. Remembered, as making it costs a part of a call."""
        of_streams = self._of_streams

        def method(endpoint: Endpoint) -> Any:
            found = endpoint.methods.get((of_streams, path))
            if found is None:
                found = getattr(endpoint.channel(of_streams), kind)(path, **options)
                endpoint.methods[of_streams, path] = found
            return found

        return method

    def _begin(self, method: Callable[[Endpoint], Any]) -> Callable[..., Any]:
        def begin(*arguments: Any, **options: Any) -> Any:
            return method(self._cores.pick())(*arguments, **options)

        return begin

    async def _call(self, path: str, method: Callable[[Endpoint], Any], request: Any, **options: Any) -> Any:
        """The answer of one core, or of another where that is safe."""
        tried: list[Endpoint] = []
        while True:
            endpoint = self._cores.pick(tried)
            try:
                return await method(endpoint)(request, **options)
            except grpc.aio.AioRpcError as error:
                tried.append(endpoint)
                if len(tried) >= len(self._cores.endpoints) or not may_repeat(path, error):
                    raise


def may_repeat(path: str, error: grpc.aio.AioRpcError) -> bool:
    """Whether another core may be asked: the call never left, or changes nothing however often it is made."""
    away = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    if error.code() not in away or rpc_status.from_call(error) is not None:  # type: ignore[arg-type]
        return False
    if any(sign in (error.details() or "").lower() for sign in UNSENT):
        return True
    return path in REPEATABLE
