"""A service that logs to a console answers on while it is attacked, without a credential, in ways that hurt."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from tests.support.folders import an_open_folder
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

PATH = "/api/agent/channels/http-webhook"
HEAD = b"POST /api/agent/channels/http-webhook/1/webhook HTTP/1.1\r\nHost: x\r\n"
FORGED = "%0a1999-01-01T00:00:00Z%20forged%1b[2J%c2%9b31m%e2%80%ae"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    settings = {"LOG_FORMAT": "console", "HTTP_MAX_CONNECTIONS": "100", "HTTP_HEAD_TIMEOUT": "3"}
    with an_open_folder() as folder, Service(folder / "data", settings=settings) as running:
        yield running


@pytest.fixture(scope="module")
def address(service: Service) -> str:
    made = service.create_instance(channelId="http-webhook", channelName="hook", config={})
    return f"{PATH}/{made['instanceId']}/webhook"


@pytest.mark.parametrize("levels", [65, 255, 1000, 1023, 100_000])
def test_nested_bodies_are_refused_and_hold_nobody_up(service: Service, address: str, levels: int) -> None:
    body = b'{"message": ' + b"[" * levels + b'"\\u0000"' + b"]" * levels + b"}"
    with service.client() as client:
        answers = [client.post(address, content=body).status_code for _ in range(20)]
        assert answers == [400] * 20
        assert client.get("/healthz").status_code == 200
    assert "Traceback" not in service.output


def test_paths_forge_no_lines_of_the_log_and_reach_no_terminal(service: Service, address: str) -> None:
    with service.client() as client:
        for path in (f"/nothing{FORGED}", f"{address}{FORGED}", f"/api/agent/kb/{FORGED}"):
            assert client.get(path).status_code in (404, 405)
    until(lambda: service.output.count("forged") >= 3, "the requests stand in the log")
    lines = service.output.split("\n")
    assert all(line.isprintable() for line in lines)
    assert not [line for line in lines if line.startswith("1999-01-01")]


@pytest.mark.parametrize("begun", [HEAD, HEAD + b"X: ", b""], ids=["head", "header", "nothing"])
def test_requests_that_never_end_keep_nobody_out(service: Service, address: str, begun: bytes) -> None:
    held = [socket.create_connection(("127.0.0.1", service.http_port)) for _ in range(300)]
    for each in held:
        _send(each, begun)
    with service.client() as client:
        assert client.get("/healthz").status_code == 200
        assert client.post(address, json={"message": "m"}).status_code == 200
    for each in held:
        each.settimeout(60)
        assert _end(each) in (b"", b"HTTP/1.1 408")
        each.close()


def test_bodies_that_never_end_leave_health_answered(service: Service, address: str) -> None:
    held = [socket.create_connection(("127.0.0.1", service.http_port)) for _ in range(100)]
    for each in held:
        _send(each, HEAD + b"Content-Length: 1000\r\n\r\n{")
    answer = httpx.get(f"{service.base}/healthz", timeout=60, trust_env=False)
    assert answer.status_code == 200
    for each in held:
        each.close()


def _send(connection: socket.socket, data: bytes) -> None:
    try:
        connection.sendall(data)
    except ConnectionError:  # it made room for another one already
        return


def _end(connection: socket.socket) -> bytes:
    try:
        return connection.recv(12)
    except ConnectionError:
        return b""
