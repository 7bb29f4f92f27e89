"""Signing in elsewhere, in a real browser: a window opens the provider, comes back, and closes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
import pytest
from aiohttp import web
from playwright.async_api import Browser, Page, expect

from adapters.inbound.rest.verification_page import Addresses, closing_page
from adapters.outbound.channels.tests.support import SetClock
from domain.verification.model import OAuthResult
from tests.integration.verification.conftest import Made, gateway, key
from tests.support.browser import PATIENCE_MS, an_async_browser, needs_browser
from tests.support.platforms.sign_in import SignIn
from tests.support.servers import serving

CALLBACK = "/api/agent/verification/callback/"

pytestmark = needs_browser
expect.set_options(timeout=PATIENCE_MS)

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


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with an_async_browser() as browser:
        yield browser


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with await browser.new_context() as context:
        context.set_default_timeout(PATIENCE_MS)
        yield await context.new_page()


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
    page: Page,
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
        await page.goto(platform.url)
        body = page.locator("body")
        await expect(body).to_contain_text(f"got {platform.url} ")
        await expect(body).to_contain_text(told)
        await expect(body).to_contain_text(f"closed {closed}")
        listed = (await rest.get("/identities", headers=key("ann"))).json()["identities"]
    assert [each["value"] for each in listed] == ([] if user is None else [user["id"]])


async def test_words_of_a_failure_run_as_no_script(page: Page) -> None:
    async with running() as platform:
        platform.opens = f"{CALLBACK}gaming-chat"
        async with page.expect_popup() as opened:
            await page.goto(platform.url)
        await expect(page.locator("body")).to_contain_text('"success":false')
        await expect(page.locator("body")).to_contain_text("document.title='x'")
        assert await (await opened.value).title() != "x"
        assert await page.title() == "opener"


async def test_a_page_of_another_origin_is_not_told(
    page: Page, made: Made, clock: SetClock, sign_in: SignIn
) -> None:
    sign_in.browser_user = {"id": "80351110224678912"}
    elsewhere = "http://platform.example:9"
    async with (
        running() as platform,
        gateway(made.service(platform_url=platform.url), clock, elsewhere) as rest,
    ):
        started = await rest.post("/start-gaming-chat", headers=key("ann"))
        platform.gateway, platform.opens = rest, started.json()["authUrl"]
        await page.goto(platform.url)
        await expect(page.locator("body")).to_contain_text("closed true")
        await expect(page.locator("body")).not_to_contain_text("got")
