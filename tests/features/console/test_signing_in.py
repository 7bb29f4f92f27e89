"""The steps of signing_in.feature."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import httpx
import pytest
from playwright.sync_api import expect
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.console.sessions import SESSION
from domain.access.service import AccessService
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window, open_menu

scenarios("signing_in.feature")


@dataclass
class Scene:
    world: ServedWorld
    open: Open
    link: str = ""
    windows: list[Window] = field(default_factory=list)

    @property
    def window(self) -> Window:
        return self.windows[-1]

    def somebody(self, path: str, user: str | None = None) -> None:
        self.windows.append(self.open(user))
        self.window.go(path)

    @property
    def access(self) -> AccessService:
        return self.world.container.access()

    def type_key(self, key: str) -> None:
        page = self.window.page
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        expect(page.get_by_label("API key")).to_be_focused()
        page.keyboard.type(key)
        page.keyboard.press("Enter")


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Scene:
    return Scene(world, window)


@when("somebody opens the overview")
def _(scene: Scene) -> None:
    scene.somebody("/console")


@when("they sign in with the key of ann, by keyboard alone")
def _(scene: Scene) -> None:
    scene.type_key(scene.world.key_of("ann"))


@when("they sign in with a key that nobody has, by keyboard alone")
def _(scene: Scene) -> None:
    scene.window.expect_refusal()
    scene.type_key("sb_nobody-has-this-key")


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


@when("she opens the overview again")
def _(scene: Scene) -> None:
    scene.window.go("/console")


@when("she signs out")
def _(scene: Scene) -> None:
    [cookie] = [each for each in scene.window.context.cookies() if each["name"] == SESSION]
    scene.link = cookie["value"]
    open_menu(scene.window.page)
    scene.window.page.get_by_role("button", name="Sign out").press("Enter")


@then("the session's cookie opens nothing any more")
def _(scene: Scene) -> None:
    answer = httpx.get(f"{scene.world.url}/console", cookies={SESSION: scene.link}, trust_env=False)
    assert answer.headers["location"].startswith("/console/sign-in")
