"""`switchboard healthcheck`: which port it asks of which process."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from apps.cli import main
from apps.healthcheck import PROCESSES
from tests.support.ports import free_port


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def answering() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def outcome(monkeypatch: pytest.MonkeyPatch, http: int, metrics: int, *process: str) -> int:
    monkeypatch.setenv("HTTP_PORT", str(http))
    monkeypatch.setenv("METRICS_PORT", str(metrics))
    return main(["healthcheck", *process])


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_is_asked_on_its_own_port_alone(
    process: str, answering: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = free_port()
    apart = PROCESSES[process] == "METRICS_PORT"
    assert outcome(monkeypatch, answering, dead, process) == int(apart)
    assert outcome(monkeypatch, dead, answering, process) == int(not apart)


def test_where_none_is_named_the_port_counts_on_which_something_listens(
    answering: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = free_port()
    assert outcome(monkeypatch, answering, dead) == 0  # `up` with METRICS_PORT in its environment
    assert outcome(monkeypatch, dead, answering) == 0
    assert outcome(monkeypatch, dead, 0) == 1
    assert f"127.0.0.1:{dead}/healthz does not answer" in capsys.readouterr().err


def test_a_worker_without_the_port_of_metrics_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(monkeypatch, free_port(), 0, "worker") != 0
    assert "METRICS_PORT is not set" in capsys.readouterr().err
