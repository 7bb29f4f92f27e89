"""The two searches, merged, in a base that stays as it is."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.outbound.storage.knowledge import vocabulary as text_candidates
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.knowledge.text_match import Query, TextMatch
from domain.refusals import Invalid
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import Knowledge, opened
from tests.support.postgres import fresh_database
from tests.support.search_base import base_of_documents


@pytest.fixture(scope="module")
def filled(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A database that all tests of this file read, and the base in it."""

    async def fill(dsn: str) -> int:
        async with opened(dsn) as database:
            return await base_of_documents(
                Knowledge(database, tmp_path_factory.mktemp("blobs")), Caller("ann")
            )

    with fresh_database(postgres_dsn) as dsn:
        yield dsn, asyncio.run(fill(dsn))


@pytest.fixture
def database_url(filled: tuple[str, int]) -> str:
    return filled[0]


@pytest.fixture
def base(filled: tuple[str, int]) -> int:
    return filled[1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("INV-2024-00317", "pumps.txt"),
        ("INV-2024-00318", "valves.txt"),
        ("what is inv 2024 00317 for", "pumps.txt"),
        ("please tell me about part INV-2024-00318 in the cellar of week 3", "valves.txt"),
        ("e3413", "holiday.txt"),
        ("photosyntesis", "canteen.txt"),
        ("canten lunch", "canteen.txt"),
        ("أين تقع المكتبة", "arabic.txt"),
        ("图书馆在哪里", "chinese.txt"),
        ("ERR-4711", "chinese.txt"),
    ],
)
async def test_the_right_file_comes_first(
    knowledge: Knowledge, ann: Caller, base: int, query: str, expected: str
) -> None:
    results = await knowledge.search.search(ann, base, query)
    assert results[0].file_name == expected
    assert results[0].similarity > 0.25
    assert len(results) <= 10
    assert [each.similarity for each in results] == sorted(
        (each.similarity for each in results), reverse=True
    )
    assert len({each.chunk_id for each in results}) == len(results)
    assert all(0 < each.similarity <= 1 for each in results)


async def test_a_code_one_digit_off_is_no_strong_evidence(
    knowledge: Knowledge, ann: Caller, base: int
) -> None:
    results = await knowledge.search.search(ann, base, "INV-2024-00317")
    off = next(each for each in results if each.file_name == "valves.txt")
    assert results[0].similarity >= 0.85
    assert off.similarity < 0.75


@pytest.mark.parametrize("query", ["", "   ", "\n", "\0", "a\0b", "\ud800"])
async def test_an_empty_query_and_one_that_cannot_be_stored_are_refused(
    knowledge: Knowledge, ann: Caller, base: int, query: str
) -> None:
    with pytest.raises(Invalid, match="query"):
        await knowledge.search.search(ann, base, query)


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE chunk; --",
        "{a,b}",
        "%_\\",
        "🦊",
        "!!!",
        "word " * 5000,
        "x" * 100_000,
        "1" * 50,
    ],
)
async def test_hostile_queries_are_answered(knowledge: Knowledge, ann: Caller, base: int, query: str) -> None:
    await knowledge.search.search(ann, base, query)
    assert await knowledge.search.search(ann, base, "E3413")


async def test_chunks_of_another_model_are_found_by_their_text_alone(
    knowledge: Knowledge, ann: Caller, base: int, database: Database, tmp_path: Path
) -> None:
    changed = Knowledge(database, tmp_path / "blobs", embedder=HashedEmbedder("another"))
    results = await changed.search.search(ann, base, "cooling pump")
    assert results[0].file_name == "pumps.txt"
    model = (await changed.embedder.model()).fingerprint
    assert await changed.index.nearest(base, await changed.embedder.embed_query("pump"), model) == []


