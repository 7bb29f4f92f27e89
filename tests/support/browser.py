"""A real browser: Debian's Chromium, driven by Playwright. What is seen on pages is noted and checked."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser as AsyncBrowser
from playwright.async_api import async_playwright
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

BROWSERS = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
"""The first ones have no windows, and take half the processor time of the others."""
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
NONE_HERE = "no Chromium on this machine (CHROMIUM names one): nothing was seen in a real browser"

needs_browser = pytest.mark.skipif(BROWSER is None, reason=NONE_HERE)

UNUSED_FEATURES = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "SpareRendererForSitePerProcess",
)
"""Parts of Chromium for each of which a process is started with every window, although no page needs it."""
PLAYWRIGHTS_LIST = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
)
"""Features that Playwright switches off. Chromium reads the last `--disable-features` alone, which is this one."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-features=" + ",".join((*UNUSED_FEATURES, *PLAYWRIGHTS_LIST)),
]

PATIENCE_MS = 60_000
"""Milliseconds after which what should be seen never will be."""
expect.set_options(timeout=PATIENCE_MS)

SERIOUS = ("serious", "critical")
ALSO = ("label-content-name-mismatch", "empty-table-header")
"""Rules of axe that count whatever impact it gives them; the first one is off by default."""


@contextmanager
def a_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield browser
        browser.close()


@asynccontextmanager
async def an_async_browser() -> AsyncIterator[AsyncBrowser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield browser
        await browser.close()


def open_menu(page: Page) -> None:
    """By keyboard; wide windows show it at all times."""
    menu = page.get_by_role("button", name="Menu")
    if menu.is_visible():
        menu.press("Enter")


ABORTED = ("htmx:afterRequest", "htmx:sendAbort")
"""What htmx notes of a request that a newer one replaces; of one that failed it notes `htmx:sendError` too."""


class Window:
    """One person's browser window. `faults`: errors in the browser's console, and requests to other hosts."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        context.set_default_timeout(PATIENCE_MS)
        self.context = context
        self.page: Page = context.new_page()
        self.base = base
        self.hosts = {urlsplit(base).netloc}
        self.faults: list[str] = []
        self._expected: tuple[str, ...] = ABORTED
        self.page.on("console", self._noted)
        self.page.on("pageerror", lambda error: self.faults.append(f"error in a script: {error}"))
        self.page.on("request", lambda request: self._requested(request.url))

    def _noted(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(words in message.text for words in self._expected):
            self.faults.append(f"in the browser's console: {message.text} ({message.location['url']})")

    def _requested(self, url: str) -> None:
        address = urlsplit(url)
        if address.scheme in ("http", "https") and address.netloc not in self.hosts:
            self.faults.append(f"a request to another host: {url}")

    def expect_refusal(self) -> None:
        """From now on the server may answer with an error, which the browser notes in its console."""
        self._expected += ("the server responded with",)

    def expect_failed_calls(self) -> None:
        """From now on there may be no network, or no permission for this origin, which the browser notes too."""
        self._expected += ("Failed to load resource", "CORS policy")

    def go(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def serious_faults(self) -> list[str]:
        """What axe finds on the page as it stands."""
        if self.page.evaluate("typeof axe") == "undefined":
            self.page.evaluate(AXE_SCRIPT)
        options = {"resultTypes": ["violations"], "rules": {rule: {"enabled": True} for rule in ALSO}}
        found = self.page.evaluate("async options => (await axe.run(options)).violations", options)
        return [
            f"{each['id']}: {each['help']}: {node['html'][:200]}"
            for each in found
            if each["impact"] in SERIOUS or each["id"] in ALSO
            for node in each["nodes"]
        ]
