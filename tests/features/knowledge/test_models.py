"""The steps of changing the embedding model."""

from collections.abc import Iterator

import pytest
from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.hashed_embedder import HashedEmbedder

scenarios("models.feature")


@pytest.fixture
def embedder(world: World) -> Iterator[HashedEmbedder]:
    embedder: HashedEmbedder = world.container.embedder()
    yield embedder
    embedder.become("hashed")


@when("the installation takes another embedding model into use")
def takes_another(embedder: HashedEmbedder) -> None:
    embedder.become("another")


@when("all chunks have been embedded anew")
def embedded_anew(world: World) -> None:
    world.run(world.container.knowledge().reindex.work())


@then(parsers.parse('by meaning alone "{query}" finds "{name}" first'))
def finds_first(rest: Rest, scene: Scene, query: str, name: str) -> None:
    body = {"query": query, "mode": "vector"}
    hits = rest.request("POST", f"{KB}/{scene.base}/search", "ann", json=body).json()["results"]
    assert hits[0]["fileName"] == name
    assert hits[0]["vectorScore"] > 0
