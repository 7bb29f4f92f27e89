"""What the database keeps for knowledge bases, port by port."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from psycopg.errors import CheckViolation

from adapters.outbound.storage.blobs import PostgresBlobReferences
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.uploads import LEASE_SECONDS, REFUSALS, REFUSED, PostgresUploads
from adapters.outbound.storage.knowledge.vector_indexes import PostgresReindexing
from adapters.outbound.storage.pool import Database
from domain.access.sharing import Grantee, Level
from domain.knowledge.index_words import index_words
from domain.knowledge.ingest import BEAT_SECONDS
from domain.knowledge.model import BaseChange, FileStatus, NewBase, Piece
from domain.knowledge.text_match import Query, TextMatch
from ports.files import BlobReferences
from ports.indexing import DIMENSION
from ports.knowledge_storage import (
    ChunkIndex,
    Failure,
    KnowledgeFileStore,
    NewFile,
    Reindexing,
    Staging,
    Work,
)
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import WORKER, opened

EMBEDDER = HashedEmbedder()
MODEL = "hashed:384"

SHORT_BYTES, SILENT_LEFT = 1024 * 1024, 25
"""As in knowledge.sql."""


class Stores:
    """Every storage port of knowledge bases, over one database."""

    def __init__(self, database: Database) -> None:
        self.bases = PostgresBases(database)
        self.files: KnowledgeFileStore = PostgresFiles(database)
        self.holds: BlobReferences = PostgresBlobReferences(database)
        self.uploads = PostgresUploads(database)
        self.staging: Staging = PostgresStaging(database)
        self.index: ChunkIndex = PostgresChunkIndex(database)
        self.reindexing: Reindexing = PostgresReindexing(database)

    async def base(self, owner: str = "ann") -> int:
        return (await self.bases.add(owner, NewBase("Handbook"))).id

    async def begun(
        self, base_id: int, *names: str, user: str = "ann", respond_async: bool = False, size: int = 5
    ) -> int:
        """An upload of files of those names; a file's hash is its name's first letter, 64 times."""
        files = [NewFile(name, f"blob-{name}", name[0] * 64, size, "text/plain") for name in names]
        for file in files:
            await self.holds.hold(file.blob_key, file.size)
        begun = await self.uploads.begin(base_id, user, files, respond_async)
        await self.holds.release([file.blob_key for file in files])
        assert begun is not None
        assert begun.upload_id is not None
        return begun.upload_id

    async def claimed(self) -> Work:
        work = await self.uploads.claim(WORKER)
        assert work is not None
        return work

    async def claimed_ids(self, count: int) -> list[int]:
        return [(await self.claimed()).upload_id for _ in range(count)]

    async def staged(self, work: Work, *texts: str) -> None:
        """The first file of the work, with a piece for each text."""
        pieces = [(f"{work.upload_id}-{place}", piece(place, text)) for place, text in enumerate(texts)]
        file_id = work.files[0].id
        await self.staging.begin(work, file_id)
        assert await self.staging.stage(work, file_id, 0, "\n".join(texts), pieces)
        await self.staging.finish(work, file_id, "text/plain")

    async def embedded(self, work: Work) -> None:
        waiting = await self.staging.unembedded(work.upload_id, MODEL, 100)
        vectors = await EMBEDDER.embed_passages([piece.text for piece in waiting])
        await self.staging.embedded(work.upload_id, MODEL, list(zip(waiting, vectors, strict=True)))

    async def published(self, base_id: int, name: str, *texts: str, user: str = "ann") -> None:
        """A file of one piece for each text, all the way to being found."""
        await self.begun(base_id, name, user=user)
        work = await self.claimed()
        await self.staged(work, *texts)
        await self.embedded(work)
        assert await self.staging.publish(work, WORKER, MODEL, await self.staging.model_of(work.base_id))


def piece(place: int, text: str) -> Piece:
    return Piece(place, text, "Pumps", {"position": place}, index_words(f"Pumps\n{text}"))


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    async with opened(database_url) as database:
        yield database


@pytest.fixture
def stores(database: Database) -> Stores:
    return Stores(database)


# bases


async def test_a_base_is_given_with_the_askers_level(stores: Stores) -> None:
    made = await stores.bases.add("ann", NewBase("Handbook", "How we work"))
    for user, level in (("ann", Level.DELETE), ("bob", Level.NONE)):
        found = await stores.bases.find(made.id, user)
        assert found is not None
        assert (found.name, found.created_by, found.level) == ("Handbook", "ann", level)
    assert await stores.bases.find(made.id + 1, "ann") is None


async def test_granting_replaces_and_zero_takes_away(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.bases.grant(base_id, Grantee("bob"), Level.READ)
    await stores.bases.grant(base_id, Grantee("bob"), Level.UPDATE)
    assert [base.level for base in await stores.bases.of_user("bob")] == [Level.UPDATE]
    await stores.bases.grant(base_id, Grantee("bob"), Level.NONE)
    assert await stores.bases.of_user("bob") == []
    assert [each.user_id for each in await stores.bases.permissions(base_id)] == ["ann"]


async def test_a_change_keeps_what_it_does_not_name_and_tells_when_the_base_is_gone(stores: Stores) -> None:
    base_id = await stores.base()
    assert await stores.bases.change(base_id, BaseChange(description="new"))
    (base,) = await stores.bases.all()
    assert (base.name, base.description) == ("Handbook", "new")
    assert not await stores.bases.change(base_id + 1, BaseChange(name="x"))


async def test_removing_gives_the_blobs_once(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.published(base_id, "a.txt", "pump")
    assert await stores.bases.remove(base_id, sync_memory=False) == ["blob-a.txt"]
    assert await stores.bases.remove(base_id, sync_memory=False) is None


# blobs in use


async def test_a_blob_is_forgotten_when_neither_an_upload_nor_a_record_uses_it(stores: Stores) -> None:
    keys = ["blob-a.txt", "blob-held"]
    base_id = await stores.base()
    await stores.published(base_id, "a.txt", "pump")
    await stores.holds.hold("blob-held", 1)
    async with stores.holds.locked_unreferenced(keys) as unused:
        assert unused == []
    await stores.holds.release(["blob-held"])
    await stores.bases.remove(base_id, sync_memory=False)
    async with stores.holds.locked_unreferenced(keys) as unused:
        assert sorted(unused) == keys
    assert sorted(await stores.holds.unknown(keys)) == keys


async def test_two_holds_need_two_releases(stores: Stores) -> None:
    for _ in range(2):
        await stores.holds.hold("blob", 1)
    await stores.holds.release(["blob"])
    async with stores.holds.locked_unreferenced(["blob"]) as unused:
        assert unused == []
    await stores.holds.release(["blob", "blob"])
    async with stores.holds.locked_unreferenced(["blob"]) as unused:
        assert unused == ["blob"]


async def test_a_blob_stays_known_when_its_bytes_could_not_be_deleted(stores: Stores) -> None:
    await stores.holds.hold("blob", 1)
    await stores.holds.release(["blob"])
    with pytest.raises(OSError, match="disk"):
        async with stores.holds.locked_unreferenced(["blob"]):
            raise OSError("disk")
    assert await stores.holds.unknown(["blob", "other"]) == ["other"]


# uploads


async def test_a_file_that_is_there_is_taken_as_it_is(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.published(base_id, "a.txt", "pump")
    again = await stores.uploads.begin(
        base_id, "bob", [NewFile("other.txt", "blob-a.txt", "a" * 64, 5, "text/plain")], False
    )
    assert again is not None
    assert again.upload_id is None
    assert [(status, name) for _, status, name in again.files] == [(FileStatus.READY, "a.txt")]
    assert await stores.uploads.claim(WORKER) is None


async def test_there_is_no_upload_into_a_base_that_is_gone(stores: Stores) -> None:
    new = NewFile("a.txt", "blob", "a" * 64, 5, "text/plain")
    assert await stores.uploads.begin(12345, "ann", [new], False) is None


async def test_an_upload_is_leased_to_one_worker_alone(stores: Stores) -> None:
    base_id = await stores.base()
    uploads = [await stores.begun(base_id, name) for name in ("a.txt", "b.txt", "c.txt")]
    claims = await asyncio.gather(*(stores.uploads.claim(WORKER) for _ in range(5)))
    assert sorted(work.upload_id for work in claims if work) == uploads
    assert await stores.uploads.renew(uploads[0], WORKER)
    assert not await stores.uploads.renew(uploads[0], WORKER + 1)


async def test_newcomers_are_users_who_have_nothing_under_way(stores: Stores) -> None:
    base_id = await stores.base()
    for name in ("a.txt", "b.txt"):
        await stores.begun(base_id, name, user="ann")
    await stores.claimed()
    assert await stores.uploads.claim(WORKER, newcomers_only=True) is None
    late = [await stores.begun(base_id, name, user="bob") for name in ("c.txt", "d.txt")]
    work = await stores.uploads.claim(WORKER, newcomers_only=True)
    assert work is not None
    assert work.upload_id == late[0]
    assert await stores.uploads.claim(WORKER, newcomers_only=True) is None
    assert await stores.uploads.claim(WORKER) is not None


async def test_short_uploads_pass_the_long_ones_of_their_user(stores: Stores) -> None:
    base_id = await stores.base()
    large = [await stores.begun(base_id, name, size=50 * SHORT_BYTES) for name in ("a.txt", "b.txt", "c.txt")]
    short = [await stores.begun(base_id, name) for name in ("d.txt", "e.txt")]
    assert await stores.claimed_ids(2) == short
    assert await stores.claimed_ids(1) == large[:1]
    assert await stores.uploads.claim(WORKER, newcomers_only=True) is None


async def test_a_short_upload_finds_a_place_beside_the_long_ones_of_its_user(stores: Stores) -> None:
    base_id = await stores.base()
    for name in ("a.txt", "b.txt"):
        await stores.begun(base_id, name, size=50 * SHORT_BYTES)
    await stores.claimed_ids(1)
    short = [await stores.begun(base_id, name) for name in ("d.txt", "e.txt")]
    work = await stores.uploads.claim(WORKER, newcomers_only=True)
    assert work is not None
    assert work.upload_id == short[0]
    assert await stores.uploads.claim(WORKER, newcomers_only=True) is None


async def test_a_long_upload_is_not_passed_for_ever(stores: Stores, database: Database) -> None:
    base_id = await stores.base()
    large = await stores.begun(base_id, "a.txt", size=50 * SHORT_BYTES)
    await database.execute("UPDATE kb_upload SET created_at = now() - interval '1 hour'")
    short = await stores.begun(base_id, "b.txt")
    assert await stores.claimed_ids(2) == [large, short]


async def test_a_worker_that_is_gone_loses_its_lease_only_after_some_silence(
    stores: Stores, database: Database
) -> None:
    await stores.begun(await stores.base(), "a.txt")
    dead = WORKER + 1
    before = await database.fetch_one("SELECT now()")
    assert await stores.uploads.claim(dead) is not None
    silence = LEASE_SECONDS - SILENT_LEFT
    assert silence > 2 * BEAT_SECONDS  # a lease is renewed with every beat
    assert await database.fetch_one(
        "SELECT due_at >= %s + make_interval(secs => %s) FROM kb_upload", (*(before or ()), LEASE_SECONDS)
    ) == (True,)
    for left, loses in ((3600, False), (SILENT_LEFT, True)):
        await database.execute("UPDATE kb_upload SET due_at = now() + make_interval(secs => %s)", (left,))
        assert (await stores.uploads.claim(WORKER) is not None) == loses


async def test_an_upload_that_cannot_be_leased_keeps_no_others_waiting(
    stores: Stores, database: Database
) -> None:
    base_id = await stores.base()
    refused, good = [await stores.begun(base_id, name) for name in ("a.txt", "b.txt")]
    await database.execute(
        f"ALTER TABLE kb_upload ADD CHECK (NOT (id = {refused} AND owner IS NOT NULL)) NOT VALID"
    )
    assert (await stores.claimed()).upload_id == good
    with pytest.raises(CheckViolation):
        await stores.uploads.claim(WORKER)


async def test_an_upload_that_cannot_be_leased_is_given_up_after_a_while(
    stores: Stores, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    base_id = await stores.base()
    refused = await stores.begun(base_id, "a.txt")
    await database.execute(
        f"ALTER TABLE kb_upload ADD CHECK (NOT (id = {refused} AND owner IS NOT NULL)) NOT VALID"
    )
    for _ in range(2 * REFUSALS):
        with pytest.raises(CheckViolation):
            await stores.uploads.claim(WORKER)
    [waits] = await stores.files.of_base(base_id)
    assert waits.status is FileStatus.PROCESSING, "it may pass"
    monkeypatch.setattr("adapters.outbound.storage.knowledge.uploads.REFUSED_SECONDS", 0.0)
    with pytest.raises(CheckViolation):
        await stores.uploads.claim(WORKER)

    assert await stores.uploads.claim(WORKER) is None
    [given_up] = await stores.files.of_base(base_id)
    assert (given_up.status, given_up.error) == (FileStatus.FAILED, REFUSED)


async def test_work_given_back_waits_and_counts_its_tries(stores: Stores) -> None:
    await stores.begun(await stores.base(), "a.txt")
    work = await stores.claimed()
    await stores.uploads.retry(work.upload_id, WORKER, 60)
    assert await stores.uploads.claim(WORKER) is None
    assert not await stores.uploads.renew(work.upload_id, WORKER)


async def test_a_failure_takes_everything_back_and_says_why(stores: Stores) -> None:
    base_id = await stores.base()
    upload_id = await stores.begun(base_id, "a.txt", "b.txt")
    work = await stores.claimed()
    await stores.staged(work, "pump")
    gone = await stores.uploads.fail(work, WORKER, Failure("UNREADABLE", "a.txt is torn"))
    assert sorted(gone) == ["blob-a.txt", "blob-b.txt"]
    assert await stores.files.of_base(base_id) == []
    assert await stores.uploads.failure(upload_id) == Failure("UNREADABLE", "a.txt is torn")
    assert await stores.uploads.fail(work, WORKER, Failure("UNREADABLE", "again")) == []


async def test_without_a_caller_who_waits_a_failed_record_stays(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.begun(base_id, "a.txt", respond_async=True)
    assert await stores.uploads.fail(await stores.claimed(), WORKER, Failure("UNREADABLE", "torn")) == []
    (file,) = await stores.files.of_base(base_id)
    assert (file.status, file.error, file.text) == (FileStatus.FAILED, "torn", "")


# staging


async def test_nothing_is_found_before_all_is_published(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.begun(base_id, "a.txt")
    work = await stores.claimed()
    await stores.staged(work, "The cooling pump.", "The valve.")
    await stores.embedded(work)
    (file,) = await stores.files.of_base(base_id)
    assert (file.status, file.text) == (FileStatus.PROCESSING, "The cooling pump.\nThe valve.")
    assert await stores.files.chunks(file, 5, 0) == ([], 0)
    assert await found(stores, base_id, "pump") == []
    assert await stores.staging.publish(work, WORKER, MODEL, await stores.staging.model_of(work.base_id))
    assert await found(stores, base_id, "pump") == ["The cooling pump.", "The valve."]
    chunks, total = await stores.files.chunks(file, 1, 1)
    assert ([chunk.text for chunk in chunks], total) == (["The valve."], 2)


async def test_vectors_are_asked_for_what_has_none(stores: Stores) -> None:
    await stores.begun(await stores.base(), "a.txt")
    work = await stores.claimed()
    await stores.staged(work, "one", "two", "three")
    first, *rest = await stores.staging.unembedded(work.upload_id, MODEL, 3)
    assert first.text == "Pumps\none"
    vectors = await EMBEDDER.embed_passages([first.text])
    for _ in range(2):
        await stores.staging.embedded(work.upload_id, MODEL, [(first, vectors[0])])
    assert await stores.staging.unembedded(work.upload_id, MODEL, 10) == rest


async def test_staging_again_replaces(stores: Stores) -> None:
    await stores.begun(await stores.base(), "a.txt")
    work = await stores.claimed()
    await stores.staged(work, "old", "older")
    await stores.staged(work, "new")
    assert [each.text for each in await stores.staging.unembedded(work.upload_id, MODEL, 10)] == [
        "Pumps\nnew"
    ]


async def test_who_has_lost_the_lease_or_the_base_publishes_nothing(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.begun(base_id, "a.txt")
    work = await stores.claimed()
    await stores.staged(work, "pump")
    await stores.embedded(work)
    assert not await stores.staging.publish(
        work, WORKER + 1, MODEL, await stores.staging.model_of(work.base_id)
    )
    await stores.bases.remove(base_id, sync_memory=False)
    assert not await stores.staging.publish(work, WORKER, MODEL, await stores.staging.model_of(work.base_id))


# files


async def test_a_hash_means_the_users_own_file_then_a_readable_one_then_any(stores: Stores) -> None:
    foreign, shared, own = [await stores.base(owner) for owner in ("eve", "ann", "bob")]
    await stores.published(foreign, "a.txt", "pump")
    await expect(stores, "bob", foreign, readable=None)
    await stores.published(shared, "a.txt", "pump")
    await stores.bases.grant(shared, Grantee("bob"), Level.READ)
    await expect(stores, "bob", shared, readable=shared)
    await stores.published(own, "a.txt", "pump", user="bob")
    await expect(stores, "bob", own, readable=own)


async def expect(stores: Stores, user: str, any_base: int, readable: int | None) -> None:
    found = await stores.files.find("a" * 64, user, readable=False)
    assert found is not None
    assert found[0].base_id == any_base
    allowed = await stores.files.find("a" * 64, user, readable=True)
    assert (allowed and allowed[0].base_id) == readable


# search


async def found(stores: Stores, base_id: int, text: str, model: str = MODEL) -> list[str]:
    """What both searches find, the nearest first."""
    query, vector = Query.of(text), await EMBEDDER.embed_query(text)
    statistics = await stores.index.statistics(base_id, query)
    match = TextMatch(query, statistics)
    keys = [key for key, _ in await stores.index.nearest(base_id, vector, model)]
    keys += [each.key for each in await stores.index.matches(base_id, match, statistics)]
    passages = await stores.index.passages(base_id, list(set(keys)), match.vocabulary, vector, model)
    return [each.text for each in sorted(passages, key=lambda each: -each.cosine)]


async def test_the_two_searches_agree_on_a_chunk(stores: Stores) -> None:
    base_id = await stores.base()
    await stores.published(base_id, "a.txt", "The cooling pump ERR-4711.", "The brass valve.")
    query = Query.of("err-4711 pmup")
    statistics = await stores.index.statistics(base_id, query)
    assert (statistics.chunks, statistics.frequency["err4711"]) == (2, 1)
    match = TextMatch(query, statistics)
    candidate, *others = await stores.index.matches(base_id, match, statistics)
    assert "err4711" in candidate.held
    assert not any(other.held for other in others)
    vector = await EMBEDDER.embed_query("The cooling pump ERR-4711.")
    nearest = await stores.index.nearest(base_id, vector, MODEL)
    assert nearest[0][0] == candidate.key
    (passage,) = await stores.index.passages(base_id, [candidate.key], match.vocabulary, vector, MODEL)
    assert (passage.text, passage.context) == ("The cooling pump ERR-4711.", "Pumps")
    assert (passage.file_name, passage.held) == ("a.txt", candidate.held)
    assert passage.cosine == pytest.approx(nearest[0][1], abs=1e-6)


async def test_a_base_is_searched_alone_and_an_empty_one_finds_nothing(stores: Stores) -> None:
    one, other, empty = [await stores.base() for _ in range(3)]
    await stores.published(one, "a.txt", "The cooling pump.")
    await stores.published(other, "b.txt", "Another cooling pump.")
    assert await found(stores, one, "cooling pump") == ["The cooling pump."]
    assert await found(stores, empty, "cooling pump") == []


async def test_vectors_of_another_model_wait_until_all_of_a_base_are_there(stores: Stores) -> None:
    base_id, chunks = await stores.base(), stores.reindexing
    await stores.published(base_id, "a.txt", "The cooling pump.")
    await stores.published(base_id, "b.txt", "The valve.")
    vector = await EMBEDDER.embed_query("The cooling pump.")
    assert await stores.index.model_of(base_id) == await stores.staging.model_of(base_id) == MODEL
    assert (await chunks.other_bases(MODEL), await chunks.other_bases("other")) == ([], [base_id])
    first, *rest = await chunks.next_other(base_id, "other", 0, 10)
    assert (first.text, len(rest)) == ("Pumps\nThe cooling pump.", 1)
    await chunks.keep("other", [(first, vector)])
    assert await chunks.progress("other") == (1, 2)
    assert await chunks.next_other(base_id, "other", 0, 10) == rest
    assert await chunks.next_other(base_id, "other", rest[0].seq, 10) == []
    assert not await chunks.change_over(base_id, "other")
    assert await stores.index.model_of(base_id) == MODEL
    assert await stores.index.nearest(base_id, vector, "other") == []
    await chunks.keep("other", [(chunk, vector) for chunk in rest])
    assert await chunks.change_over(base_id, "other")
    assert await stores.index.model_of(base_id) == "other"
    assert len(await stores.index.nearest(base_id, vector, "other")) == 2
    assert await stores.index.nearest(base_id, vector, MODEL) == []
    assert await chunks.progress("other") == (0, 0)
    assert await chunks.change_over(999_999, "other")


async def test_vectors_that_nothing_waits_for_any_more_are_dropped(stores: Stores) -> None:
    base_id, chunks = await stores.base(), stores.reindexing
    await stores.published(base_id, "a.txt", "The cooling pump.")
    others = await chunks.next_other(base_id, "other", 0, 10)
    await chunks.keep("other", [(chunk, [1.0] * DIMENSION) for chunk in others])
    await chunks.drop_unused("other")
    assert (await chunks.progress("other"))[0] == 1
    await chunks.drop_unused(MODEL)
    assert (await chunks.progress("other"))[0] == 0


async def test_one_process_embeds_anew_at_a_time(stores: Stores) -> None:
    assert await stores.reindexing.lease(1, "other")
    assert await stores.reindexing.lease(1, "other")
    assert not await stores.reindexing.lease(2, "other")


async def test_an_upload_is_not_published_with_vectors_that_its_base_no_longer_has(stores: Stores) -> None:
    base_id, chunks = await stores.base(), stores.reindexing
    await stores.published(base_id, "a.txt", "The cooling pump.")
    await stores.begun(base_id, "b.txt")
    work = await stores.claimed()
    await stores.staged(work, "The valve.")
    await stores.embedded(work)
    others = await chunks.next_other(base_id, "other", 0, 10)
    await chunks.keep("other", [(chunk, [1.0] * DIMENSION) for chunk in others])
    assert await chunks.change_over(base_id, "other")
    assert not await stores.staging.publish(work, WORKER, MODEL, MODEL)
    pieces = await stores.staging.unembedded(work.upload_id, "other", 10)
    vectors = await EMBEDDER.embed_passages([piece.text for piece in pieces])
    await stores.staging.embedded(work.upload_id, "other", list(zip(pieces, vectors, strict=True)))
    assert await stores.staging.publish(work, WORKER, "other", "other")
    assert len(await stores.index.nearest(base_id, vectors[0], "other")) == 2
