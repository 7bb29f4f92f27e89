"""What every embedder keeps, and the token counter that goes with it."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

import pytest

from adapters.outbound.knowledge.embedding.exports import Exports
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.embedding.onnx_embedder import OnnxEmbedder
from ports.indexing import DIMENSION, Embedder, Vector
from tests.support.hashed_embedder import HashedEmbedder, count_words

NEAR = ("The cooling pump is serviced in March.", "Each March the cooling pump is maintained.")
FAR = "Government bond yields rose sharply."


@dataclass
class Subject:
    embedder: Embedder
    count_tokens: Callable[[Sequence[str]], Sequence[int]]


@pytest.fixture(scope="module", params=["hashed", pytest.param("int8", marks=pytest.mark.model)])
async def subject(request: pytest.FixtureRequest, exported: Exports) -> AsyncIterator[Subject]:
    if request.param == "hashed":
        yield Subject(HashedEmbedder(), count_words)
        return
    files = ModelFiles()
    embedder = OnnxEmbedder(files, exported, precision="int8", threads=2)
    yield Subject(embedder, files.count_tokens)
    embedder.close()


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_the_model_says_which_it_is(subject: Subject) -> None:
    model = await subject.embedder.model()
    assert model.name
    assert model.fingerprint.startswith(model.name)
    assert model.dimension == DIMENSION
    assert await subject.embedder.model() == model


@pytest.mark.parametrize("text", ["pump", "", " \n", "\u6771\u4eac", "\U0001f680", "a\x00b", "word " * 5_000])
async def test_vectors_are_unit_vectors_of_the_dimension(subject: Subject, text: str) -> None:
    (passage,) = await subject.embedder.embed_passages([text])
    for vector in (passage, await subject.embedder.embed_query(text)):
        assert len(vector) == DIMENSION
        assert math.isclose(cosine(vector, vector), 1, abs_tol=1e-5)


async def test_texts_on_the_same_thing_are_nearer_than_others(subject: Subject) -> None:
    one, other, far = await subject.embedder.embed_passages([*NEAR, FAR])
    query = await subject.embedder.embed_query("service of the cooling pump")
    assert cosine(one, other) > 0.5 > cosine(one, far)
    assert cosine(query, one) > cosine(query, far) + 0.3


async def test_vectors_come_in_the_order_of_the_texts_whatever_their_lengths(subject: Subject) -> None:
    texts = [f"hall {number} " + "of the long building " * (number * 7 % 5) for number in range(40)]
    together = await subject.embedder.embed_passages(texts)
    assert len(together) == len(texts)
    for place in (0, 17, 39):
        (alone,) = await subject.embedder.embed_passages([texts[place]])
        assert cosine(alone, together[place]) > 0.9999
    assert list(await subject.embedder.embed_passages([])) == []


async def test_queries_and_passages_may_come_at_once(subject: Subject) -> None:
    passages, *queries = await asyncio.gather(
        subject.embedder.embed_passages([f"passage {number}" for number in range(30)]),
        *(subject.embedder.embed_query(f"query {number}") for number in range(5)),
    )
    assert (len(passages), len(queries)) == (30, 5)
    assert list(queries[3]) == list(await subject.embedder.embed_query("query 3"))


def test_tokens_grow_with_the_text_and_are_not_cut_at_the_window(subject: Subject) -> None:
    texts = ("", "pump", "pump and valve", "pump and valve " * 10, "pump and valve " * 1_000)
    none, one, few, more, many = subject.count_tokens(texts)
    assert 0 == none < one < few < more
    assert many == 1_000 * few
