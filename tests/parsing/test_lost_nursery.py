"""The process that children are forked from is lost: another one is started, and the file is read."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys

import pytest

from adapters.outbound.parsing.fence import service_side
from adapters.outbound.parsing.parser import FencedParser
from tests.parsing.nurseries import PAGES, Counting, gone

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="process files of Linux")]


async def test_a_killed_nursery_is_started_again(own, note):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    os.kill(pid, signal.SIGKILL)
    assert await gone(pid)

    assert (await own.parse(note, "note.txt")).text == "A short note."
    assert own.reading_process != pid


async def test_a_nursery_killed_under_way_is_started_again_and_the_file_read(own, tmp_path):
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

    def _start(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            if self.jobs == 1:
                patch.setattr(service_side, "_NURSERY", "tests.parsing.hanging_up")
            super()._start()


async def test_a_process_that_looks_alive_after_it_lost_a_job_gets_no_other(monkeypatch, note, caplog):
    monkeypatch.setattr(service_side, "_STOP_SECONDS", 0.01)
    nursery = HangsUpFirst()
    parser = FencedParser(nursery=nursery)
    try:
        assert (await parser.parse(note, "note.txt")).text == "A short note."
    finally:
        await parser.close()
    assert nursery.jobs == 3  # what it is, again what it is, what it holds
    said = [record.message for record in caplog.records if record.name == service_side.__name__]
    assert said.count("the reading process ended with -9 and is started again") == 1


async def test_a_nursery_that_can_begin_nothing_is_started_again(own, note, tmp_path, caplog):
    await own.parse(note, "note.txt")
    pid = own.reading_process
    shutil.rmtree(own._nursery.scratch)  # as a cleaner of temporary files may
    (tmp_path / "next").write_text("The next file.")

    assert (await own.parse(tmp_path / "next", "next.txt")).text == "The next file."
    assert own.reading_process != pid
    assert "no reader of next.txt could be started" in caplog.text


async def test_a_parser_at_rest_leaves_the_job_of_another_alone(tmp_path):
    path, nursery = tmp_path / "long.pdf", Counting()
    path.write_bytes(PAGES)
    idle, busy = FencedParser(nursery=nursery), FencedParser(nursery=nursery)
    reports: list[float] = []

    def rest(share: float) -> None:
        reports.append(share)
        idle._rest()

    try:
        document = await busy.parse(path, "long.pdf", rest)
        assert document.blocks[-1].page == 300
        assert reports
        assert nursery.jobs == 2  # what it is, what it holds: neither was begun again

        await asyncio.to_thread(nursery.rest)
        assert nursery.pid is None
    finally:
        await idle.close()
        await busy.close()
