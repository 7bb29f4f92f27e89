"""The steps of the knowledge features."""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import Rest

THROUGH = "rest"
SETTINGS = {"MAX_UPLOAD_MB": "1", "MAX_FILES_PER_UPLOAD": "3"}
scenarios(
    "managing.feature", "permissions.feature", "uploading.feature", "searching.feature", "reading.feature"
)

KB = "/api/agent/kb"


@dataclass
class Scene:
    """What a scenario has done so far."""

    base: int = 0
    content: bytes = b""
    names: dict[str, str] = field(default_factory=dict)
    answer: httpx.Response = field(default_factory=lambda: httpx.Response(0))

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@pytest.fixture
def scene() -> Scene:
    return Scene()


def send(
    rest: Rest, scene: Scene, method: str, path: str, user: str | None = "ann", **options: Any
) -> httpx.Response:
    scene.answer = rest.request(method, path, user, **options)
    return scene.answer


def upload(
    rest: Rest, scene: Scene, files: list[tuple[str, str, bytes]], user: str = "ann", **headers: str
) -> None:
    scene.names.update({hashlib.sha256(content).hexdigest(): name for _, name, content in files})
    scene.content = files[-1][2] if files else b""
    parts = [(name, (file, content)) for name, file, content in files]
    send(rest, scene, "POST", f"{KB}/{scene.base}/uploadfile", user, files=parts, headers=headers)


def listed(rest: Rest, scene: Scene) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rest.request("GET", f"{KB}/{scene.base}/files", "ann").json()["files"]
    return found


# managing


@when(parsers.parse('ann creates the base "{name}" described as "{description}"'))
def create(rest: Rest, scene: Scene, name: str, description: str) -> None:
    send(rest, scene, "POST", KB, json={"name": name, "description": description})


@when(parsers.re(r"ann creates a base with the body (?P<body>.*)"))
def create_with(rest: Rest, scene: Scene, body: str) -> None:
    send(rest, scene, "POST", KB, content=body.encode(), headers={"content-type": "application/json"})


@given(parsers.parse('ann has the base "{name}"'))
def has_base(rest: Rest, scene: Scene, name: str) -> None:
    scene.base = send(rest, scene, "POST", KB, json={"name": name}).json()["id"]


