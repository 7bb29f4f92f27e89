"""The steps of web pages that are read into a base."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.support.platforms.web_site import WebSite
from tests.support.waiting import until

THROUGH = "rest"
SETTINGS = {"PAGES_PAUSE_MS": "0"}
scenarios("web_pages.feature")


@pytest.fixture(scope="module")
def server() -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    yield driver
    driver.close()


@pytest.fixture
def site(server: PlatformDriver) -> WebSite:
    site = WebSite()
    server.show(site)
    return site


def sources(rest: Rest, scene: Scene) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rest.request("GET", f"{KB}/{scene.base}/sources", "ann").json()["sources"]
    return found


def files(rest: Rest, scene: Scene) -> dict[str, dict[str, Any]]:
    """The files of the base, by name."""
    states = rest.request("GET", f"{KB}/{scene.base}/file-states?limit=200", "ann").json()["files"]
    return {file["fileName"]: file for file in states}


def found(rest: Rest, scene: Scene, query: str) -> set[str]:
    """The names of the files that a search finds."""
    body = {"query": query}
    hits = rest.request("POST", f"{KB}/{scene.base}/search/explain", "ann", json=body).json()["results"]
    return {hit["fileName"] for hit in hits}


@given(parsers.parse('the web site has the page "{path}" titled "{title}" saying "{text}"'))
def has_page(site: WebSite, path: str, title: str, text: str) -> None:
    site.page(path, text, title)


@when(parsers.parse('ann has the page "{path}" read'))
def adds(rest: Rest, scene: Scene, site: WebSite, path: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/pages", json={"url": site.url + path})


@then(parsers.parse("at last the source is read, with {count:d} page"))
def is_read(rest: Rest, scene: Scene, count: int) -> None:
    def done() -> bool:
        (source,) = sources(rest, scene)
        return source["state"] == "idle"

    until(done, "the source is read")
    (source,) = sources(rest, scene)
    assert (source["found"], source["read"], source["failed"], source["error"]) == (count, count, 0, None)


@then(parsers.parse('a search for "{query}" finds "{name}"'))
def finds(rest: Rest, scene: Scene, query: str, name: str) -> None:
    assert name in found(rest, scene, query)


@then("the menu of the site is not in it")
def without_menu(rest: Rest, scene: Scene) -> None:
    (file,) = files(rest, scene).values()
    text = rest.request("GET", f"{KB}/{scene.base}/files/{file['fileId']}/text", "ann").json()["text"]
    assert "cooling pump" in text
    assert "Home" not in text
