"""The steps of web_chat.feature."""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import jwt
import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.instances.model import InstanceView, NewInstance
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.served import ServedWorld
from tests.drivers.streaming import PieceByPiece
from tests.features.console.conftest import Open
from tests.support.browser import Window
from tests.support.chat_service import Website
from tests.support.plain_http import plain_request
from tests.support.servers import serving

scenarios("web_chat.feature")

OWNER = Caller("ann")
SECRET = "the secret that the website shares with its chat"
GREETING = "Welcome to the harbour."
HEARD = "I heard: "


def answer(request: RunRequest) -> RunResult:
    return RunResult(HEARD + request.text)


def printing(request: RunRequest) -> RunResult:
    if request.approval is None:
        return RunResult("", confirmation=Confirmation("printer", {}))
    return RunResult(
        "Here is your ticket.", artifacts=(ResultArtifact("ticket.txt", "text/plain", data=b"Pier 1"),)
    )


class Scene:
    """A website, its visitors' windows, and the resource behind the chat."""

    def __init__(self, world: ServedWorld, open_window: Open) -> None:
        self.world = world
        self.open_window = open_window
        self.resource = Resource(world, answer)
        self.stack = AsyncExitStack()
        self.windows: list[Window] = []
        self.pages: list[Page] = []

    def build(self, **config: Any) -> None:
        self.website = Website(self.world.url, "")
        serve = self.stack.enter_async_context(serving(self.website.handle, host="localhost"))
        self.address = self.world.run(serve)
        config = {"allowedOrigins": self.address, "title": "Harbour", "greeting": GREETING, **config}
        self.website.instance = self.world.run(self._create(config)).public_id

    async def _create(self, config: dict[str, Any]) -> InstanceView:
        instances = self.world.container.use_cases().instances
        saved = await instances.create(OWNER, NewInstance("web-chat", "Website", config, "agent::harbour"))
        return await instances.get(OWNER, saved.instance_id)

    def visit(self, identity: str = "", *, another_browser: bool = False, allowed: bool = True) -> None:
        """Opens the page: in a tab beside the others, or in another browser."""
        self.website.attributes = f'data-open data-identity="{identity}"'
        if another_browser or not self.windows:
            self.windows.append(self.open_window())
            window = self.windows[-1]
            window.hosts |= {self.address.removeprefix("http://")}
            if not allowed:
                window.expect_failed_calls()
            self.pages.append(window.page)
        else:
            self.pages.append(self.windows[-1].context.new_page())
        self.page.goto(self.address)

    def signed(self, person: str, secret: str = SECRET) -> str:
        expires = self.world.clock.now() + timedelta(hours=1)
        return jwt.encode({"sub": person, "exp": expires}, secret, "HS256")

    @property
    def page(self) -> Page:
        return self.pages[-1]

    def write(self, text: str) -> None:
        self.page.get_by_label("Write a message").fill(text)
        self.page.keyboard.press("Enter")

    async def close(self) -> None:
        await self.stack.aclose()


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Iterator[Scene]:
    scene = Scene(world, window)
    yield scene
    for page in scene.pages:
        page.close()
    world.run(scene.close())


@given("a website with the chat")
def _(scene: Scene) -> None:
    scene.build()


@given("a website with the chat that signs who its visitors are")
def _(scene: Scene) -> None:
    scene.build(identitySecret=SECRET)


@given("a website with the chat of an instance that allows another website")
def _(scene: Scene) -> None:
    scene.build(allowedOrigins="https://www.example.com")


@given("a resource that wants to know whether it may use its printer")
def _(scene: Scene) -> None:
    scene.resource.script = printing


@given("a resource that answers piece by piece", target_fixture="pieces")
def _(scene: Scene) -> PieceByPiece:
    return PieceByPiece(scene.world)