@when("ann asks for the base")
def ask_base(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/{scene.base}")


@when(parsers.parse('ann renames the base to "{name}"'))
def rename(rest: Rest, scene: Scene, name: str) -> None:
    send(rest, scene, "PUT", f"{KB}/{scene.base}", json={"name": name})


@when("ann deletes the base")
def delete(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "DELETE", f"{KB}/{scene.base}")


@when(parsers.re(r"(?P<user>\w+) sends (?P<method>[A-Z]+) to (?P<path>\S+)"))
def sends(rest: Rest, scene: Scene, user: str, method: str, path: str) -> None:
    body = {"name": "x", "query": "x"} if method in ("PUT", "POST") else None
    path = path.replace("{hash}", scene.hash)
    send(rest, scene, method, path, None if user == "nobody" else user, json=body)


@then(parsers.parse("the answer is {status:d}"))
def status_is(scene: Scene, status: int) -> None:
    assert scene.answer.status_code == status, scene.answer.text


@then(parsers.parse("the answer is {status:d} without a body"))
def status_without_body(scene: Scene, status: int) -> None:
    assert (scene.answer.status_code, scene.answer.content) == (status, b"")


@then(parsers.parse('the error is "{text}"'))
def error_is(scene: Scene, text: str) -> None:
    assert scene.answer.json() == {"error": text}


@then(parsers.parse('the error names "{field}"'))
def error_names(scene: Scene, field: str) -> None:
    assert list(scene.answer.json()) == ["error"]
    assert field in scene.answer.json()["error"]


@then(
    parsers.parse(
        'the body says name "{name}", description "{description}", type "{kind}" and status "{status}"'
    )
)
def created_body(scene: Scene, name: str, description: str, kind: str, status: str) -> None:
    body = scene.answer.json()
    assert isinstance(body.pop("id"), int)
    assert body == {"name": name, "description": description, "type": kind, "status": status}


@then(parsers.parse('the base is named "{name}" and was created by ann'))
def base_named(scene: Scene, name: str) -> None:
    base = scene.answer.json()["knowledgeBase"]
    assert list(base) == ["id", "name", "description", "created_by", "created_at", "updated_at"]
    assert (base["name"], base["created_by"]) == (name, "ann")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", base["created_at"])


@then(parsers.parse('ann\'s bases are "{name}"'))
def anns_bases(rest: Rest, name: str) -> None:
    found = rest.request("GET", KB, "ann").json()["knowledgeBases"]
    assert [base["name"] for base in found] == [name]


@then(parsers.parse('{user}\'s bases are "{name}" at level {level:d}'))
def users_bases(rest: Rest, user: str, name: str, level: int) -> None:
    found = rest.request("GET", KB, user).json()["knowledgeBases"]
    assert [(base["name"], base["permission_level"]) for base in found] == [(name, level)]


@then(parsers.parse("{user} has no bases"))
def no_bases(rest: Rest, user: str) -> None:
    assert rest.request("GET", KB, user).json() == {"knowledgeBases": []}


@then(parsers.parse('nothing is left of "{name}"'))
def nothing_left(rest: Rest, scene: Scene, name: str) -> None:
    for kind in ("file", "download", "chunks"):
        assert rest.request("GET", f"{KB}/{kind}/{scene.hash}", "ann").status_code == 404


# permissions


@given(parsers.parse("ann gives bob level {level:d}"))
@when(parsers.parse("ann gives bob level {level:d}"))
def gives(rest: Rest, scene: Scene, level: int) -> None:
    body = {"userId": "bob", "permission_level": level}
    assert rest.request("PUT", f"{KB}/{scene.base}/permissions", "ann", json=body).status_code == 204


@when(parsers.parse("bob tries to {action}"))
def tries(rest: Rest, scene: Scene, action: str) -> None:
    base = f"{KB}/{scene.base}"
    calls: dict[str, tuple[str, str, dict[str, Any]]] = {
        "get": ("GET", base, {}),
        "update": ("PUT", base, {"json": {"name": "x"}}),
        "delete": ("DELETE", base, {}),
        "share": ("PUT", f"{base}/permissions", {"json": {"userId": "eve", "permission_level": 1}}),
        "upload": ("POST", f"{base}/uploadfile", {"files": {"f": ("a.txt", b"some text")}}),
        "search": ("POST", f"{base}/search", {"json": {"query": "x"}}),
        "files": ("GET", f"{base}/files", {}),
    }
    method, path, options = calls[action]
    send(rest, scene, method, path, "bob", **options)


# uploading


@when(parsers.parse('ann uploads "{name}" saying "{text}"'))
@given(parsers.parse('ann has uploaded "{name}" saying "{text}"'))
def uploads(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene, [("file", name, text.encode())])


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
    until = time.monotonic() + 30
    while listed(rest, scene)[0]["status"] != "ready":
        assert time.monotonic() < until


# searching


@when(parsers.parse('ann searches for "{query}"'))
def searches(rest: Rest, scene: Scene, query: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json={"query": query})


@when(parsers.re(r"ann searches with the body (?P<body>.*)"))
def searches_with(rest: Rest, scene: Scene, body: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json=json.loads(body))


@then(parsers.parse('the first result is from "{name}"'))
def first_from(scene: Scene, name: str) -> None:
    first = scene.answer.json()["results"][0]
    assert set(first) == {"chunk", "fileId", "metadata", "similarity", "chunkId"}
    assert scene.names[first["fileId"]] == name


@then("results fall in similarity from 0 to 1, each chunk once, at most ten")
def well_ordered(scene: Scene) -> None:
    results = scene.answer.json()["results"]
    similarities = [each["similarity"] for each in results]
    assert similarities == sorted(similarities, reverse=True)
    assert all(0 <= each <= 1 for each in similarities)
    assert len({each["chunkId"] for each in results}) == len(results) <= 10


# reading


@given(parsers.re(r'ann has uploaded a text of (?P<count>\d+) paragraphs as "(?P<name>.*)"'))
def uploaded_text(rest: Rest, scene: Scene, count: str, name: str) -> None:
    text = "\n\n".join(f"Paragraph {i} tells of hall {i}. " * 12 for i in range(int(count)))
    upload(rest, scene, [("f", name.replace("\\", ""), text.encode())])
    assert scene.answer.status_code == 201, scene.answer.text


@when("ann downloads the file")
def downloads(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/download/{scene.hash}")


@when(parsers.parse("ann downloads the file with the range {span}"))
def downloads_part(rest: Rest, scene: Scene, span: str) -> None:
    send(rest, scene, "GET", f"{KB}/download/{scene.hash}", headers={"range": span})


@then("the bytes are those of the upload, as application/octet-stream")
def bytes_same(scene: Scene) -> None:
    assert scene.answer.content == scene.content
    assert scene.answer.headers["content-type"] == "application/octet-stream"
    assert scene.answer.headers["content-length"] == str(len(scene.content))


@then(parsers.re(r'the attachment is named "(?P<name>.*)"'))
def attachment_named(scene: Scene, name: str) -> None:
    header = scene.answer.headers["content-disposition"]
    assert header.startswith("attachment; filename=")
    assert unquote(header.partition("filename*=UTF-8''")[2]) == name


@then(parsers.parse("the bytes are those from {start:d} to {end:d}"))
def bytes_part(scene: Scene, start: int, end: int) -> None:
    assert scene.answer.content == scene.content[start:end]
    assert scene.answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(scene.content)}"


@when("ann asks for the file")
def asks_file(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/file/{scene.hash}")


@then("the record has the hash, the text, the path and the name of the file")
def record(scene: Scene) -> None:
    file = scene.answer.json()["file"]
    assert (file["fileHash"], file["knowledge_base_id"]) == (scene.hash, scene.base)
    assert file["file_name"] == scene.names[scene.hash]
    assert file["text"].split() == scene.content.decode().split()
    assert file["file_path"]


@when(parsers.parse("ann asks for the chunks with limit {limit:d} and offset {offset:d}"))
def asks_chunks(rest: Rest, scene: Scene, limit: int, offset: int) -> None:
    send(rest, scene, "GET", f"{KB}/chunks/{scene.hash}?limit={limit}&offset={offset}")


@when("ann asks for the chunks")
def asks_first_chunks(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/chunks/{scene.hash}")


@then("the page is 2 of all chunks in steps of 2")
def second_page(rest: Rest, scene: Scene) -> None:
    everything = rest.request("GET", f"{KB}/chunks/{scene.hash}?limit=100", "ann").json()
    body = scene.answer.json()
    total = len(everything["chunks"])
    assert total > 4
    assert body["chunks"] == everything["chunks"][2:4]
    assert body["pagination"] == {
        "currentPage": 2,
        "totalPages": -(-total // 2),
        "totalCount": total,
        "limit": 2,
        "offset": 2,
    }
    assert [json.loads(each["metadata"])["position"] for each in everything["chunks"]] == list(range(total))


@then("each chunk has an id of a time and a UUID, the file's id and the uploader ann")
def chunk_shape(rest: Rest, scene: Scene) -> None:
    for chunk in scene.answer.json()["chunks"]:
        assert re.fullmatch(r"\d{13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", chunk["chunkId"])
        assert (chunk["fileId"], chunk["userId"]) == (scene.hash, "ann")
        assert rest.request("GET", f"{KB}/chunk/{chunk['chunkId']}", "ann").json() == {"chunk": chunk}


@then(parsers.parse("the pagination says limit {limit:d} and offset {offset:d}"))
def pagination(scene: Scene, limit: int, offset: int) -> None:
    body = scene.answer.json()
    assert (body["pagination"]["limit"], body["pagination"]["offset"]) == (limit, offset)
    assert len(body["chunks"]) == 5
