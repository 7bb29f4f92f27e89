"""The steps of web pages that are read into a base."""

from collections.abc import Iterator

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, found, ready_files, send, sources
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.support.platforms.web_site import Answer, WebSite
from tests.support.waiting import until

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


def path_of(rest: Rest, scene: Scene) -> str:
    (source,) = sources(rest, scene)
    return f"{KB}/{scene.base}/sources/{source['id']}"


def text_of(rest: Rest, scene: Scene, name: str) -> str:
    """The text of a file; empty for one that is deleted meanwhile."""
    file = ready_files(rest, scene)[name]["fileId"]
    answer = rest.request("GET", f"{KB}/{scene.base}/files/{file}/text", "ann")
    return str(answer.json()["text"]) if answer.status_code == 200 else ""


@given(parsers.parse('the web site has the page "{path}" titled "{title}" saying "{text}"'))
def has_page(site: WebSite, path: str, title: str, text: str) -> None:
    site.page(path, text, title)


@given(parsers.parse('the web site has the document "{path}"'))
def has_document(site: WebSite, path: str) -> None:
    site.answers[path] = Answer(b"part,number\ngasket,42\n", "text/csv")


@given(parsers.parse('the site\'s map names "{one}" and "{other}"'))
def has_map(site: WebSite, one: str, other: str) -> None:
    site.sitemap("/sitemap.xml", [one, other])


@when(parsers.parse('{user} has the page "{path}" read'))
def adds(rest: Rest, scene: Scene, site: WebSite, user: str, path: str) -> None:
    url = site.url + path if path.startswith("/") else path
    send(rest, scene, "POST", f"{KB}/{scene.base}/pages", user, json={"url": url, "every": 60})


@when(parsers.parse('the page "{path}" is taken away'))
def taken_away(site: WebSite, path: str) -> None:
    del site.answers[path]


@when(parsers.parse('the page "{path}" says "{text}"'))
def says(site: WebSite, path: str, text: str) -> None:
    site.page(path, text, "Pumps")


@when("ann has the source read now")
def reads_now(rest: Rest, scene: Scene) -> None:
    assert send(rest, scene, "POST", f"{path_of(rest, scene)}/read").status_code == 202


@when("ann removes the source of the page")
def removes(rest: Rest, scene: Scene) -> None:
    assert send(rest, scene, "DELETE", path_of(rest, scene)).status_code == 204


@when("ann removes the source of the page, and keeps its files")
def removes_and_keeps(rest: Rest, scene: Scene) -> None:
    assert send(rest, scene, "DELETE", f"{path_of(rest, scene)}?keepFiles=true").status_code == 204


@then(parsers.re(r"at last the source is read, with (?P<count>\d+) pages?"))
def is_read(rest: Rest, scene: Scene, count: str) -> None:
    until(lambda: sources(rest, scene)[0]["state"] == "idle", "the source is read")
    (source,) = sources(rest, scene)
    told = source["found"], source["read"], source["failed"], source["error"], source["every"]
    assert told == (int(count), int(count), 0, None, 60)
    pages = rest.request("GET", f"{path_of(rest, scene)}/pages?state=read", "ann").json()["pages"]
    assert {page["fileId"] for page in pages} == {
        file["fileId"] for file in ready_files(rest, scene).values()
    }


@then(parsers.parse('a search for "{query}" finds "{name}"'))
def finds(rest: Rest, scene: Scene, query: str, name: str) -> None:
    assert found(rest, scene, query) == [name]


@then("the menu of the site is not in it")
def without_menu(rest: Rest, scene: Scene) -> None:
    text = text_of(rest, scene, "Pumps.html")
    assert "cooling pump" in text
    assert "Home" not in text


@then(parsers.parse('the hit tells the address of "{path}"'))
def tells_address(rest: Rest, scene: Scene, site: WebSite, path: str) -> None:
    body = {"query": "cooling pump"}
    (hit,) = rest.request("POST", f"{KB}/{scene.base}/search", "ann", json=body).json()["results"]
    assert hit["sourceUrl"] == site.url + path


@then(parsers.parse('at last the base has only "{name}", which says "{word}"'))
def has_only(rest: Rest, scene: Scene, name: str, word: str) -> None:
    def follows() -> bool:
        return set(ready_files(rest, scene)) == {name} and word in text_of(rest, scene, name)

    until(follows, "the base follows the site")
    assert len(ready_files(rest, scene)) == 1


@then("at last the base has no files")
def no_files(rest: Rest, scene: Scene) -> None:
    until(lambda: not ready_files(rest, scene), "the files are deleted")


@then("the base has no sources")
def no_sources(rest: Rest, scene: Scene) -> None:
    assert sources(rest, scene) == []
