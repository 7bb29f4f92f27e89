"""Bases, permissions, reading, deleting."""

from pathlib import Path

import pytest

from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.access.sharing import Grantee, Level
from domain.knowledge.model import BaseChange, NewBase, ReadPolicy
from domain.refusals import Forbidden, Invalid, NotFound
from tests.support.knowledge import Knowledge, read

TEXT = "First part.\n\n" + "\n\n".join(
    f"Paragraph {i} about pumps and valves in hall {i}. " * 8 for i in range(12)
)


async def test_a_base_is_listed_for_those_who_may_access_it(
    knowledge: Knowledge, ann: Caller, bob: Caller, admin: Caller
) -> None:
    one = await knowledge.bases.create(ann, NewBase(" Handbook ", "All of it", {"files": [], "x": 1}))
    two = await knowledge.base(bob, "Private")
    assert (one.name, one.description, one.created_by) == ("Handbook", "All of it", "ann")
    await knowledge.bases.set_permission(ann, one.id, Grantee("bob"), 1)
    assert [(base.id, base.level) for base in await knowledge.bases.list(ann)] == [(one.id, Level.DELETE)]
    assert [(base.id, base.level) for base in await knowledge.bases.list(bob)] == [(one.id, 1), (two, 3)]
    assert [(base.id, base.level) for base in await knowledge.bases.list(admin)] == [(one.id, 3), (two, 3)]


@pytest.mark.parametrize(
    ("level", "may"), [(0, set()), (1, {"get"}), (2, {"get", "update"}), (3, {"get", "update", "delete"})]
)
async def test_each_level_includes_the_lower_ones(
    knowledge: Knowledge, ann: Caller, bob: Caller, level: int, may: set[str]
) -> None:
    base = await knowledge.base(ann)
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), level)
    calls = {
        "get": lambda: knowledge.bases.get(bob, base),
        "update": lambda: knowledge.bases.update(bob, base, BaseChange("Other")),
        "delete": lambda: knowledge.bases.delete(bob, base),
    }
    for name, call in calls.items():
        if name in may:
            await call()
        else:
            with pytest.raises(Forbidden, match=r"^Forbidden$"):
                await call()


async def test_sharing_needs_level_3_and_0_revokes(knowledge: Knowledge, ann: Caller, bob: Caller) -> None:
    base = await knowledge.base(ann)
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), 2)
    with pytest.raises(Forbidden):
        await knowledge.bases.set_permission(bob, base, Grantee("bob"), 3)
    with pytest.raises(Forbidden):
        await knowledge.bases.permissions(bob, base)
    listed = await knowledge.bases.permissions(ann, base)
    assert [(each.user_id, each.level) for each in listed] == [("ann", 3), ("bob", 2)]
    await knowledge.bases.set_permission(ann, base, Grantee("bob"), 0)
    with pytest.raises(Forbidden):
        await knowledge.bases.get(bob, base)
    for user, level in (("bob", 4), ("bob", -1), ("", 1), ("ann", 1), ("ann", 0)):
        with pytest.raises(Invalid):
            await knowledge.bases.set_permission(ann, base, Grantee(user), level)


async def test_unknown_ids_of_any_size_are_not_found(knowledge: Knowledge, ann: Caller) -> None:
    for base in (0, -1, 12345, 2**31, 2**63, 10**30):
        with pytest.raises(NotFound, match=r"^Knowledge base not found$"):
            await knowledge.bases.get(ann, base)
        with pytest.raises(NotFound, match=r"^Knowledge base not found$"):
            await knowledge.search.search(ann, base, "anything")
    for file in ("0" * 64, "", "no-hash", "\0"):
        with pytest.raises(NotFound, match=r"^File not found$"):
            await knowledge.files.get(ann, file)
        with pytest.raises(NotFound, match=r"^File not found$"):
            await knowledge.files.chunks(ann, file)
        with pytest.raises(NotFound, match=r"^Chunk not found$"):
            await knowledge.files.chunk(ann, file)


async def test_update_changes_what_is_given(knowledge: Knowledge, ann: Caller) -> None:
    base = (await knowledge.bases.create(ann, NewBase("Old", "kept"))).id
    await knowledge.bases.update(ann, base, BaseChange(name="New"))
    found = await knowledge.bases.get(ann, base)
    assert (found.name, found.description) == ("New", "kept")
    assert found.updated_at > found.created_at
    await knowledge.bases.update(ann, base, BaseChange(description=""))
    assert (await knowledge.bases.get(ann, base)).description == ""
    for name in ("", "   "):
        with pytest.raises(Invalid, match="name"):
            await knowledge.bases.update(ann, base, BaseChange(name=name))
        with pytest.raises(Invalid, match="name"):
            await knowledge.bases.create(ann, NewBase(name))


