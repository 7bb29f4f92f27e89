"""Traces reach a collector over real OTLP, and only when one is named."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from adapters.outbound.tracing import Traces
from tests.drivers.ways import UseCases
from tests.drivers.world import World
from tests.support.waiting import until


class Collector:
    """Takes spans as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        spans = self.spans = list[str]()
        attributes = self.attributes = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                request = ExportTraceServiceRequest.FromString(body)
                for resource in request.resource_spans:
                    for scope in resource.scope_spans:
                        spans.extend(span.name for span in scope.spans)
                        attributes.extend(str(each) for span in scope.spans for each in span.attributes)
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


def test_a_message_leaves_spans_of_its_way(database_url: str, tmp_path: Path, collector: Collector) -> None:
    world = World(database_url, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    world.start()
    way = UseCases(world)
    body = {
        "channelId": "http-webhook",
        "channelName": "Traced",
        "config": {"syncResponse": True, "webhookSecret": ""},
        "downStreamResourceId": "agent::echo",
    }
    instance_id = way.create("ann", body).body["instanceId"]

    reply = way.call(
        "http-webhook", instance_id, json.dumps({"message": "private words"}).encode(), {}, "webhook"
    )
    world.stop()

    assert reply.body["response"] == "private words"
    # The service leaves a slow collector behind; the rest comes from a thread that it leaves running.
    until(
        lambda: {"callback", "conversation", "downstream"} <= set(collector.spans), "all spans are collected"
    )
    assert not any("private words" in each for each in collector.attributes)


def test_without_a_collector_nothing_is_wrapped() -> None:
    traces = Traces("")
    inner = object()

    assert not traces.on
    assert traces.callbacks(inner) is inner  # type: ignore[arg-type,comparison-overlap]
    with traces.span("nothing", channel="x"):
        pass
    traces.close()


def test_the_exporter_and_the_sdk_of_mcp_are_imported_only_when_they_are_used() -> None:
    import subprocess

    code = (
        "import sys; import apps.standalone.service; "
        "sys.exit(any(name.startswith(('opentelemetry.exporter', 'mcp')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=300)

    assert done.returncode == 0
