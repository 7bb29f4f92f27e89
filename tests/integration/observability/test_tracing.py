"""Traces reach a collector over real OTLP, and only when one is named."""

import io
import json
import logging
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from adapters import trace_context
from adapters.outbound.system.tracing import Traces
from apps import logs
from apps.settings_loading import load
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.receiver import Receiver
from tests.support.waiting import until


class Collector:
    """Takes spans as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        spans = self.spans = list[str]()
        traces = self.traces = list[tuple[str, str]]()
        services = self.services = set[str]()
        attributes = self.attributes = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                request = ExportTraceServiceRequest.FromString(body)
                for resource in request.resource_spans:
                    services.update(
                        each.value.string_value
                        for each in resource.resource.attributes
                        if each.key == "service.name"
                    )
                    for scope in resource.scope_spans:
                        spans.extend(span.name for span in scope.spans)
                        traces.extend((span.name, span.trace_id.hex()) for span in scope.spans)
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
    rest = Rest(world)
    body = {
        "channelId": "http-webhook",
        "channelName": "Traced",
        "config": {"syncResponse": True, "webhookSecret": ""},
        "downStreamResourceId": "agent::echo",
    }
    instance_id = rest.create("ann", body).body["instanceId"]

    reply = rest.call(
        "http-webhook", instance_id, json.dumps({"message": "private words"}).encode(), {}, "webhook"
    )
    world.stop()

    assert reply.body["response"] == "private words"
    # The service leaves a slow collector behind; the rest comes from a thread that it leaves running.
    until(lambda: {"callback", "message", "downstream"} <= set(collector.spans), "all spans are collected")
    assert not any("private words" in each for each in collector.attributes)


TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.mark.parametrize("exported", [True, False], ids=["with a collector", "without one"])
def test_a_message_stays_in_the_trace_of_its_caller_through_every_process(
    database_url: str, tmp_path: Path, collector: Collector, exported: bool
) -> None:
    """One process accepts it, another works on it; a third would deliver it as well."""
    endpoint = collector.url if exported else ""
    with Receiver(lambda _: {"text": "You said hello"}) as resource, Receiver() as receiver:
        settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "DOWNSTREAM_URL": resource.url}
        accepting = World(database_url, tmp_path / "accepting", **settings)
        accepting.start(worker=False)
        rest = Rest(accepting)
        body = {
            "channelId": "http-webhook",
            "channelName": "Traced",
            "config": {"responseWebhookUrl": receiver.url},
            "downStreamResourceId": "agent::helper",
        }
        instance_id = rest.create("ann", body).body["instanceId"]
        call = json.dumps({"message": "hello", "sessionId": "1"}).encode()
        rest.call("http-webhook", instance_id, call, {"traceparent": CALLER}, "webhook")
        key = accepting.settings.config_encryption_key
        working = World(database_url, tmp_path / "working", **settings, CONFIG_ENCRYPTION_KEY=key)
        working.start()
        until(lambda: receiver.received, "the answer is delivered")
        working.stop()
        accepting.stop()

        assert [header and header[3:35] for header in resource.traceparents] == [TRACE]
        assert [header and header[3:35] for header in receiver.traceparents] == [TRACE]
    if exported:
        names = {"callback", "message", "downstream", "delivery"}
        until(lambda: names <= set(collector.spans), "all spans are collected")
        assert {trace for name, trace in collector.traces if name in names} == {TRACE}


@pytest.mark.parametrize(
    "header",
    ["", "00-1-2-01", f"00-{'0' * 32}-b7ad6b7169203331-01", f"ff-{TRACE}-b7ad6b7169203331-01", "x" * 100_000],
)
def test_a_header_that_is_no_trace_context_begins_no_trace(header: str) -> None:
    with trace_context.continued("test", header):
        assert trace_context.headers() == {}
    with trace_context.continued("test", CALLER):
        assert trace_context.headers() == {"traceparent": CALLER}
    assert trace_context.trace_id() == ""


def test_the_service_of_a_trace_is_named_by_its_process(collector: Collector) -> None:
    for role in ("core", "worker", "gateway", ""):
        settings = load({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}, env_file=None)
        traces = Traces(settings.otlp_endpoint, role, settings.ssl_cert_file)
        with traces.span("message"):
            pass
        traces.close()
    names = {"switchboard-core", "switchboard-worker", "switchboard-gateway", "switchboard"}
    until(lambda: collector.services == names, "all processes are named")


def test_log_lines_name_the_trace_and_the_process_and_are_json_to_the_last_one() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("switchboard.test_tracing")
    handler = logs.handler(stream, as_json=True, role="worker")
    logger.addHandler(handler)
    try:
        with trace_context.continued("test", CALLER):
            logger.error("a message failed\nand its second line", exc_info=ValueError("broken"))
        logger.error("the process ends")
    finally:
        logger.removeHandler(handler)
    first, last = map(json.loads, stream.getvalue().splitlines())
    assert (first["trace"], first["role"]) == (TRACE, "worker")
    assert ("trace" in last, last["role"]) == (False, "worker")


def test_the_exporter_and_the_sdk_of_mcp_are_imported_only_when_they_are_used() -> None:
    import subprocess

    code = (
        "import sys; import apps.processes.standalone; "
        "sys.exit(any(name.startswith(('opentelemetry.exporter', 'mcp')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=300)

    assert done.returncode == 0
