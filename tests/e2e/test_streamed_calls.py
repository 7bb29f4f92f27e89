"""Answers that grow in one process and are shown by another, also where the one that makes them dies over it."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.e2e.apart import Apart

pytestmark = pytest.mark.processes

KEY = "sk-0123456789abcdef"
PATIENCE = 120.0


class Writing(ThreadingHTTPServer):
    """A resource that writes the beginning of its answer, and the end once it is let."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.url = f"http://127.0.0.1:{self.server_port}/run"
        self.requests: list[str] = []
        self.may_end = threading.Event()


class _Answer(BaseHTTPRequestHandler):
    server: Writing

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(body["requestId"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self._write({"textDelta": "It is"})
        assert self.server.may_end.wait(PATIENCE)
        self._write({"textDelta": " noon."})
        self._write({"text": "It is noon."})

    def _write(self, event: dict[str, str]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def writing() -> Iterator[Writing]:
    server = Writing()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.may_end.set()
        server.shutdown()
        server.server_close()


def test_a_streamed_answer_crosses_three_processes_and_survives_the_one_that_makes_it(
    open_folder: Path, external_settings: dict[str, str]
) -> None:
    with writing() as resource:
        settings = {**external_settings, "DOWNSTREAM_URL": resource.url}
        with Apart(open_folder, settings) as apart:
            created = apart.gateway.create_instance(
                channelId="chat-completions-api",
                channelName="Endpoint",
                downStreamResourceId="agent::clock",
                config={"apiKey": KEY},
            )
            base = f"{apart.gateway.base}/api/agent/channels/chat-completions-api/{created['instanceId']}/v1"
            with openai.OpenAI(base_url=base, api_key=KEY, timeout=PATIENCE, max_retries=0) as client:
                stream = client.chat.completions.create(
                    model="any", messages=[{"role": "user", "content": "How late is it?"}], stream=True
                )
                texts = (choice.delta.content for chunk in stream for choice in chunk.choices)
                assert next(filter(None, texts)) == "It is"
                assert len(resource.requests) == 1

                apart.worker.stop(signal.SIGKILL)
                apart.worker.start()
                resource.may_end.set()

                assert "".join(filter(None, texts)) == " noon."
            assert len(set(resource.requests)) == 1
