"""The steps of manuals as PDF files."""

import json
import re

from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send, upload
from tests.drivers.ways import Rest
from tests.parsing.drawing import manual

scenarios("manuals.feature")

PAGE_NUMBER = re.compile(r"^- \d -$", re.MULTILINE)


@given("ann has uploaded a manual with a title page, a table of contents, running headers and page numbers")
def uploaded_manual(rest: Rest, scene: Scene) -> None:
    upload(rest, scene, [("file", "4983.pdf", manual())])
    assert scene.answer.status_code == 201, scene.answer.text


@when("ann asks for the chunks of the manual")
def asks_chunks(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/chunks/{scene.hash}?limit=100")
    assert scene.answer.json()["chunks"]


@when("ann asks for the file")
def asks_file(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/file/{scene.hash}")


@when(parsers.parse('ann looks for "{words}" in the manual'))
def looks_for(rest: Rest, scene: Scene, words: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json={"query": words})


@then(parsers.parse('each chunk has the title "{title}"'))
def titled(scene: Scene, title: str) -> None:
    chunks = scene.answer.json()["chunks"]
    assert {json.loads(chunk["metadata"])["title"] for chunk in chunks} == {title}


@then("no chunk holds the table of contents or a page number")
def no_junk(scene: Scene) -> None:
    texts = [chunk["chunk"] for chunk in scene.answer.json()["chunks"]]
    assert not [text for text in texts if "Contents" in text or " . . . " in text or PAGE_NUMBER.search(text)]


@then("its text holds the table of contents and the page numbers")
def text_whole(scene: Scene) -> None:
    text = json.dumps(scene.answer.json())
    assert "1 Arrival . . ." in text
    assert "- 3 -" in text


@then(parsers.parse('the first passage holds "{passage}"'))
def first_passage(scene: Scene, passage: str) -> None:
    first = scene.answer.json()["results"][0]["chunk"]
    assert passage in " ".join(first.split())
