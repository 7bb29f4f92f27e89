"""The steps of reading files and chunks."""

import json
import re
from typing import Any
from urllib.parse import unquote

from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send, upload
from tests.drivers.ways import Rest

scenarios("reading.feature")


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


@when("ann asks for the head of the download")
def asks_head(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "HEAD", f"{KB}/download/{scene.hash}")


@then("the head tells the size and nothing follows")
def head_only(scene: Scene) -> None:
    assert (scene.answer.headers["content-length"], scene.answer.content) == (str(len(scene.content)), b"")


@when("ann downloads the file again if it has changed")
def downloads_changed(rest: Rest, scene: Scene) -> None:
    known = {"if-none-match": scene.answer.headers["etag"]}
    send(rest, scene, "GET", f"{KB}/download/{scene.hash}", headers=known)


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


@when(parsers.parse("ann reads the text in pieces of {size:d} characters"), target_fixture="pieces")
def reads_pieces(rest: Rest, scene: Scene, size: int) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    while not pieces or pieces[-1]["next"] is not None:
        offset = pieces[-1]["next"] if pieces else 0
        path = f"{KB}/file/{scene.hash}/text?limit={size}&offset={offset}"
        pieces.append(rest.request("GET", path, "ann").json())
    return pieces


@then("the pieces are the whole text, and each tells how much remains")
def are_whole(rest: Rest, scene: Scene, pieces: list[dict[str, Any]]) -> None:
    text = rest.request("GET", f"{KB}/file/{scene.hash}", "ann").json()["file"]["text"]
    assert "".join(piece["text"] for piece in pieces) == text
    for piece in pieces:
        assert (piece["fileId"], piece["length"]) == (scene.hash, len(text))
        assert piece["remaining"] == len(text) - piece["offset"] - len(piece["text"])


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
