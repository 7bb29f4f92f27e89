"""Over https the console knows its own host, however proxies and the setting write it."""

from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from adapters.inbound.console.sessions import SESSION, check_origin, set_cookie
from domain.refusals import Forbidden


def request_to(host: str, agent_url: str, origin: str = "https://bots.example") -> Request:
    headers = [(b"host", host.encode()), (b"origin", origin.encode())]
    gateway = SimpleNamespace(options=SimpleNamespace(agent_url=agent_url))
    app: Any = SimpleNamespace(state=SimpleNamespace(gateway=gateway))
    address = {"scheme": "http", "path": "/", "query_string": b"", "server": ("127.0.0.1", 3011)}
    return Request({"type": "http", "method": "POST", "headers": headers, "app": app, **address})


@pytest.mark.parametrize("agent_url", ["https://bots.example", "https://Bots.example:443"])
@pytest.mark.parametrize("host", ["bots.example", "BOTS.example", "bots.example:443"])
def test_the_host_of_the_public_address_is_https(host: str, agent_url: str) -> None:
    request, response = request_to(host, agent_url), Response()
    check_origin(request)
    set_cookie(request, response, SESSION, "sbs_x", None)
    assert response.headers["set-cookie"].startswith(f"__Host-{SESSION}=")
    assert "Secure" in response.headers["set-cookie"]


@pytest.mark.parametrize(
    "host", ["bots.example:8443", "bots.example.", "evil.example", "bots.example:80", ""]
)
def test_another_host_is_another_one(host: str) -> None:
    request, response = request_to(host, "https://bots.example"), Response()
    set_cookie(request, response, SESSION, "sbs_x", None)
    assert response.headers["set-cookie"].startswith(f"{SESSION}=")
    with pytest.raises(Forbidden):
        check_origin(request)
