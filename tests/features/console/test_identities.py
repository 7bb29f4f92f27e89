"""The steps of identities.feature."""

import re
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.outside import Outside
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.features.verification.conftest import SECRET
from tests.support.browser import Window
from tests.support.mail import code_in
from tests.support.plain_http import plain_request
from tests.support.platforms.bot_api import VerificationBotApi
from tests.support.platforms.sign_in import SignIn

scenarios("identities.feature")

ACCOUNT = "80351110224678912"


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    outside: Outside
    windows: list[Window] = field(default_factory=list)
    key: str = ""

    @property
    def page(self) -> Page:
        return self.windows[-1].page

    def somebody(self, user: str | None) -> Window:
        self.windows.append(self.open(user))
        return self.windows[-1]

    def status_with_key(self) -> int:
        headers = {"authorization": f"Bearer {self.key}"}
        return plain_request("GET", f"{self.world.url}/api/agent/keys", headers=headers).status_code

    def enter(self, label: str, text: str) -> None:
        """Into the field, by the keyboard alone."""
        field = self.page.get_by_label(label)
        while not field.evaluate("element => element === document.activeElement"):
            self.page.keyboard.press("Tab")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def choose(self, row: str, button: str) -> None:
        """The button in a row of the table, and yes to what it asks."""
        cell = self.page.get_by_role("row").filter(has_text=row)
        cell.locator("summary").filter(has_text=button).press("Enter")
        cell.get_by_role("button", name=button).press("Enter")

    def follow_notice(self) -> None:
        address = self.world.settings.verification_page
        elsewhere = "http://chat.example/"
        self.windows[-1].hosts.add("chat.example")
        self.page.route(
            elsewhere,
            lambda route: route.fulfill(content_type="text/html", body=f'<a href="{address}">Verify</a>'),
        )
        self.page.goto(elsewhere)
        self.page.get_by_role("link", name="Verify").press("Enter")


@pytest.fixture
def scene(world: ServedWorld, window: Open, outside: Outside) -> Scene:
    outside.postbox.mails.clear()
    outside.sign_in.show(SignIn())
    outside.bot_api.show(VerificationBotApi())
    return Scene(world, window, outside)


@given(parsers.parse('ann opens "{path}"'))
def _(scene: Scene, path: str) -> None:
    scene.somebody("ann").go(path)


@when(parsers.parse('she makes a key called "{name}" by keyboard alone'))
def _(scene: Scene, name: str) -> None:
    scene.enter("What is it for?", name)


@then("a key is shown that works")
def _(scene: Scene) -> None:
    shown = scene.page.locator("code", has_text=re.compile("^sb_.{40}"))
    expect(shown).to_be_visible()
    scene.key = shown.inner_text()
    assert scene.status_with_key() == 200


@when(parsers.re(r'she (?P<button>revokes|removes) "(?P<row>[^"]+)" and says yes'))
def _(scene: Scene, button: str, row: str) -> None:
    scene.choose(row, {"revokes": "Revoke", "removes": "Remove"}[button])


@then("the key works no longer")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_text("The key was revoked.")).to_be_visible()
    assert scene.status_with_key() == 401


@when(parsers.parse('she has a code sent to "{address}", by keyboard alone'))
def _(scene: Scene, address: str) -> None:
    scene.enter("Your mail address", address)


@when("she types the code of the mail")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_label("Code from the mail")).to_be_focused()
    scene.page.keyboard.type(code_in(scene.outside.postbox.mails[-1]))
    scene.page.keyboard.press("Enter")


@then(parsers.re(r'"(?P<value>[^"]+)" is listed as verified(, without loading the page again)?'))
def _(scene: Scene, value: str) -> None:
    expect(scene.page.get_by_role("cell", name=value)).to_be_visible()


@then("nothing is listed as verified")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_text("Nothing is verified yet.")).to_be_visible()


def _provider(scene: Scene) -> SignIn:
    platform = scene.outside.sign_in.platform
    assert isinstance(platform, SignIn)
    scene.windows[-1].hosts.add(scene.outside.sign_in.url.removeprefix("http://"))
    return platform


@given("she is signed in at Discord")
def _(scene: Scene) -> None:
    _provider(scene).browser_user = {"id": ACCOUNT}


@given("she declines at Discord")
def _(scene: Scene) -> None:
    _provider(scene).browser_user = None


@when("she chooses to sign in at Discord", target_fixture="opened")
def _(scene: Scene) -> Page:
    with scene.windows[-1].context.expect_page() as opened:
        scene.page.get_by_role("link", name="Sign in at Discord").press("Enter")
    return opened.value


@then("the new window closes by itself")
def _(scene: Scene, opened: Page) -> None:
    if not opened.is_closed():
        opened.wait_for_event("close")


@then("her account at Discord is listed as verified, without loading the page again")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_role("cell", name=ACCOUNT)).to_be_visible()


@then("the new window stays open and says what to do")
def _(scene: Scene, opened: Page) -> None:
    expect(opened.get_by_role("heading", name="Not verified")).to_be_visible()
    expect(opened.get_by_text("start again where you came from")).to_be_visible()
    opened.get_by_role("link", name="To your identities").press("Enter")
    expect(opened.get_by_role("heading", level=1)).to_have_text("My identities")


@when("she asks for a link to Telegram")
def _(scene: Scene) -> None:
    scene.page.get_by_role("button", name="Get a link to Telegram").press("Enter")


@when("she shares her contact with the bot there")
def _(scene: Scene) -> None:
    link = scene.page.get_by_role("link", name="Open Telegram").get_attribute("href")
    assert link is not None
    token = link.partition("start=")[2]
    contact = {"phone_number": "441632960001", "user_id": 77}
    for message in ({"text": f"/start {token}"}, {"contact": contact}):
        body = {
            "update_id": 1,
            "message": {"from": {"id": 77}, "chat": {"id": 77, "type": "private"}, **message},
        }
        path = "/api/agent/verification/bot-messenger-bot-webhook"
        answer = plain_request("POST", scene.world.url + path, json=body, headers=SECRET)
        assert answer.status_code == 200, answer.text


@when("somebody who has not signed in follows the address in a notice on another site")
def _(scene: Scene) -> None:
    scene.somebody(None)
    scene.follow_notice()


@when("they follow the address once more")
def _(scene: Scene) -> None:
    scene.follow_notice()


@when("they sign in with the key of ann")
def _(scene: Scene) -> None:
    scene.page.get_by_label("API key").fill(scene.world.key_of("ann"))
    scene.page.keyboard.press("Enter")


@then(parsers.parse('the page "{title}" is shown'))
def _(scene: Scene, title: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text(title)
