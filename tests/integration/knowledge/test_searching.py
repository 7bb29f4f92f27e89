"""The two searches, merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.embedding.hashed import HashedEmbedder
from adapters.outbound.storage.knowledge import search, text_candidates
from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.knowledge.text_match import Query, TextMatch
from domain.refusals import Invalid
from tests.support.knowledge import Knowledge

FACTS = {
    "pumps_txt": "The cooling pump of hall seven is serviced every March. Its part number is INV-2024-00317.",
    "valves_txt": "Valves are stored in the cellar. Their part number is INV-2024-00318.",
    "holiday_txt": "Holidays are requested with form E3413 from the office on the second floor.",
    "canteen_txt": "The canteen serves lunch from noon. Photosynthesis is explained on a poster there.",
    "arabic_txt": "تقع المكتبة الرئيسية في الطابق الثالث من المبنى",
    "chinese_txt": "图书馆位于三楼。编号为ERR-4711的错误已经修复。",
}


@pytest.fixture
async def base(knowledge: Knowledge, ann: Caller) -> int:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, **FACTS)
    filler = {
        f"filler{i}_txt": f"Note {i}: nothing of interest happened in week {i} of the year."
        for i in range(14)
    }
    await knowledge.upload(ann, base, **filler)
    return base


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


async def test_a_base_sees_its_own_chunks_alone(knowledge: Knowledge, ann: Caller, base: int) -> None:
    other = await knowledge.base(ann, "other")
    assert await knowledge.search.search(ann, other, "INV-2024-00317") == []
    await knowledge.upload(ann, other, one_txt="Something else entirely about pumps.")
    assert {each.file_name for each in await knowledge.search.search(ann, other, "pump INV-2024-00317")} == {
        "one.txt"
    }


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
    assert await changed.index.nearest(base, await changed.embedder.embed_query("pump"), model, 10) == []


async def test_a_large_base_gets_an_index_of_its_own_and_loses_it(
    knowledge: Knowledge, ann: Caller, base: int, database: Database
) -> None:
    indexes = VectorIndexes(database)
    assert await indexes.maintain() == 0
    await database.execute("UPDATE knowledge_base SET chunk_count = 20000")
    before = await knowledge.search.search(ann, base, "cooling pump")
    assert await indexes.maintain() == 1
    assert await indexes.maintain() == 0
    assert await knowledge.search.search(ann, base, "cooling pump") == before
    await database.execute("UPDATE knowledge_base SET chunk_count = 100")
    assert await indexes.maintain() == 1
    await database.execute("UPDATE knowledge_base SET chunk_count = 20000")
    assert await indexes.maintain() == 1
    await knowledge.bases.delete(ann, base)
    assert await database.fetch("SELECT 1 FROM pg_class WHERE starts_with(relname, 'hnsw_')") == []


async def test_candidates_hold_the_best_of_all_chunks(
    knowledge: Knowledge, ann: Caller, base: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a budget far smaller than the postings, the best chunks are found all the same."""
    query = Query.of("note of interest in week 7 part INV-2024-00317")
    statistics = await knowledge.index.statistics(base, query)
    match = TextMatch(query, statistics)
    every = {
        each.key: match.score(each.held, ())
        for each in await knowledge.index.matches(base, match, statistics)
    }
    monkeypatch.setattr(text_candidates, "SMALL", 0)
    monkeypatch.setattr(text_candidates, "POSTINGS", 5)
    few = {
        each.key: match.score(each.held, ())
        for each in await knowledge.index.matches(base, match, statistics)
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


async def test_a_query_far_from_all_chunks_is_searched_wider_in_a_vector_index(
    knowledge: Knowledge, base: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    wider, widened = search._wider, []

    async def noted(*arguments: Any) -> Any:
        widened.append(True)
        return await wider(*arguments)

    monkeypatch.setattr(search, "_wider", noted)
    model = (await knowledge.embedder.model()).fingerprint
    near, far = [await knowledge.embedder.embed_query(text) for text in (FACTS["valves_txt"], "xylophone")]
    await knowledge.index.nearest(base, far, model, 1)
    assert not widened  # scanned exactly: nothing to widen
    await database.execute("UPDATE knowledge_base SET chunk_count = 20000")
    assert await VectorIndexes(database).maintain() == 1
    await knowledge.index.nearest(base, near, model, 1)
    assert not widened
    await knowledge.index.nearest(base, far, model, 1)
    assert widened


async def test_only_common_words(
    knowledge: Knowledge, ann: Caller, base: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_candidates, "SMALL", 0)
    monkeypatch.setattr(text_candidates, "POSTINGS", 1)
    assert await knowledge.search.search(ann, base, "the of")


async def test_an_identifier_in_one_piece_is_found_beside_many_chunks_with_its_words_apart(
    knowledge: Knowledge, ann: Caller, base: int
) -> None:
    other = " ".join(f"word{number}" for number in range(60))
    apart = {f"apart{i}_txt": f"What 95 or 0 means is known of in books {other}{i}." for i in range(14)}
    await knowledge.upload(ann, base, whole_txt=f"Group two: OR=0.95. {other}", **apart)
    results = await knowledge.search.search(ann, base, "what is known about OR=0.95 in books")
    assert results[0].file_name == "whole.txt"
