"""The steps of platform_account.feature."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.console.sessions import SESSION
from domain.access.model import Role, UserState
from domain.access.service import COMMAND
from domain.access.users import NewUser
from domain.audit.model import AuditFilter
from domain.channels.messages import Identity
from ports.access import UserChange
from tests.drivers.outside import Outside
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window
from tests.support.platforms.sign_in import SignIn
from tests.support.postgres import fresh_database

scenarios("platform_account.feature")

VERIFIED = {"Discord": "verified", "Mattermost": "email_verified"}
CALLBACK = "/api/agent/verification/callback/"


@pytest.fixture(scope="module")
def served(
    postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory, outside: Outside
) -> Iterator[ServedWorld]:
    with fresh_database(postgres_dsn) as dsn:
        folder = tmp_path_factory.mktemp("accounts")
        world = ServedWorld(dsn, folder, ADMIN_PASSKEY="required", **outside.settings)
        world.start()
        yield world
        world.stop()


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    outside: Outside
    windows: list[Window] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.windows[-1].page

    @property
    def use_cases(self) -> Any:
        return self.world.container.use_cases()

    @property
    def platform(self) -> SignIn:
        platform = self.outside.sign_in.platform
        assert isinstance(platform, SignIn)
        return platform

    def browser(self) -> None:
        self.windows.append(self.open())
        self.windows[-1].hosts.add(self.outside.sign_in.url.removeprefix("http://"))
        self.windows[-1].expect_refusal()

    def choose(self, name: str) -> None:
        self.page.get_by_role("link", name=f"Sign in with {name}").press("Enter")

    def owner_of(self, account: str) -> str | None:
        identity = Identity("gaming-chat", account)
        owner: str | None = self.world.run(
            self.world.container.storage().identities.resolve([identity], None)
        )
        return owner


@pytest.fixture
def scene(world: ServedWorld, window: Open, outside: Outside) -> Scene:
    outside.sign_in.show(SignIn())
    return Scene(world, window, outside)


@given(parsers.re(r'the user "(?P<user>\w+)" with the address "(?P<email>[^"]+)"(?P<admin> is an admin)?'))
def _(scene: Scene, user: str, email: str, admin: str | None) -> None:
    role = Role.ADMIN if admin else Role.MEMBER
    scene.world.run(scene.use_cases.users.create(COMMAND, NewUser(user, email=email, role=role)))


@given("admins have to confirm with a passkey")
def _(scene: Scene) -> None:
    assert scene.world.settings.admin_passkey == "required"


@given(
    parsers.re(
        r"(?P<platform>Discord|Mattermost) knows the person as account (?P<account>\d+) with the"
        r' (?P<verified>un)?verified address "(?P<email>[^"]+)"'
    )
)
def _(scene: Scene, platform: str, account: str, verified: str | None, email: str) -> None:
    scene.platform.browser_user = {"id": account, "email": email, VERIFIED[platform]: not verified}


@given("the person declines at Discord")
def _(scene: Scene) -> None:
    scene.platform.browser_user = None


@given("Discord tells nothing of the person")
def _(scene: Scene) -> None:
    scene.platform.browser_user = {"email": "ann@example.com", "verified": True}


@given(parsers.re(r"(?P<user>\w+) (has|have) verified account (?P<account>\d+) at Discord"))
def _(scene: Scene, user: str, account: str) -> None:
    if user != "nobody":
        identities = [Identity("gaming-chat", account)]
        scene.world.run(scene.world.container.storage().identities.give(user, identities))


@given("ann is suspended")
def _(scene: Scene) -> None:
    change = UserChange(state=UserState.SUSPENDED)
    scene.world.run(scene.use_cases.users.change(COMMAND, "ann", change))


@when("the person follows the address in a notice on another site")
def _(scene: Scene) -> None:
    scene.browser()
    scene.windows[-1].hosts.add("chat.example")
    address = scene.world.settings.verification_page
    body = f'<a href="{address}">Verify</a>'
    scene.page.route("http://chat.example/", lambda route: route.fulfill(content_type="text/html", body=body))
    scene.page.goto("http://chat.example/")
    scene.page.get_by_role("link", name="Verify").press("Enter")


@when(parsers.re(r"signs in with (?P<platform>\w+)"))
def _(scene: Scene, platform: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert scene.windows[-1].serious_faults() == []
    scene.choose(platform)


@when(parsers.parse("the person opens the sign-in and signs in with {platform}"))
def _(scene: Scene, platform: str) -> None:
    scene.browser()
    scene.windows[-1].go("/console")
    scene.choose(platform)


@when("the person begins a sign-in, and has somebody else open the address at which it ends")
def _(scene: Scene) -> None:
    scene.browser()
    ends: list[str] = []
    scene.page.on("request", lambda request: ends.append(request.url) if CALLBACK in request.url else None)
    scene.page.route("**/console/sign-in/account/*/callback?*", lambda route: route.abort())
    scene.windows[-1].expect_failed_calls()
    scene.windows[-1].go("/console")
    with scene.page.expect_event("requestfailed"):
        scene.choose("Discord")
    scene.browser()
    scene.page.goto(ends[0])


@when("the person goes back to the sign-in")
def _(scene: Scene) -> None:
    scene.page.get_by_role("link", name="Back to the sign-in").press("Enter")


@then(parsers.parse('the page "{title}" is shown'))
def _(scene: Scene, title: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text(title)
    assert scene.windows[-1].serious_faults() == []


@then(parsers.parse('the page says "{text}"'))
def _(scene: Scene, text: str) -> None:
    expect(scene.page.locator("body")).to_contain_text(text)


@then(parsers.parse("account {account} at Discord is listed as verified"))
def _(scene: Scene, account: str) -> None:
    row = scene.page.get_by_role("row").filter(has_text=account)
    expect(row).to_contain_text("Discord")


@then(parsers.parse('the person is signed in as "{user}"'))
def _(scene: Scene, user: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(scene.page.locator("form.who")).to_contain_text(re.compile(rf"Signed in as\s+{user}\b"))


@then(parsers.re(r"nobody is signed in(?P<more>, and nothing is verified)?"))
def _(scene: Scene, more: str | None) -> None:
    assert SESSION not in {cookie["name"] for cookie in scene.windows[-1].context.cookies()}
    if more:
        assert scene.owner_of("4711") is None


@then(parsers.parse('"{user}" is the only user'))
def _(scene: Scene, user: str) -> None:
    users = scene.world.run(scene.world.container.storage().users.list("", "", 10))
    assert [stored.id for stored in users] == [user]


@then(parsers.re(r'the audit log tells of "(?P<actions>[^"]+)" by (?P<user>"[^"]+"|nobody)'))
def _(scene: Scene, actions: str, user: str) -> None:
    entries = scene.world.run(scene.use_cases.audit.list(COMMAND, AuditFilter(), 10, 0)).items
    acted = [entry for entry in entries if entry.action != "user.created"]
    assert sorted(entry.action for entry in acted) == actions.split(", ")
    assert {entry.actor.user_id for entry in acted} == {"" if user == "nobody" else user.strip('"')}
