"""Searches with options, compared with a look at every chunk of the base."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from adapters.outbound.storage.knowledge import search as chunk_search
from adapters.outbound.storage.knowledge import search as file_candidates
from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from domain.access.model import Caller
from domain.knowledge.model import SearchResult
from domain.knowledge.ranking import Hit
from domain.knowledge.rules import Mode, SearchOptions
from domain.knowledge.text_match import Query, TextMatch
from ports.knowledge_storage import Passage
from tests.support.knowledge import Knowledge, opened
from tests.support.postgres import fresh_database

FILES = 30
WORDS = [f"{beginning}{ending}" for beginning in "bcdfglmnprst" for ending in ("ano", "erim", "ildu", "okta")]


def text_of(file: int) -> str:
    """A file of random words, some of which are far more frequent than others; the longest has the most chunks."""
    chance = random.Random(file)
    paragraphs = chance.randint(1, 9) if file else 40
    weights = [1 / (rank + 2) for rank in range(len(WORDS))]
    return "\n\n".join(
        " ".join(chance.choices(WORDS, weights, k=chance.randint(70, 110))) + "." for _ in range(paragraphs)
    )


@pytest.fixture(scope="module")
def filled(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A database that all tests of this file read, and the base in it."""

    async def fill(dsn: str) -> int:
        async with opened(dsn) as database:
            knowledge, ann = Knowledge(database, tmp_path_factory.mktemp("blobs")), Caller("ann")
            base = await knowledge.base(ann)
            for first in range(0, FILES, 15):
                files = range(first, first + 15)
                await knowledge.upload(ann, base, **{f"file{i}_txt": text_of(i) for i in files})
            return base

    with fresh_database(postgres_dsn) as dsn:
        yield dsn, asyncio.run(fill(dsn))


@pytest.fixture
def database_url(filled: tuple[str, int]) -> str:
    return filled[0]


@pytest.fixture
def base(filled: tuple[str, int]) -> int:
    return filled[1]


async def every_chunk(knowledge: Knowledge, base: int, query: str) -> list[tuple[Passage, Hit]]:
    """All chunks of the base with both scores."""
    parsed = Query.of(query)
    statistics = await knowledge.index.statistics(base, parsed)
    match = TextMatch(parsed, statistics)
    keys = [str(seq) for (seq,) in await knowledge.database.fetch("SELECT seq FROM chunk")]
    vector, model = await knowledge.embedder.embed_query(query), await knowledge.embedder.model()
    passages = await knowledge.index.passages(base, keys, match.vocabulary, vector, model.fingerprint)
    return [(each, Hit(each.key, match.score(each.held), each.cosine)) for each in passages]


def expected(chunks: Sequence[tuple[Passage, Hit]], options: SearchOptions) -> list[float]:
    """The similarities that a search has to answer with, in order."""
    taken: Counter[str] = Counter()
    similarities: list[float] = []
    scores = {Mode.TEXT: lambda hit: hit.text, Mode.VECTOR: lambda hit: hit.cosine}
    score = scores.get(options.mode, lambda hit: hit.similarity)
    for passage, hit in sorted(chunks, key=lambda found: -score(found[1])):
        similarity = round(min(1.0, score(hit)), 3)
        if similarity <= 0 or similarity < options.min_similarity:
            break
        if options.file_ids and passage.file_hash not in options.file_ids:
            continue
        taken[passage.file_hash] += 1
        if taken[passage.file_hash] <= (options.per_file or 50):
            similarities.append(similarity)
    return similarities[: options.top_k]


def similarities(results: Sequence[SearchResult]) -> list[float]:
    return [result.similarity for result in results]


def some_case(chance: random.Random, hashes: Sequence[str]) -> tuple[str, SearchOptions]:
    """A query and options, at least one of which asks for files or for one search alone."""
    query = " ".join(chance.choices([*WORDS, "bamo", "xyzzy"], k=chance.randint(1, 5)))
    options = SearchOptions(
        top_k=chance.choice([1, 3, 10, 50]),
        min_similarity=chance.choice([0.0, 0.0, 0.2, 0.6]),
        file_ids=tuple(chance.sample(hashes, chance.choice([0, 1, 5]))),
        per_file=chance.choice([1, 2, 5]),
        mode=chance.choice(list(Mode)),
    )
    return query, options


async def hashes_of(knowledge: Knowledge) -> list[str]:
    return [found for (found,) in await knowledge.database.fetch("SELECT file_hash FROM kb_file ORDER BY id")]


async def compare(knowledge: Knowledge, base: int, cases: int, seed: int) -> None:
    chance, hashes = random.Random(seed), await hashes_of(knowledge)
    for _ in range(cases):
        query, options = some_case(chance, hashes)
        results = await knowledge.search.find(base, query, options)
        every = await every_chunk(knowledge, base, query)
        assert similarities(results) == expected(every, options), (query, options)
        of_file = Counter(result.file_hash for result in results)
        assert max(of_file.values(), default=0) <= (options.per_file or 50)
        assert not options.file_ids or set(of_file) <= set(options.file_ids)


async def test_the_best_chunks_of_the_best_files_are_found(knowledge: Knowledge, base: int) -> None:
    await compare(knowledge, base, 60, seed=1)


@pytest.mark.parametrize("width", [1000, 20])
async def test_they_are_found_through_a_vector_index_too(
    knowledge: Knowledge, base: int, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """With 20 the index gives too few, so that all vectors are compared."""
    monkeypatch.setattr(chunk_search, "WIDE", width)
    await knowledge.database.execute("UPDATE knowledge_base SET chunk_count = chunk_count + 20000")
    await VectorIndexes(knowledge.database).maintain()
    try:
        await compare(knowledge, base, 25, seed=width)
    finally:
        await knowledge.database.execute("UPDATE knowledge_base SET chunk_count = chunk_count - 20000")


@pytest.mark.parametrize("query", ["bano berim bildu", WORDS[-1], f"{WORDS[0]} {WORDS[-1]}"])
async def test_in_a_large_base_words_are_followed_until_there_are_enough_files(
    knowledge: Knowledge, base: int, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Common words, a rare one, and both; the longest file comes first in the base."""
    for name, value in (("SMALL", 10), ("POSTINGS", 6), ("ALL_COMMON", 120)):
        monkeypatch.setattr(file_candidates, name, value)
    every = await every_chunk(knowledge, base, query)
    holding = {passage.file_hash for passage, hit in every if hit.text > 0}
    assert len(holding) > 5
    for per_file, top_k in ((1, 10), (2, 10), (3, 5)):
        options = SearchOptions(top_k, per_file=per_file, mode=Mode.TEXT)
        results = await knowledge.search.find(base, query, options)
        taken = Counter(passage.file_hash for passage, hit in every if hit.text > 0)
        possible = sum(min(per_file, count) for count in taken.values())
        assert len(results) == min(top_k, possible), (per_file, top_k)
        assert max(Counter(result.file_hash for result in results).values()) <= per_file
