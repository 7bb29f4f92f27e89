"""What a browser is called in the list of sessions."""

import pytest

from domain.access.devices import device_of

CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
)
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 Version/17.5 Safari/605.1.15"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 CriOS/126.0 Safari/604.1"
)


@pytest.mark.parametrize(
    ("user_agent", "device"),
    [
        (CHROME, "Chrome on Linux"),
        (CHROME + " Edg/130.0.0.0", "Edge on Linux"),
        (SAFARI, "Safari on Mac"),
        (IPHONE, "Chrome on iPhone"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
        ("\x00\u202e" + "x" * 500, "x" * 60),
    ],
)
def test_a_browser_has_a_short_name(user_agent: str, device: str) -> None:
    assert device_of(user_agent) == device
