"""The bot's token goes to the Bot Framework's own hosts, and to those that the operator named."""

import pytest

from adapters.outbound.channels.enterprise_chat.connector import is_host_entry, is_trusted

PUBLIC = (
    "https://login.microsoftonline.com",
    "https://login.botframework.com/v1/.well-known/openidconfiguration",
)


@pytest.mark.parametrize(
    "url",
    [
        "https://smba.trafficmanager.net/emea/",
        "https://smba.trafficmanager.net:443/emea/",
        "https://SMBA.trafficmanager.net/emea/",
        "https://europe.webchat.botframework.com/",
        "https://smba.infra.gov.teams.microsoft.us/",
    ],
)
def test_trusts_the_bot_framework(url: str) -> None:
    assert is_trusted(url, PUBLIC)


@pytest.mark.parametrize(
    "url",
    [
        "http://smba.trafficmanager.net/emea/",
        "https://smba.trafficmanager.net:8443/",
        "https://evil.trafficmanager.net/",
        "https://smba.trafficmanager.net.evil.example/",
        "https://evil.example/smba.trafficmanager.net",
        "https://smba.trafficmanager.net@evil.example/",
        "https://evil.example\\@smba.trafficmanager.net/",
        "https://evilbotframework.com/",
        "https://login.microsoftonline.com/",
        "https://login.botframework.com.evil.example/",
        "http://localhost:3978/",
        "https://[",
        "https://smba.trafficmanager.net:99999/",
        "ftp://smba.trafficmanager.net/",
        "",
    ],
)
def test_trusts_nothing_else(url: str) -> None:
    assert not is_trusted(url, PUBLIC)


def test_trusts_the_host_of_an_operators_own_environment() -> None:
    own = ("http://127.0.0.1:5001", "http://127.0.0.1:5001/v1/.well-known/openidconfiguration")
    assert is_trusted("http://127.0.0.1:6001/connector", own)
    assert is_trusted("http://localhost:6001/connector", own)
    assert not is_trusted("https://127.0.0.1:6001/connector", own)
    assert not is_trusted("http://127.0.0.2:6001/connector", own)
    assert not is_trusted("http://10.0.0.1/", own)


@pytest.mark.parametrize(
    ("url", "trusted"),
    [
        ("https://bots.example/emea/", True),
        ("https://BOTS.example:443/", True),
        ("https://bots.example:8443/", False),
        ("http://bots.example/", False),
        ("https://a.bots.example/", False),
        ("https://a.other.example/", True),
        ("https://other.example/", False),
        ("https://evilother.example/", False),
        ("https://odd.example:8443/", True),
        ("https://odd.example/", False),
        ("https://smba.trafficmanager.net/emea/", True),
        ("https://bots:8443/", True),
        ("https://bots/", False),
        ("https://x.wide.example:9443/", True),
        ("https://x.wide.example/", False),
        ("https://x.star.example/", True),
        ("https://star.example/", False),
        ("https://10.1.2.3:8443/", True),
        ("https://10.1.2.3/", False),
        ("https://[2001:db8::1]:8443/", True),
        ("https://[2001:db8:0:0::1]:8443/", True),
        ("https://[2001:db8::1]/", False),
        ("https://[2001:db8::2]:8443/", False),
        ("http://[2001:db8::1]:8443/", False),
    ],
)
def test_trusts_the_hosts_that_the_operator_lists(url: str, trusted: bool) -> None:
    listed = ("bots.example", ".other.example", "odd.example:8443", "", "bots:8443", ".wide.example:9443")
    listed += ("*.star.example", "10.1.2.3:8443", "[2001:DB8::1]:8443")
    assert is_trusted(url, PUBLIC, tuple(each.lower() for each in listed)) is trusted


@pytest.mark.parametrize(
    "entry",
    [
        *("bots", "bots:8443", "bots.example", "bots_1.example:1", ".bots.example", ".bots.example:65535"),
        *("*.bots.example", "127.0.0.1:3978", "[::1]", "[::1]:8443"),
    ],
)
def test_takes_a_host_with_or_without_its_port(entry: str) -> None:
    assert is_host_entry(entry)


@pytest.mark.parametrize(
    "entry",
    [
        *("", "*", ".com", "https://bots.example", "bots.example/", "bots.example:", "bots.example:0"),
        *(
            "bots.example:65536",
            "bots.example:x",
            "::1",
            "[::1",
            "[bots]:1",
            "[1:2]",
            "a@b.example",
            "a b",
            "b.*.example",
        ),
    ],
)
def test_refuses_what_is_no_host(entry: str) -> None:
    assert not is_host_entry(entry)
