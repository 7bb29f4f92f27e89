"""One service behind a port and one Chromium for all scenarios of the console, and what pages are asked over HTTP.

Tests of this package are `def`, not `async def` (see `__init__.py`); coroutines run in `world.run`.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import httpx
import pytest
from playwright.sync_api import Browser

from adapters.inbound.console.sessions import ROOT, SESSION
from domain.access.model import Role
from tests.drivers.outside import Outside, outside_servers
from tests.drivers.served import ServedWorld
from tests.support.browser import BROWSER, NONE_HERE, Window, a_browser
from tests.support.plain_http import plain_client
from tests.support.postgres import fresh_database

Open = Callable[..., Window]
Look = tuple[int, Literal["light", "dark"]]


@pytest.fixture(scope="package")
def outside() -> Iterator[Outside]:
    """Servers for mail, sign-in and the bot, that the service works with."""
    with outside_servers() as servers:
        yield servers


@pytest.fixture(scope="package")
def served(
    postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory, outside: Outside
) -> Iterator[ServedWorld]:
    with fresh_database(postgres_dsn) as dsn:
        world = ServedWorld(dsn, tmp_path_factory.mktemp("console"), **outside.settings)
        world.start()
        yield world
        world.stop()


@pytest.fixture
def world(served: ServedWorld) -> ServedWorld:
    """The service, with nothing in it."""
    served.empty()
    return served


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if BROWSER is None:
        pytest.skip(NONE_HERE)
    with a_browser() as browser:
        yield browser


def session_of(world: ServedWorld, user: str) -> str:
    """The token of a session of a user; that of "admin" is an admin's."""
    key = world.key_of(user, Role.ADMIN if user == "admin" else Role.MEMBER)
    return world.run(world.container.use_cases().sessions.sign_in(key, "127.0.0.1")).token


WIDE: Look = (1280, "light")
NARROW: Look = (360, "dark")
"""Width in pixels and colours. Scenarios with the tag `@narrow` run as on a phone, where the menu is folded."""


@pytest.fixture
def look(request: pytest.FixtureRequest) -> Look:
    return NARROW if request.node.get_closest_marker("narrow") else WIDE


@pytest.fixture
def window(world: ServedWorld, chromium: Browser, look: Look) -> Iterator[Open]:
    """Opens a window for a user who has signed in, or for somebody who has not. A fault seen in it fails the test."""
    windows: list[Window] = []
    width, colours = look

    def opened(user: str | None = None) -> Window:
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=colours)
        if user is not None:
            host = httpx.URL(world.url).host
            cookie = {"name": SESSION, "value": session_of(world, user), "domain": host, "path": ROOT}
            context.add_cookies([cookie])
        windows.append(Window(context, world.url))
        return windows[-1]

    yield opened
    for each in windows:
        each.context.close()
    assert [fault for each in windows for fault in each.faults] == []


@pytest.fixture
def client(world: ServedWorld) -> Iterator[Callable[[str], httpx.Client]]:
    """A client of HTTP with the session of a user, for what needs no browser; it follows no redirects."""
    clients: list[httpx.Client] = []

    def made(user: str) -> httpx.Client:
        cookies = {SESSION: session_of(world, user)}
        clients.append(plain_client(world.url, cookies=cookies))
        return clients[-1]

    yield made
    for each in clients:
        each.close()
