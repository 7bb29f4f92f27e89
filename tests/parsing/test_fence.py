"""The fence: what becomes of children that crash, hang or outlive their time, and of the nursery itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.outbound.parsing.fence import child, wire
from adapters.outbound.parsing.fence.service_side import Nursery, Run
from adapters.outbound.parsing.limits import Limits
from adapters.outbound.parsing.parser import FencedParser, ParsingOptions
from domain.knowledge.documents import Block, BlockKind
from domain.refusals import TooLarge, Unavailable, Unreadable, Unsupported
from tests.parsing.making import SAMPLES, pdf

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="process files of Linux")]

ROOT = Path(__file__).parents[2]
LONG = b"<p>" + b"<b>word</b> <i>word</i> " * 200_000 + b"</p>"


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


async def gone(pid: int, seconds: float = 20) -> bool:
    """Waits for the end of a process that need not be ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        return bool(await asyncio.to_thread(poll.poll, seconds * 1000))
    finally:
        os.close(descriptor)


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=variables, check=False)


@pytest.fixture
async def own(tmp_path):
    """A parser with a nursery of its own."""
    parser = FencedParser(ParsingOptions(idle_seconds=600))
    yield parser
    await parser.close()


@pytest.fixture
def note(tmp_path) -> Path:
    path = tmp_path / "note"
    path.write_bytes(b"A short note.")
    return path


async def test_no_process_runs_before_the_first_file_and_none_after_close(own, note):
    assert own.reading_process is None

    await own.parse(note, "note.txt")
    pid = own.reading_process
    assert pid is not None
    await own.close()

    assert own.reading_process is None
    assert await gone(pid)


async def test_the_process_ends_when_it_has_been_idle(note):
    parser = FencedParser(ParsingOptions(idle_seconds=0.001))
    first = await parser.parse(note, "note.txt")
    pid = parser.reading_process
    if pid is not None:
        assert await gone(pid)

    assert (await parser.parse(note, "note.txt")).text == first.text
    await parser.close()


async def test_after_close_files_are_refused_for_a_while(note):
    parser = FencedParser()
    await parser.close()

    with pytest.raises(Unavailable):
        await parser.parse(note, "note.txt")


async def test_nothing_of_the_scratch_folders_stays(own, note):
    await own.parse(note, "note.txt")
    scratch = own._nursery.scratch

    assert list(scratch.iterdir()) == []
    await own.close()
    assert not scratch.exists()


async def test_a_killed_nursery_is_started_again(own, note):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid)

    assert (await own.parse(note, "note.txt")).text == "A short note."
    assert own.reading_process != pid


async def test_a_nursery_killed_under_way_is_started_again_and_the_file_read(own, tmp_path):
    path = tmp_path / "long.pdf"
    path.write_bytes(pdf([["A page with a good many words on it."]] * 300))
    killed: list[int] = []

    def kill_once(_: float) -> None:
        if not killed:
            killed.append(own.reading_process)
            os.kill(killed[0], signal.SIGKILL)

    document = await own.parse(path, "long.pdf", kill_once)

    assert document.blocks[-1].page == 300


async def test_cancelling_kills_the_child(own, tmp_path):
    path = tmp_path / "long.html"
    path.write_bytes(LONG)
    await own.identify(path, "long.html")
    task = asyncio.create_task(own.parse(path, "long.html"))
    begun: list[int] = []
    while not begun:
        await asyncio.sleep(0)
        begun = children(own.reading_process)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await gone(begun[0])


async def test_the_loop_runs_on_while_files_are_read(own):
    ticks = 0
    task = asyncio.create_task(own.parse(SAMPLES / "speech.ogg", "speech.ogg"))
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1

    assert ticks > 50
    assert task.result().blocks


