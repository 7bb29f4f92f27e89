"""The process that children are forked from is lost: another one is started, and the file is read."""

import asyncio
import os
import shutil
import signal
import socket
import sys

import pytest

from adapters.outbound.knowledge.parsing.parser import SandboxedParser
from adapters.outbound.knowledge.parsing.sandbox import fork_server as fork_server_module
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from tests.parsing.fork_servers import PAGES, Counting, gone

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="process files of Linux")]


async def test_a_killed_fork_server_is_started_again(own, note):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid)

    assert (await own.parse(note, "note.txt")).text == "A short note."
    assert own.reading_process != pid


async def test_a_fork_server_killed_under_way_is_started_again_and_the_file_read(own, tmp_path):
    path = tmp_path / "long.pdf"
    path.write_bytes(PAGES)
    killed: list[int] = []

    def kill_once(_: float) -> None:
        if not killed:
            killed.append(own.reading_process)
            os.kill(killed[0], signal.SIGKILL)

    document = await own.parse(path, "long.pdf", kill_once)

    assert document.blocks[-1].page == 300


class HangsUpFirst(Counting):
    """Its first process hangs up on its job and lives on for a while, as one does that is being killed."""

    def submit(self, status: socket.socket, out: socket.socket) -> int:
        self.module = ForkServer.module if self.jobs else "tests.parsing.hanging_up"
        return super().submit(status, out)


async def test_a_process_that_looks_alive_after_it_lost_a_job_gets_no_other(note, caplog):
    fork_server = HangsUpFirst(stop_seconds=0.01)
    parser = SandboxedParser(fork_server=fork_server)
    try:
        assert (await parser.parse(note, "note.txt")).text == "A short note."
    finally:
        await parser.close()
    assert fork_server.jobs == 3  # what it is, again what it is, what it holds
    said = [record.message for record in caplog.records if record.name == fork_server_module.__name__]
    assert said.count("the reading process ended with -9 and is started again") == 1


async def test_a_fork_server_that_can_begin_nothing_is_started_again(own, own_server, note, tmp_path, caplog):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    shutil.rmtree(own_server.scratch)  # as a cleaner of temporary files may
    (tmp_path / "next").write_text("The next file.")

    assert (await own.parse(tmp_path / "next", "next.txt")).text == "The next file."
    assert own.reading_process != pid
    assert "no reader of next.txt could be started" in caplog.text


async def test_a_parser_at_rest_leaves_the_job_of_another_alone(tmp_path):
    path, fork_server = tmp_path / "long.pdf", Counting()
    path.write_bytes(PAGES)
    idle, busy = SandboxedParser(fork_server=fork_server), SandboxedParser(fork_server=fork_server)
    loop = asyncio.get_running_loop()
    reports: list[float] = []

    def rest(share: float) -> None:
        reports.append(share)
        loop.run_in_executor(None, fork_server.stop_if_idle)

    try:
        document = await busy.parse(path, "long.pdf", rest)
        assert document.blocks[-1].page == 300
        assert reports
        assert fork_server.jobs == 2  # what it is, what it holds: neither was begun again

        await asyncio.to_thread(fork_server.stop_if_idle)
        assert fork_server.pid is None
    finally:
        await idle.close()
        await busy.close()
