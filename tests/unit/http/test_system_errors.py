"""What people read of an error of the system."""

import socket
import ssl

import pytest

from adapters.system_errors import system_reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 9)"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ssl.SSLError(1, "certificate verify failed"), "certificate verify failed"),
        (OSError("Multiple exceptions"), ""),
    ],
)
def test_the_reason_is_that_of_the_system(error: OSError, reason: str) -> None:
    assert system_reason(error) == reason
