"""Which web addresses only the own network can read."""

import pytest

from domain.addresses import is_private


@pytest.mark.parametrize(
    "address",
    [
        "http://10.1.2.3/a.png",
        "https://192.168.0.1:8443/",
        "http://127.0.0.1/",
        "http://[::1]/a",
        "http://[fd00::1]/",
        "http://169.254.169.254/latest",
        "http://localhost/a",
        "http://files/a.png",
        "https://files.corp.internal./a",
        "https://nas.lan/a",
        "https://printer.home.arpa/a",
        "http://printer.local/",
    ],
)
def test_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://shop.example/a.png",
        "http://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://internal.example/",
    ],
)
def test_public(address: str) -> None:
    assert not is_private(address)