@when(parsers.parse('a visitor writes "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.visit()
    scene.write(text)


@when(parsers.parse('the visitor writes on: "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.write(text)


@when(parsers.parse('a visitor who is signed in as "{person}" writes "{text}"'))
def _(scene: Scene, person: str, text: str) -> None:
    scene.visit(scene.signed(person))
    scene.write(text)


@when(parsers.parse('"{person}" opens the page in another browser'))
def _(scene: Scene, person: str) -> None:
    expect(scene.page.get_by_role("log")).to_contain_text(HEARD)
    scene.visit(scene.signed(person), another_browser=True)


@when("a visitor opens the page with a signature of somebody else's secret")
def _(scene: Scene) -> None:
    scene.visit()
    scene.windows[-1].expect_refusal()
    scene.page.evaluate("token => SwitchboardChat.identify(token)", scene.signed("maria", "x" * 40))


@when("a visitor opens the page")
def _(scene: Scene) -> None:
    scene.visit(allowed=False)


@when("opens the page in a second tab")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_role("log").locator(".visitor time")).to_have_count(1)
    scene.visit()


@when("the visitor loads the page again")
def _(scene: Scene) -> None:
    scene.page.reload()


@when(parsers.parse('a visitor sends the file "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.visit()
    file = {"name": name, "mimeType": "text/plain", "buffer": b"the harbour and its piers"}
    scene.page.locator("input[type=file]").set_input_files(file)
    scene.page.get_by_role("button", name="Send").press("Enter")


@when(parsers.parse('presses the button "{label}"'))
def _(scene: Scene, label: str) -> None:
    scene.page.get_by_role("button", name=label, exact=True).press("Enter")


@when("the network of the visitor is gone")
def _(scene: Scene) -> None:
    scene.windows[-1].expect_failed_calls()
    scene.windows[-1].context.set_offline(True)


@when("the network of the visitor is back")
def _(scene: Scene) -> None:
    scene.windows[-1].context.set_offline(False)


@when(parsers.parse('the resource has said "{text}" so far'))
def _(pieces: PieceByPiece, text: str) -> None:
    pieces.say(text)


@when(parsers.parse('the resource has said "{text}" in the end'))
def _(pieces: PieceByPiece, text: str) -> None:
    pieces.end(RunResult(text))


@then(parsers.parse('the visitor reads "{text}"'))
def _(scene: Scene, text: str) -> None:
    expect(scene.page.get_by_role("log").locator(".agent .bubble", has_text=text)).to_be_visible()


@then(parsers.parse('the visitor reads "{text}" in the first tab'))
def _(scene: Scene, text: str) -> None:
    expect(scene.pages[0].get_by_role("log").locator(".agent .bubble", has_text=text)).to_be_visible()


@then(parsers.parse("the visitor sees {count:d} messages and the greeting"))
def _(scene: Scene, count: int) -> None:
    expect(scene.page.get_by_role("log").locator(".message")).to_have_count(count + 1)


@then(parsers.parse('the visitor can open the file "{name}", in which stands "{text}"'))
def _(scene: Scene, name: str, text: str) -> None:
    address = scene.page.get_by_role("link", name=name).get_attribute("href")
    assert address is not None
    assert plain_request("GET", address).text == text


@then(parsers.parse('the resource gets the file "{name}"'))
def _(scene: Scene, name: str) -> None:
    [request] = scene.resource.wait_for(1)
    assert [file.name for file in request.files] == [name]


@then(parsers.parse('the visitor sees the file "{name}" among the messages'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.locator(".visitor .files a")).to_have_text(name)


@then(parsers.parse('the panel says "{words}"'))
def _(scene: Scene, words: str) -> None:
    expect(scene.page.get_by_role("status")).to_contain_text(words)


@then("the visitor cannot write")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_label("Write a message")).to_be_disabled()


@then(parsers.parse("the resource was asked {count:d} times"))
def _(scene: Scene, count: int) -> None:
    assert len(scene.resource.requests) == count
