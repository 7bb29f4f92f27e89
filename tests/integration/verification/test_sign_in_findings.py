"""What `switchboard doctor` says of the OpenID provider, asked at a real one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from apps import sign_in_findings
from apps.settings_loading import load
from domain.monitoring.model import Grade
from tests.support.openid import OpenIdServer, openid_server


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with openid_server() as server:
        yield server


def texts(provider: OpenIdServer, **settings: str) -> list[tuple[Grade, str]]:
    loaded = load({**provider.settings, **settings}, None)
    return [(finding.grade, finding.text) for finding in sign_in_findings.of_sign_in(loaded)]


def test_without_a_provider_there_is_nothing_to_say() -> None:
    assert sign_in_findings.of_sign_in(load({}, None)) == []


def test_all_is_well(provider: OpenIdServer) -> None:
    found = texts(provider, AGENT_URL="https://agents.example")
    assert [grade for grade, _ in found] == [Grade.OK] * 3
    assert "https://agents.example/console/sign-in/callback" in found[-1][1]


def test_an_address_without_tls_is_worth_a_word(provider: OpenIdServer) -> None:
    assert texts(provider, AGENT_URL="http://agents.example")[0][0] is Grade.NOTE


def test_a_redirect_address_that_the_provider_does_not_know(provider: OpenIdServer) -> None:
    provider.fault("another redirect")
    grade, text = texts(provider)[-1]
    provider.fault("")
    assert grade is Grade.NOTE
    assert "register it there for switchboard" in text


@pytest.mark.parametrize("name", ["another issuer", "nobody"])
def test_a_provider_that_cannot_be_used(provider: OpenIdServer, name: str) -> None:
    issuer = provider.issuer + "/other" if name == "another issuer" else "http://127.0.0.1:9"
    [(grade, text)] = texts(provider, OIDC_ISSUER=issuer)
    assert grade is Grade.FAIL
    assert issuer in text


@pytest.mark.parametrize(("seconds", "grade"), [(0, Grade.OK), (29, Grade.OK), (90, Grade.FAIL)])
def test_clocks_that_are_apart(seconds: int, grade: Grade) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=seconds), usegmt=True)
    assert sign_in_findings.clock_finding(date, now).grade is grade


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_a_provider_without_a_clock(date: str) -> None:
    assert sign_in_findings.clock_finding(date, datetime.now(UTC)).grade is Grade.NOTE