async def test_chunks_come_in_document_order_and_in_pages(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (uploaded,) = await knowledge.upload(ann, base, hall_txt=TEXT)
    first = await knowledge.files.chunks(ann, uploaded.hash)
    assert (first.window.limit, first.window.offset, first.window.current) == (5, 0, 1)
    assert first.window.total >= 7
    everything = await knowledge.files.chunks(ann, uploaded.hash, 1000, 0)
    assert len(everything.items) == first.window.total
    assert everything.items[:5] == list(first.items)
    second = await knowledge.files.chunks(ann, uploaded.hash, 5, 5)
    assert (second.window.current, second.window.pages) == (2, -(-first.window.total // 5))
    assert list(second.items) == everything.items[5:10]
    beyond = await knowledge.files.chunks(ann, uploaded.hash, 5, 100_000)
    assert (list(beyond.items), beyond.window.total) == ([], first.window.total)
    chunk = first.items[0]
    assert await knowledge.files.chunk(ann, chunk.id) == chunk
    millis, _, uuid = chunk.id.partition("-")
    assert millis.isdigit()
    assert len(uuid) == 36
    assert (chunk.user_id, chunk.file_hash) == ("ann", uploaded.hash)
    assert set(" ".join(each.text for each in everything.items).split()) == set(TEXT.split())
    for limit, offset in ((0, 0), (-1, 0), (5, -1), (1001, 0)):
        with pytest.raises(Invalid):
            await knowledge.files.chunks(ann, uploaded.hash, limit, offset)


async def test_deleting_leaves_nothing_behind(knowledge: Knowledge, ann: Caller) -> None:
    base = await knowledge.base(ann)
    (uploaded,) = await knowledge.upload(ann, base, hall_txt=TEXT)
    other = await knowledge.base(ann, "other")
    await knowledge.bases.delete(ann, base)
    for table in ("kb_file", "chunk", "chunk_index", "kb_term", "blob", "kb_upload", "memory_task"):
        assert await knowledge.count(table) == 0, table
    assert list(knowledge.folder.glob("??/*")) == []
    with pytest.raises(NotFound, match=r"^File not found$"):
        await knowledge.files.get(ann, uploaded.hash)
    with pytest.raises(NotFound, match=r"^Knowledge base not found$"):
        await knowledge.bases.delete(ann, base)
    assert [each.id for each in await knowledge.bases.list(ann)] == [other]


async def test_deleting_with_memory_sync_leaves_a_task(
    database: Database, tmp_path: Path, ann: Caller
) -> None:
    knowledge = Knowledge(database, tmp_path, memory_sync=True)
    base = await knowledge.base(ann)
    await knowledge.bases.delete(ann, base)
    assert await database.fetch("SELECT kb_id, attempts FROM memory_task") == [(base, 0)]


async def test_reading_inside_is_open_by_the_documented_policy_and_closed_by_the_strict_one(
    database: Database, tmp_path: Path, ann: Caller, bob: Caller, admin: Caller
) -> None:
    documented = Knowledge(database, tmp_path)
    strict = Knowledge(database, tmp_path, policy=ReadPolicy.STRICT)
    base = await documented.base(ann)
    (uploaded,) = await documented.upload(ann, base, hall_txt=TEXT)
    chunk = (await documented.files.chunks(ann, uploaded.hash)).items[0].id
    assert await documented.search.search(bob, base, "pumps")
    assert await documented.files.list(bob, base)
    assert await documented.files.chunk(bob, chunk)
    for call in (strict.search.search(bob, base, "pumps"), strict.files.list(bob, base)):
        with pytest.raises(Forbidden):
            await call
    for missing in (strict.files.get(bob, uploaded.hash), strict.files.chunk(bob, chunk)):
        with pytest.raises(NotFound):
            await missing
    await strict.bases.set_permission(ann, base, Grantee("bob"), 1)
    for caller in (bob, admin, ann):
        assert await strict.files.get(caller, uploaded.hash)
        assert await strict.files.chunk(caller, chunk)
        assert await strict.search.search(caller, base, "pumps")


async def test_a_hash_in_several_bases_means_the_callers_own_file(
    knowledge: Knowledge, ann: Caller, bob: Caller
) -> None:
    anns, bobs = await knowledge.base(ann), await knowledge.base(bob)
    (uploaded,) = await knowledge.upload(ann, anns, anns_txt=TEXT)
    await knowledge.upload(bob, bobs, bobs_txt=TEXT)
    assert (await knowledge.files.get(ann, uploaded.hash)).base_id == anns
    assert (await knowledge.files.get(bob, uploaded.hash)).base_id == bobs
    stranger = Caller("eve")
    await knowledge.bases.set_permission(bob, bobs, Grantee("eve"), 1)
    assert (await knowledge.files.get(stranger, uploaded.hash)).base_id == bobs
    assert (await knowledge.files.download(stranger, uploaded.hash)).name == "bobs.txt"


async def test_a_name_with_half_a_surrogate_pair_is_refused(knowledge: Knowledge, ann: Caller) -> None:
    with pytest.raises(Invalid, match="name"):
        await knowledge.bases.create(ann, NewBase("ab \ud800"))


async def test_texts_that_a_database_cannot_hold_are_cleaned(knowledge: Knowledge, ann: Caller) -> None:
    base = (await knowledge.bases.create(ann, NewBase("ab"))).id
    (uploaded,) = await knowledge.upload(ann, base, hall_txt="nul \0 in the text")
    assert (await knowledge.files.get(ann, uploaded.hash)).text == "nul  in the text"
    assert await read((await knowledge.files.download(ann, uploaded.hash)).content) == b"nul \0 in the text"
