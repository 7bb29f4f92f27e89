"""Reindexing, orphans, memory nodes, answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.outbound.memory.http import HttpMemory
from adapters.outbound.storage.knowledge.memory_tasks import PostgresMemoryTasks
from adapters.outbound.storage.knowledge.reindexing import PostgresReindexing
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.knowledge.answers.service import AnswersService
from domain.knowledge.memory.service import MemoryService
from domain.knowledge.reindex.service import ReindexService
from domain.knowledge.search.options import SearchOptions
from ports.http import HttpAnswer, HttpFailed, HttpRequest
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import Knowledge

TEXT = "\n\n".join(f"Paragraph {i} about pumps and valves in hall {i}. " * 8 for i in range(12))


async def test_after_a_change_of_model_a_reindex_brings_the_vectors_back(
    knowledge: Knowledge, ann: Caller, database: Database, tmp_path: Path
) -> None:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, hall_txt=TEXT)
    changed = Knowledge(database, tmp_path / "blobs", embedder=HashedEmbedder("another"))
    model = (await changed.embedder.model()).fingerprint
    vector = await changed.embedder.embed_query("valves in hall 7")
    chunks = PostgresReindexing(database)
    total = await knowledge.count("chunk")
    told: list[tuple[int, int]] = []
    reindex = ReindexService(chunks, changed.embedder)
    assert await reindex.run(lambda done, of: told.append((done, of))) == total
    assert told[-1] == (total, total)
    nearest = await changed.index.nearest(base, vector, model, SearchOptions(top_k=3))
    assert len(nearest) == 3
    assert nearest[0][1] > 0.5
    assert await reindex.run(lambda done, of: None) == 0


async def test_a_healthy_base_has_no_orphans_and_broken_ones_are_counted(
    knowledge: Knowledge, ann: Caller, database: Database
) -> None:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, hall_txt=TEXT)
    chunks = PostgresReindexing(database)
    assert set((await chunks.orphans()).values()) == {0}
    await database.execute("DELETE FROM chunk WHERE position = 1")
    await database.execute("DELETE FROM chunk_index WHERE seq = (SELECT min(seq) FROM chunk_index)")
    await database.execute("INSERT INTO kb_term (kb_id, term, df) VALUES (999, 'ghost', 1)")
    found = await chunks.orphans()
    assert found["index entries without a chunk"] == 1
    assert found["chunks without an index entry"] == 1
    assert found["words of deleted bases"] == 1


class Memory:
    """A memory service that answers what it is told to."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.calls.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return HttpAnswer(answer, {}, b"")


async def test_memory_nodes_are_deleted_until_that_is_acknowledged(
    database: Database, tmp_path: Path, ann: Caller
) -> None:
    knowledge = Knowledge(database, tmp_path, memory_sync=True)
    base = await knowledge.base(ann)
    await knowledge.bases.delete(ann, base)
    away = HttpFailed("connection refused", before_request=True)
    http = Memory(away, 500, 404, 204)
    service = MemoryService(PostgresMemoryTasks(database), HttpMemory(http, "http://memory/api/", "key"))  # type: ignore[arg-type]
    for attempt in range(1, 4):
        before = await database.fetch_one("SELECT now()")
        assert await service.work() == 0
        row = await database.fetch_one(
            "SELECT attempts, due_at >= %s + make_interval(secs => 2 ^ attempts), last_error FROM memory_task",
            before,
        )
        assert row is not None
        assert row[:2] == (attempt, True)
        assert row[2]
        await database.execute("UPDATE memory_task SET due_at = now() + interval '1 hour'")
        assert await service.work() == 0  # not due yet
        assert len(http.calls) == attempt
        await database.execute("UPDATE memory_task SET due_at = now()")
    assert await service.work() == 1
    assert await knowledge.count("memory_task") == 0
    assert {call.method for call in http.calls} == {"DELETE"}
    assert {call.url for call in http.calls} == {f"http://memory/api/knowledge-bases/{base}/nodes"}
    assert http.calls[0].headers["authorization"] == "Bearer key"


async def test_without_an_address_the_task_waits(database: Database, tmp_path: Path, ann: Caller) -> None:
    knowledge = Knowledge(database, tmp_path, memory_sync=True)
    await knowledge.bases.delete(ann, await knowledge.base(ann))
    assert await MemoryService(PostgresMemoryTasks(database), HttpMemory(Memory(), "", "k")).work() == 0  # type: ignore[arg-type]
    assert await knowledge.count("memory_task") == 1


@pytest.fixture
def answers(knowledge: Knowledge) -> AnswersService:
    return AnswersService(knowledge.access, knowledge.search)


async def test_a_question_is_answered_with_passages_and_file_names(
    knowledge: Knowledge, answers: AnswersService, ann: Caller
) -> None:
    base = await knowledge.base(ann, "Works")
    await knowledge.upload(
        ann,
        base,
        pumps_txt="The cooling pump INV-2024-00317 is serviced in March.",
        canteen_txt="Lunch is at noon.",
    )
    found = await answers.answer("ann", base, "When is INV-2024-00317 serviced?")
    assert "**pumps.txt**" in found.text
    assert "serviced in March" in found.text
    assert "canteen" not in found.text
    assert (
        await answers.answer("ann", base, "quantum zebra")
    ).text == "Nothing found in the knowledge base Works."
    assert (await answers.answer("ann", base, "  ")).text == "Nothing found in the knowledge base Works."


async def test_what_the_owner_may_not_read_is_answered_like_what_is_not_there(
    knowledge: Knowledge, answers: AnswersService, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, pumps_txt="The cooling pump is serviced in March.")
    refused = (await answers.answer("bob", base, "cooling pump")).text
    unknown = (await answers.answer("bob", base + 1, "cooling pump")).text
    assert refused == f"There is no knowledge base {base} here."
    assert unknown == f"There is no knowledge base {base + 1} here."
    await knowledge.bases.set_permission(ann, base, "bob", 1)
    assert "March" in (await answers.answer("bob", base, "cooling pump")).text
