"""Signing in elsewhere, in a real browser: a window opens the provider, comes back, and closes."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import pytest
from aiohttp import web

from adapters.inbound.rest.verification_page import Addresses, closing_page
from adapters.outbound.channels.tests.support import SetClock
from domain.verification.model import OAuthResult
from tests.integration.verification.conftest import Made, gateway, key
from tests.support.platforms.sign_in import SignIn
from tests.support.servers import serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
CALLBACK = "/api/agent/verification/callback/"

pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason="no Chromium on this machine (CHROMIUM names one): nothing was seen in a real browser",
)

OPENER = """<!DOCTYPE html><title>opener</title><body><script>
let told = "";
addEventListener("message", event => {
  told = "got " + event.origin + " " + JSON.stringify(event.data);
});
const opened = open("%s");
setInterval(() => { document.body.textContent = told + " closed " + opened.closed; }, 50);
</script>"""


@dataclass
class Platform:
    """What stands at PLATFORM_URL: a page that opens a window, and the callback path, passed on to the gateway."""

    url: str = ""
    opens: str = ""
    gateway: httpx.AsyncClient | None = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if not request.path.startswith(CALLBACK):
            return web.Response(text=OPENER % self.opens, content_type="text/html")
        if self.gateway is None:
            failed = OAuthResult(False, "</script><script>document.title='x'</script>")
            addresses = Addresses(f"{self.url}/some/path", f"{self.url}/console.css", "/console/identities")
            page = closing_page("gaming-chat", failed, addresses, "n0nce")
            return web.Response(body=bytes(page.body), headers=page.headers)
        passed = await self.gateway.get(
            f"/callback/{request.path.removeprefix(CALLBACK)}", params=request.query
        )
        return web.Response(body=passed.content, status=passed.status_code, headers=passed.headers)


@asynccontextmanager
async def running() -> AsyncIterator[Platform]:
    platform = Platform()
    async with serving(platform.answer) as platform.url:
        yield platform


async def shown(url: str, profile: Path) -> str:
    """What the page at the address comes to be."""
    command = [
        str(BROWSER),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-popup-blocking",
        f"--user-data-dir={profile}",
        "--virtual-time-budget=5000",
        "--dump-dom",
        url,
    ]
    return await anyio.to_thread.run_sync(
        lambda: subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    )


@pytest.mark.parametrize(
    ("user", "told", "closed"),
    [
        (
            {"id": "80351110224678912"},
            '{"type":"verification","provider":"gaming-chat","success":true}',
            "true",
        ),
        (
            None,
            '"success":false,"error":"The provider did not confirm your identity: access_denied"',
            "false",
        ),
    ],
)
async def test_the_window_tells_its_opener_and_closes_after_success_alone(
    tmp_path: Path,
    made: Made,
    clock: SetClock,
    sign_in: SignIn,
    user: dict[str, object] | None,
    told: str,
    closed: str,
) -> None:
    sign_in.browser_user = user
    async with (
        running() as platform,
        gateway(made.service(platform_url=platform.url), clock, platform.url) as rest,
    ):
        started = await rest.post("/start-gaming-chat", headers=key("ann"))
        platform.gateway, platform.opens = rest, started.json()["authUrl"]
        page = await shown(platform.url, tmp_path)
        listed = (await rest.get("/identities", headers=key("ann"))).json()["identities"]
    assert f"got {platform.url} " in page
    assert told in page
    assert f"closed {closed}" in page
    assert [each["value"] for each in listed] == ([] if user is None else [user["id"]])


async def test_words_of_a_failure_run_as_no_script(tmp_path: Path) -> None:
    async with running() as platform:
        platform.opens = f"{CALLBACK}gaming-chat"
        page = await shown(platform.url, tmp_path)
    assert "document.title='x'" in page
    assert "<title>opener</title>" in page
    assert '"success":false' in page


async def test_a_page_of_another_origin_is_not_told(
    tmp_path: Path, made: Made, clock: SetClock, sign_in: SignIn
) -> None:
    sign_in.browser_user = {"id": "80351110224678912"}
    elsewhere = "http://platform.example:9"
    async with (
        running() as platform,
        gateway(made.service(platform_url=platform.url), clock, elsewhere) as rest,
    ):
        started = await rest.post("/start-gaming-chat", headers=key("ann"))
        platform.gateway, platform.opens = rest, started.json()["authUrl"]
        page = await shown(platform.url, tmp_path)
    assert "got" not in page
    assert "closed true" in page
