"""Files into a base: all or nothing, once each, whatever dies on the way."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.access.sharing import Grantee
from domain.knowledge.files import UploadLimits
from domain.knowledge.ingest import MAX_ATTEMPTS, ProcessingFailed
from domain.knowledge.model import FileStatus
from domain.refusals import Forbidden, Invalid, NotFound, Refusal, TooLarge, Unreadable, Unsupported
from ports.indexing import Vector
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.knowledge import Knowledge, incoming, read

TEXT = "The turbine hall\n\n" + " ".join(f"Turbine {i} is checked in week {i}." for i in range(200))
TABLES = ("kb_file", "kb_text", "kb_piece", "kb_piece_vector", "chunk", "chunk_index", "kb_term", "blob")

SILENT_LEFT = 25
"""Seconds of a lease, as in knowledge.sql."""


async def counts(knowledge: Knowledge) -> dict[str, int]:
    return {table: await knowledge.count(table) for table in TABLES}


async def test_an_upload_answers_with_hash_size_and_type_and_can_be_found(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    (uploaded,) = await knowledge.upload(ann, base, hall_txt=TEXT)
    assert uploaded.hash == hashlib.sha256(TEXT.encode()).hexdigest()
    assert (uploaded.name, uploaded.size, uploaded.mime_type) == ("hall.txt", len(TEXT), "text/plain")
    assert uploaded.status is FileStatus.READY
    record = await knowledge.files.get(ann, uploaded.hash)
    assert (record.text, record.progress, record.error) == (TEXT, 1.0, None)
    results = await knowledge.search.search(ann, base, "turbine 77 week 77")
    assert results[0].file_hash == uploaded.hash
    assert "Turbine 77" in results[0].text
    assert await knowledge.count("kb_piece") == await knowledge.count("kb_piece_vector") == 0
    assert await knowledge.count("chunk") == await knowledge.count("chunk_index") > 5


@pytest.mark.parametrize(("text", "refusal"), [(TEXT, None), ("corrupt", Unreadable)])
async def test_the_end_of_an_upload_is_told_within_the_process(
    knowledge: Knowledge,
    ann: Caller,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    refusal: type[Refusal] | None,
) -> None:
    for name in ("FIRST_LOOK", "LONGEST_LOOK"):
        monkeypatch.setattr(f"domain.knowledge.files.{name}", 3600)
    base = await knowledge.base(ann)
    async with asyncio.timeout(60):
        if refusal:
            with pytest.raises(refusal):
                await knowledge.upload(ann, base, hall_txt=text)
        else:
            (uploaded,) = await knowledge.upload(ann, base, hall_txt=text)
            assert uploaded.status is FileStatus.READY


async def test_the_bytes_come_back(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (uploaded,) = await knowledge.upload(ann, base, hall_txt=TEXT)
    whole = await knowledge.files.download(ann, uploaded.hash)
    assert (whole.name, whole.size) == ("hall.txt", len(TEXT))
    assert await read(whole.content) == TEXT.encode()
    part = await knowledge.files.download(ann, uploaded.hash, 4, 7)
    assert await read(part.content) == b"turbine"


async def test_a_name_with_folders_or_line_ends_is_kept_as_a_plain_name(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    (file,) = await knowledge.upload(ann, base, **{"../../etc/a\r\nb_txt": "some text"})
    assert file.name == "ab.txt"
    assert [each.name for each in await knowledge.files.list(ann, base)] == ["ab.txt"]


async def test_one_bad_file_takes_all_of_the_request_back(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    with pytest.raises(Unreadable, match=r"^bad\.txt: is corrupt$"):
        await knowledge.upload(ann, base, good_txt=TEXT, bad_txt="corrupt")
    assert set((await counts(knowledge)).values()) == {0}
    assert list(knowledge.folder.glob("??/*")) == []
    assert await knowledge.search.search(ann, base, "turbine") == []


@pytest.mark.parametrize(
    ("name", "content", "refusal"),
    [("a.exe", "x", Unsupported), ("a.txt", "", Unreadable)],
)
async def test_what_is_refused_at_the_door_leaves_nothing(
    knowledge: Knowledge, ann: Caller, name: str, content: str, refusal: type[Exception]
) -> None:
    base = await knowledge.base(ann)
    with pytest.raises(refusal):
        await knowledge.files.upload(ann, base, incoming([("good.txt", TEXT), (name, content)]))
    assert set((await counts(knowledge)).values()) == {0}
    assert list(knowledge.folder.glob("*/*")) == []


async def test_no_files_at_all(knowledge: Knowledge, ann: Caller) -> None:
    with pytest.raises(Invalid, match=r"^No files uploaded$"):
        await knowledge.files.upload(ann, await knowledge.base(ann), incoming([]))


async def test_too_many_and_too_large(database: Database, tmp_path: Path, ann: Caller) -> None:
    knowledge = Knowledge(database, tmp_path / "blobs", limits=UploadLimits(max_bytes=1500, max_files=2))
    base = await knowledge.base(ann)
    with pytest.raises(TooLarge, match="2 files"):
        await knowledge.files.upload(ann, base, incoming([(f"{i}.txt", f"text {i}") for i in range(3)]))
    with pytest.raises(TooLarge):
        await knowledge.files.upload(ann, base, incoming([("a.txt", "a" * 1000), ("b.txt", "b" * 1501)]))
    assert set((await counts(knowledge)).values()) == {0}


async def test_unknown_base_and_missing_permission_are_told_before_anything_is_read(
    knowledge: Knowledge, ann: Caller, bob: Caller
) -> None:
    base = await knowledge.base(ann)
    with pytest.raises(NotFound, match=r"^Knowledge base not found$"):
        await knowledge.files.upload(ann, 999_999, incoming([("a.txt", TEXT)]))
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), 1)
    with pytest.raises(Forbidden, match=r"^Forbidden$"):
        await knowledge.files.upload(bob, base, incoming([("a.txt", TEXT)]))
    assert await knowledge.count("blob") == 0


async def test_the_same_bytes_twice_in_one_base_are_one_record_parsed_once(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, hall_txt=TEXT)
    before = await counts(knowledge)
    (again,) = await knowledge.upload(ann, base, copy_txt=TEXT)
    assert (again.hash, again.status) == (hashlib.sha256(TEXT.encode()).hexdigest(), FileStatus.READY)
    assert await counts(knowledge) == before
    assert knowledge.parser.parsed == ["hall.txt"]
    pair = await knowledge.upload(ann, base, one_txt="same text here", two_txt="same text here")
    assert len(pair) == 2
    assert await knowledge.count("kb_file") == 2


async def test_the_same_bytes_in_two_bases_are_two_records_and_one_outlives_the_other(
    knowledge: Knowledge, ann: Caller
) -> None:
    one, two = await knowledge.base(ann, "one"), await knowledge.base(ann, "two")
    for base in (one, two):
        await knowledge.upload(ann, base, hall_txt=TEXT)
    assert await knowledge.count("kb_file") == 2
    assert await knowledge.count("blob") == 1
    found = await knowledge.search.search(ann, two, "turbine 5")
    await knowledge.bases.delete(ann, one)
    assert await knowledge.search.search(ann, two, "turbine 5") == found
    (kept,) = await knowledge.files.list(ann, two)
    assert await read((await knowledge.files.download(ann, kept.hash)).content) == TEXT.encode()


async def test_without_waiting_the_record_tells_how_far_it_is(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (uploaded,) = await knowledge.files.upload(ann, base, incoming([("a.txt", TEXT)]), respond_async=True)
    assert uploaded.status is FileStatus.PROCESSING
    (record,) = await knowledge.files.list(ann, base)
    assert (record.status, record.progress) == (FileStatus.PROCESSING, 0)
    assert await knowledge.search.search(ann, base, "turbine") == []
    assert await knowledge.work_one()
    assert (await knowledge.files.get(ann, uploaded.hash)).status is FileStatus.READY
    assert not await knowledge.work_one()


async def test_how_far_a_file_has_been_read_is_on_record(
    knowledge: Knowledge, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domain.knowledge.ingest.BEAT_SECONDS", 0.005)
    told = asyncio.Event()
    reading = knowledge.staging.reading

    async def noted(*arguments: Any) -> None:
        await reading(*arguments)
        told.set()

    monkeypatch.setattr(knowledge.staging, "reading", noted)
    knowledge.parser.gate = asyncio.Event()
    base = await knowledge.base(ann)
    await knowledge.files.upload(ann, base, incoming([("a.txt", TEXT)]), respond_async=True)
    working = asyncio.create_task(knowledge.work_one())
    await told.wait()
    (record,) = await knowledge.files.list(ann, base)
    assert (record.status, record.progress) == (FileStatus.PROCESSING, pytest.approx(0.1))
    knowledge.parser.gate.set()
    assert await working
    (record,) = await knowledge.files.list(ann, base)
    assert (record.status, record.progress) == (FileStatus.READY, 1)


async def test_a_bad_file_is_answered_without_waiting_for_the_model(
    knowledge: Knowledge, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is loaded while the first file is read."""
    loading = asyncio.Event()

    async def endless() -> None:
        loading.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(knowledge.embedder, "prepare", endless)
    with pytest.raises(Unreadable):
        await knowledge.upload(ann, await knowledge.base(ann), bad_txt="corrupt")
    assert loading.is_set()


