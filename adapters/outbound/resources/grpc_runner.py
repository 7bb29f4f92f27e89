"""Runs resources behind `switchboard.downstream.v1.ResourceRunner`."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from grpc import aio
from switchboard.downstream.v1 import runner_pb2 as pb
from switchboard.downstream.v1.runner_pb2_grpc import ResourceRunnerStub

from adapters import trace_context
from adapters.outbound.net.tls import (
    BadCertificate,
    ClientTls,
    PemSetting,
    TlsContents,
    TlsFiles,
    WatchedFiles,
    channel_credentials,
)
from adapters.outbound.resources import messages
from adapters.outbound.resources.answers import gathered, usable
from adapters.outbound.resources.echoed_secrets import SHORTEST_SECRET
from adapters.outbound.resources.targets import BadRules, Keys, Target
from adapters.rpc.messages import to_message
from adapters.tasks import end
from domain.channels.answers import Choice
from domain.confirmations.policy import SENDER
from domain.json_text import loads
from domain.routing.model import Confirmation, RunDelta, RunRequest, RunResult
from ports.resources import DownstreamFailed

_OPTIONS = [
    ("grpc.max_receive_message_length", messages.MAX_ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.max_reconnect_backoff_ms", 5000),  # two minutes otherwise, after a resource was away
]
_TRY_AGAIN = frozenset({
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.ABORTED,
    grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN,
})  # fmt: skip
_REFUSED = frozenset({
    grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNIMPLEMENTED,
})  # fmt: skip
"""Before anything was said: answers of a resource that did not work on the request."""

_UNREACHED = ("failed to connect", "DNS resolution failed", "name resolution failure")
"""How gRPC describes an UNAVAILABLE of a target to which there never was a connection."""

_TLS_FAULTS = {
    "CERTIFICATE_VERIFY_FAILED: certificate has expired": "the certificate of the resource expired: renew it there",
    "CERTIFICATE_VERIFY_FAILED": "the certificate of the resource is of no CA of ca_file in its rule",
    "Hostname Verification Check failed": (
        "the certificate of the resource has not the name of target; set server_name in its rule to one that it has"
    ),
    "WRONG_VERSION_NUMBER": "the resource speaks no TLS: leave tls out of its rule, or have it speak TLS",
}
"""By how gRPC describes them."""

DRAIN_SECONDS = 3600.0
"""The longest time of a message (`rules.MAX_TIMEOUT`)."""


TLS_KEYS = ("ca_file", "cert_file", "key_file", "server_name")


@dataclass(frozen=True, slots=True)
class RuleTls:
    """`server_name`: the name that the resource's certificate must have; empty: that of the target."""

    files: TlsFiles
    server_name: str = ""

    def watched(self) -> ClientTls:
        """Raises `BadCertificate`."""
        return ClientTls(WatchedFiles(self.files, lambda: datetime.now(UTC)), self.server_name)


def _file(name: str, path: str | None) -> PemSetting | None:
    return PemSetting(name, Path(path).expanduser()) if path else None


@dataclass(frozen=True, slots=True)
class GrpcTarget(Target):
    target: str
    tls: RuleTls | None = None
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "GrpcTarget":
        target = keys.text("target")
        if any(character.isspace() for character in target) or "://" in target:
            raise keys.fault("target", "must be a gRPC target such as runner.internal:50052")
        return cls(target, _read_tls(keys), keys.token())

    @property
    def address(self) -> str:
        return self.target


def _read_tls(keys: Keys) -> RuleTls | None:
    is_on = keys.flag("tls", default=False)
    texts = {key: keys.text(key, "") for key in TLS_KEYS}
    if not is_on:
        for key, text in texts.items():
            if text:
                raise keys.fault(key, "is of no use without tls = true")
        return None
    for key, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
        if texts[key] and not texts[other]:
            raise keys.fault(key, f"is of no use without {other}")
    own, own_key = _file("cert_file", texts["cert_file"]), _file("key_file", texts["key_file"])
    authorities = _file("ca_file", texts["ca_file"]) or _file("SSL_CERT_FILE", keys.secrets("SSL_CERT_FILE"))
    tls = RuleTls(TlsFiles(own, own_key, authorities), texts["server_name"])
    try:
        tls.watched()
    except BadCertificate as error:
        raise BadRules(str(error), keys.line(str(error).partition(":")[0])) from None
    return tls


class GrpcChannels:
    """One connection per target and certificates, made on first use in the running loop and shared by all rules."""

    def __init__(self) -> None:
        self._channels: dict[tuple[str, str, TlsContents | None], aio.Channel] = {}
        self._draining: set[asyncio.Task[None]] = set()

    def get(self, target: str, tls: ClientTls | None) -> aio.Channel:
        key = (target, tls.server_name, tls.files.contents) if tls else (target, "", None)
        channel = self._channels.get(key)
        if channel is not None:
            return channel
        if tls is None:
            channel = aio.insecure_channel(target, options=_OPTIONS)
        else:
            name = [("grpc.ssl_target_name_override", tls.server_name)] if tls.server_name else []
            credentials = channel_credentials(tls.files.contents)
            channel = aio.secure_channel(target, credentials, options=[*_OPTIONS, *name])
        self._channels[key] = channel
        return channel

    def renew(self, target: str, tls: ClientTls) -> None:
        """Looks at the files of certificates, now and then. With new ones the former connection is closed once its
        calls have ended."""
        former = (target, tls.server_name, tls.files.contents)
        if tls.files.look_now_and_then() and (channel := self._channels.pop(former, None)):
            draining = asyncio.create_task(channel.close(DRAIN_SECONDS))
            self._draining.add(draining)
            draining.add_done_callback(self._draining.discard)

    async def close(self) -> None:
        await end(self._draining, "former connections of resources")
        channels, self._channels = list(self._channels.values()), {}
        for channel in channels:
            await channel.close(None)


