"""The steps of single_sign_on.feature."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.console.sessions import SESSION
from apps.sign_in import rules
from domain.access.model import Role, TeamMember, UserState
from domain.access.service import COMMAND
from domain.access.users import NewUser
from domain.audit.model import AuditFilter
from ports.access import UserChange
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window, open_menu
from tests.support.openid import OpenIdServer, openid_server
from tests.support.postgres import fresh_database

scenarios("single_sign_on.feature")

ADMIN = COMMAND
ANN = {"sub": "account-1", "name": "Ann Archer", "email_verified": True}


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with openid_server() as server:
        yield server


@pytest.fixture(scope="module")
def served(
    postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory, provider: OpenIdServer
) -> Iterator[ServedWorld]:
    with fresh_database(postgres_dsn) as dsn:
        world = ServedWorld(dsn, tmp_path_factory.mktemp("console"), **provider.settings)
        world.start()
        yield world
        world.stop()


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    provider: OpenIdServer
    windows: list[Window] = field(default_factory=list)
    claims: dict[str, Any] = field(default_factory=dict)
    address: str = ""

    def pass_time(self, by: timedelta) -> None:
        self.world.clock.advance(by)

    @property
    def window(self) -> Window:
        return self.windows[-1]

    @property
    def use_cases(self) -> Any:
        return self.world.container.use_cases()

    def rule(self, **settings: str) -> None:
        """What the settings say of who may sign in."""
        settings = {f"oidc_{name}": text for name, text in settings.items()}
        self.use_cases.single_sign_on.rules = rules(self.world.settings.model_copy(update=settings))

    def show(self, claims: dict[str, Any], user_info: dict[str, Any] | None = None) -> None:
        self.claims = claims
        self.provider.show(claims, user_info)

    def browser(self) -> None:
        self.windows.append(self.open())
        self.window.hosts.add(self.provider.issuer.removeprefix("http://"))
        self.window.expect_refusal()

    def sign_in(self, path: str = "/console") -> None:
        self.browser()
        self.window.go(path)
        self.window.page.get_by_role("link", name="Sign in with localhost").press("Enter")

    def user(self, user_id: str) -> Any:
        return self.world.run(self.world.container.storage().users.find(user_id))

    def teams_of(self, user_id: str) -> set[str]:
        teams = self.world.run(self.world.container.storage().teams.list(user_id, 0, 100))
        return {team.name for team in teams}


@pytest.fixture
def scene(world: ServedWorld, window: Open, provider: OpenIdServer) -> Scene:
    provider.start()
    provider.fault("")
    scene = Scene(world, window, provider)
    scene.rule()
    return scene


@given(parsers.parse('addresses of "{domain}" may sign in'))
def _(scene: Scene, domain: str) -> None:
    scene.rule(allowed_domains=domain)


@given(parsers.parse('the roles "{roles}" and the teams "{teams}"'))
def _(scene: Scene, roles: str, teams: str) -> None:
    scene.rule(role_map=roles, team_map=teams)


@given(parsers.re(r"the teams Billing, Sales and Other, of which Sales and Other have (?P<who>ann|nobody)"))
def _(scene: Scene, who: str) -> None:
    members = []
    if who == "ann":
        new = NewUser("ann@example.com", email="ann@example.com")
        scene.world.run(scene.use_cases.users.create(ADMIN, new))
        members = [TeamMember("ann@example.com", lead=True)]
    for name in ("Billing", "Sales", "Other"):
        of_team = [] if name == "Billing" else members
        scene.world.run(scene.use_cases.teams.create(ADMIN, name, of_team))


@given(parsers.re(r'the provider knows (ann|eve) as "(?P<email>[^"]+)"'))
def _(scene: Scene, email: str) -> None:
    scene.show({**ANN, "email": email})


@given(parsers.parse('the provider knows ann as "{email}" in the groups "{groups}"'))
def _(scene: Scene, email: str, groups: str) -> None:
    scene.show({**ANN, "email": email, "groups": groups.split(", ")})


@given(parsers.parse('the provider tells only in the user information that ann is in the groups "{groups}"'))
def _(scene: Scene, groups: str) -> None:
    more = {"email": "ann@example.com", "email_verified": True, "groups": groups.split(", ")}
    scene.show({"sub": "account-1", "name": "Ann Archer"}, more)


@given("the provider knows somebody with an address that is not verified")
def _(scene: Scene) -> None:
    scene.show({**ANN, "email": "eve@example.com", "email_verified": False})


@given(parsers.parse("the provider knows somebody with the address {email}"))
def _(scene: Scene, email: str) -> None:
    scene.show({**ANN, "email": email})


@given(parsers.parse('the user "{user}" with the address "{email}" is an admin'))
def _(scene: Scene, user: str, email: str) -> None:
    scene.world.run(scene.use_cases.users.create(ADMIN, NewUser(user, email=email, role=Role.ADMIN)))


@given("ann is suspended")
def _(scene: Scene) -> None:
    scene.world.key_of("other", Role.ADMIN)
    change = UserChange(state=UserState.SUSPENDED)
    scene.world.run(scene.use_cases.users.change(ADMIN, "ann", change))


@given("she has signed in at the provider before")
def _(scene: Scene) -> None:
    scene.sign_in()
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text("Overview")


@given(parsers.parse("the provider sends {fault}"))
def _(scene: Scene, fault: str) -> None:
    scene.provider.fault(fault)


@given("the provider does not answer")
def _(scene: Scene) -> None:
    scene.pass_time(timedelta(hours=2))
    scene.provider.stop()


@when("she opens the page of the channels and signs in at the provider")
def _(scene: Scene) -> None:
    scene.sign_in("/console/channels")


@when(parsers.re(r"(she signs|they sign) in at the provider"))
def _(scene: Scene) -> None:
    scene.sign_in()


@when(parsers.parse('another person of the provider with the address "{email}" signs in'))
def _(scene: Scene, email: str) -> None:
    scene.show({**ANN, "sub": "account-2", "email": email})
    scene.sign_in()


@when(parsers.parse('ann, whose address is "{email}" by now, signs in'))
def _(scene: Scene, email: str) -> None:
    scene.show({**ANN, "email": email})
    scene.sign_in()


@when(parsers.parse('the provider has ann in the groups "{groups}" alone, and she signs in anew'))
def _(scene: Scene, groups: str) -> None:
    scene.show({**scene.claims, "groups": groups.split(", ")})
    scene.sign_in()


@when("the provider signs with a new key a little later, and she signs in anew")
def _(scene: Scene) -> None:
    scene.provider.rotate()
    scene.pass_time(timedelta(seconds=20))
    scene.sign_in()


@when("eve begins a sign-in and sends ann the address at which it ends")
def _(scene: Scene) -> None:
    scene.browser()
    page = scene.window.page
    addresses: list[str] = []
    page.route(
        "**/console/sign-in/callback?*", lambda route: (addresses.append(route.request.url), route.abort())
    )
    scene.window.expect_failed_calls()
    scene.window.go("/console")
    page.get_by_role("link", name="Sign in with localhost").press("Enter")
    with page.expect_event("requestfailed"):
        pass
    scene.address = addresses[0]


@when("ann opens it")
def _(scene: Scene) -> None:
    scene.browser()
    scene.window.page.goto(scene.address)


@when("she signs out")
def _(scene: Scene) -> None:
    open_menu(scene.window.page)
    scene.window.page.get_by_role("button", name="Sign out").press("Enter")


@when("they go back to the sign-in")
def _(scene: Scene) -> None:
    scene.window.page.get_by_role("link", name="Back to the sign-in").press("Enter")


@when("they sign in with the key of bob in its place")
def _(scene: Scene) -> None:
    page = scene.window.page
    page.get_by_role("link", name="Back to the sign-in").press("Enter")
    page.get_by_label("API key").fill(scene.world.key_of("bob"))
    page.get_by_label("API key").press("Enter")


@then(parsers.parse('the page "{title}" is shown'))
def _(scene: Scene, title: str) -> None:
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text(title)
    assert scene.window.serious_faults() == []


@then(parsers.parse('the page says "{text}"'))
def _(scene: Scene, text: str) -> None:
    expect(scene.window.page.get_by_role("main")).to_contain_text(text)


@then(parsers.parse('there is a user "{user}" with the role member, called "{name}"'))
def _(scene: Scene, user: str, name: str) -> None:
    stored = scene.user(user)
    assert (stored.role, stored.name, stored.email) == (Role.MEMBER, name, user)


@then(parsers.parse('there is no user "{user}"'))
def _(scene: Scene, user: str) -> None:
    assert scene.user(user) is None


@then(parsers.parse('she is signed in as "{user}"'))
def _(scene: Scene, user: str) -> None:
    page = scene.window.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(page.locator("form.who")).to_contain_text(re.compile(rf"Signed in as\s+{re.escape(user)}\b"))


@then("the provider was asked to sign her out too")
def _(scene: Scene) -> None:
    assert scene.provider.end_sessions()[-1] == {"hint": True, "client": "switchboard"}


@then("nobody was signed in, and the audit log tells of a wrong sign-in")
def _(scene: Scene) -> None:
    assert SESSION not in {cookie["name"] for cookie in scene.window.context.cookies()}
    entries = scene.world.run(scene.use_cases.audit.list(ADMIN, AuditFilter(action="session"), 10, 0)).items
    assert [entry.action for entry in entries] == ["session.refused"]


@given(parsers.parse('an admin has invited "{email}" as an admin'))
def _(scene: Scene, email: str) -> None:
    scene.world.run(scene.use_cases.invitations.create(ADMIN, email, Role.ADMIN, []))


@given("another user is an admin")
def _(scene: Scene) -> None:
    scene.world.key_of("other", Role.ADMIN)


@then(parsers.re(r"she has the role (?P<role>\w+), and is in (?P<teams>no team|the teams? .+)"))
def _(scene: Scene, role: str, teams: str) -> None:
    expect(scene.window.page.get_by_role("heading", level=1)).to_have_text("Overview")
    assert scene.user("ann@example.com").role == role
    assert scene.teams_of("ann@example.com") == set(re.findall(r"[A-Z]\w+", teams))