async def test_candidates_hold_the_best_of_all_chunks(
    knowledge: Knowledge, ann: Caller, base: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a budget far smaller than the postings, the best chunks are found all the same."""
    query = Query.of("note of interest in week 7 part INV-2024-00317")
    statistics = await knowledge.index.statistics(base, query)
    match = TextMatch(query, statistics)
    every = {
        each.key: match.score(each.held) for each in await knowledge.index.matches(base, match, statistics)
    }
    monkeypatch.setattr(text_candidates, "SMALL", 0)
    monkeypatch.setattr(text_candidates, "POSTINGS", 5)
    few = {
        each.key: match.score(each.held) for each in await knowledge.index.matches(base, match, statistics)
    }
    best = sorted(every, key=lambda key: -every[key])[:1]
    assert set(best) <= set(few)
    assert len(few) < len(every)


@pytest.mark.parametrize("small", [0, 10_000], ids=["by postings", "by a scan of the base"])
async def test_candidates_are_told_with_the_words_they_hold(
    knowledge: Knowledge, base: int, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(text_candidates, "SMALL", small)
    fillers = " ".join(f"nowhere{number}" for number in range(60))
    query = Query.of(f"{fillers} the cooling pump of hall")
    statistics = await knowledge.index.statistics(base, query)
    found = await knowledge.index.matches(base, TextMatch(query, statistics), statistics)
    held = {word for candidate in found for word in candidate.held}
    assert {"the", "cooling", "pump"} <= max((candidate.held for candidate in found), key=len)
    assert not {word for word in held if word.startswith("nowhere")}


async def test_only_common_words(
    knowledge: Knowledge, ann: Caller, base: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_candidates, "SMALL", 0)
    monkeypatch.setattr(text_candidates, "POSTINGS", 1)
    assert await knowledge.search.search(ann, base, "the of")


@pytest.mark.parametrize(
    "query", ["INV-2024-00317", "canten lunch", "where is the cellar", "أين تقع المكتبة"]
)
async def test_an_explanation_has_the_results_of_the_search_in_their_order(
    knowledge: Knowledge, ann: Caller, base: int, query: str
) -> None:
    results = await knowledge.search.search(ann, base, query)
    explanation = await knowledge.search.explain(ann, base, query)
    ranked = [hit for hit in explanation.hits if hit.rank]
    assert [(hit.chunk_id, hit.similarity) for hit in ranked] == [
        (result.chunk_id, result.similarity) for result in results
    ]
    assert [hit.rank for hit in explanation.hits[: len(ranked)]] == list(range(1, len(ranked) + 1))
    assert all(hit.text_rank or hit.vector_rank for hit in explanation.hits)
    for ranks in ([hit.text_rank for hit in explanation.hits], [hit.vector_rank for hit in explanation.hits]):
        taken = sorted(rank for rank in ranks if rank)
        assert taken == list(range(1, len(taken) + 1))


async def test_an_explanation_says_what_each_search_knows(
    knowledge: Knowledge, ann: Caller, base: int
) -> None:
    typo = await knowledge.search.explain(ann, base, "photosyntesis")
    (word,) = typo.words
    assert (word.word, word.chunks, list(word.similar)) == ("photosyntesis", 0, ["photosynthesis"])
    first = typo.hits[0]
    assert [first.text[start:end] for start, end in first.highlights] == ["Photosynthesis"]
    arabic = await knowledge.search.explain(ann, base, "أين تقع المكتبة")
    assert not arabic.by_meaning
    assert {(hit.vector_score, hit.vector_rank) for hit in arabic.hits} == {(None, None)}
    with pytest.raises(Invalid):
        await knowledge.search.explain(ann, base, "  ")


async def test_common_words_are_not_highlighted(knowledge: Knowledge, ann: Caller, base: int) -> None:
    found = await knowledge.search.explain(ann, base, "in the cellar of the week")
    valves = next(hit for hit in found.hits if hit.file_name == "valves.txt")
    assert [valves.text[start:end] for start, end in valves.highlights] == ["cellar"]
