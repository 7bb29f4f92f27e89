"""The steps of the files of a base."""

from email.message import EmailMessage
from typing import Any
from urllib.parse import quote

from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send, upload
from tests.drivers.ways import Rest
from tests.support.waiting import until

ALL_FIELDS = {
    *("id", "knowledge_base_id", "file_name", "file_path", "fileHash", "text", "created_at", "updated_at"),
    *("status", "progress", "error", "warnings", "queuePosition"),
}
scenarios("files_of_a_base.feature")


def states(rest: Rest, scene: Scene, query: str = "") -> dict[str, Any]:
    answer: dict[str, Any] = rest.request("GET", f"{KB}/{scene.base}/file-states{query}", "ann").json()
    return answer


def file_path(scene: Scene) -> str:
    return f"{KB}/{scene.base}/files/{scene.hash}"


@given(parsers.parse('ann has uploaded the empty document "{name}" without waiting, and it failed'))
def uploaded_and_failed(rest: Rest, scene: Scene, name: str) -> None:
    upload(
        rest, scene, [("file", name, b"<!doctype html><html><body></body></html>")], prefer="respond-async"
    )
    has_failed(rest, scene)


@given(parsers.parse('ann has uploaded a mail saying "{text}" with the damaged attachment "{name}"'))
def uploaded_mail(rest: Rest, scene: Scene, text: str, name: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ann@example.org", "Service"
    mail.set_content(text)
    mail.add_attachment(b"%PDF-1.4\n", maintype="application", subtype="pdf", filename=name)
    upload(rest, scene, [("file", "mail.eml", mail.as_bytes())])


@then(parsers.parse('the mail is ready, with the warning that "{name}" is damaged'))
def has_warning(rest: Rest, scene: Scene, name: str) -> None:
    (state,) = states(rest, scene)["files"]
    record = rest.request("GET", f"{KB}/file/{scene.hash}", "ann").json()["file"]
    assert state["status"] == "ready"
    (warning,) = state["warnings"]
    assert warning.startswith(f"{name} cannot be read as PDF: it is damaged")
    assert record["warnings"] == state["warnings"]


@when("ann asks what may be uploaded")
def asks_rules(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/upload-rules")


@when("ann asks how far her files are")
@when("ann asks how far her files are, one at a time")
def asks_states(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", f"{KB}/{scene.base}/file-states?limit=1")


@when("ann deletes the file")
def deletes(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "DELETE", file_path(scene))


@when("bob sends DELETE to the file")
def bob_deletes(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "DELETE", file_path(scene), "bob")


@when("ann has the file processed again")
def retries(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "POST", file_path(scene) + "/retry")


@when("ann reads the file's text")
def reads(rest: Rest, scene: Scene) -> None:
    send(rest, scene, "GET", file_path(scene) + "/text")


@when(parsers.parse('ann has the search for "{query}" explained'))
def explains(rest: Rest, scene: Scene, query: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search/explain", json={"query": query})


@then("the largest file, the most files and the formats are named")
def rules_named(scene: Scene) -> None:
    rules = scene.answer.json()
    assert (rules["maxFileBytes"], rules["maxFiles"]) == (100 * 1024 * 1024, 20)
    assert {"pdf", "docx", "txt", "odt", "epub", "msg", "tiff"} <= {
        entry["format"] for entry in rules["formats"] if entry["available"]
    }


@then(parsers.parse('"{name}" is ready, with 1 chunk and nothing ahead of it'))
def is_ready(rest: Rest, scene: Scene, name: str) -> None:
    (file,) = scene.answer.json()["files"]
    assert (file["fileName"], file["status"], file["chunkCount"]) == (name, "ready", 1)
    assert (file["step"], file["queuePosition"], file["progress"]) == (None, None, 1.0)
    assert rest.request("GET", file_path(scene), "ann").json() == {"file": file}


@then(parsers.parse('she is shown "{first}", then "{second}", then nothing more'))
def goes_on(rest: Rest, scene: Scene, first: str, second: str) -> None:
    page = scene.answer.json()
    following = states(rest, scene, f"?limit=1&cursor={page['next']}")
    shown = [file["fileName"] for file in (*page["files"], *following["files"])]
    assert (shown, following["next"]) == ([first, second], None)


@then("a list of the files shows")
def list_shows(rest: Rest, scene: Scene, datatable: list[list[str]]) -> None:
    queries = {
        "no wish": "",
        "two files at most": "?limit=2",
        "two files after the first": "?limit=2&offset=1",
        "names and states alone": "?fields=file_name,status,queuePosition",
        **{f'names that hold "{name}"': f"?name={quote(name)}" for name in ("pump", "P_2", "%")},
    }
    for wish, names, with_texts in datatable[1:]:
        files = rest.request("GET", f"{KB}/{scene.base}/files{queries[wish]}", "ann").json()["files"]
        assert (", ".join(file["file_name"] for file in files) or "nothing") == names, wish
        expected = {"file_name", "status", "queuePosition"} if with_texts == "no" else ALL_FIELDS
        assert all(set(file) == expected and file["queuePosition"] is None for file in files)
        if wish.startswith("names that hold"):
            newest_first = [file["fileName"] for file in states(rest, scene, queries[wish])["files"]]
            assert newest_first[::-1] == [file["file_name"] for file in files]


@then("at last the file has failed again")
def has_failed(rest: Rest, scene: Scene) -> None:
    def failed() -> bool:
        (file,) = states(rest, scene)["files"]
        return file["status"] == "failed" and file["error"] and True

    until(failed, "the file has failed")


@then(parsers.parse('its one chunk is the whole text "{text}"'))
def whole_text(scene: Scene, text: str) -> None:
    body = scene.answer.json()
    (chunk,) = body["chunks"]
    assert (body["text"], body["start"], body["length"]) == (text, 0, len(text))
    assert (chunk["position"], chunk["start"], chunk["end"]) == (0, 0, len(text))
    assert body["pagination"]["totalCount"] == 1


@then(parsers.parse('the first hit is from "{name}", found first by both searches'))
def found_by_both(scene: Scene, name: str) -> None:
    first = scene.answer.json()["results"][0]
    assert first["fileName"] == name
    assert (first["rank"], first["textRank"], first["vectorRank"]) == (1, 1, 1)
    assert first["similarity"] == max(first["textScore"], first["vectorScore"]) > 0


@then(parsers.parse('in it "{one}" and "{other}" are highlighted'))
def highlighted(scene: Scene, one: str, other: str) -> None:
    first = scene.answer.json()["results"][0]
    assert [first["chunk"][start:end] for start, end in first["highlights"]] == [one, other]


@then("the explained hits come in the order of the search")
def same_order(rest: Rest, scene: Scene) -> None:
    body = {"query": "cooling pumps"}
    results = rest.request("POST", f"{KB}/{scene.base}/search", "ann", json=body).json()["results"]
    hits = [hit for hit in scene.answer.json()["results"] if hit["rank"]]
    assert [hit["chunkId"] for hit in hits] == [result["chunkId"] for result in results]
    assert [hit["rank"] for hit in hits] == list(range(1, len(results) + 1))
