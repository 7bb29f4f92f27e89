"""A thousand messages with retries, broken streams, tools and killed workers: the sums are the model server's."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.e2e.apart import Apart
from tests.support.waiting import until

pytestmark = pytest.mark.processes

MESSAGES, SESSIONS, KILLS = 1000, 50, 2
RULES = """
[[rule]]
match = "agent::small"
kind = "chat-completions"
url = "{url}"
model = "small"
stream = true
timeout = 100
history_tokens = 1

[[rule.tool]]
name = "ring"
url = "{url}/ring"
confirm = false

[rule.prices]
input = 2
output = 10
currency = "EUR"
"""
CUT, FAILED, TOOL, FAILED_AFTER_TOOL = range(4)
"""What happens to the first call for every eighth message each; with the others all is well."""
NUMBER = re.compile(r"message (\d+)")


@dataclass
class Told:
    """Tokens that the server told in an answer to a call for a message, and when that began."""

    number: int
    began: float
    read: int
    written: int


@dataclass
class Model:
    """The model, and what it did for each message."""

    told: list[Told] = field(default_factory=list)
    calls: dict[int, count[int]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    may_end: threading.Event = field(default_factory=threading.Event)
    held: int = 0
    url: str = ""

    def next_call(self, number: int) -> int:
        with self.lock:
            return next(self.calls.setdefault(number, count()))

    def hold(self) -> None:
        """Holds the calls that have told some of their tokens."""
        self.may_end.clear()
        self.held = 0

    def pass_on(self) -> None:
        if not self.may_end.is_set():
            self.held += 1
            self.may_end.wait(60)


class Handler(BaseHTTPRequestHandler):
    model: Model

    def do_POST(self) -> None:
        began = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/ring"):
            return self._answer(200, b"it rang")
        messages = body["messages"]
        number = int(NUMBER.findall(json.dumps(messages))[-1])
        after_tool, call, case = messages[-1]["role"] == "tool", self.model.next_call(number), number % 8
        if (case == FAILED and call == 0) or (case == FAILED_AFTER_TOOL and after_tool):
            return self._answer(503 if case == FAILED else 500, b"{}")
        if case in (TOOL, FAILED_AFTER_TOOL) and not after_tool:
            function = {"name": "ring", "arguments": "{}"}
            delta: dict[str, Any] = {
                "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]
            }
        else:
            delta = {"content": f"answer {number}"}
        return self._stream(
            delta, Told(number, began, 100 + number, 1 + call), is_cut=case == CUT and call == 0
        )

    def _stream(self, delta: dict[str, Any], told: Told, *, is_cut: bool) -> None:
        """Half of the tokens come with the first piece, all with the last one, as from servers that count as they
        write."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        try:
            self._piece({"choices": [{"index": 0, "delta": delta}], "usage": _usage(told.read, told.written)})
            self.model.pass_on()
            if not is_cut:
                told.written += 1
                self._piece({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
                self._piece({"choices": [], "usage": _usage(told.read, told.written)})
                self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            return  # it was killed meanwhile
        finally:
            with self.model.lock:
                self.model.told.append(told)

    def _piece(self, event: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None: ...


def _usage(read: int, written: int) -> dict[str, int]:
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


@contextmanager
def serving() -> Iterator[Model]:
    model = Model()
    model.may_end.set()
    server = Server(("127.0.0.1", 0), type("OfModel", (Handler,), {"model": model}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


class Scene:
    def __init__(self, apart: Apart, connection: psycopg.Connection, model: Model) -> None:
        self.apart, self.connection, self.model = apart, connection, model
        self.kills: list[tuple[float, set[int]]] = []
        created = apart.gateway.create_instance(
            channelId="http-webhook", channelName="load", downStreamResourceId="agent::small", config={}
        )
        self.address = f"{apart.gateway.base}/api/agent/channels/http-webhook/{created['instanceId']}/webhook"

    def post_all(self) -> None:
        def post(session: int) -> None:
            with httpx.Client(timeout=60, trust_env=False) as client:
                for number in range(session, MESSAGES, SESSIONS):
                    body = {"message": f"message {number}", "sessionId": f"s{session}"}
                    assert client.post(self.address, json=body).status_code == 200

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(post, range(SESSIONS)))

    def finished(self) -> int:
        return self._value("SELECT count(*) FROM inbox WHERE status <> 0")

    def _value(self, query: str) -> int:
        row = self.connection.execute(query).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return int(row[0])

    def kill(self) -> None:
        """Kills the worker in the midst of runs. What these had learned died with it: messages without an outcome
        are answered anew."""
        self.model.hold()
        until(lambda: self.model.held > 0, "a run is under way")
        self.apart.worker.stop(signal.SIGKILL)
        under_way = (
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%add_usage(%'"
        )
        until(lambda: self._value(f"{under_way} AND pid <> pg_backend_pid()") == 0, "all is committed")
        killed = time.monotonic()
        rows = self.connection.execute("SELECT event::json->>'text' FROM inbox WHERE status = 0").fetchall()
        self.kills.append((killed, {int(NUMBER.findall(text)[0]) for (text,) in rows}))
        self.model.may_end.set()
        self.apart.worker.start()

    def died(self, told: Told) -> bool:
        """Return True if the process that was told was killed before it could record that."""
        return any(told.began < killed and told.number in numbers for killed, numbers in self.kills)

    def usage(self) -> dict[str, Any]:
        path = f"{self.apart.gateway.base}/api/agent/usage?by=agent&from=2020-01-01"
        answer = httpx.get(path, headers={"authorization": f"Bearer {self.apart.gateway.key}"}, timeout=60)
        [usage] = answer.json()["usage"]
        return dict(usage)


def test_the_sums_are_those_of_the_model_server(open_folder: Path, external_settings: dict[str, str]) -> None:
    rules = open_folder / "resources.toml"
    with serving() as model:
        rules.write_text(RULES.format(url=model.url), "utf-8")
        settings = {**external_settings, "RESOURCES_FILE": str(rules), "OUTBOUND_ALLOW": "127.0.0.0/8"}
        with (
            Apart(open_folder, settings) as apart,
            psycopg.connect(external_settings["DATABASE_URL"], autocommit=True) as connection,
        ):
            scene = Scene(apart, connection, model)
            poster = threading.Thread(target=scene.post_all)
            poster.start()
            for number in range(1, KILLS + 1):
                enough = number * MESSAGES // (KILLS + 2)
                until(lambda enough=enough: scene.finished() >= enough, "messages are answered", seconds=120)
                scene.kill()
            poster.join()
            until(lambda: scene.finished() == MESSAGES, "all messages have outcomes", seconds=120)

            counted = [told for told in model.told if not scene.died(told)]
            read, written = sum(told.read for told in counted), sum(told.written for told in counted)
            usage = scene.usage()
            assert usage["runs"] == MESSAGES
            assert (usage["inputTokens"], usage["outputTokens"]) == (read, written)
            assert usage["cost"] == pytest.approx((2 * read + 10 * written) / 1_000_000)
            assert len(counted) < len(model.told)