async def test_many_files_at_once(own, tmp_path):
    for number in range(12):
        (tmp_path / f"{number}").write_text(f"File {number}.")

    documents = await asyncio.gather(
        *(own.parse(tmp_path / f"{number}", f"{number}.txt") for number in range(12))
    )

    assert [document.text for document in documents] == [f"File {number}." for number in range(12)]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"cpu_seconds": 1, "cpu_seconds_most": 1}, "time or memory"),
        ({"quiet_seconds": 1}, "takes longer"),
        ({"memory_bytes": 32 * 2**20}, "memory"),
    ],
    ids=["processor", "clock", "memory"],
)
async def test_a_file_that_costs_too_much(limited, tmp_path, note, limits, said):
    path = tmp_path / "long.html"
    path.write_bytes(LONG)
    parser = limited(**limits)

    with pytest.raises(TooLarge, match=r"long\.html") as caught:
        await parser.parse(path, "long.html")

    assert said in caught.value.message
    assert (await parser.parse(note, "note.txt")).text == "A short note."


class Played:
    """A nursery played by the test: it answers with these frames and this end."""

    def __init__(self, frames: list[tuple[str, object]], code: int, said: str = "") -> None:
        self._frames, self._code, self._said = frames, code, said

    def submit(self, status: socket.socket, out: socket.socket) -> None:
        for kind, payload in self._frames:
            wire.send(out, kind, payload)
        wire.receive(status)
        wire.send(status, wire.EXIT, {"code": self._code, "said": self._said})


@pytest.mark.parametrize(
    ("code", "said", "kind", "message"),
    [
        (-signal.SIGSEGV, "", Unreadable, "SIGSEGV"),
        (-signal.SIGABRT, "assertion failed", Unreadable, "SIGABRT"),
        (-signal.SIGABRT, "memory allocation of 549755813888 bytes failed", TooLarge, "memory"),
        (-signal.SIGABRT, "terminate called: std::bad_alloc", TooLarge, "memory"),
        (-signal.SIGXCPU, "", TooLarge, "time"),
        (-signal.SIGKILL, "", TooLarge, "time or memory"),
        (-signal.SIGBUS, "", Unreadable, "SIGBUS"),
        (3, "", Unreadable, "exit 3"),
    ],
)
async def test_what_the_end_of_a_child_means(code, said, kind, message):
    half = [(wire.BLOCKS, [wire.pack(Block(BlockKind.PARAGRAPH, "half"))])]
    run = Run(Played(half, code, said), {"name": "evil.pdf", "format": "pdf"}, Limits())

    with pytest.raises(kind, match=r"evil\.pdf") as caught:
        run.follow(lambda *_: None)

    assert message in caught.value.message


async def test_a_child_that_talks_nonsense_is_no_result():
    class Nonsense(Played):
        def submit(self, status, out):
            out.sendall(b"\xff\xff\xff\xff")
            super().submit(status, out)

    run = Run(Nonsense([], 0), {"name": "evil.pdf", "format": "pdf"}, Limits())

    with pytest.raises(Unreadable, match=r"evil\.pdf"):
        run.follow(lambda *_: None)


@pytest.mark.parametrize(
    ("error", "reason", "said"),
    [
        (MemoryError(), TooLarge.reason, "memory"),
        (RecursionError(), Unreadable.reason, "nested too deeply"),
        (KeyError("word/document.xml"), Unreadable.reason, "word/document.xml"),
        (ImportError("no", name="pocketsphinx"), Unsupported.reason, "needs the Python package pocketsphinx"),
        (Unreadable("as it is"), Unreadable.reason, "as it is"),
    ],
)
async def test_what_failures_of_a_reader_mean(error, reason, said):
    found, message, _ = child.refusal(error, "a.docx", "docx")

    assert found == reason
    assert said in message


async def test_blocks_cross_the_wire_whole():
    block = Block(BlockKind.TABLE_ROW, "x", 0, ("a", "b"), 2, 3, "sheet", 4, 5, 6, 7.5, 8.5, "header")

    assert wire.unpack(wire.pack(block)) == block


PRELOAD = """
import os, sys
from adapters.outbound.parsing.fence.service_side import _QUIET_LIBRARIES
os.environ.update(_QUIET_LIBRARIES)
from adapters.outbound.parsing.registry import preload
from domain.knowledge.documents import Format
preload(None)
for format_ in Format:
    preload(format_)
print(sorted({"torch", "spacy", "transformers", "pandas"} & set(sys.modules)), len(os.listdir("/proc/self/task")))
"""


