"""The steps of passkeys.feature."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import CDPSession, expect
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Role, UserState
from domain.access.service import COMMAND
from domain.audit.model import AuditFilter
from ports.access import UserChange
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window, open_menu
from tests.support.plain_http import plain_request
from tests.support.postgres import fresh_database

scenarios("passkeys.feature")

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def served(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWorld]:
    """At a host name: a passkey belongs to one."""
    with fresh_database(postgres_dsn) as dsn:
        folder = tmp_path_factory.mktemp("passkeys")
        world = ServedWorld(dsn, folder, "localhost", ADMIN_PASSKEY="required")
        world.start()
        yield world
        world.stop()


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    windows: list[Window] = field(default_factory=list)
    devices: list[tuple[CDPSession, str]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)

    @property
    def page(self) -> Any:
        return self.windows[-1].page

    def key(self, user: str) -> str:
        return self.world.key_of(user, Role.ADMIN if user == "admin" else Role.MEMBER)

    def browser(self, user: str) -> None:
        window = self.open()
        window.expect_refusal()
        device = window.context.new_cdp_session(window.page)
        device.send("WebAuthn.enable")
        made = device.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        self.windows.append(window)
        self.devices.append((device, made["authenticatorId"]))
        self.users.append(user)

    def sign_in_with_key(self) -> None:
        self.windows[-1].go("/console/sign-in")
        self.page.get_by_label("API key").fill(self.key(self.users[-1]))
        self.page.get_by_label("API key").press("Enter")
        heading = self.page.get_by_role("heading", level=1)
        expect(heading).to_have_text(re.compile("Overview|My passkeys"))

    def sign_out(self) -> None:
        open_menu(self.page)
        self.page.get_by_role("button", name="Sign out").press("Enter")
        expect(self.page.get_by_role("heading", level=1)).to_have_text("Sign in")

    def use_passkey(self) -> None:
        self.page.get_by_role("button", name="Sign in with a passkey").press("Enter")


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Scene:
    return Scene(world, window)


@given(parsers.re(r"(?P<user>ann|admin) has signed in with a key( in another browser)?"))
def _(scene: Scene, user: str) -> None:
    scene.browser(user)
    scene.sign_in_with_key()


@given(parsers.parse('she adds the passkey "{name}"'))
@when(parsers.parse('she adds the passkey "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.windows[-1].go("/console/passkeys")
    assert scene.windows[-1].serious_faults() == []
    scene.page.get_by_label("What is it called?").fill(name)
    scene.page.get_by_role("button", name="Add a passkey").press("Enter")
    expect(scene.page.get_by_text("The passkey was added.")).to_be_visible()


@when(parsers.parse('she removes "{name}"'))
def _(scene: Scene, name: str) -> None:
    row = scene.page.get_by_role("row").filter(has_text=name)
    row.locator("summary").press("Enter")
    row.get_by_role("button", name="Remove").press("Enter")
    expect(scene.page.get_by_text("The passkey was removed.")).to_be_visible()


@when("she signs out and signs in with the passkey")
def _(scene: Scene) -> None:
    scene.sign_out()
    assert scene.windows[-1].serious_faults() == []
    scene.use_passkey()


@when("she signs out and signs in with her key")
def _(scene: Scene) -> None:
    scene.sign_out()
    scene.sign_in_with_key()


@when("somebody else holds the device, and tries to sign in with the passkey")
def _(scene: Scene) -> None:
    scene.sign_out()
    device, authenticator = scene.devices[-1]
    device.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    scene.use_passkey()


@when("ann is suspended, and she signs in with the passkey")
def _(scene: Scene) -> None:
    scene.sign_out()
    users = scene.world.container.use_cases().users
    scene.world.run(users.change(COMMAND, "ann", UserChange(state=UserState.SUSPENDED)))
    scene.use_passkey()


@when("she signs out, signs in with her key, and the passkey of ann answers")
def _(scene: Scene) -> None:
    """The credential of ann's device, under the id that the page asks for, as a changed browser would send it."""
    scene.sign_out()
    scene.sign_in_with_key()
    (of_ann, hers), (of_admin, his) = scene.devices
    [credential] = of_ann.send("WebAuthn.getCredentials", {"authenticatorId": hers})["credentials"]
    of_admin.send("WebAuthn.clearCredentials", {"authenticatorId": his})
    of_admin.send("WebAuthn.addCredential", {"authenticatorId": his, "credential": credential})
    scene.page.evaluate(
        """() => {
            const get = navigator.credentials.get.bind(navigator.credentials);
            navigator.credentials.get = ({ publicKey }) => get({ publicKey: { ...publicKey, allowCredentials: [] } });
        }"""
    )
    scene.page.get_by_role("button", name="Confirm with a passkey").press("Enter")


@when("she confirms with a passkey")
def _(scene: Scene) -> None:
    scene.page.get_by_role("button", name="Confirm with a passkey").press("Enter")


@when("another admin resets her passkeys")
def _(scene: Scene) -> None:
    headers = {"authorization": f"Bearer {scene.world.key_of('other', Role.ADMIN)}"}
    address = f"{scene.world.url}/api/agent/users/admin/passkeys"
    assert plain_request("DELETE", address, headers=headers).json() == {"removed": 1}


@when("she opens the page of the channels")
def _(scene: Scene) -> None:
    scene.windows[-1].go("/console/channels")


@then(parsers.parse('the page "{title}" is shown'))
def _(scene: Scene, title: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text(title)
    assert scene.windows[-1].serious_faults() == []


@then(parsers.parse('the page says "{text}"'))
def _(scene: Scene, text: str) -> None:
    expect(scene.page.get_by_role("main")).to_contain_text(text)


@then(parsers.parse('"{name}" is among her passkeys'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.get_by_role("row").filter(has_text=name)).to_be_visible()


@then(parsers.parse('she is signed in as "{user}"'))
def _(scene: Scene, user: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Overview")
    expect(scene.page.locator("form.who")).to_contain_text(re.compile(rf"Signed in as\s+{user}\b"))


@then("no passkey can be added")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_role("button", name="Add a passkey")).to_have_count(0)
    error = scene.page.evaluate(
        """async () => {
            const headers = { "x-csrf-token": document.querySelector('meta[name="csrf"]').content };
            return (await fetch("/console/passkeys/start", { method: "POST", headers })).status;
        }"""
    )
    assert error == 403


@then("her API key works all the time")
def _(scene: Scene) -> None:
    headers = {"authorization": f"Bearer {scene.key('admin')}"}
    answer = plain_request("GET", f"{scene.world.url}/api/agent/users", headers=headers)
    assert answer.status_code == 200


@then("the audit log tells that a passkey was added and signed in")
def _(scene: Scene) -> None:
    audit = scene.world.container.use_cases().audit
    entries = scene.world.run(audit.list(COMMAND, AuditFilter(actor="ann"), 10, 0)).items
    assert "passkey.added" in [entry.action for entry in entries]
    assert entries[0].action == "session.opened"
    assert str(entries[0].data["with"]).startswith("passkey:")
