"""OpenTelemetry traces of a message's way, when a collector is named. Nothing is imported otherwise."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol, TypeVar

from adapters.outbound.http.redaction import safe_url
from domain.channels.messages import RawAnswer, RawCall
from domain.routing.model import RunRequest, RunResult
from ports.downstream import Downstream
from ports.http import Http, HttpAnswer, HttpRequest
from ports.queue import QueueKey
from ports.use_cases import Callbacks

LONGEST_ATTRIBUTE = 4000
"""Characters of an attribute of a span."""
FLUSH_SECONDS = 0.5

Span = Callable[..., AbstractContextManager[Any]]
"""Opens a span by name; keyword arguments are its attributes."""


class HasKey(Protocol):
    @property
    def key(self) -> QueueKey: ...


L = TypeVar("L", bound=HasKey)


def no_span(name: str, **attributes: object) -> AbstractContextManager[Any]:
    return nullcontext()


class Traces:
    """Spans sent in batches over OTLP/HTTP to `endpoint`; without one, spans that cost nothing.

    `authorities`: the file of CAs to trust, as the exporter does not know SSL_CERT_FILE.
    """

    def __init__(self, endpoint: str, service: str = "switchboard", authorities: Path | None = None) -> None:
        self._provider: Any = None
        self.span: Span = no_span
        if endpoint:
            self._export(endpoint, service, authorities)

    def _export(self, endpoint: str, service: str, authorities: Path | None) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self._provider = TracerProvider(
            resource=Resource.create({"service.name": service}),
            span_limits=SpanLimits(max_attribute_length=LONGEST_ATTRIBUTE),  # tracebacks among them
            shutdown_on_exit=False,  # it would wait for a collector that does not answer
        )
        exporter = OTLPSpanExporter(
            endpoint=f"{endpoint.rstrip('/')}/v1/traces",
            certificate_file=str(authorities) if authorities else None,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        tracer = self._provider.get_tracer("switchboard")

        def span(name: str, **attributes: Any) -> AbstractContextManager[Any]:
            found: AbstractContextManager[Any] = tracer.start_as_current_span(
                name, attributes={f"switchboard.{key}": value for key, value in attributes.items()}
            )
            return found

        self.span = span

    @property
    def on(self) -> bool:
        return self._provider is not None

    def close(self) -> None:
        """Sends what is left. Blocks for up to `FLUSH_SECONDS`; a collector that does not answer gets nothing."""
        if self._provider is not None:
            sending = threading.Thread(target=self._provider.shutdown, name="last-traces", daemon=True)
            sending.start()
            sending.join(FLUSH_SECONDS)

    def callbacks(self, inner: Callbacks) -> Callbacks:
        return TracedCallbacks(inner, self.span) if self.on else inner

    def downstream(self, inner: Downstream) -> Downstream:
        return TracedDownstream(inner, self.span) if self.on else inner

    def http(self, inner: Http) -> Http:
        return TracedHttp(inner, self.span) if self.on else inner

    def work(self, name: str, work: Callable[[L], Awaitable[None]]) -> Callable[[L], Awaitable[None]]:
        """The same work, in a span."""

        async def traced(leased: L) -> None:
            with self.span(name, instance=leased.key.instance_id):
                await work(leased)

        return traced if self.on else work


class TracedCallbacks:
    def __init__(self, inner: Callbacks, span: Span) -> None:
        self._inner = inner
        self._span = span

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        with self._span("callback", channel=channel_id, instance=instance_id, request=call.id):
            return await self._inner.handle(channel_id, instance_id, call)


class TracedDownstream:
    def __init__(self, inner: Downstream, span: Span) -> None:
        self._inner = inner
        self._span = span

    async def run(self, request: RunRequest) -> RunResult:
        with self._span("downstream", resource=str(request.resource), request=request.request_id):
            return await self._inner.run(request)


class TracedHttp:
    def __init__(self, inner: Http, span: Span) -> None:
        self._inner = inner
        self._span = span

    async def send(self, request: HttpRequest) -> HttpAnswer:
        with self._span("http", method=request.method, url=safe_url(request.url)):
            return await self._inner.send(request)

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        return self._inner.stream(request)
