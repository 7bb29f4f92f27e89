"""The steps of channels.feature."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.instances.model import NewInstance
from tests.drivers.platform import PlatformDriver
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window
from tests.support.plain_http import plain_request
from tests.support.platforms.mattermost import CHANNEL, TOKEN, Mattermost

scenarios("channels.feature")


@pytest.fixture
def chat() -> Mattermost:
    return Mattermost()


@pytest.fixture
def driver(chat: Mattermost) -> Iterator[PlatformDriver]:
    made = PlatformDriver()
    made.show(chat)
    yield made
    made.close()


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    server: str = ""
    bot: int = 0
    windows: list[Window] = field(default_factory=list)

    def sign_in(self) -> None:
        self.windows.append(self.open("ann"))

    def go(self, path: str) -> None:
        self.windows[-1].go(path)

    @property
    def page(self) -> Page:
        return self.windows[-1].page

    def tab_to(self, wanted: Locator) -> None:
        """By the Tab key alone, from the content of the page on."""
        self.page.keyboard.press("Tab")
        skip = self.page.get_by_role("link", name="Skip to the content")
        if skip.evaluate("element => element === document.activeElement"):
            self.page.keyboard.press("Enter")
        for _ in range(20):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("element => element === document.activeElement"):
                return
        raise AssertionError("the Tab key does not lead there")

    def press(self, wanted: Locator) -> None:
        self.tab_to(wanted)
        self.page.keyboard.press("Enter")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name)


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Scene:
    return Scene(world, window)


@given("a chat server")
def _(scene: Scene, driver: PlatformDriver) -> None:
    scene.server = driver.url


@given("ann has signed in")
def _(scene: Scene) -> None:
    scene.sign_in()


@given("ann has signed in and nothing is connected")
def _(scene: Scene) -> None:
    scene.sign_in()
    scene.go("/console")


@when(parsers.parse('she goes to the gallery from the overview and searches for "{word}"'))
def _(scene: Scene, word: str) -> None:
    scene.press(scene.page.get_by_role("link", name="Connect a channel"))
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Connect a channel")
    scene.tab_to(scene.page.get_by_label("Search"))
    scene.page.keyboard.type(word)
    expect(scene.page.get_by_role("link", name="Gmail")).to_have_count(0)


@when(parsers.parse('she opens the form of "{name}" and saves it'))
def _(scene: Scene, name: str) -> None:
    scene.press(scene.page.get_by_role("link", name=name))
    expect(scene.page.get_by_role("heading", level=1)).to_have_text(f"Connect {name}")
    scene.tab_to(scene.page.get_by_label("Name"))
    scene.page.keyboard.press("Enter")


@then("the page waits for the first message and shows the address to copy")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#first-message")).to_contain_text("Waiting for the first message")
    expect(scene.button("Copy the address")).to_be_visible()


@when("a program sends a message to that address")
def _(scene: Scene) -> None:
    address = scene.button("Copy the address").get_attribute("data-copy")
    assert address
    answer = plain_request("POST", address, json={"message": "Hello", "sessionId": "1"})
    assert answer.status_code == 200, answer.text


@then("the page says by itself that messages arrive")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#first-message")).to_contain_text("Messages arrive")


@when(parsers.parse('she writes a schedule of two fields into the form of "{channel}"'))
def _(scene: Scene, channel: str) -> None:
    scene.go(f"/console/channels/new/{channel}")
    scene.page.get_by_label("Cron schedule").press_sequentially("0 9")


@then("the field says that it must have 5 fields")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_label("Cron schedule")).to_have_accessible_description(
        re.compile("Must have 5 fields")
    )


@when("she writes a schedule of five fields into it")
def _(scene: Scene) -> None:
    scene.page.get_by_label("Cron schedule").press_sequentially(" * * 1")


@then("the field says nothing")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#fault-config-cronSchedule")).to_be_empty()


@when("she fills in the form of the chat server with a wrong token, and checks it")
def _(scene: Scene) -> None:
    scene.go("/console/channels/new/community-chat")
    scene.page.get_by_label("Server URL").fill(scene.server)
    scene.page.get_by_label("Channel ID").fill(CHANNEL)
    scene.page.get_by_label("Token", exact=True).fill("wrong")
    scene.button("Check credentials").press("Enter")


@then("the page shows the words of the chat server and what to do")
def _(scene: Scene) -> None:
    result = scene.page.locator("#form-result")
    expect(result).to_contain_text("Invalid or expired session")
    expect(result).to_contain_text("check again")


@when("she corrects the token and checks it")
def _(scene: Scene) -> None:
    scene.page.get_by_label("Token", exact=True).fill(TOKEN)
    scene.button("Check credentials").press("Enter")


@then("the page says that the credentials are accepted")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#form-result")).to_contain_text("Mattermost accepts the credentials")


@when("she saves the form, by keyboard alone")
def _(scene: Scene) -> None:
    scene.page.get_by_label("Name").focus()
    scene.page.keyboard.press("Enter")


@then("the channel is connected, and no page holds the token")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Mattermost")
    assert TOKEN not in scene.page.content()
    scene.page.get_by_role("link", name="Change").press("Enter")
    expect(scene.page.get_by_label("Token (stored)", exact=True)).to_have_value("")
    assert TOKEN not in scene.page.content()


@given("a chat server that has refused the bot of ann")
def _(scene: Scene, driver: PlatformDriver, chat: Mattermost) -> None:
    chat.member = False
    config = {"SERVER_URL": driver.url, "channelId": CHANNEL, "token": TOKEN}
    new = NewInstance("community-chat", "Kitchen", config, "agent::echo")
    create = scene.world.container.use_cases().instances.create
    scene.bot = scene.world.run(create(Caller("ann"), new)).instance_id


@given("ann sees the page of the bot, which needs attention")
def _(scene: Scene) -> None:
    scene.sign_in()
    scene.go(f"/console/channels/{scene.bot}")
    expect(scene.page.locator("#health")).to_contain_text("invite it there")


@when("the bot is invited on the chat server")
def _(chat: Mattermost) -> None:
    chat.member = True


@when("she checks the credentials")
def _(scene: Scene) -> None:
    scene.button("Check credentials").press("Enter")


@then("the page says by itself that the bot is healthy")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#credentials")).to_contain_text("accepts the credentials")
    expect(scene.page.locator("#health")).to_contain_text("healthy")