async def test_the_nursery_never_loads_torch_and_never_has_a_second_thread(tmp_path):
    done = await asyncio.to_thread(python, PRELOAD, HOME=str(tmp_path))

    assert done.stdout.strip() == "[] 1", done.stderr
    assert list(tmp_path.iterdir()) == []  # no cache, no device id, no telemetry


async def test_importing_the_parser_loads_no_reader():
    code = (
        "import sys; import adapters.outbound.parsing.parser; from adapters.outbound.parsing.support import "
        "supported_formats; supported_formats(); "
        "print(sorted({'unstructured','pypdfium2','lxml','cv2','onnxruntime','numpy','PIL'} & set(sys.modules)))"
    )
    done = await asyncio.to_thread(python, code)

    assert done.stdout.strip() == "[]", done.stderr


WALLS = """
import os, socket, subprocess, sys
from pathlib import Path
from adapters.outbound.parsing.fence import walls
def attempt(name, act):
    try:
        act()
        print(name, "allowed")
    except walls.Forbidden:
        print(name, "refused")
scratch, outside = Path(sys.argv[1]), Path(sys.argv[2])
walls.close_the_gates(scratch)
attempt("connect", lambda: socket.create_connection(("127.0.0.1", 9)))
attempt("resolve", lambda: socket.getaddrinfo("localhost", 80))
attempt("program", lambda: subprocess.run(["true"]))
attempt("shell", lambda: os.system("true"))
attempt("fork", os.fork)
attempt("write", lambda: (outside / "x").write_text("x"))
attempt("climb", lambda: (scratch / ".." / outside.name / "x").write_text("x"))
attempt("append", lambda: open(outside / "y", "ab"))
attempt("remove", lambda: (outside / "kept").unlink())
attempt("scratch", lambda: (scratch / "x").write_text("x"))
attempt("read", lambda: Path("/etc/hostname").read_text())
attempt("hardware", lambda: os.open(os.devnull, os.O_WRONLY))
"""


async def test_behind_the_walls_nothing_leaves(tmp_path):
    scratch, outside = tmp_path / "in", tmp_path / "out"
    scratch.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")

    done = await asyncio.to_thread(python, WALLS, str(scratch), str(outside))

    found = dict(line.split() for line in done.stdout.splitlines())
    assert {name for name, verdict in found.items() if verdict == "allowed"} == {
        "scratch",
        "read",
        "hardware",
    }, done.stderr
    assert len(found) == 12
    assert [path.name for path in outside.iterdir()] == ["kept"]


async def test_no_setting_of_the_service_reaches_the_nursery(own, note, monkeypatch):
    monkeypatch.setenv("INTERNAL_SERVICE_KEY", "a-secret")
    await own.parse(note, "note.txt")

    environment = await asyncio.to_thread(Path(f"/proc/{own.reading_process}/environ").read_bytes)

    assert b"a-secret" not in environment
    assert b"DO_NOT_TRACK=1" in environment


SERVICE = """
import asyncio, sys
from pathlib import Path
from adapters.outbound.parsing.parser import FencedParser
async def main():
    parser = FencedParser()
    path = Path(sys.argv[1])
    await parser.identify(path, "long.html")
    print(parser.reading_process, flush=True)
    await parser.parse(path, "long.html")
asyncio.run(main())
"""


async def test_all_ends_when_the_service_is_killed(tmp_path):
    path = tmp_path / "long.html"
    path.write_bytes(LONG * 4)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(  # noqa: ASYNC220 - begins at once
        [sys.executable, "-c", SERVICE, str(path)], stdout=subprocess.PIPE, env=variables
    ) as service:
        nursery = int(await asyncio.to_thread(service.stdout.readline))
        begun: list[int] = []
        while not begun:
            await asyncio.sleep(0)
            begun = children(nursery)

        service.kill()

        assert await gone(nursery)
        assert await gone(begun[0])
    assert [entry.name for entry in tmp_path.iterdir()] == ["long.html"]


async def test_the_nursery_can_be_stopped_and_started_again():
    nursery = Nursery()
    nursery.stop()

    assert nursery.pid is None


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_to_the_whole_group_leaves_the_end_to_the_service(own, note, sent):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    os.kill(pid, sent)

    assert (await own.parse(note, "note.txt")).text == "A short note."
    assert own.reading_process == pid
