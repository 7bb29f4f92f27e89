"""Reindexing, orphans, memory nodes, answers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from adapters.outbound.knowledge.memory import HttpMemory
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.vector_indexes import PostgresReindexing
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.access.sharing import Grantee
from domain.knowledge.answers import AnswersService
from domain.knowledge.maintenance import MemoryService, ReindexService
from domain.knowledge.model import SearchResult
from domain.knowledge.rules import Mode, SearchOptions
from ports.http import HttpAnswer, HttpFailed, HttpRequest
from ports.indexing import Vector
from ports.knowledge_storage import OtherChunk, Work
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import WORKER, Knowledge

TEXT = "\n\n".join(f"Paragraph {i} about pumps and valves in hall {i}. " * 8 for i in range(12))


def reindexing(changed: Knowledge, owner: int = 1) -> ReindexService:
    return ReindexService(PostgresReindexing(changed.database), changed.embedder, owner)


@pytest.fixture
async def filled(knowledge: Knowledge, ann: Caller) -> int:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, hall_txt=TEXT)
    return base


@pytest.fixture
def changed(knowledge: Knowledge, database: Database, filled: int) -> Knowledge:
    """The same database after its model was changed."""
    return Knowledge(database, knowledge.folder, embedder=HashedEmbedder("another"))


async def by_meaning(knowledge: Knowledge, ann: Caller, base: int) -> list[SearchResult]:
    found = await knowledge.search.search(ann, base, "valves in hall 7", SearchOptions(mode=Mode.VECTOR))
    return list(found)


async def test_after_a_change_of_model_all_is_embedded_anew(
    knowledge: Knowledge, changed: Knowledge, ann: Caller, filled: int
) -> None:
    total, told = await knowledge.count("chunk"), list[tuple[int, int]]()
    reindex = reindexing(changed)
    assert await reindex.run(lambda done, of: told.append((done, of))) == total
    assert told[-1] == (total, total)
    assert await changed.index.model_of(filled) == "another:384"
    results = await by_meaning(changed, ann, filled)
    assert "hall 7" in results[0].text
    assert await reindex.run(lambda done, of: None) == 0
    assert await knowledge.count("chunk_vector") == 0


async def test_until_all_is_there_searches_use_the_former_vectors(
    knowledge: Knowledge, changed: Knowledge, ann: Caller, filled: int
) -> None:
    before = await by_meaning(knowledge, ann, filled)
    seen: list[list[SearchResult]] = []

    class Watching(PostgresReindexing):
        async def change_over(self, base_id: int, fingerprint: str) -> bool:
            seen.append(await by_meaning(changed, ann, base_id))
            return await super().change_over(base_id, fingerprint)

    await ReindexService(Watching(changed.database), changed.embedder, 1).work()
    assert seen == [before]
    assert await by_meaning(changed, ann, filled) != []


async def test_what_died_in_between_goes_on_where_it_stopped(
    knowledge: Knowledge, changed: Knowledge, ann: Caller, filled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domain.knowledge.maintenance.BATCH", 3)
    total = await knowledge.count("chunk")

    class Dying(PostgresReindexing):
        async def keep(self, fingerprint: str, vectors: Sequence[tuple[OtherChunk, Vector]]) -> None:
            await super().keep(fingerprint, vectors)
            raise ConnectionError("killed")

    with pytest.raises(ConnectionError):
        await ReindexService(Dying(changed.database), changed.embedder, 1).work()
    assert await knowledge.count("chunk_vector") == 3
    assert len(await by_meaning(changed, ann, filled)) > 0
    assert (
        await reindexing(changed, owner=2).run(lambda done, of: None) is None
    )  # the dead one has its minute
    assert await reindexing(changed).run(lambda done, of: None) == total - 3
    assert await changed.index.model_of(filled) == "another:384"


async def test_uploads_during_the_change_are_found_before_and_after(
    knowledge: Knowledge, changed: Knowledge, ann: Caller, filled: int
) -> None:
    class Uploading(PostgresReindexing):
        async def next_other(
            self, base_id: int, fingerprint: str, after: int, limit: int
        ) -> Sequence[OtherChunk]:
            following = await super().next_other(base_id, fingerprint, after, limit)
            if after == 0 and await knowledge.count("kb_file") == 1:
                await changed.upload(ann, base_id, crane_txt="The crane in hall 9 lifts forty tonnes.")
                assert await changed.index.model_of(base_id) == "hashed:384"
                (found, *_) = await by_meaning(changed, ann, base_id)
                assert "hall" in found.text
            return following

    await ReindexService(Uploading(changed.database), changed.embedder, 1).work()
    assert await changed.index.model_of(filled) == "another:384"
    options = SearchOptions(mode=Mode.VECTOR, top_k=1)
    (crane,) = await changed.search.search(ann, filled, "crane lifts forty tonnes", options)
    assert "crane" in crane.text


async def test_an_upload_that_a_change_overtakes_is_embedded_once_more(
    knowledge: Knowledge, changed: Knowledge, ann: Caller, filled: int
) -> None:
    class Overtaken(PostgresStaging):
        async def publish(self, work: Work, owner: int, fingerprint: str, base_model: str | None) -> bool:
            await reindexing(changed).work()
            return await super().publish(work, owner, fingerprint, base_model)

    changed.staging = Overtaken(changed.database)
    changed.ingest = changed.worker(owner=WORKER)
    await changed.upload(ann, filled, crane_txt="The crane in hall 9 lifts forty tonnes.")
    options = SearchOptions(mode=Mode.VECTOR, top_k=1)
    (crane,) = await changed.search.search(ann, filled, "crane lifts forty tonnes", options)
    assert "crane" in crane.text
    assert await knowledge.count("chunk_index") == await knowledge.count("chunk")


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
    service = MemoryService(PostgresBases(database), HttpMemory(http, "http://memory/api/", "key"))  # type: ignore[arg-type]
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
    assert await MemoryService(PostgresBases(database), HttpMemory(Memory(), "", "k")).work() == 0  # type: ignore[arg-type]
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
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), 1)
    assert "March" in (await answers.answer("bob", base, "cooling pump")).text
