"""OpenTelemetry traces of a message's way, when a collector is named. OpenTelemetry is not imported otherwise."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters import trace_context
from adapters.outbound.net.urls import safe_url
from domain.routing.model import RunRequest, RunResult
from ports.http import Http, HttpAnswer, HttpRequest
from ports.resources import Downstream
from ports.system import Span

LONGEST_ATTRIBUTE = 4000
"""Characters of an attribute of a span."""
FLUSH_SECONDS = 0.5


class Traces:
    """Spans sent in batches over OTLP/HTTP to `endpoint`; without one, traces of callers only go through.

    `role`: the command of a process that runs apart.
    `authorities`: the file of CAs to trust, as the exporter does not know SSL_CERT_FILE.
    """

    def __init__(self, endpoint: str, role: str = "", authorities: Path | None = None) -> None:
        self._provider: Any = None
        self.span: Span = trace_context.continued
        if not endpoint:
            return
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import SpanLimits, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = TracerProvider(
            resource=Resource.create({"service.name": f"switchboard-{role}" if role else "switchboard"}),
            span_limits=SpanLimits(max_attribute_length=LONGEST_ATTRIBUTE),  # tracebacks among them
            shutdown_on_exit=False,  # it would wait for a collector that does not answer
        )
        exporter = OTLPSpanExporter(
            endpoint=f"{endpoint.rstrip('/')}/v1/traces",
            certificate_file=str(authorities) if authorities else None,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        tracer = self._provider.get_tracer("switchboard")

        propagator = TraceContextTextMapPropagator()

        @contextmanager
        def span(name: str, /, traceparent: str = "", **attributes: Any) -> Iterator[None]:
            parent = propagator.extract({trace_context.HEADER: traceparent or trace_context.current()})
            named = {f"switchboard.{key}": value for key, value in attributes.items()}
            with tracer.start_as_current_span(name, parent, attributes=named):
                carrier: dict[str, str] = {}
                propagator.inject(carrier)
                with trace_context.continued(name, carrier.get(trace_context.HEADER, "")):
                    yield

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

    def downstream(self, inner: Downstream) -> Downstream:
        return TracedDownstream(inner, self.span) if self.on else inner

    def http(self, inner: Http) -> Http:
        return TracedHttp(inner, self.span) if self.on else inner


@dataclass(frozen=True, slots=True)
class TracedDownstream:
    inner: Downstream
    span: Span

    async def run(self, request: RunRequest) -> RunResult:
        with self.span("downstream", resource=str(request.resource), request=request.request_id):
            return await self.inner.run(request)


@dataclass(frozen=True, slots=True)
class TracedHttp:
    inner: Http
    span: Span

    async def send(self, request: HttpRequest) -> HttpAnswer:
        with self.span("http", method=request.method, url=safe_url(request.url)):
            return await self.inner.send(request)

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        return self.inner.stream(request)
