import pytest

from adapters.outbound.net.urls import safe_url


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://api.example.org/v1/things", "https://api.example.org/v1/things"),
        ("https://user:secret@example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org/a?token=secret&x=", "https://example.org/a?token=***&x=***"),
        ("https://example.org/a#secret", "https://example.org/a"),
        ("https://api.telegram.org/bot123:AA-secret_x/getMe", "https://api.telegram.org/bot***/getMe"),
        ("https://api.telegram.org/file/bot123:AAsecret/a.png", "https://api.telegram.org/file/bot***/a.png"),
        ("https://api.telegram.org/bot123%3AAAsecret/getMe", "https://api.telegram.org/bot***/getMe"),
        (
            "https://hooks.example.org/services/T0/B0/abcdefghijklmnopqrstuvwx",
            "https://hooks.example.org/services/T0/B0/***",
        ),
        ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://[broken/secret", "(an address that cannot be read)"),
        ("http://example.org:99999/secret", "(an address that cannot be read)"),
    ],
)
def test_an_address_loses_what_may_be_secret(url: str, safe: str) -> None:
    assert safe_url(url) == safe
