"""The steps of the embedding model of a new installation."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, listed, send, upload
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.waiting import until

EMPTY = ("file", "empty.html", b"<!doctype html><html><body></body></html>")
scenarios("preparing.feature")


@pytest.fixture
def embedder(world: World) -> Iterator[HashedEmbedder]:
    embedder: HashedEmbedder = world.container.embedder()
    yield embedder
    prepared(world, embedder)


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as thread:
        yield thread


@given("the embedding model is still being prepared")
def unprepared(embedder: HashedEmbedder) -> None:
    embedder.prepared.clear()


@when("the embedding model has been prepared")
def prepared(world: World, embedder: HashedEmbedder) -> None:
    async def prepare() -> None:
        embedder.prepared.set()

    world.run(prepare())


@when(parsers.parse('ann uploads "{name}" saying "{text}" without waiting'))
def uploads(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene, [("file", name, text.encode())], prefer="respond-async")


@when("ann uploads a page without text, without waiting")
def uploads_nothing(rest: Rest, scene: Scene) -> None:
    upload(rest, scene, [EMPTY], prefer="respond-async")


@when(parsers.parse('ann uploads "{name}" saying "{text}" with a page without text, without waiting'))
def uploads_pair(rest: Rest, scene: Scene, name: str, text: str) -> None:
    upload(rest, scene, [("file", name, text.encode()), EMPTY], prefer="respond-async")


@then(parsers.parse('at last both files are "{status}"'))
def both_are(rest: Rest, scene: Scene, status: str) -> None:
    until(lambda: [file["status"] for file in listed(rest, scene)] == [status] * 2, f"both are {status}")


@when(parsers.parse('ann searches for "{query}"'))
def searches_at_once(rest: Rest, scene: Scene, query: str) -> None:
    send(rest, scene, "POST", f"{KB}/{scene.base}/search", json={"query": query})


@then("nothing is found")
def nothing_found(scene: Scene) -> None:
    assert scene.answer.json() == {"results": []}


@when(parsers.parse('ann begins to search for "{query}"'), target_fixture="search")
def searches(rest: Rest, scene: Scene, beside: ThreadPoolExecutor, query: str) -> Future[dict[str, Any]]:
    return beside.submit(explained, rest, scene, query)


@then(parsers.parse('the search for "{query}" waits for the model'))
def waits(embedder: HashedEmbedder, query: str) -> None:
    until(lambda: query in embedder.waiting, "the search waits")


@then("the search has compared meanings")
def has_compared(search: Future[dict[str, Any]]) -> None:
    assert search.result(60)["byMeaning"]


@then(parsers.parse('at last the file is "{status}" in no step'))
@then(parsers.parse('at last the file is "{status}" in the step "{step}"'))
def is_in_step(rest: Rest, scene: Scene, status: str, step: str | None = None) -> None:
    def state() -> tuple[str, str | None]:
        (file,) = rest.request("GET", f"{KB}/{scene.base}/file-states", "ann").json()["files"]
        return file["status"], file["step"]

    until(lambda: state() == (status, step), f"the file is {status} in the step {step}")


@then(parsers.parse('by words alone "{query}" finds "{name}"'))
def by_words(rest: Rest, scene: Scene, query: str, name: str) -> None:
    explanation = explained(rest, scene, query)
    assert ([hit["fileName"] for hit in explanation["results"]], explanation["byMeaning"]) == ([name], False)


@then(parsers.parse('by words and meaning "{query}" finds "{name}"'))
def by_meaning(rest: Rest, scene: Scene, query: str, name: str) -> None:
    explanation = explained(rest, scene, query)
    assert ([hit["fileName"] for hit in explanation["results"]], explanation["byMeaning"]) == ([name], True)


def explained(rest: Rest, scene: Scene, query: str) -> dict[str, Any]:
    answer = rest.request("POST", f"{KB}/{scene.base}/search/explain", "ann", json={"query": query})
    assert answer.status_code == 200, answer.text
    explanation: dict[str, Any] = answer.json()
    return explanation
