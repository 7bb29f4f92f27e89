"""The embedded PostgreSQL: `start` gives a DSN, `stop` ends it."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

import psycopg

from adapters.outbound.storage.embedded import leftovers
from adapters.outbound.storage.embedded.accounts import Account, account_for
from adapters.outbound.storage.embedded.binaries import find_binaries, reachable_binaries
from adapters.outbound.storage.embedded.child import Child, spawn
from adapters.outbound.storage.embedded.cluster import make_cluster, provision, summary
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError
from adapters.outbound.storage.embedded.ownership import OwnerLock
from adapters.outbound.storage.embedded.places import (
    Places,
    forget_socket_folder,
    locate,
    make_base,
    settle,
    socket_folder,
)
from adapters.outbound.storage.embedded.running import Running, read_record

# Recovery after a crash replays at most max_wal_size of log before the server answers.
_READY_S = 300.0
_STOP_S = 10.0
_DEFAULT_PORT = 5432

_SETTINGS = {
    "shared_buffers": "128MB",
    "max_connections": "100",
    "maintenance_work_mem": "128MB",
    "max_wal_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "max_parallel_maintenance_workers": "0",  # they need more of /dev/shm than a container gives
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "logging_collector": "off",
}
_UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgres:
    """A server on DATA_DIR that ends with this process, even if that is killed (Linux).

    `fast_and_unsafe` gives up durability, for tests. `tcp_port` listens on 127.0.0.1 as well, for roles with
    a password. `bin_dir` names the programs to use (PG_BIN_DIR) instead of the installed wheel's.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        fast_and_unsafe: bool = False,
        tcp_port: int | None = None,
        bin_dir: Path | None = None,
    ) -> None:
        self._data_dir = data_dir.absolute()
        self._unsafe = fast_and_unsafe
        self._tcp_port = tcp_port
        self._bin_dir = bin_dir
        self._lock: OwnerLock | None = None
        self._places: Places | None = None
        self._child: Child | None = None
        self._socket_dir: Path | None = None

    def start(self) -> str:
        """Start the server, making the database on first use; returns its libpq DSN. Blocks until it answers.

        Raises `EmbeddedPostgresError` with one line that says what to mend; nothing is left running then.
        """
        if self._lock is not None:
            raise EmbeddedPostgresError(f"the database in {self._data_dir} is already started")
        try:
            return self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server: fast shutdown, after 10 seconds of that the immediate one. May be repeated."""
        if self._child is not None:
            self._child.stop(_STOP_S)
            self._child = None
        if self._socket_dir is not None:
            forget_socket_folder(self._socket_dir)
            self._socket_dir = None
        if self._lock is not None:
            if self._places is not None:
                self._places.record.unlink(missing_ok=True)
            self._lock.release()
            self._lock = None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self) -> str:
        base = make_base(self._data_dir)
        lock = OwnerLock(base / "owner.lock", self._data_dir)
        lock.acquire()
        self._lock = lock
        places = locate(base)
        account = account_for(places.cluster)
        self._places = places = settle(places, account)
        _forget_earlier_run(places)
        binaries = reachable_binaries(find_binaries(self._bin_dir), account, places.home)
        make_cluster(places.cluster, binaries, account, sync=not self._unsafe)
        leftovers.clear(places.cluster)
        running = self._launch(places, account, binaries)
        provision(running.dsn(), running.dsn("postgres"))
        running.write(places.record)
        return running.dsn()

    def _launch(self, places: Places, account: Account, binaries: Path) -> Running:
        port = self._tcp_port or _DEFAULT_PORT
        self._socket_dir = socket_folder(places, account, port)
        settings = {
            **_SETTINGS,
            **(_UNSAFE if self._unsafe else {}),
            "listen_addresses": "127.0.0.1" if self._tcp_port else "",
            "port": str(port),
            "unix_socket_directories": f'"{self._socket_dir}"',
        }
        command = [str(binaries / "postgres"), "-D", str(places.cluster)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        self._child = spawn(command, account, places.log, places.cluster)
        running = Running(str(self._socket_dir), port, self._child.pid)
        self._wait_until_ready(running, places.log)
        return running

    def _wait_until_ready(self, running: Running, log: Path) -> None:
        deadline = time.monotonic() + _READY_S
        while True:
            try:
                psycopg.connect(running.dsn("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                if self._child is None or self._child.exited():
                    said = summary(log.read_text(errors="replace"))
                    raise EmbeddedPostgresError(f"the database did not start: {said} (see {log})") from None
                if time.monotonic() > deadline:
                    raise EmbeddedPostgresError(
                        f"the database does not answer after {_READY_S:.0f} seconds: "
                        f"{summary(str(error))} (see {log})"
                    ) from None
            time.sleep(0.02)


def _forget_earlier_run(places: Places) -> None:
    """Remove what a killed run left beside the cluster, and begin a new log."""
    record = read_record(places.record)
    if record is not None:
        forget_socket_folder(Path(record.socket_dir))
    places.record.unlink(missing_ok=True)
    if places.log.exists():
        places.log.replace(places.log.with_name("server.log.1"))
