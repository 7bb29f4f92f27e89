"""The embedded server's life: start, stop, kill, second owner, attach."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError, attach
from adapters.outbound.storage.embedded import data_paths as running
from tests.support.ports import free_port
from tests.support.service import database_processes, postmaster
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]
OWNER = [sys.executable, "-m", "tests.support.owner"]


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a first start may take longer than anybody would wait for it."""
    monkeypatch.setattr(running, "STARTING_SECONDS", 300.0)


def rows(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as connection:
        return [number for (number,) in connection.execute("SELECT n FROM kept ORDER BY n")]


def put(dsn: str, *numbers: int) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        for number in numbers:
            connection.execute("INSERT INTO kept VALUES (%s)", (number,))


def kill_server(data_dir: Path) -> None:
    os.kill(postmaster(data_dir), signal.SIGKILL)


def no_server_is_left(data_dir: Path) -> None:
    """One that had to be killed on a busy machine takes a moment."""
    until(lambda: not database_processes(data_dir), "no process of the server is left")


@contextmanager
def owner(data_dir: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that owns a server on `data_dir`, and the line it printed."""
    process = subprocess.Popen(
        [*OWNER, str(data_dir)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def test_the_first_start_makes_a_database_with_its_extensions(open_folder: Path) -> None:
    with (
        EmbeddedPostgres(open_folder / "new", fast_and_unsafe=True) as dsn,
        psycopg.connect(dsn) as connection,
    ):
        assert connection.info.dbname == "switchboard"
        found = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
        assert {"vector", "pg_trgm"} <= found
        assert connection.execute("SELECT similarity('ПРИВЕТ', 'привет')").fetchone() == (1.0,)
    no_server_is_left(open_folder / "new")


def test_durable_unless_told_otherwise(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as dsn, psycopg.connect(dsn) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)


def test_rows_outlive_a_restart_of_the_same_object(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir, fast_and_unsafe=True)
    first = server.start()
    put(first, 1, 2)
    server.stop()
    second = server.start()
    assert second == first
    assert rows(second) == [1, 2]
    server.stop()
    server.stop()
    assert attach(data_dir) is None


def test_starting_twice_is_refused_and_harms_nothing(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir, fast_and_unsafe=True)
    dsn = server.start()
    with pytest.raises(EmbeddedPostgresError, match="already started"):
        server.start()
    put(dsn, 1)
    server.stop()


def test_a_killed_server_comes_back_under_the_same_dsn_with_its_rows(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as dsn:
        for number in range(3):
            put(dsn, number)
            kill_server(data_dir)
            until(lambda: attach(data_dir) == dsn, "a new server")
        assert rows(dsn) == [0, 1, 2]
    no_server_is_left(data_dir)


def test_stop_right_after_a_kill_leaves_no_server(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir, fast_and_unsafe=True)
    server.start()
    kill_server(data_dir)
    server.stop()
    no_server_is_left(data_dir)


def test_a_killed_owner_leaves_no_server_and_its_rows_are_kept(data_dir: Path) -> None:
    with owner(data_dir) as (process, dsn):
        put(dsn, 7)
        process.kill()
    with EmbeddedPostgres(data_dir) as dsn:  # at once: the first server may still be shutting down
        assert rows(dsn) == [7]
    no_server_is_left(data_dir)


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_the_server_ends_with_its_killed_owner(data_dir: Path) -> None:
    with owner(data_dir) as (process, _):
        assert database_processes(data_dir)
        process.kill()
    no_server_is_left(data_dir)
    assert "shutting down" in (data_dir / "postgres/server.log").read_text()


def test_the_server_outlives_the_thread_that_started_it(data_dir: Path) -> None:
    server = EmbeddedPostgres(data_dir, fast_and_unsafe=True)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(server.start()))
    thread.start()
    thread.join()
    pid = postmaster(data_dir)
    put(found[0], 1)
    assert postmaster(data_dir) == pid
    server.stop()


def test_killing_owner_and_server_together_keeps_the_rows(data_dir: Path) -> None:
    with owner(data_dir) as (process, dsn):
        put(dsn, 1)
        kill_server(data_dir)
        process.kill()
    with EmbeddedPostgres(data_dir) as dsn:
        assert rows(dsn) == [1]


def test_a_stale_pid_file_with_a_number_in_use_by_another_program(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True):
        stale = (data_dir / "postgres/cluster/postmaster.pid").read_text().split("\n")
    account = (data_dir / "postgres/cluster").stat().st_uid
    with subprocess.Popen(["sleep", "600"], user=account) as other:
        try:
            (data_dir / "postgres/cluster/postmaster.pid").write_text("\n".join([str(other.pid), *stale[1:]]))
            with EmbeddedPostgres(data_dir, fast_and_unsafe=True) as dsn:
                put(dsn, 1)
            assert other.poll() is None
        finally:
            other.kill()


def test_a_second_owner_is_refused_with_the_first_ones_number(data_dir: Path) -> None:
    with owner(data_dir) as (process, dsn):
        with pytest.raises(
            EmbeddedPostgresError, match=rf"DATA_DIR {data_dir} is in use by process {process.pid}$"
        ):
            EmbeddedPostgres(data_dir).start()
        put(dsn, 1)
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True) as dsn:
        assert rows(dsn) == [1]


def test_attach_finds_the_server_of_another_process(data_dir: Path) -> None:
    assert attach(data_dir) is None
    with owner(data_dir) as (_, dsn):
        assert attach(data_dir) == dsn
        put(dsn, 1)
    assert attach(data_dir) is None
    assert attach(data_dir / "nowhere") is None


def test_attach_waits_for_a_server_that_is_starting(open_folder: Path) -> None:
    fresh = open_folder / "fresh"
    process = subprocess.Popen([*OWNER, str(fresh)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lock = fresh / "postgres/owner.lock"
    until(lambda: lock.exists() and lock.read_text() != "", "the owner begins")
    until(lambda: attach(fresh) is not None, "the server is found")
    process.communicate(timeout=60)


def test_tcp_needs_a_password(data_dir: Path) -> None:
    port = free_port()
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True, tcp_port=port) as dsn:
        with psycopg.connect(dsn) as connection:
            connection.execute("CREATE ROLE guest LOGIN PASSWORD 'sesame'")
        over_tcp = f"postgresql://guest:{{}}@127.0.0.1:{port}/switchboard"
        with psycopg.connect(over_tcp.format("sesame")) as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("guest",)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(over_tcp.format("wrong"))
    with EmbeddedPostgres(data_dir, fast_and_unsafe=True), pytest.raises(psycopg.OperationalError):
        psycopg.connect(over_tcp.format("sesame"))
