"""Findings about the OpenID provider where people sign in."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urlsplit

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.net.openid import DISCOVERY, HttpOpenIdProvider
from adapters.outbound.system.clock import SystemClock
from apps.settings import Settings
from apps.sign_in import client
from apps.tls import is_loopback
from domain.monitoring.model import Finding, Grade
from domain.refusals import Unavailable
from ports.http import Http, HttpFailed, HttpRequest

SUBJECT = "sign-in"
SECONDS = 10.0
MOST_APART = 30.0
"""Seconds by which the clocks may differ before it is worth a word; a minute is the end of what works."""


def of_sign_in(settings: Settings) -> list[Finding]:
    """No finding where no provider is set up."""

    async def look() -> list[Finding]:
        http = AioHttp(AddressPolicy())
        try:
            return [finding async for finding in findings_of(settings, http)]
        finally:
            await http.close()

    return asyncio.run(look()) if settings.oidc_issuer else []


async def findings_of(settings: Settings, http: Http) -> AsyncIterator[Finding]:
    """Asks the provider: is it there, does it know the redirect address, and what time is it there."""
    host = urlsplit(settings.agent_url)
    if host.scheme != "https" and not is_loopback(host.hostname or ""):
        yield Finding(
            Grade.NOTE, SUBJECT, f"AGENT_URL is {settings.agent_url}: providers and passkeys want https"
        )
    try:
        metadata = await HttpOpenIdProvider(http, SystemClock(), client(settings)).metadata()
        answer = await http.send(
            HttpRequest("GET", settings.oidc_issuer.rstrip("/") + DISCOVERY, timeout=SECONDS)
        )
        yield Finding(Grade.OK, SUBJECT, f"OIDC_ISSUER {settings.oidc_issuer} answers")
        yield clock_finding(answer.headers.get("date", ""), datetime.now(UTC))
        yield await _redirect(settings, http, str(metadata.get("authorization_endpoint", "")))
    except (Unavailable, HttpFailed) as failure:
        text = f"OIDC_ISSUER {settings.oidc_issuer} cannot be used: {failure}"
        yield Finding(Grade.FAIL, SUBJECT, text)


def clock_finding(date: str, now: datetime) -> Finding:
    try:
        apart = abs((parsedate_to_datetime(date) - now).total_seconds())
    except (ValueError, TypeError):
        return Finding(Grade.NOTE, SUBJECT, "the provider does not tell its time")
    if apart <= MOST_APART:
        return Finding(Grade.OK, SUBJECT, "the clocks of this machine and of the provider agree")
    text = f"the clocks of this machine and of the provider are {apart:.0f} s apart: set this one by NTP"
    return Finding(Grade.FAIL, SUBJECT, text)


async def _redirect(settings: Settings, http: Http, authorize: str) -> Finding:
    """Begins a sign-in that asks nobody anything: a provider that knows the redirect address answers there."""
    address = client(settings).redirect_uri
    query = {
        "response_type": "code",
        "client_id": settings.oidc_client_id,
        "redirect_uri": address,
        "scope": "openid",
        "prompt": "none",
        "state": "doctor",
    }
    joined = f"{authorize}{'&' if urlsplit(authorize).query else '?'}{urlencode(query)}"
    answer = await http.send(HttpRequest("GET", joined, timeout=SECONDS))
    if answer.headers.get("location", "").startswith(address):
        return Finding(Grade.OK, SUBJECT, f"the provider knows the redirect address {address}")
    return Finding(
        Grade.NOTE,
        SUBJECT,
        f"the provider answers {answer.status} to the redirect address {address}: register it there for"
        f" {settings.oidc_client_id}, and see that AGENT_URL is the address that browsers use",
    )
