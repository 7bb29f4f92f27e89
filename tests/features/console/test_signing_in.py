"""The steps of signing_in.feature."""

import re
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from playwright.sync_api import expect
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.console.sessions import SESSION
from domain.access.model import Role
from domain.access.service import COMMAND, AccessService
from domain.access.users import NewUser
from tests.drivers.outside import Outside
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window, open_menu
from tests.support.mail import text_of
from tests.support.plain_http import plain_request
from tests.support.waiting import until

scenarios("signing_in.feature")


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    outside: Outside
    link: str = ""
    windows: list[Window] = field(default_factory=list)

    @property
    def window(self) -> Window:
        return self.windows[-1]

    def somebody(self, path: str, user: str | None = None) -> None:
        self.windows.append(self.open(user))
        self.window.go(path)

    def type_key(self, key: str) -> None:
        page = self.window.page
        field = page.get_by_label("API key")
        expect(field).to_be_visible()
        while not field.evaluate("element => element === document.activeElement"):
            page.keyboard.press("Tab")
        page.keyboard.type(key)
        page.keyboard.press("Enter")

    @property
    def access(self) -> AccessService:
        return self.world.container.access()


@pytest.fixture
def scene(world: ServedWorld, window: Open, outside: Outside) -> Scene:
    return Scene(world, window, outside)


@when("somebody opens the overview")
def _(scene: Scene) -> None:
    scene.somebody("/console")


@when("they sign in with a key that nobody has, by keyboard alone")
def _(scene: Scene) -> None:
    scene.window.expect_refusal()
    scene.type_key("sb_nobody-has-this-key")


@when("they sign in with the key of ann, by keyboard alone")
def _(scene: Scene) -> None:
    scene.type_key(scene.world.key_of("ann"))


@then("the field for the key says that the key is not known")
def _(scene: Scene) -> None:
    key = scene.window.page.get_by_label("API key")
    expect(key).to_have_accessible_description(re.compile("not known"))


@then(parsers.parse('the page "{title}" is shown'))
def _(scene: Scene, title: str) -> None:
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text(title)


@given("ann has signed in and sees the overview")
def _(scene: Scene) -> None:
    scene.somebody("/console", "ann")
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text("Overview")


@when("her key is revoked")
def _(scene: Scene) -> None:
    world = scene.world
    [key] = [each for each in world.run(scene.access.list_keys()) if each.user_id == "ann"]
    world.run(scene.access.revoke_key(key.id))


@when("she signs out")
def _(scene: Scene) -> None:
    [cookie] = [each for each in scene.window.context.cookies() if each["name"] == SESSION]
    scene.link = cookie["value"]
    open_menu(scene.window.page)
    scene.window.page.get_by_role("button", name="Sign out").press("Enter")


@then("the session's cookie opens nothing any more")
def _(scene: Scene) -> None:
    answer = plain_request("GET", f"{scene.world.url}/console", cookies={SESSION: scene.link})
    assert answer.headers["location"].startswith("/console/sign-in")


@given(parsers.parse('ann has signed in and sees the page "{title}"'))
def _(scene: Scene, title: str) -> None:
    scene.somebody("/console", "ann")
    open_menu(scene.window.page)
    scene.window.page.get_by_role("link", name=title, exact=True).first.press("Enter")
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text(title)


@when("she signs out in another tab")
def _(scene: Scene) -> None:
    tab = scene.window.context.new_page()
    tab.goto(f"{scene.world.url}/console/keys")
    open_menu(tab)
    tab.get_by_role("button", name="Sign out").press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Sign in")
    tab.close()


@when("her session is revoked")
def _(scene: Scene) -> None:
    [cookie] = [cookie for cookie in scene.window.context.cookies() if cookie["name"] == SESSION]
    scene.world.run(scene.world.container.use_cases().sessions.sign_out(cookie["value"]))


@when("she comes back to the page")
def _(scene: Scene) -> None:
    """As a browser tells a page that it kept in memory."""
    scene.window.page.evaluate(
        """() => {
            dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
            dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        }"""
    )


@when(parsers.parse("{hours:d} hours pass and she opens the overview again"))
def _(scene: Scene, hours: int) -> None:
    scene.world.clock.advance(timedelta(hours=hours))
    scene.window.go("/console")


PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36"
COMPUTER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0"


@given(parsers.parse('the user "{user}" with the address "{email}"'))
def _(scene: Scene, user: str, email: str) -> None:
    new = NewUser(user, email=email)
    scene.world.run(scene.world.container.use_cases().users.create(COMMAND, new))


@when(parsers.parse('somebody asks for a link to "{email}" on the way to "{path}"'))
def _(scene: Scene, email: str, path: str) -> None:
    scene.outside.postbox.mails.clear()
    scene.somebody(path)
    scene.window.page.get_by_label("E-mail address").fill(email)
    scene.window.page.get_by_role("button", name="Send me a link").press("Enter")


@then("they are told that a link is on its way if a user has the address")
def _(scene: Scene) -> None:
    expect(scene.window.page.get_by_text("If a user has this e-mail address, a link")).to_be_visible()
    assert scene.window.serious_faults() == []


@then("no mail was sent")
def _(scene: Scene) -> None:
    tasks = scene.world.container.use_cases().mail_links.tasks
    until(lambda: not tasks, "what was asked for is worked off")
    assert scene.outside.postbox.mails == []


