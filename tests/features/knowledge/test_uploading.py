"""The steps of uploading files."""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.system import blobs as incoming
from tests.drivers.knowledge import KB, Scene, listed, send, upload
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.waiting import until

SETTINGS = {"MAX_UPLOAD_MB": "1", "MAX_FILES_PER_UPLOAD": "3"}
scenarios("uploading.feature")


@when(parsers.parse('ann uploads "{name}" saying "{text}" without waiting'))
def uploads_async(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene, [("file", name, text.encode())], prefer="respond-async")


@when("ann uploads these files:")
def uploads_several(rest: Rest, scene: Scene, datatable: list[list[str]]) -> None:
    files = [(field, name, text.replace("\\n", "\n").encode()) for field, name, text in datatable[1:]]
    upload(rest, scene, files)


@when(
    parsers.re(
        r'ann uploads "good.txt" saying "A good file." together with "(?P<name>[^"]*)" holding ?(?P<content>\w*)'
    )
)
def uploads_pair(rest: Rest, scene: Scene, name: str, content: str) -> None:
    upload(rest, scene, [("a", "good.txt", b"A good file."), ("b", name, bytes.fromhex(content))])


@when("ann uploads nothing")
def uploads_nothing(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/uploadfile", data={"a": "b"})


@when(parsers.parse('ann uploads "{name}" of {size:d} bytes'))
def uploads_big(rest: Rest, scene: Scene, name: str, size: int) -> None:
    upload(rest, scene, [("f", name, b"a " * (size // 2))])


@when(parsers.parse("ann uploads {count:d} files"))
def uploads_many(rest: Rest, scene: Scene, count: int) -> None:
    upload(rest, scene, [("f", f"{i}.txt", f"text {i}".encode()) for i in range(count)])


@given("the disk of the service is full")
def full_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def mkstemp(dir: Path) -> tuple[int, str]:  # noqa: A002
        path = dir / "incoming-file"
        path.touch()
        return os.open("/dev/full", os.O_WRONLY), str(path)

    monkeypatch.setattr(incoming.tempfile, "mkstemp", mkstemp)


@given("the disk of the database is full")
def full_database(world: World, request: pytest.FixtureRequest) -> None:
    """A trigger says what PostgreSQL says when it finds no room for a row."""
    database = world.container.database()
    world.run(
        database.execute(
            "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING"
            " ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device'; END $$;"
            " CREATE TRIGGER no_room BEFORE INSERT ON kb_upload FOR EACH ROW EXECUTE FUNCTION no_room()"
        )
    )
    drop = "DROP TRIGGER no_room ON kb_upload; DROP FUNCTION no_room()"
    request.addfinalizer(lambda: world.run(database.execute(drop)))


@then("the answer asks to wait")
def asks_to_wait(scene: Scene) -> None:
    assert int(scene.answer.headers["retry-after"]) >= 30


@then("nothing of it stays behind")
def nothing_stays(rest: Rest, scene: Scene, world: World) -> None:
    assert listed(rest, scene) == []
    uploads = world.settings.data_dir / "uploads"
    assert [*(uploads / "incoming").iterdir(), *uploads.rglob(scene.hash)] == []
    assert world.run(world.container.database().fetch("SELECT key FROM blob WHERE reference_count > 0")) == []


@when(parsers.parse('ann uploads a file whose name has {count:d} characters and ends in "{end}"'))
def uploads_long_name(rest: Rest, scene: Scene, count: int, end: str) -> None:
    upload(rest, scene, [("f", "\u00e4" * (count - len(end)) + end, b"A file with a long name.")])


@when(parsers.parse("ann uploads a file with a boundary of {length:d} characters"))
def uploads_with_boundary(rest: Rest, scene: Scene, length: int) -> None:
    boundary = "b" * length
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; filename="a.txt"\r\n\r\ntext\r\n--{boundary}--\r\n'
    )
    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
    path = f"{KB}/{scene.base}/uploadfile"
    send(rest, scene, "POST", path, content=body.encode(), headers=headers)


@then(parsers.parse('the file\'s name has {count:d} characters and ends in "{end}"'))
def long_name_is(rest: Rest, scene: Scene, count: int, end: str) -> None:
    (file,) = listed(rest, scene)
    assert (len(file["file_name"]), file["file_name"][-len(end) :]) == (count, end)
    assert scene.answer.json()["fileName"] == file["file_name"]


@then("the file's id is the SHA-256 of its bytes, at the top and in the list")
def hash_is(scene: Scene) -> None:
    body = scene.answer.json()
    (only,) = body["files"]
    assert only == {"fileId": scene.hash, "fileName": "pumps.txt", "fileSize": 38, "mimeType": "text/plain"}
    assert (body["fileId"], body["fileHash"], body["fileName"]) == (scene.hash, scene.hash, "pumps.txt")
    assert (body["fileSize"], body["mimeType"]) == (38, "text/plain")
    assert isinstance(body["message"], str)


@then(parsers.parse('a search for "{query}" finds "{name}"'))
def search_finds(rest: Rest, scene: Scene, query: str, name: str) -> None:
    found = rest.request("POST", f"{KB}/{scene.base}/search", "ann", json={"query": query}).json()["results"]
    assert scene.names[found[0]["fileId"]] == name


@then(parsers.parse("{count:d} files are listed as ready"))
def files_ready(rest: Rest, scene: Scene, count: int) -> None:
    assert [(each["status"], each["progress"], each["error"]) for each in listed(rest, scene)] == [
        ("ready", 1.0, None)
    ] * count


@then("no files are listed")
def no_files(rest: Rest, scene: Scene) -> None:
    assert listed(rest, scene) == []


@then("the answer names no file at its top")
def nothing_at_top(scene: Scene) -> None:
    assert set(scene.answer.json()) == {"message", "files"}


@then(parsers.parse('each file of the answer has the status "{status}"'))
def status_of_files(scene: Scene, status: str) -> None:
    assert {each["status"] for each in scene.answer.json()["files"]} == {status}


@then("at last the file is ready")
def at_last_ready(rest: Rest, scene: Scene) -> None:
    until(lambda: listed(rest, scene)[0]["status"] == "ready", "the file is ready")


@then(parsers.parse('the upload is called "{name}"'))
def upload_called(scene: Scene, name: str) -> None:
    body = scene.answer.json()
    assert (body["fileName"], [file["fileName"] for file in body["files"]]) == (name, [name])


@then(parsers.parse('the one file is called "{name}" in the list, in its record and in downloads'))
def called_everywhere(rest: Rest, scene: Scene, name: str) -> None:
    (file,) = listed(rest, scene)
    record = rest.request("GET", f"{KB}/file/{scene.hash}", "ann").json()["file"]
    download = rest.request("GET", f"{KB}/download/{scene.hash}", "ann")
    assert [file["file_name"], record["file_name"]] == [name, name]
    assert f'filename="{name}"' in download.headers["content-disposition"]


@then(parsers.re(r'the files are called (?P<names>".*")'))
def files_called(rest: Rest, scene: Scene, names: str) -> None:
    assert sorted(file["file_name"] for file in listed(rest, scene)) == re.findall(r'"([^"]*)"', names)


@when(
    parsers.re(r"(?P<user>\w+) begins an upload to (?P<base>the base|no base), announcing (?P<size>\d+) MB")
)
def begins_upload(rest: Rest, scene: Scene, read: list[str], user: str, base: str, size: str) -> None:
    async def body() -> AsyncIterator[bytes]:
        read.append("read")
        yield b"--b\r\n"

    path = f"{KB}/{scene.base if base == 'the base' else 999_999}/uploadfile"
    headers = {"content-type": "multipart/form-data; boundary=b", "content-length": str(int(size) * 2**20)}
    send(rest, scene, "POST", path, None if user == "nobody" else user, content=body(), headers=headers)


@pytest.fixture
def read() -> list[str]:
    return []


@then("no byte of it was read")
def nothing_read(read: list[str]) -> None:
    assert read == []