async def test_without_waiting_a_failure_stays_on_record_until_the_file_comes_again(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    files = [("bad.txt", "corrupt"), ("good.txt", TEXT)]
    await knowledge.files.upload(ann, base, incoming(files), respond_async=True)
    assert await knowledge.work_one()
    records = await knowledge.files.list(ann, base)
    assert {record.status for record in records} == {FileStatus.FAILED}
    assert {record.error for record in records} == {"bad.txt: is corrupt"}
    assert await knowledge.count("chunk") == 0
    await knowledge.upload(ann, base, good_txt=TEXT)
    good = next(record for record in await knowledge.files.list(ann, base) if record.name == "good.txt")
    assert (good.status, good.error) == (FileStatus.READY, None)


async def test_two_at_once_with_the_same_bytes_make_one_record(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    both = await asyncio.gather(*(knowledge.upload(ann, base, hall_txt=TEXT) for _ in range(2)))
    assert both[0] == both[1]
    assert await knowledge.count("kb_file") == 1
    assert knowledge.parser.parsed == ["hall.txt"]


async def test_a_file_that_was_part_of_a_failing_upload_is_taken_up_by_the_one_that_waits(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    knowledge.parser.gate = asyncio.Event()
    bad = asyncio.create_task(
        knowledge.files.upload(ann, base, incoming([("bad.txt", "corrupt"), ("good.txt", TEXT)]))
    )
    while await knowledge.count("kb_file") < 2:
        await asyncio.sleep(0)
    good = asyncio.create_task(knowledge.upload(ann, base, good_txt=TEXT))
    knowledge.parser.gate.set()
    with pytest.raises(Unreadable):
        await bad
    (uploaded,) = await good
    assert uploaded.status is FileStatus.READY
    assert [record.name for record in await knowledge.files.list(ann, base)] == ["good.txt"]


class Hanging(HashedEmbedder):
    """Does not come to embed anything."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError


async def test_another_worker_takes_over_from_a_dead_one_where_it_stopped(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    await knowledge.files.upload(
        ann, base, incoming([("a.txt", TEXT), ("b.txt", TEXT + "!")]), respond_async=True
    )
    work = await knowledge.uploads.claim(owner=77)  # a process whose lock is not held: it died
    assert work is not None
    embedder, knowledge.embedder = knowledge.embedder, Hanging()
    dead = asyncio.create_task(knowledge.worker(owner=77).work(replace(work, files=work.files[:1])))
    await asyncio.wait_for(knowledge.embedder.asked.wait(), 60)
    while not await knowledge.database.fetch("SELECT 1 FROM kb_file WHERE staged"):
        await asyncio.sleep(0)
    dead.cancel()
    await asyncio.wait({dead})
    knowledge.embedder = embedder
    fingerprint = (await embedder.model()).fingerprint
    pieces = await knowledge.staging.unembedded(work.upload_id, fingerprint, 100)
    vectors = await knowledge.embedder.embed_passages([piece.text for piece in pieces[:3]])
    await knowledge.staging.embedded(work.upload_id, fingerprint, list(zip(pieces[:3], vectors, strict=True)))
    await knowledge.database.execute("UPDATE kb_upload SET due_at = now() + interval '1 hour'")
    assert not await knowledge.work_one()  # it may only have lost its connection
    await knowledge.database.execute(
        "UPDATE kb_upload SET due_at = now() + make_interval(secs => %s)", (SILENT_LEFT,)
    )
    assert await knowledge.work_one()
    assert sorted(knowledge.parser.parsed) == ["a.txt", "b.txt"]  # the first was not parsed again
    assert {record.status for record in await knowledge.files.list(ann, base)} == {FileStatus.READY}
    assert not await knowledge.staging.publish(
        work, 77, "late", "late"
    )  # the dead one comes back: nothing doubles
    assert await knowledge.count("chunk") == 2 * len(pieces)


LONG = "\n\n".join(f"{TEXT.partition('.')[2].strip()} Part {part}." for part in range(3))


async def test_a_file_is_embedded_while_it_is_read_and_begun_again_when_its_worker_died_in_the_middle(
    knowledge: Knowledge, ann: Caller
) -> None:
    base, other = await knowledge.base(ann), await knowledge.base(ann, "Read at once")
    await knowledge.upload(ann, other, a_txt=LONG)
    wanted = await stored(knowledge, other)
    await knowledge.files.upload(ann, base, incoming([("a.txt", LONG)]), respond_async=True)
    work = await knowledge.uploads.claim(owner=77)
    assert work is not None
    knowledge.parser.halfway = asyncio.Event()
    dead = asyncio.create_task(knowledge.worker(owner=77).work(work))
    while not await knowledge.database.fetch("SELECT 1 FROM kb_piece_vector"):
        await asyncio.sleep(0)
    dead.cancel()
    await asyncio.wait({dead})
    assert await knowledge.count("kb_text") > 0
    knowledge.parser.halfway = None
    await knowledge.database.execute(
        "UPDATE kb_upload SET due_at = now() + make_interval(secs => %s)", (SILENT_LEFT,)
    )
    assert await knowledge.work_one()
    assert await stored(knowledge, base) == wanted
    (record,) = await knowledge.files.list(ann, base)
    assert (record.text, record.status) == (LONG, FileStatus.READY)
    assert await knowledge.count("kb_text") == await knowledge.count("kb_piece") == 0
    assert not await knowledge.staging.stage(work, work.files[0].id, 0, "late", [])


async def stored(knowledge: Knowledge, base_id: int) -> Sequence[tuple[Any, ...]]:
    return await knowledge.database.fetch(
        "SELECT position, text, context, metadata FROM chunk WHERE kb_id = %s ORDER BY seq", (base_id,)
    )


async def test_a_refusal_in_the_middle_of_a_file_takes_back_what_was_staged(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    with pytest.raises(Unreadable, match="is corrupt"):
        await knowledge.upload(ann, base, a_txt=f"{LONG}\n\ncorrupt", b_txt=TEXT)
    assert set((await counts(knowledge)).values()) == {0}


async def test_a_file_deleted_in_the_middle_is_not_read_to_its_end(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    knowledge.parser.halfway = asyncio.Event()
    await knowledge.files.upload(ann, base, incoming([("a.txt", LONG)]), respond_async=True)
    working = asyncio.create_task(knowledge.work_one())
    while not await knowledge.database.fetch("SELECT 1 FROM kb_piece"):
        await asyncio.sleep(0)
    (record,) = await knowledge.files.list(ann, base)
    await knowledge.base_files.remove(ann, base, record.hash)
    knowledge.parser.halfway.set()
    assert await working
    assert set((await counts(knowledge)).values()) == {0}


async def test_faults_of_ours_are_tried_again_and_given_up(
    knowledge: Knowledge, ann: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    base = await knowledge.base(ann)
    sending = asyncio.create_task(knowledge.files.upload(ann, base, incoming([("a.txt", "breaks")])))
    for _ in range(MAX_ATTEMPTS):
        while not await knowledge.work_one():
            await knowledge.database.execute("UPDATE kb_upload SET due_at = now()")
    with pytest.raises(ProcessingFailed):
        await sending
    assert set((await counts(knowledge)).values()) == {0}
    assert "a fault of the parser" in caplog.text


async def test_an_upload_whose_failure_takes_no_record_is_removed_and_its_files_say_so(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    await knowledge.database.execute("ALTER TABLE kb_upload ADD CHECK (state <> 3) NOT VALID")
    await knowledge.files.upload(ann, base, incoming([("a.txt", "breaks")]), respond_async=True)
    for _ in range(MAX_ATTEMPTS):
        while not await knowledge.work_one():
            await knowledge.database.execute("UPDATE kb_upload SET due_at = now()")

    assert await knowledge.count("kb_upload") == 0
    [record] = await knowledge.files.list(ann, base)
    assert (record.status, record.error) == (FileStatus.FAILED, "processing failed")


async def test_a_base_deleted_while_its_file_is_processed(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    knowledge.parser.gate = asyncio.Event()
    sending = asyncio.create_task(knowledge.files.upload(ann, base, incoming([("a.txt", TEXT)])))
    await knowledge.woken.wait()
    working = asyncio.create_task(knowledge.work_one())
    while not await knowledge.database.fetch("SELECT 1 FROM kb_upload WHERE state = 1"):
        await asyncio.sleep(0)
    await knowledge.bases.delete(ann, base)
    knowledge.parser.gate.set()
    assert await working
    with pytest.raises(NotFound, match=r"^Knowledge base not found$"):
        await sending
    assert set((await counts(knowledge)).values()) == {0}


async def test_the_user_with_fewer_running_uploads_is_served_first(
    knowledge: Knowledge, ann: Caller, bob: Caller
) -> None:
    base = await knowledge.base(ann)
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), 2)
    for i in range(3):
        await knowledge.files.upload(
            ann, base, incoming([(f"{i}.txt", f"ann's text {i}")]), respond_async=True
        )
    await knowledge.files.upload(bob, base, incoming([("bob.txt", "bob's text")]), respond_async=True)
    # Locks stand for living owners.
    async with knowledge.database.connection() as connection:
        await connection.execute("SELECT pg_advisory_lock(5)")
        first, second = await knowledge.uploads.claim(5), await knowledge.uploads.claim(5)
        assert first
        assert second
        assert [work.files[0].name for work in (first, second)] == ["0.txt", "bob.txt"]
        await connection.execute("SELECT pg_advisory_unlock(5)")


async def test_a_sweep_removes_what_crashes_left(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    await knowledge.upload(ann, base, hall_txt=TEXT)
    held = await knowledge.blobs.put(read_pieces(b"held by an upload that died"), 100)
    await knowledge.holds.hold(held.key, held.size)
    stray = await knowledge.blobs.put(read_pieces(b"never known"), 100)
    assert await knowledge.sweeper.sweep() == 0
    await knowledge.database.execute("UPDATE blob SET touched_at = now() - interval '2 days'")
    knowledge.clock.at += timedelta(days=400)
    assert await knowledge.sweeper.strays() == 1
    assert await knowledge.sweeper.sweep() == 2
    assert await knowledge.sweeper.strays() == 0
    for gone in (held, stray):
        with pytest.raises(NotFound):
            await knowledge.blobs.size(gone.key)
    (kept,) = await knowledge.files.list(ann, base)
    assert await knowledge.blobs.size(kept.blob_key) == len(TEXT)


async def read_pieces(content: bytes):  # type: ignore[no-untyped-def]
    yield content
