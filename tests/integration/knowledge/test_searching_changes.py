"""What searches find in bases that grow, change or are many."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from adapters.outbound.storage.knowledge.vector_indexes import VectorIndexes
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.knowledge.rules import SearchOptions
from tests.support.knowledge import Knowledge
from tests.support.search_base import DOCUMENTS, base_of_documents


@pytest.fixture
async def base(knowledge: Knowledge, ann: Caller) -> int:
    return await base_of_documents(knowledge, ann)


async def test_a_base_sees_its_own_chunks_alone(knowledge: Knowledge, ann: Caller, base: int) -> None:
    other = await knowledge.base(ann, "other")
    assert await knowledge.search.search(ann, other, "INV-2024-00317") == []
    await knowledge.upload(ann, other, one_txt="Something else entirely about pumps.")
    assert {each.file_name for each in await knowledge.search.search(ann, other, "pump INV-2024-00317")} == {
        "one.txt"
    }


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


async def test_a_query_far_from_all_chunks_is_searched_wider_in_a_vector_index(
    knowledge: Knowledge, base: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute, widened = AsyncConnection.execute, []

    async def noted(connection: Any, statement: Any, *arguments: Any, **options: Any) -> Any:
        if "hnsw.ef_search" in str(statement):
            widened.append(True)
        return await execute(connection, statement, *arguments, **options)

    monkeypatch.setattr(AsyncConnection, "execute", noted)
    model = (await knowledge.embedder.model()).fingerprint
    near, far = [
        await knowledge.embedder.embed_query(text) for text in (DOCUMENTS["valves_txt"], "xylophone")
    ]
    await knowledge.index.nearest(base, far, model, SearchOptions(top_k=1))
    assert not widened  # scanned exactly: nothing to widen
    await database.execute("UPDATE knowledge_base SET chunk_count = 20000")
    assert await VectorIndexes(database).maintain() == 1
    await knowledge.index.nearest(base, near, model, SearchOptions(top_k=1))
    assert not widened
    await knowledge.index.nearest(base, far, model, SearchOptions(top_k=1))
    assert widened


async def test_an_identifier_in_one_piece_is_found_beside_many_chunks_with_its_words_apart(
    knowledge: Knowledge, ann: Caller, base: int
) -> None:
    other = " ".join(f"word{number}" for number in range(60))
    apart = {f"apart{i}_txt": f"What 95 or 0 means is known of in books {other}{i}." for i in range(14)}
    await knowledge.upload(ann, base, whole_txt=f"Group two: OR=0.95. {other}", **apart)
    results = await knowledge.search.search(ann, base, "what is known about OR=0.95 in books")
    assert results[0].file_name == "whole.txt"
