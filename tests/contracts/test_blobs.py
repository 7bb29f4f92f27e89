"""What every blob store keeps."""

import asyncio
import errno
import hashlib
import os
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import pytest

from adapters.outbound.system import blobs as incoming
from adapters.outbound.system.blobs import Bucket, FileBlobs, S3Blobs
from domain.refusals import NotFound, StorageFull, TooLarge, Unavailable
from ports.files import Blobs, StoredBlob
from tests.support.knowledge import pieces, read
from tests.support.s3 import BUCKET, KEY_ID, REGION, SECRET, FakeS3, running_s3

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
async def s3() -> AsyncIterator[tuple[FakeS3, str]]:
    async with running_s3() as found:
        yield found


@pytest.fixture
def s3_blobs(s3: tuple[FakeS3, str]) -> S3Blobs:
    return S3Blobs(Bucket(s3[1], BUCKET, KEY_ID, SECRET, REGION, "a b/"))


@pytest.fixture(params=["files", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "files":
        return FileBlobs(tmp_path / "blobs")
    made: S3Blobs = request.getfixturevalue("s3_blobs")
    return made


async def everything(blobs: Blobs) -> set[str]:
    return {key async for key, _ in blobs.keys()}  # noqa: SIM118 - no dictionary


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where temporary files lie that take nothing: what is written to them goes to /dev/full."""
    folder = tmp_path / "temporary"
    folder.mkdir()

    def mkstemp(dir: Path | None = None) -> tuple[int, str]:  # noqa: A002
        path = (dir or folder) / "incoming-file"
        path.touch()
        return os.open("/dev/full", os.O_WRONLY), str(path)

    monkeypatch.setattr(incoming.tempfile, "mkstemp", mkstemp)
    return folder


@pytest.mark.parametrize("content", [CONTENT, b"x"], ids=["while it is written", "when it is closed"])
async def test_a_full_disk_is_told_and_leaves_nothing_behind(
    blobs: Blobs, full_disk: Path, tmp_path: Path, content: bytes
) -> None:
    held: list[StoredBlob] = []

    async def reference(blob: StoredBlob) -> None:
        held.append(blob)

    with pytest.raises(StorageFull, match="the disk of the service is full"):
        await blobs.put(pieces(content, 70_000), 10**6, reference)
    assert await everything(blobs) == set()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert held == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("call", ["fsync", "mkdir", "replace"])
async def test_a_disk_that_fills_up_when_a_file_is_put_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, call)), full)
    blobs = FileBlobs(tmp_path)
    with pytest.raises(StorageFull):
        await blobs.put(pieces(CONTENT, 7000), 10**6)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_another_error_of_the_disk_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        await FileBlobs(tmp_path).put(pieces(CONTENT, 7000), 10**6)


@pytest.mark.parametrize("content", [CONTENT, b"", b"x"])
async def test_what_goes_in_comes_out(blobs: Blobs, content: bytes) -> None:
    stored = await blobs.put(pieces(content, 7000), 10**6)
    assert (stored.sha256, stored.size) == (hashlib.sha256(content).hexdigest(), len(content))
    assert await blobs.size(stored.key) == len(content)
    assert await read(blobs.open(stored.key)) == content
    async with blobs.local(stored.key) as path:
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("offset", "length"), [(0, 9), (5, 1), (255_990, None), (255_990, 100), (10, 0), (10**6, 5)]
)
async def test_parts(blobs: Blobs, offset: int, length: int | None) -> None:
    stored = await blobs.put(pieces(CONTENT), 10**6)
    end = None if length is None else offset + length
    assert await read(blobs.open(stored.key, offset, length)) == CONTENT[offset:end]


async def test_the_same_bytes_are_stored_once(blobs: Blobs) -> None:
    one = await blobs.put(pieces(CONTENT, 10), 10**6)
    two = await blobs.put(pieces(CONTENT, 100_000), 10**6)
    assert one == two
    assert await everything(blobs) == {one.key}


async def test_too_much_leaves_nothing(blobs: Blobs) -> None:
    with pytest.raises(TooLarge):
        await blobs.put(pieces(CONTENT), len(CONTENT) - 1)
    assert await everything(blobs) == set()
    assert (await blobs.put(pieces(CONTENT), len(CONTENT))).size == len(CONTENT)


async def test_a_sender_who_breaks_off_leaves_nothing(blobs: Blobs) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"first"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await blobs.put(broken(), 10**6)
    assert await everything(blobs) == set()


async def test_a_blob_is_held_before_it_stands_there(blobs: Blobs) -> None:
    seen: list[StoredBlob] = []

    async def reference(blob: StoredBlob) -> None:
        seen.append(blob)
        with pytest.raises(NotFound):
            await blobs.size(blob.key)

    assert [await blobs.put(pieces(CONTENT), 10**6, reference)] == seen

    async def refuse(blob: StoredBlob) -> None:
        raise Unavailable("no")

    with pytest.raises(Unavailable):
        await blobs.put(pieces(b"other"), 10**6, refuse)
    assert await everything(blobs) == {seen[0].key}


async def test_deleting_twice_is_the_same_as_once(blobs: Blobs) -> None:
    stored = await blobs.put(pieces(CONTENT), 10**6)
    for _ in range(2):
        await blobs.delete(stored.key)
    with pytest.raises(NotFound):
        await blobs.size(stored.key)
    with pytest.raises(NotFound):
        await read(blobs.open(stored.key))
    with pytest.raises(NotFound):
        async with blobs.local(stored.key):
            pass


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "a" * 63, "A" * 64, "0" * 64, "0" * 64 + "/x"])
async def test_keys_that_were_never_given_out(blobs: Blobs, key: str) -> None:
    with pytest.raises(NotFound):
        await blobs.size(key)


async def test_all_keys_are_listed_with_their_time(blobs: Blobs) -> None:
    stored = {(await blobs.put(pieces(f"text {i}".encode()), 100)).key for i in range(5)}
    listed = {key: written async for key, written in blobs.keys()}  # noqa: SIM118
    assert set(listed) == stored
    assert all(abs(datetime.now(UTC) - written) < timedelta(minutes=1) for written in listed.values())


async def test_a_store_that_refuses_or_is_away_is_unavailable(
    s3: tuple[FakeS3, str], s3_blobs: S3Blobs
) -> None:
    stored = await s3_blobs.put(pieces(CONTENT), 10**6)
    wrong_bucket = Bucket(s3[1], BUCKET, KEY_ID, "wrong", REGION)
    wrong = S3Blobs(wrong_bucket)
    away = S3Blobs(Bucket("http://127.0.0.1:9", BUCKET, KEY_ID, "x"))
    for broken in (wrong, away):
        with pytest.raises(Unavailable):
            await broken.size(stored.key)
        with pytest.raises(Unavailable):
            await broken.put(pieces(b"x"), 10)
    s3[0].refuse = 503
    with pytest.raises(Unavailable, match="503"):
        await s3_blobs.delete(stored.key)
    assert "wrong" not in repr(wrong_bucket)


async def test_a_place_that_takes_files_passes_its_check(blobs: Blobs) -> None:
    await blobs.check()
    await blobs.put(pieces(CONTENT), 10**6)
    await blobs.check()


async def test_a_bucket_that_does_not_exist_is_named_whatever_is_done(s3: tuple[FakeS3, str]) -> None:
    absent = S3Blobs(Bucket(s3[1], "absent", KEY_ID, SECRET, REGION))
    key = "0" * 64
    for work in (
        absent.check(),
        absent.put(pieces(CONTENT), 10**6),
        absent.size(key),
        absent.delete(key),
        read(absent.open(key)),
        everything(absent),
    ):
        with pytest.raises(Unavailable, match="bucket absent of the file store does not exist; create it"):
            await work


async def test_a_long_file_is_uploaded_in_parts(s3_blobs: S3Blobs) -> None:
    content = CONTENT * 50
    stored = await s3_blobs.put(pieces(content, 1_000_000), 10**8)
    assert await s3_blobs.size(stored.key) == len(content)
    assert await read(s3_blobs.open(stored.key, 6_000_000, 100)) == content[6_000_000:6_000_100]


async def test_a_reader_that_gives_up_while_a_file_is_opened_leaves_it_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = FileBlobs(tmp_path)
    blob = await blobs.put(pieces(b"hello"), 100)
    begun, go_on, others = threading.Event(), threading.Event(), asyncio.all_tasks()
    opened: asyncio.Future[IO[Any]] = asyncio.get_running_loop().create_future()
    loop, open_now = asyncio.get_running_loop(), Path.open

    def open_slowly(path: Path, *arguments: Any, **options: Any) -> IO[Any]:
        begun.set()
        go_on.wait(10)
        file = open_now(path, *arguments, **options)
        loop.call_soon_threadsafe(opened.set_result, file)
        return file

    monkeypatch.setattr(Path, "open", open_slowly)
    reading = asyncio.ensure_future(anext(aiter(blobs.open(blob.key))))
    await asyncio.to_thread(begun.wait, 10)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    go_on.set()
    file = await opened
    if opening := asyncio.all_tasks() - others:
        await asyncio.wait(opening)
    await asyncio.sleep(0)
    assert file.closed
