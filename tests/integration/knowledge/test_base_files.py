"""The files of a base: how far they are, deleting, cancelling, retrying, their texts."""

import asyncio
from dataclasses import replace

import pytest

from adapters.outbound.storage.knowledge.vector_indexes import PostgresReindexing
from domain.access.model import Caller
from domain.access.sharing import Grantee, Level
from domain.knowledge import files as service
from domain.knowledge.index_words import index_words
from domain.knowledge.model import FileState, FileStatus, FileStep, FilesWanted
from domain.refusals import Conflict, Forbidden, NotFound
from tests.support.knowledge import Knowledge, incoming


async def later(knowledge: Knowledge, caller: Caller, base: int, **files: str) -> list[str]:
    """Uploads without waiting; the hashes."""
    named = [(name.replace("_", "."), content) for name, content in files.items()]
    return [file.hash for file in await knowledge.files.upload(caller, base, incoming(named), True)]


async def states(knowledge: Knowledge, caller: Caller, base: int) -> dict[str, FileState]:
    page = await knowledge.base_files.states(caller, base, 200, 0)
    return {file.name: file for file in page.items}


async def words_of(knowledge: Knowledge, base: int) -> dict[str, int]:
    rows = await knowledge.database.fetch("SELECT term, df FROM kb_term WHERE kb_id = %s", (base,))
    return dict(rows)


async def test_uploads_wait_in_the_order_in_which_they_are_leased(
    knowledge: Knowledge, ann: Caller, bob: Caller
) -> None:
    base, other = await knowledge.base(ann), await knowledge.base(bob)
    for name in ("a1_txt", "a2_txt", "a3_txt"):
        await later(knowledge, ann, base, **{name: f"Words of {name}."})
    await later(knowledge, bob, other, b1_txt="Words of bob.")
    files = await states(knowledge, ann, base)
    assert {name: file.queue_position for name, file in files.items()} == {
        "a1.txt": 1,
        "a2.txt": 3,
        "a3.txt": 4,
    }
    (waits,) = await knowledge.files.list(bob, other, FilesWanted(with_text=False))
    assert (waits.queue_position, (await states(knowledge, bob, other))["b1.txt"].queue_position) == (2, 2)
    assert {file.step for file in files.values()} == {FileStep.WAITING}

    knowledge.parser.gate = asyncio.Event()
    work = await knowledge.ingest.take()
    assert work
    working = asyncio.create_task(knowledge.ingest.work(work))
    first = (await states(knowledge, ann, base))["a1.txt"]
    assert (first.step, first.queue_position) == (FileStep.READING, None)
    assert (await states(knowledge, bob, other))["b1.txt"].queue_position == 1
    knowledge.parser.gate.set()
    await working
    first = (await states(knowledge, ann, base))["a1.txt"]
    assert (first.status, first.step, first.progress, first.chunk_count) == (FileStatus.READY, None, 1.0, 1)


