"""The sandbox: what becomes of children that crash, hang or cost too much, and what they cannot do."""

import asyncio
import signal
import socket
import sys
from pathlib import Path

import pytest

from adapters.outbound.knowledge.parsing.reading import Limits
from adapters.outbound.knowledge.parsing.sandbox import child, frames
from adapters.outbound.knowledge.parsing.sandbox.fork_server import SandboxJob
from domain.knowledge.documents import Block, BlockKind
from domain.refusals import TooLarge, Unreadable, Unsupported
from tests.parsing.fork_servers import LONG, python, run_outside

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="process files of Linux")]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"cpu_seconds": 1, "cpu_seconds_most": 1}, "time or memory"),
        ({"quiet_seconds": 1}, "takes longer"),
        ({"memory_bytes": 32 * 2**20}, "memory"),
    ],
    ids=["processor", "clock", "memory"],
)
async def test_a_file_that_costs_too_much(parser, limited, tmp_path, note, limits, said):
    path = tmp_path / "long.html"
    path.write_bytes(LONG)

    with pytest.raises(TooLarge, match=r"long\.html") as caught:
        await limited(**limits).parse(path, "long.html")

    assert said in caught.value.message
    assert (await parser.parse(note, "note.txt")).text == "A short note."


class Played:
    """A fork server played by the test: it answers with these frames and this end."""

    def __init__(self, sent: list[tuple[str, object]], code: int, said: str = "") -> None:
        self._sent, self._code, self._said = sent, code, said

    def submit(self, status: socket.socket, out: socket.socket) -> int:
        for kind, payload in self._sent:
            frames.send(out, kind, payload)
        frames.receive(status)
        frames.send(status, frames.EXIT, {"code": self._code, "stderr": self._said})
        return 1

    def finished(self, pid: int, *, lost: bool) -> None:
        assert (pid, lost) == (1, False)


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
    half = [(frames.BLOCKS, [frames.pack(Block(BlockKind.PARAGRAPH, "half"))])]
    job = SandboxJob(Played(half, code, said), {"name": "evil.pdf", "format": "pdf"}, Limits())

    with pytest.raises(kind, match=r"evil\.pdf") as caught:
        job.run(lambda *_: None)

    assert message in caught.value.message


async def test_a_child_that_talks_nonsense_is_no_result():
    class Nonsense(Played):
        def submit(self, status, out):
            out.sendall(b"\xff\xff\xff\xff")
            return super().submit(status, out)

    job = SandboxJob(Nonsense([], 0), {"name": "evil.pdf", "format": "pdf"}, Limits())

    with pytest.raises(Unreadable, match=r"evil\.pdf"):
        job.run(lambda *_: None)


@pytest.mark.parametrize(
    ("error", "reason", "said"),
    [
        (MemoryError(), TooLarge.reason, "memory"),
        (RecursionError(), Unreadable.reason, "nested too deeply"),
        (KeyError("word/document.xml"), Unreadable.reason, "the content is damaged"),
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

    assert frames.unpack(frames.pack(block)) == block


async def test_importing_the_parser_loads_no_reader():
    code = (
        "import sys; import adapters.outbound.knowledge.parsing.parser; "
        "from adapters.outbound.knowledge.parsing.formats import supported_formats; supported_formats(); "
        "print(sorted({'unstructured','pypdfium2','lxml','cv2','onnxruntime','numpy','PIL'} & set(sys.modules)))"
    )
    done = await asyncio.to_thread(python, code)

    assert done.stdout.strip() == "[]", done.stderr


RESTRICTED = """
import os, socket, subprocess, sys
from pathlib import Path
from adapters.outbound.knowledge.parsing.sandbox import restrictions
def attempt(name, act):
    try:
        act()
        print(name, "allowed")
    except restrictions.Forbidden:
        print(name, "refused")
scratch, outside = Path(sys.argv[1]), Path(sys.argv[2])
restrictions.refuse_access(scratch)
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
attempt("read", lambda: (outside / "kept").read_text())
attempt("hardware", lambda: os.open(os.devnull, os.O_WRONLY))
"""


async def test_nothing_leaves_the_sandbox(tmp_path):
    scratch, outside = tmp_path / "in", tmp_path / "out"
    scratch.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")

    done = await asyncio.to_thread(python, RESTRICTED, str(scratch), str(outside))

    found = dict(line.split() for line in done.stdout.splitlines())
    assert {name for name, verdict in found.items() if verdict == "allowed"} == {
        "scratch",
        "read",
        "hardware",
    }, done.stderr
    assert len(found) == 12
    assert [path.name for path in outside.iterdir()] == ["kept"]


async def test_no_setting_of_the_service_reaches_the_fork_server(own, note, monkeypatch):
    monkeypatch.setenv("INTERNAL_SERVICE_KEY", "a-secret")
    await own.parse(note, "note.txt")

    environment = await asyncio.to_thread(Path(f"/proc/{own.reading_process}/environ").read_bytes)

    assert b"a-secret" not in environment
    assert b"DO_NOT_TRACK=1" in environment


SHARED = """
import asyncio, logging, sys
from pathlib import Path
from adapters.outbound.knowledge.parsing.parser import SandboxedParser
logging.basicConfig(stream=sys.stdout)
async def main():
    parser = SandboxedParser()
    for _ in range(2):
        print((await parser.parse(Path(sys.argv[1]), "note.txt")).text)
    await parser.close()
asyncio.run(main())
"""
NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_net_namespaces && exec "$@"'


@pytest.mark.parametrize("refused", [False, True])
async def test_where_namespaces_are_refused_files_are_read_and_it_is_said_once(note, refused):
    command = [sys.executable, "-c", SHARED, str(note)]
    inner = ["sh", "-c", NO_NAMESPACES, "sh", *command] if refused else command
    done = await asyncio.to_thread(run_outside, ["unshare", "--user", "--map-root-user", *inner])
    if "unshare failed" in done.stderr:
        pytest.skip("user namespaces are refused here")

    assert done.stdout.count("A short note.") == 2, done.stderr
    assert done.stdout.count("without a network namespace") == int(refused)