class GrpcRunner:
    """Calls the server stream `Run` at one target and joins its deltas."""

    def __init__(
        self, channels: GrpcChannels, target: str, *, tls: ClientTls | None = None, token: str | None = None
    ) -> None:
        self._channels = channels
        self._target = target
        self._tls = tls
        self._token = token or ""
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()

    async def run(self, request: RunRequest) -> RunResult:
        return await gathered(self.stream(request), request)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        if self._tls:
            self._channels.renew(self._target, self._tls)
        stub = ResourceRunnerStub(self._channels.get(self._target, self._tls))
        metadata = (*self._metadata, *trace_context.headers().items())
        call = stub.Run(run_request_to_pb(request), timeout=request.timeout, metadata=metadata)
        begun = False
        try:
            with usable():
                async for message in call:
                    begun = True
                    yield delta_of(_without(self._token, message))
        except aio.AioRpcError as error:
            raise _failure(error, begun=begun) from error
        finally:
            call.cancel()


def _without(token: str, message: pb.RunResponse) -> pb.RunResponse:
    """The message without the token that its server was called with."""
    secret, content = token.encode(), message.SerializeToString() if token else b""
    if len(token) < SHORTEST_SECRET or secret not in content:
        return message
    return pb.RunResponse.FromString(content.replace(secret, b"*" * len(secret)))  # lengths stay as they are


def _failure(error: aio.AioRpcError, *, begun: bool) -> DownstreamFailed:
    """`begun`: an answer began."""
    code, details = error.code(), (error.details() or "").lower()
    is_unreached = code is grpc.StatusCode.UNAVAILABLE and any(sign.lower() in details for sign in _UNREACHED)
    begun = begun or not (is_unreached or code in _REFUSED)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DownstreamFailed("the resource does not answer within its time", retryable=False, begun=begun)
    return DownstreamFailed(
        _tls_fault(error) or f"the resource answers with gRPC status {code.name}",
        retryable=code in _TRY_AGAIN,
        retry_after=_retry_after(error),
        begun=begun,
    )


def _tls_fault(error: aio.AioRpcError) -> str | None:
    """The fault of a TLS connection that could not be made, None if that is not the reason."""
    words = error.details() or ""
    if error.code() is not grpc.StatusCode.UNAVAILABLE or _UNREACHED[0] not in words.lower():
        return None
    return next((fault for sign, fault in _TLS_FAULTS.items() if sign in words), None)


def _retry_after(error: aio.AioRpcError) -> float | None:
    metadata: Any = error.trailing_metadata()
    for name, value in metadata or ():
        if name == "retry-after" and isinstance(value, str) and value.isascii() and value.isdecimal():
            return float(value)
    return None


def _confirmation(asked: pb.Confirmation) -> Confirmation:
    """Raises `BadAnswer`."""
    parameters: Any = None
    if encoded := asked.parameters_json:
        try:
            parameters = loads(encoded)
        except ValueError:
            raise messages.BadAnswer(
                "confirmation.parameters_json is not JSON, or nested too deeply"
            ) from None
        if parameters is None:
            raise messages.BadAnswer("confirmation.parameters_json is not an object")
    minutes = asked.minutes if asked.HasField("minutes") else None
    return messages.checked_confirmation(asked.tool, parameters, asked.by or SENDER, minutes)


def delta_of(message: pb.RunResponse) -> RunDelta:
    artifacts = []
    for at, artifact in enumerate(message.artifacts):
        content = artifact.WhichOneof("content")
        url = artifact.url if content == "url" else None
        data = artifact.data if content == "data" else None
        artifacts.append(
            messages.checked_artifact(artifact.name, artifact.mime_type, url, data, f"artifacts[{at}]")
        )
    confirmation = _confirmation(message.confirmation) if message.HasField("confirmation") else None
    choices = tuple(Choice(choice.label, choice.value) for choice in message.choices)
    usage = None
    if message.HasField("usage"):
        usage = messages.usage_of(
            {"input": message.usage.input_tokens, "output": message.usage.output_tokens}, "input", "output"
        )
    rich, silent, change = messages.beside_text(_beside_text(message))
    return RunDelta(
        message.text_delta,
        tuple(artifacts),
        confirmation,
        choices,
        message.handover,
        rich=rich,
        silent=silent,
        change=change,
        usage=usage,
    )


_BESIDE_TEXT = frozenset({
    "buttons", "cards", "location", "contact", "form", "silent", "assign", "labels", "remove_labels", "close",
})  # fmt: skip


def _beside_text(message: pb.RunResponse) -> dict[str, Any]:
    """The fields of `_BESIDE_TEXT` that are set, as the JSON of an answer has them."""
    values: dict[str, Any] = {
        field.name: value for field, value in message.ListFields() if field.name in _BESIDE_TEXT
    }
    if not values:
        return {}
    return MessageToDict(pb.RunResponse(**values), always_print_fields_with_no_presence=True)


def run_request_to_pb(request: RunRequest) -> pb.RunRequest:
    """The request as it goes to a `ResourceRunner`; the owner stays inside."""
    message = to_message(replace(request, context={}, form={}), pb.RunRequest)
    message.ClearField("context")
    message.ClearField("form")
    if request.context:
        ParseDict(dict(request.context), message.context)
    if request.form:
        ParseDict(dict(request.form), message.form)
    return message
