"""The panel of the web chat in a real browser, on a website of another origin with a strict policy."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.support.browser import PATIENCE_MS, an_async_browser, needs_browser
from tests.support.chat_service import ChatService, Website, refusal
from tests.support.servers import serving

pytestmark = needs_browser
expect.set_options(timeout=PATIENCE_MS)
PIER = "https://pier.example/1"


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with an_async_browser() as browser:
        yield browser


@dataclass
class World:
    service: ChatService
    website: Website
    address: str
    context: BrowserContext
    faults: list[str] = field(default_factory=list)

    async def page(self, attributes: str = "data-open", *, lead: str = 'lang="en"') -> Page:
        self.website.attributes, self.website.lead = attributes, lead
        page = await self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        await page.goto(self.address)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)


@pytest.fixture
async def world(browser: Browser) -> AsyncIterator[World]:
    service = ChatService()
    async with contextlib.AsyncExitStack() as stack:
        base = await stack.enter_async_context(serving(service.handle))
        website = Website(base)
        address = await stack.enter_async_context(serving(website.handle, host="localhost"))
        context = await stack.enter_async_context(
            await browser.new_context(locale="en-GB", timezone_id="UTC")
        )
        context.set_default_timeout(PATIENCE_MS)
        yield World(service, website, address, context)
        await service.go(away=True)


def log(page: Page) -> Any:
    return page.get_by_role("log")


async def write(page: Page, text: str) -> None:
    await page.get_by_label("Write a message").fill(text)
    await page.keyboard.press("Enter")


async def test_an_answer_grows_in_place(world: World) -> None:
    page = await world.page()
    await expect(log(page)).to_contain_text("Hello! How can we help?")
    await write(page, "When does the ferry leave?")
    await expect(log(page).locator(".visitor .bubble")).to_have_text("When does the ferry leave?")
    await world.service.tell("", "typing", seconds=30)
    await expect(page.get_by_label("Writing an answer")).to_be_visible()
    await world.service.tell("", id="a", content=[["p", {}, "At"]], draft=True)
    answer = log(page).locator(".agent").nth(1)
    await expect(answer).to_contain_text("At")
    await expect(page.get_by_label("Writing an answer")).to_be_hidden()
    content = [["p", {}, "At ", ["strong", {}, "noon"], ", from ", ["a", {"href": PIER}, "pier 1"], "."]]
    await world.service.tell("", id="a", content=content)
    await expect(answer.locator(".bubble")).to_have_text("At noon, from pier 1.")
    await expect(answer.get_by_role("link", name="pier 1")).to_have_attribute("href", PIER)
    await expect(log(page).locator(".message")).to_have_count(3)
    await world.service.tell("", "removed", id="a")
    await expect(log(page).locator(".message")).to_have_count(2)
    await world.service.tell("", "cleared")
    await expect(log(page).locator(".message")).to_have_text(["Harbour help: Hello! How can we help?"])
    assert world.faults == []


async def test_markup_of_a_message_is_no_markup_of_the_page(world: World) -> None:
    page = await world.page()
    await write(page, "<img src=x onerror=alert(1)>")
    await expect(log(page).locator(".visitor .bubble")).to_have_text("<img src=x onerror=alert(1)>")
    deep: Any = "bottom"
    for _ in range(200):
        deep = ["strong", {}, deep]
    content = [
        ["script", {}, "alert(1)"],
        ["a", {"href": "javascript:alert(1)", "onclick": "alert(1)"}, "here"],
        deep,
    ]
    await world.service.tell(
        "", id="a", content=content, files=[{"name": "<b>", "url": "javascript:alert(1)"}]
    )
    answer = log(page).locator(".agent").nth(1)
    await expect(answer.locator("span", has_text="alert(1)")).to_be_visible()
    assert await answer.locator("script, [onclick], a[href^=javascript]").count() == 0
    assert world.faults == []


async def test_the_keyboard_alone(world: World) -> None:
    page = await world.page("")
    launcher = page.get_by_role("button", name="Open chat")
    await expect(launcher).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(launcher).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("dialog", name="Harbour help")).to_be_visible()
    await expect(page.get_by_label("Write a message")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_be_hidden()
    await expect(launcher).to_be_focused()
    assert world.faults == []


async def test_files_and_their_limit(world: World) -> None:
    page = await world.page()
    await expect(page.get_by_role("button", name="Attach files")).to_be_visible()
    picker = page.locator("input[type=file]")
    await picker.set_input_files({"name": "big.bin", "mimeType": "image/png", "buffer": b"x" * 1001})
    await expect(page.get_by_role("alert")).to_contain_text("big.bin has 1 kB. Files can have up to 1 kB")
    await picker.set_input_files({"name": "map.txt", "mimeType": "text/plain", "buffer": b"abc"})
    await expect(page.get_by_role("alert")).to_be_empty()
    await page.get_by_role("button", name="Send").click()
    await expect(log(page).get_by_role("link", name="map.txt")).to_have_attribute(
        "href", f"{world.website.service}/file"
    )
    assert world.service.posted[-1]["files"] == [
        {"name": "map.txt", "mimeType": "text/plain", "dataBase64": "YWJj"}
    ]


async def test_pictures_of_the_service_are_shown_and_no_others(world: World) -> None:
    page = await world.page()
    await write(page, "Where is the pier?")
    own = {"name": "map.png", "mimeType": "image/png", "size": 70, "url": "/file"}
    broken = {**own, "name": "gone.png", "url": "/web-chat.js"}
    strange = {**own, "name": "tracker.png", "url": "https://tracker.example/map.png"}
    await world.service.tell("", id="a", files=[own, broken, strange])
    await expect(log(page).get_by_role("link")).to_have_text(["map.png", "gone.png", "tracker.png"])
    await expect(log(page).locator("img")).to_have_count(1)
    assert (
        await log(page).locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    )
    assert world.faults == []


async def test_a_message_outlives_an_outage_and_a_reload_and_is_sent_once(world: World) -> None:
    page = await world.page()
    await write(page, "first")
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    await world.service.go(away=True)
    await write(page, "second")
    await expect(page.get_by_role("status")).to_contain_text("Trying again")
    await world.service.go(away=False)
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(log(page).locator(".visitor time")).to_have_count(2)
    world.service.failing.append(refusal(503, "the database is away"))
    await world.service.go(away=True)
    await write(page, "third")
    await expect(log(page).get_by_text("Sending")).to_be_visible()
    await world.service.go(away=False)
    await page.reload()
    await expect(log(page).locator(".visitor .bubble")).to_have_text(["first", "second", "third"])
    await expect(log(page).locator(".visitor time")).to_have_count(3)
    ids = {message["text"]: message["id"] for message in world.service.posted}
    assert all(ids[message["text"]] == message["id"] for message in world.service.posted)
    (events,) = world.service.events.values()
    assert len(events) == 3


async def test_what_the_service_refuses_is_told(world: World) -> None:
    page = await world.page()
    await expect(log(page)).to_contain_text("Hello")
    await write(page, "x" * 201)
    await expect(page.get_by_role("alert")).to_have_text(
        "The message has 201 characters. It can have up to 200."
    )
    world.service.failing.append(refusal(400, "choice names a button that is gone"))
    await write(page, "too late")
    await expect(log(page)).to_contain_text("Not sent. choice names a button that is gone")
    await page.get_by_role("button", name="Try again").click()
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    world.service.failing.append(refusal(429, "slow down", {"Retry-After": "1"}))
    await write(page, "a lot")
    await expect(page.get_by_role("status")).to_contain_text("Going on in 1 seconds")
    await expect(log(page).locator(".visitor time")).to_have_count(2)
    assert [message["text"] for message in world.service.posted] == ["too late", "too late", "a lot", "a lot"]


async def test_a_signed_in_person_has_a_conversation_of_their_own(world: World) -> None:
    page = await world.page()
    await write(page, "as nobody")
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    await page.evaluate("SwitchboardChat.identify('a.eyJzdWIiOiJhbm4ifQ.c')")
    await expect(log(page).locator(".visitor")).to_have_count(0)
    await write(page, "as Ann")
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    await page.reload()
    await expect(log(page).locator(".visitor .bubble")).to_have_text("as nobody")
    await page.evaluate("SwitchboardChat.identify('forged')")
    await expect(page.get_by_role("status")).to_contain_text("Your sign-in was not accepted")
    await expect(page.get_by_label("Write a message")).to_be_disabled()
    await expect(log(page).locator(".visitor")).to_have_count(0)


async def test_news_are_counted_while_the_panel_is_closed(world: World) -> None:
    page = await world.page("")
    await page.get_by_role("button", name="Open chat").click()
    await write(page, "Hello")
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    await page.get_by_role("button", name="Close chat").click()
    await world.service.tell("", id="a", content=[["p", {}, "An answer"]], at="2026-11-22T09:31:00Z")
    await page.get_by_role("button", name="Open chat, 1 new message").click()
    await expect(log(page)).to_contain_text("An answer")
    await page.reload()
    await expect(page.get_by_role("dialog")).to_be_visible()
    assert world.faults == []


async def test_the_end_is_followed_unless_somebody_reads_above(world: World) -> None:
    page = await world.page()
    await write(page, "Tell me everything")
    await world.service.tell("", id="a", content=[["p", {}, f"line {number}"] for number in range(60)])
    await expect(log(page).get_by_text("line 59")).to_be_in_viewport()
    await log(page).evaluate("log => log.scrollTo(0, 0)")
    await expect(log(page).get_by_text("line 2", exact=True)).to_be_in_viewport()
    await world.service.tell("", id="b", content=[["p", {}, "the last line"]])
    await page.get_by_role("button", name="New messages").click()
    await expect(log(page).get_by_text("the last line")).to_be_in_viewport()
    await expect(page.get_by_role("button", name="New messages")).to_be_hidden()


async def test_inside_an_element_of_the_page(world: World) -> None:
    page = await world.page('data-target="#place"')
    await expect(page.get_by_role("region", name="Harbour help")).to_be_visible()
    await expect(page.get_by_role("button", name="Close chat")).to_have_count(0)
    await write(page, "Hello")
    await expect(log(page).locator(".visitor time")).to_have_count(1)
    assert world.faults == []


@pytest.mark.parametrize("lead", ['lang="en"', 'lang="ar" dir="rtl"'])
async def test_everybody_can_use_it(world: World, lead: str) -> None:
    page = await world.page(lead=lead)
    await write(page, "Hello")
    content = [["h2", {}, "Times"], ["table", {}, ["tr", {}, ["th", {}, "Pier"], ["td", {}, "x" * 100]]]]
    files = [{"name": "y" * 100, "size": 12, "url": "/file"}]
    choices = [{"label": "z" * 100, "value": "yes"}]
    await world.service.tell("", id="a", content=content, files=files, choices=choices)
    await expect(page.get_by_role("button", name="zzz")).to_be_visible()
    for width, scheme in ((1280, "light"), (360, "dark")):
        await page.set_viewport_size({"width": width, "height": 640})
        await page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
        )
        found = (await Axe().run(page)).response["violations"]
        assert [(each["id"], each["nodes"]) for each in found] == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert await log(page).evaluate("log => log.scrollWidth <= log.clientWidth")
