"""Runs resources behind `switchboard.downstream.v1.ResourceRunner`."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from grpc import aio
from switchboard.downstream.v1 import runner_pb2 as pb
from switchboard.downstream.v1.runner_pb2_grpc import ResourceRunnerStub

from adapters.outbound.downstream.messages import (
    MAX_ANSWER_BYTES,
    BadAnswer,
    checked_artifact,
    checked_confirmation,
)
from adapters.outbound.downstream.outcomes import gathered
from adapters.wire.downstream import run_request_to_pb
from domain.channels.answers import Choice
from domain.json_text import loads
from domain.routing.model import Confirmation, ResultArtifact, RunDelta, RunRequest, RunResult
from ports.downstream import DownstreamFailed

_OPTIONS = [
    ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 5000),  # two minutes otherwise, after a resource was away
]
_TRY_AGAIN = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)
_REFUSED = frozenset(
    {
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Before anything was said: answers of a resource that did not work on the request."""

_UNREACHED = ("failed to connect", "DNS resolution failed", "name resolution failure")
"""How gRPC describes an UNAVAILABLE of a target to which there never was a connection."""


class GrpcChannels:
    """One connection per target, made on first use in the running loop and shared by all rules."""

    def __init__(self) -> None:
        self._channels: dict[tuple[str, bool], aio.Channel] = {}

    def get(self, target: str, tls: bool) -> aio.Channel:
        channel = self._channels.get((target, tls))
        if channel is None:
            channel = self._channels[target, tls] = _connect(target, tls)
        return channel

    async def close(self) -> None:
        channels, self._channels = list(self._channels.values()), {}
        for channel in channels:
            await channel.close(None)


class GrpcRunner:
    """Calls the server stream `Run` at one target and joins its deltas."""

    def __init__(
        self, channels: GrpcChannels, target: str, *, tls: bool = False, token: str | None = None
    ) -> None:
        self._channels = channels
        self._target = target
        self._tls = tls
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def run(self, request: RunRequest) -> RunResult:
        return await gathered(self.stream(request), request.progress)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        stub = ResourceRunnerStub(self._channels.get(self._target, self._tls))
        call = stub.Run(run_request_to_pb(request), timeout=request.timeout, metadata=self._metadata)
        begun = False
        try:
            async for message in call:
                begun = True
                yield _delta(message)
        except aio.AioRpcError as error:
            raise _failure(error, begun=begun or not _was_refused(error)) from error
        except BadAnswer as error:
            raise DownstreamFailed(f"the resource's answer is unusable: {error}", retryable=False) from error
        finally:
            call.cancel()


def _connect(target: str, tls: bool) -> aio.Channel:
    if tls:
        return aio.secure_channel(target, grpc.ssl_channel_credentials(), options=_OPTIONS)
    return aio.insecure_channel(target, options=_OPTIONS)


def _was_refused(error: aio.AioRpcError) -> bool:
    """Whether the resource surely did not work on the request."""
    words = (error.details() or "").lower()
    unreached = error.code() is grpc.StatusCode.UNAVAILABLE and any(
        sign.lower() in words for sign in _UNREACHED
    )
    return unreached or error.code() in _REFUSED


def _failure(error: aio.AioRpcError, *, begun: bool) -> DownstreamFailed:
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DownstreamFailed("the resource does not answer within its time", retryable=False, begun=begun)
    return DownstreamFailed(
        f"the resource answers with gRPC status {code.name}",
        retryable=code in _TRY_AGAIN,
        retry_after=_retry_after(error),
        begun=begun,
    )


def _retry_after(error: aio.AioRpcError) -> float | None:
    metadata: Any = error.trailing_metadata()
    for name, value in metadata or ():
        if name == "retry-after" and isinstance(value, str) and value.isascii() and value.isdecimal():
            return float(value)
    return None


def _delta(message: pb.RunResponse) -> RunDelta:
    return RunDelta(
        message.text_delta,
        tuple(_artifact(artifact, f"artifacts[{at}]") for at, artifact in enumerate(message.artifacts)),
        _confirmation(message.confirmation) if message.HasField("confirmation") else None,
        tuple(Choice(choice.label, choice.value) for choice in message.choices),
        message.handover,
    )


def _artifact(artifact: pb.Artifact, at: str) -> ResultArtifact:
    content = artifact.WhichOneof("content")
    return checked_artifact(
        artifact.name,
        artifact.mime_type,
        artifact.url if content == "url" else None,
        artifact.data if content == "data" else None,
        at,
    )


def _confirmation(confirmation: pb.Confirmation) -> Confirmation:
    parameters: Any = None
    if confirmation.parameters_json:
        try:
            parameters = loads(confirmation.parameters_json)
        except ValueError:
            raise BadAnswer("confirmation.parameters_json is not JSON, or nested too deeply") from None
        if parameters is None:
            raise BadAnswer("confirmation.parameters_json is not an object")
    return checked_confirmation(confirmation.tool, parameters)
