"""The steps of searching a base."""

from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, send
from tests.drivers.ways import Rest

scenarios("searching.feature")

WRONG_QUERIES: dict[str, dict[str, object]] = {
    "no query": {},
    "an empty query": {"query": ""},
    "a query of spaces": {"query": "  "},
    "a number as the query": {"query": 7},
}


@when(parsers.parse('ann searches for "{query}"'))
def searches(rest: Rest, scene: Scene, query: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json={"query": query})


@when(parsers.parse("ann sends {query} to be searched for"))
def searches_with(rest: Rest, scene: Scene, query: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json=WRONG_QUERIES[query])


@then(parsers.parse('the first result is from "{name}"'))
def first_from(scene: Scene, name: str) -> None:
    first = scene.answer.json()["results"][0]
    assert set(first) >= {"chunk", "fileId", "metadata", "similarity", "chunkId"}
    assert scene.names[first["fileId"]] == name


@then("results fall in similarity from 0 to 1, each chunk once, at most ten")
def well_ordered(scene: Scene) -> None:
    results = scene.answer.json()["results"]
    similarities = [each["similarity"] for each in results]
    assert similarities == sorted(similarities, reverse=True)
    assert all(0 <= each <= 1 for each in similarities)
    assert len({each["chunkId"] for each in results}) == len(results) <= 10
