"""Names that nobody has, without asking a server of names."""

import socket
from typing import Any

import pytest


@pytest.fixture
def no_such_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers for the names under .invalid as the system's resolver does (RFC 6761, 6.4)."""
    real = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if str(host).endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
