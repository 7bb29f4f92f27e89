"""The process that children are forked from: when it starts, what it survives, when it ends."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adapters.outbound.knowledge.parsing.parser import ParsingOptions, SandboxedParser
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from domain.refusals import Unavailable
from tests.parsing.fork_servers import PAGES, ROOT, Counting, a_pipe, gone, python
from tests.parsing.making import pdf

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="process files of Linux")]


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


async def begun(fork_server: int, over: Callable[[], bool]) -> int:
    """Waits for a child that reads what does not come to an end."""
    while not over():
        if found := children(fork_server):
            return found[0]
        await asyncio.sleep(0.001)
    raise AssertionError("it was over before a child was seen")


async def test_no_process_runs_before_the_first_file_and_none_after_close(own, note):
    assert own.reading_process is None

    await own.parse(note, "note.txt")
    pid = own.reading_process
    assert pid is not None
    await own.close()

    assert own.reading_process is None
    assert await gone(pid)


async def test_the_process_ends_when_it_has_been_idle(note):
    parser = SandboxedParser(ParsingOptions(idle_seconds=0.001))
    first = await parser.parse(note, "note.txt")
    pid = parser.reading_process
    if pid is not None:
        assert await gone(pid)

    assert (await parser.parse(note, "note.txt")).text == first.text
    await parser.close()


async def test_after_close_files_are_refused_for_a_while(note):
    parser = SandboxedParser()
    await parser.close()

    with pytest.raises(Unavailable):
        await parser.parse(note, "note.txt")


async def test_nothing_of_the_scratch_folders_stays(own, own_server, note):
    await own.parse(note, "note.txt")
    scratch = own_server.scratch

    assert list(scratch.iterdir()) == []
    await own.close()
    assert not scratch.exists()


async def test_cancelling_kills_the_child(own, note, tmp_path):
    await own.parse(note, "note.txt")
    task = asyncio.create_task(own.parse(a_pipe(tmp_path), "pipe.txt"))
    child = await begun(own.reading_process, task.done)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await gone(child)


async def test_the_loop_runs_on_while_files_are_read(own, tmp_path):
    path = tmp_path / "long.pdf"
    path.write_bytes(PAGES)
    await own.identify(path, path.name)
    os.kill(own.reading_process, signal.SIGSTOP)  # nothing comes to an end until it goes on
    task = asyncio.create_task(own.parse(path, path.name))

    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()
    os.kill(own.reading_process, signal.SIGCONT)

    assert (await task).blocks[-1].page == 300


async def test_many_files_at_once(own, tmp_path):
    for number in range(12):
        (tmp_path / f"{number}").write_text(f"File {number}.")

    documents = await asyncio.gather(
        *(own.parse(tmp_path / f"{number}", f"{number}.txt") for number in range(12))
    )

    assert [document.text for document in documents] == [f"File {number}." for number in range(12)]


PRELOAD = """
import os, sys
from adapters.outbound.knowledge.parsing.sandbox.fork_server import LIBRARY_SETTINGS
os.environ.update(LIBRARY_SETTINGS)
from adapters.outbound.knowledge.parsing.formats import preload
from domain.knowledge.documents import Format
preload(None)
for format_ in Format:
    preload(format_)
print(sorted({"torch", "spacy", "transformers", "pandas"} & set(sys.modules)), len(os.listdir("/proc/self/task")))
"""


async def test_the_fork_server_never_loads_torch_and_never_has_a_second_thread(tmp_path):
    done = await asyncio.to_thread(python, PRELOAD, HOME=str(tmp_path))

    assert done.stdout.strip() == "[] 1", done.stderr
    assert list(tmp_path.iterdir()) == []  # no cache, no device id, no telemetry


SERVICE = """
import asyncio, sys
from pathlib import Path
from adapters.outbound.knowledge.parsing.parser import SandboxedParser
async def main():
    parser = SandboxedParser()
    note, pipe = (Path(each) for each in sys.argv[1:])
    await parser.identify(note, "note.txt")
    print(parser.reading_process, flush=True)
    await parser.parse(pipe, "pipe.txt")
asyncio.run(main())
"""


async def test_all_ends_when_the_service_is_killed(note, tmp_path):
    pipe = a_pipe(tmp_path)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(  # noqa: ASYNC220 - begins at once
        [sys.executable, "-c", SERVICE, str(note), str(pipe)], stdout=subprocess.PIPE, env=variables
    ) as service:
        fork_server = int(await asyncio.to_thread(service.stdout.readline))
        child = await begun(fork_server, lambda: service.poll() is not None)

        service.kill()

        assert await gone(fork_server)
        assert await gone(child)
    assert {entry.name for entry in tmp_path.iterdir()} == {note.name, pipe.name}


async def test_the_fork_server_can_be_stopped_and_started_again():
    fork_server = ForkServer()
    fork_server.stop()

    assert fork_server.pid is None


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_to_the_whole_group_leaves_the_end_to_the_service(own, note, sent):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    os.kill(pid, sent)

    assert (await own.parse(note, "note.txt")).text == "A short note."
    assert own.reading_process == pid


async def test_what_a_file_is_stays_known_until_it_changes(tmp_path):
    path, fork_server = tmp_path / "file.txt", Counting()
    path.write_text("A note of some words.")
    parser = SandboxedParser(fork_server=fork_server)
    try:
        kind = await parser.identify(path, "file.txt")
        document = await parser.parse(path, "file.txt")
        assert (document.mime_type, fork_server.jobs) == (kind.mime_type, 2)

        path.write_bytes(pdf([["Now something else."]]))
        assert (await parser.parse(path, "file.txt")).mime_type == "application/pdf"
        assert fork_server.jobs == 4
        assert (await parser.identify(path, "other.txt")).mime_type == "application/pdf"
        assert fork_server.jobs == 5
    finally:
        await parser.close()
