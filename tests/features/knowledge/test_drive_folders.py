"""The steps of Drive folders that are fed into a base."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound.jobs import uploads as arq_worker
from tests.drivers.knowledge import KB, Scene, found, ready_files, send, sources
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.drive import CLIENT, FOLDER, Drive
from tests.support.waiting import until

scenarios("drive_folders.feature")


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    request.module.SETTINGS = {"DRIVE_FOLDER_API_URL": driver.url, "GOOGLE_TOKEN_URL": f"{driver.url}/token"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arq_worker, "POLL_SECONDS", 0.02)
        yield driver
    driver.close()


@pytest.fixture
def drive(platform_driver: PlatformDriver) -> Drive:
    drive = Drive()
    platform_driver.show(drive)
    return drive


def put(drive: Drive, name: str, text: str, mime_type: str) -> None:
    drive.contents[f"file{len(drive.files) + 1}"] = text.encode()
    drive.put(name, mime_type)


def named(drive: Drive, name: str) -> str:
    return next(file["id"] for file in list(drive.files.values()) if file["name"] == name)


@given(parsers.parse('the folder has the file "{name}" saying "{text}"'))
@when(parsers.parse('the folder has the file "{name}" saying "{text}"'))
def has_file(drive: Drive, name: str, text: str) -> None:
    put(drive, name, text, "text/plain")


@given(parsers.parse('the folder has a film "{name}"'))
def has_film(drive: Drive, name: str) -> None:
    put(drive, name, "", "video/mp4")


@when(parsers.parse("{user} has the folder fed into the base"))
def feeds(rest: Rest, scene: Scene, user: str) -> None:
    config = {**CLIENT, "folderId": FOLDER, "knowledgeBaseId": scene.base}
    body = {"channelId": "drive-folder", "channelName": "Folder", "config": config}
    send(rest, scene, "POST", "/api/agent/channel-instances", user, json=body)


@when(parsers.parse('the file "{name}" is changed to say "{text}"'))
def changes(drive: Drive, name: str, text: str) -> None:
    file_id = named(drive, name)
    drive.contents[file_id] = text.encode()
    drive.change(file_id)


@when(parsers.parse('the file "{name}" is renamed to "{other}"'))
def renames(drive: Drive, name: str, other: str) -> None:
    drive.change(named(drive, name), name=other)


@when(parsers.parse('the file "{name}" is thrown away'))
def throws_away(drive: Drive, name: str) -> None:
    drive.change(named(drive, name), trashed=True)


@when("the folder is looked at again")
def looked_at(world: World) -> None:
    due = "UPDATE schedule SET next_run_at = now() WHERE owner IS NULL RETURNING instance_id"
    until(lambda: bool(world.run(world.container.database().fetch(due))), "the folder has a plan")


@when("ann removes the source")
def removes(rest: Rest, scene: Scene) -> None:
    (source,) = sources(rest, scene)
    send(rest, scene, "DELETE", f"{KB}/{scene.base}/sources/{source['id']}")


@then(parsers.parse('at last the base has the files "{names}"'))
def has_files(rest: Rest, scene: Scene, names: str) -> None:
    until(lambda: set(ready_files(rest, scene)) == set(names.split(", ")), f"the base has {names}")


@then(parsers.parse('at last a search for "{query}" finds only "{name}"'))
def finds_only(rest: Rest, scene: Scene, query: str, name: str) -> None:
    until(lambda: found(rest, scene, query) == [name], f"a search finds {name}")


@then(parsers.parse('nothing is found for "{query}"'))
def finds_nothing(rest: Rest, scene: Scene, query: str) -> None:
    until(lambda: found(rest, scene, query) == [], "nothing is found any more")


@then(parsers.parse('the source says of "{name}" that "{why}"'))
def says(rest: Rest, scene: Scene, name: str, why: str) -> None:
    (source,) = sources(rest, scene)
    assert (source["kind"], source["instanceId"]) == ("drive", source["instanceId"])
    path = f"{KB}/{scene.base}/sources/{source['id']}/pages?state=skipped"
    pages: list[dict[str, Any]] = rest.request("GET", path, "ann").json()["pages"]
    assert [(page["name"], page["error"]) for page in pages] == [(name, why)]
