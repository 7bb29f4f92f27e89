"""The steps of searches with options."""

import hashlib
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send, upload
from tests.drivers.ways import Rest

scenarios("search_options.feature")

WISHES: dict[str, dict[str, Any]] = {
    "one result at most": {"topK": 1},
    "three results of one file at most": {"perFile": 3},
    "one result of each file": {"perFile": 1},
    "two results of each file, three at most": {"perFile": 2, "topK": 3},
    "only a file that the base does not have": {"fileIds": ["0" * 64]},
    "similar results alone": {"minSimilarity": 0.25},
    "the words alone": {"mode": "text"},
    "the meaning alone": {"mode": "vector"},
    "the words highlighted": {"highlight": True},
}


def results(scene: Scene) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = scene.answer.json()["results"]
    return found


def hash_of(scene: Scene, name: str) -> str:
    return next(hash for hash, known in scene.names.items() if known == name)


def wished(scene: Scene, wish: str) -> dict[str, Any]:
    name = wish.removeprefix("only the file ")
    return WISHES[wish] if wish in WISHES else {"fileIds": [hash_of(scene, name)]}


def link_of(scene: Scene) -> str:
    address: str = results(scene)[0]["url"]
    assert address.startswith("http://localhost:3011/api/agent/files/")
    return address.removeprefix("http://localhost:3011")


@given(parsers.parse('ann has the base "{name}" with the files'))
def base_with_files(rest: Rest, scene: Scene, name: str, datatable: list[list[str]]) -> None:
    scene.base = send(rest, scene, "POST", KB, json={"name": name}).json()["id"]
    texts: dict[str, str] = {}
    for file, heading, text in datatable[1:]:
        texts[file] = texts.get(file, "") + f"# {heading}\n\n{text}\n\n"
    upload(rest, scene, [("file", file, text.encode()) for file, text in texts.items()])
    assert scene.answer.status_code == 201, scene.answer.text


@when(parsers.parse('ann searches for "{query}" with {wish}'))
def searches(rest: Rest, scene: Scene, query: str, wish: str) -> None:
    body = {"query": query, **wished(scene, wish)}
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json=body)
    assert scene.answer.status_code == 200, scene.answer.text


@when(parsers.parse('ann searches in another base of hers for "{query}" with {wish}'))
def searches_elsewhere(rest: Rest, scene: Scene, query: str, wish: str) -> None:
    scene.base = send(rest, scene, "POST", KB, json={"name": "Other"}).json()["id"]
    searches(rest, scene, query, wish)


@when("ann deletes the file, which another base has too")
def deletes(rest: Rest, scene: Scene) -> None:
    other = rest.request("POST", KB, "ann", json={"name": "Copies"}).json()["id"]
    parts = [("file", ("copy.md", scene.content))]
    assert rest.request("POST", f"{KB}/{other}/uploadfile", "ann", files=parts).status_code == 201
    path = f"{KB}/{scene.base}/files/{scene.hash}"
    assert rest.request("DELETE", path, "ann").status_code == 204


@then(parsers.parse('a search for "{query}" gives, with'))
def gives(rest: Rest, scene: Scene, query: str, datatable: list[list[str]]) -> None:
    for wish, files in datatable[1:]:
        searches(rest, scene, query, wish)
        found = ", ".join(result["fileName"] for result in results(scene))
        assert (found or "nothing") == files, (wish, results(scene))


@then("each result has a score by words, which is its similarity, and none by meaning")
def by_words(scene: Scene) -> None:
    assert results(scene)
    for result in results(scene):
        assert (result["textScore"], result["vectorScore"]) == (result["similarity"], None)


@then("each result has a score by meaning, which is its similarity, and none by words")
def by_meaning(scene: Scene) -> None:
    assert results(scene)
    for result in results(scene):
        assert (result["textScore"], result["vectorScore"]) == (None, result["similarity"])


@then("there are no results")
def no_results(scene: Scene) -> None:
    assert scene.answer.json() == {"results": []}


@then("the similarity of each result is the higher of its scores")
def higher(scene: Scene) -> None:
    for result in results(scene):
        assert result["similarity"] == max(result["textScore"] or 0, result["vectorScore"] or 0) > 0


@then(parsers.parse('in the first result "{one}" and "{other}" are highlighted'))
def highlighted(scene: Scene, one: str, other: str) -> None:
    first = results(scene)[0]
    assert [first["chunk"][start:end] for start, end in first["highlights"]] == [one, other]


@then(parsers.parse('the first result stands under the heading "{heading}" of "{file}"'))
def stands_under(scene: Scene, heading: str, file: str) -> None:
    first = results(scene)[0]
    assert (first["fileName"], first["place"]["headingPath"][-1]) == (file, heading)
    assert (first["place"]["position"], first["place"]["page"]) == (1, None)


@then("no words are highlighted")
def not_highlighted(scene: Scene) -> None:
    assert [result["highlights"] for result in results(scene)] == [[]]


@then("the link of the result gives the file without a key")
def fetched(rest: Rest, scene: Scene) -> None:
    answer = rest.request("GET", link_of(scene))
    assert (answer.status_code, hashlib.sha256(answer.content).hexdigest()) == (200, scene.hash)
    assert "canteen.md" in answer.headers["content-disposition"]


@then("the link of the result gives nothing any more")
def gone(rest: Rest, scene: Scene) -> None:
    answer = rest.request("GET", link_of(scene))
    assert (answer.status_code, answer.json()) == (404, {"error": "this file was deleted"})