async def test_a_short_upload_tells_that_it_passes_a_long_one_of_its_user(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    await later(knowledge, ann, base, long_txt="Words. " * 500_000)
    await later(knowledge, ann, base, short_txt="A few words.")
    files = await states(knowledge, ann, base)
    assert {name: file.queue_position for name, file in files.items()} == {"short.txt": 1, "long.txt": 2}


async def test_states_are_listed_page_by_page_the_newest_first(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    for number in range(3):
        await later(knowledge, ann, base, **{f"n{number}_txt": f"Number {number}."})
    first = await knowledge.base_files.states(ann, base, 2, 0)
    assert [file.name for file in first.items] == ["n2.txt", "n1.txt"]
    assert first.next
    second = await knowledge.base_files.states(ann, base, 2, first.next)
    assert ([file.name for file in second.items], second.next) == (["n0.txt"], None)


async def test_a_deleted_file_leaves_nothing(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    text = "The cooling pump is serviced in March.\n\nThe pump ERR-4711 runs dry."
    (pump,) = await knowledge.upload(ann, base, pump_txt=text)
    (valve,) = await knowledge.upload(ann, base, valve_txt="The valve is serviced in March.")
    await knowledge.base_files.remove(ann, base, pump.hash)

    assert [file.name for file in await knowledge.files.list(ann, base)] == ["valve.txt"]
    found = await knowledge.search.search(ann, base, "cooling pump")
    assert {result.file_hash for result in found} <= {valve.hash}
    expected = dict.fromkeys(index_words("valve\nThe valve is serviced in March."), 1)
    assert await words_of(knowledge, base) == expected
    assert await knowledge.count("chunk") == await knowledge.count("chunk_index") == 1
    row = await knowledge.database.fetch_one("SELECT chunk_count FROM knowledge_base")
    assert row == (1,)
    assert set((await PostgresReindexing(knowledge.database).orphans()).values()) == {0}
    assert len([path for path in knowledge.folder.rglob("*") if path.is_file()]) == 1
    with pytest.raises(NotFound):
        await knowledge.base_files.remove(ann, base, pump.hash)
    (again,) = await knowledge.upload(ann, base, pump_txt=text)
    assert (await knowledge.search.search(ann, base, "cooling pump"))[0].file_hash == again.hash


async def test_bytes_that_another_base_has_stay(knowledge: Knowledge, ann: Caller) -> None:
    one, two = await knowledge.base(ann), await knowledge.base(ann)
    (pump,) = await knowledge.upload(ann, one, pump_txt="The pump.")
    await knowledge.upload(ann, two, pump_txt="The pump.")
    await knowledge.base_files.remove(ann, one, pump.hash)
    assert (await knowledge.files.download(ann, pump.hash)).size == 9
    with pytest.raises(NotFound):
        await knowledge.base_files.state(ann, one, pump.hash)


async def test_an_upload_that_waits_is_cancelled(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (hash_,) = await later(knowledge, ann, base, pump_txt="The pump.")
    await knowledge.base_files.remove(ann, base, hash_)
    assert await states(knowledge, ann, base) == {}
    assert not await knowledge.work_one()


async def test_the_other_files_of_an_upload_go_on(knowledge: Knowledge, ann: Caller) -> None:
    """Also where the file is deleted while its upload is worked on."""
    base = await knowledge.base(ann)
    pump, valve, fan = await later(
        knowledge, ann, base, pump_txt="The pump.", valve_txt="The valve.", fan_txt="The fan."
    )
    await knowledge.base_files.remove(ann, base, fan)
    knowledge.parser.gate = asyncio.Event()
    work = await knowledge.ingest.take()
    assert work
    assert sorted(file.hash for file in work.files) == sorted([pump, valve])
    working = asyncio.create_task(knowledge.ingest.work(work))
    await knowledge.base_files.remove(ann, base, pump)
    knowledge.parser.gate.set()
    await working
    assert (await states(knowledge, ann, base))["valve.txt"].status is FileStatus.PROCESSING
    assert not await knowledge.work_one()  # its worker has time to notice
    await knowledge.database.execute("UPDATE kb_upload SET due_at = now()")
    assert await knowledge.work_one()
    files = await states(knowledge, ann, base)
    assert {name: file.status for name, file in files.items()} == {"valve.txt": FileStatus.READY}


async def test_who_waits_for_an_upload_is_told_that_it_was_cancelled(
    knowledge: Knowledge, ann: Caller
) -> None:
    base = await knowledge.base(ann)
    knowledge.parser.gate = asyncio.Event()
    files = [("pump.txt", "The pump."), ("valve.txt", "The valve.")]
    waiting = asyncio.create_task(knowledge.files.upload(ann, base, incoming(files)))
    await asyncio.wait_for(knowledge.woken.wait(), 60)
    work = await knowledge.ingest.take()
    assert work
    working = asyncio.create_task(knowledge.ingest.work(work))
    pump = (await states(knowledge, ann, base))["pump.txt"]
    await knowledge.base_files.remove(ann, base, pump.hash)
    knowledge.parser.gate.set()
    with pytest.raises(Conflict, match=r"pump\.txt was deleted while it was being processed"):
        await waiting
    await working
    assert await states(knowledge, ann, base) == {}
    assert await knowledge.count("kb_piece") == await knowledge.count("chunk") == 0


async def test_a_file_that_failed_is_processed_again(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    bad, good = await later(knowledge, ann, base, bad_txt="corrupt", good_txt="The pump.")
    assert await knowledge.work_one()
    failed = (await states(knowledge, ann, base))["good.txt"]
    assert (failed.status, failed.error) == (FileStatus.FAILED, "bad.txt: is corrupt")
    await knowledge.base_files.retry(ann, base, good)
    begun = (await states(knowledge, ann, base))["good.txt"]
    assert (begun.status, begun.error, begun.queue_position) == (FileStatus.PROCESSING, None, 1)
    with pytest.raises(Conflict):
        await knowledge.base_files.retry(ann, base, good)
    assert await knowledge.work_one()
    assert (await states(knowledge, ann, base))["good.txt"].status is FileStatus.READY
    await knowledge.base_files.remove(ann, base, bad)
    assert list(await states(knowledge, ann, base)) == ["good.txt"]


async def test_changes_need_update_and_the_file_of_that_base(
    knowledge: Knowledge, ann: Caller, bob: Caller
) -> None:
    base, other = await knowledge.base(ann), await knowledge.base(ann)
    (pump,) = await knowledge.upload(ann, base, pump_txt="The pump.")
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), Level.READ)
    for change in (knowledge.base_files.remove, knowledge.base_files.retry):
        with pytest.raises(Forbidden):
            await change(bob, base, pump.hash)
        for wanted in (pump.hash, "no hash", "0" * 64):
            with pytest.raises(NotFound):
                await change(ann, other, wanted)
    with pytest.raises(NotFound):
        await knowledge.base_files.text(ann, other, pump.hash, 5, 0)


async def test_stretches_hold_the_whole_text_and_say_where_chunks_stand(
    knowledge: Knowledge, ann: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = await knowledge.base(ann)
    paragraphs = [
        " ".join(f"\u05e9\u05dc\u05d5\u05dd\U0001f600 word{number}x{word}" for word in range(60)) + "."
        for number in range(9)
    ]
    (file,) = await knowledge.upload(ann, base, long_txt="\n\n".join(paragraphs))
    whole = (await knowledge.files.get(ann, file.hash)).text
    chunks = {chunk.id: chunk.text for chunk in (await knowledge.files.chunks(ann, file.hash, 100)).items}
    read, offset = "", 0
    while offset < len(chunks):
        stretch = await knowledge.base_files.text(ann, base, file.hash, 4, offset)
        assert (stretch.length, stretch.page.total, stretch.start) == (len(whole), len(chunks), len(read))
        assert stretch.text == whole[stretch.start : stretch.start + len(stretch.text)]
        for place in stretch.chunks:
            assert place.start is not None
            assert place.end is not None
            shown = stretch.text[place.start - stretch.start : place.end - stretch.start]
            assert shown == chunks[place.chunk_id]
        read += stretch.text
        offset += len(stretch.chunks)
    assert read == whole
    behind = await knowledge.base_files.text(ann, base, file.hash, 4, 10_000)
    assert (behind.text, behind.chunks, behind.page.total) == ("", (), len(chunks))
    monkeypatch.setattr(service, "MOST_CHARACTERS", 1500)
    short = await knowledge.base_files.text(ann, base, file.hash, 4, 1)
    assert 1 <= len(short.chunks) < 4
    assert len(short.text) <= 1500


async def test_a_file_that_is_not_ready_has_no_text_yet(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (hash_,) = await later(knowledge, ann, base, pump_txt="The pump.")
    stretch = await knowledge.base_files.text(ann, base, hash_, 5, 0)
    assert (stretch.text, stretch.chunks, stretch.page.total) == ("", (), 0)
    assert stretch.file == replace(stretch.file, step=FileStep.WAITING, queue_position=1)


async def test_rules_name_the_formats(knowledge: Knowledge, ann: Caller) -> None:
    rules = await knowledge.base_files.rules(ann)
    assert (rules.max_bytes, rules.max_files) == (100 * 1024 * 1024, 20)
    assert [entry.format for entry in rules.formats if entry.available] == ["txt"]