def follow_mail(scene: Scene) -> None:
    until(lambda: bool(scene.outside.postbox.mails), "the mail is there")
    [link] = set(re.findall(r"http://\S+", text_of(scene.outside.postbox.mails[-1])))
    scene.link = link
    scene.window.page.goto(link)


@when("they follow the link of the mail")
def _(scene: Scene) -> None:
    follow_mail(scene)
    scene.window.page.get_by_role("button", name="Sign in").last.press("Enter")


@when("they follow it once more in another browser")
def _(scene: Scene) -> None:
    scene.windows.append(scene.open())
    scene.window.expect_refusal()
    scene.window.page.goto(scene.link)
    scene.window.page.get_by_role("button", name="Sign in").last.press("Enter")


@then("they are told that the link was used")
def _(scene: Scene) -> None:
    expect(scene.window.page.get_by_role("main")).to_contain_text("this link was used already")


@when(parsers.parse('an admin invites "{email}" as a responder into the team "{team}"'))
def _(scene: Scene, email: str, team: str) -> None:
    scene.outside.postbox.mails.clear()
    scene.world.run(scene.world.container.use_cases().teams.create(COMMAND, team, []))
    scene.somebody("/console/invitations", "admin")
    page = scene.window.page
    page.get_by_label("E-mail address").fill(email)
    page.get_by_label("Role").select_option("responder")
    page.get_by_label(f"Team {team}").check()
    page.get_by_role("button", name="Invite").press("Enter")


@then("the list says that the invitation is open")
def _(scene: Scene) -> None:
    row = scene.window.page.get_by_role("row").filter(has_text="cleo@example.com")
    expect(row).to_contain_text("open")
    assert scene.window.serious_faults() == []


@when(parsers.parse('the invited person follows the link of the mail and says that she is "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.windows.append(scene.open())
    scene.window.expect_refusal()
    follow_mail(scene)
    page = scene.window.page
    expect(page.get_by_text("cleo@example.com")).to_be_visible()
    assert scene.window.serious_faults() == []
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Accept").press("Enter")


@then(parsers.parse('she is the user "{user}", called "{name}", a responder in the team "{team}"'))
def _(scene: Scene, user: str, name: str, team: str) -> None:
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text("Overview")
    storage = scene.world.container.storage()
    stored = scene.world.run(storage.users.find(user))
    assert stored is not None
    assert (stored.name, stored.role) == (name, Role.RESPONDER)
    assert [place.name for place in scene.world.run(storage.teams.list(user, 0, 10))] == [team]


@then("the link of the mail says that it was used")
def _(scene: Scene) -> None:
    scene.window.page.goto(scene.link)
    expect(scene.window.page.get_by_role("main")).to_contain_text("This invitation was used already")


@given("ann has signed in on a phone and on a computer")
def _(scene: Scene) -> None:
    for agent in (PHONE, COMPUTER):
        scene.somebody("/console/sign-in")
        scene.window.context.set_extra_http_headers({"User-Agent": agent})
        scene.window.page.get_by_label("API key").fill(scene.world.key_of("ann"))
        scene.window.page.get_by_label("API key").press("Enter")
        expect(scene.window.page.get_by_role("heading", level=1)).to_have_text("Overview")


@when("she looks at her signed-in browsers on the computer")
def _(scene: Scene) -> None:
    scene.window.go("/console/keys/sessions")


@then(parsers.parse('she sees "{one}" and "{other}", each with its address'))
def _(scene: Scene, one: str, other: str) -> None:
    for device in (one, other):
        row = scene.window.page.get_by_role("row").filter(has_text=device)
        expect(row).to_contain_text("127.0.0.1")
    assert scene.window.serious_faults() == []


@when("she signs the phone out")
def _(scene: Scene) -> None:
    row = scene.window.page.get_by_role("row").filter(has_text="Android")
    row.locator("summary").press("Enter")
    row.get_by_role("button", name="Sign out").press("Enter")


@then("the phone has to sign in again, and the computer not")
def _(scene: Scene) -> None:
    expect(scene.window.page.get_by_text("The session was ended.")).to_be_visible()
    phone = scene.windows[0].go("/console/keys")
    expect(phone.get_by_role("heading", level=1)).to_have_text("Sign in")


@when("she chooses to connect a channel")
def _(scene: Scene) -> None:
    scene.window.page.get_by_role("link", name="Connect a channel").first.press("Enter")
    expect(scene.window.page.get_by_role("searchbox")).to_be_visible()


@when(parsers.parse('she searches for the channel "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.window.page.get_by_role("searchbox").press_sequentially(text)


@then("the page says that she is signed out, and asks the server for nothing more")
def _(scene: Scene) -> None:
    page = scene.window.page
    expect(page.get_by_role("alert")).to_contain_text("You are signed out")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.evaluate("() => htmx.ajax('GET', '/console', { swap: 'none' })")
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    assert requests == []


@then(parsers.parse('the search still says "{text}"'))
def _(scene: Scene, text: str) -> None:
    expect(scene.window.page.get_by_role("searchbox")).to_have_value(text)


@when("she follows its link and signs in with a new key")
def _(scene: Scene) -> None:
    page = scene.window.page
    page.get_by_role("alert").get_by_role("link").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    _, secret = scene.world.run(scene.access.create_key("ann", Role.MEMBER))
    page.get_by_label("API key").fill(secret)
    page.get_by_label("API key").press("Enter")
