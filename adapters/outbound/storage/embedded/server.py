"""The embedded PostgreSQL: `start` gives a DSN, `stop` ends it, and between them it is kept running."""

import logging
import threading
from pathlib import Path
from types import TracebackType

from adapters.outbound.storage.embedded import data_paths
from adapters.outbound.storage.embedded import launch as leftovers
from adapters.outbound.storage.embedded.cluster import (
    find_binaries,
    make_cluster,
    provision,
    reachable_binaries,
)
from adapters.outbound.storage.embedded.launch import Launch

log = logging.getLogger(__name__)

_DEFAULT_PORT = 5432
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 30.0
_KEEPER_S = 1.0
_REST_S = 0.3
"""Of the seconds that `stop` may take: for what comes after the end of the server."""


class EmbeddedPostgres:
    """A server on DATA_DIR that ends with this process, even if that is killed (Linux).

    A server that ends by itself (killed, out of memory) is started again under the same DSN.
    `fast_and_unsafe` turns durability off, for tests. `tcp_port` listens on 127.0.0.1 as well, for roles with
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
        self._lock: data_paths.OwnerLock | None = None
        self._paths: data_paths.DataPaths | None = None
        self._launch: Launch | None = None
        self._keeper: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self) -> str:
        """Start the server, making the database on first use; returns its libpq DSN. Blocks until it answers.

        Raises `EmbeddedPostgresError` with one line that says what to mend; nothing is left running then.
        """
        if self._lock is not None:
            raise data_paths.EmbeddedPostgresError(f"the database in {self._data_dir} is already started")
        try:
            return self._start()
        except OSError as error:
            self.stop()
            raise data_paths.EmbeddedPostgresError(
                f"the database in {self._data_dir} cannot be started: {error}"
            ) from error
        except BaseException:
            self.stop()
            raise

    def stop(self, seconds: float | None = None) -> None:
        """End the server within about `seconds` (7 by default): fast shutdown, then the immediate one, then SIGKILL.

        May be repeated.
        """
        self._stopping.set()
        patience = () if seconds is None else (seconds - _REST_S,)
        if self._launch is not None:
            self._launch.stop(*patience)
            if self._keeper is not None:
                self._keeper.join(_KEEPER_S)
                self._keeper = None
                self._launch.stop(*patience)  # the keeper may just have begun another one
            data_paths.forget_socket_folder(self._launch.socket_dir)
            self._launch = None
        if self._lock is not None:
            if self._paths is not None:
                self._paths.record.unlink(missing_ok=True)
            self._lock.release()
            self._lock = None

    def abandon(self) -> None:
        """For a process that ends at once: tell the server to end at once too, and wait for nothing."""
        self._stopping.set()
        if self._launch is not None:
            self._launch.abandon()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self) -> str:
        self._stopping.clear()
        base = data_paths.make_base(self._data_dir)
        lock = data_paths.OwnerLock(base / "owner.lock", self._data_dir)
        lock.acquire()
        self._lock = lock
        paths = data_paths.locate(base)
        account = data_paths.account_for(paths.cluster)
        self._paths = paths = data_paths.reachable_paths(paths, account)
        if earlier := data_paths.read_record(paths.record):  # of a run that was killed
            data_paths.forget_socket_folder(Path(earlier.socket_dir))
        paths.record.unlink(missing_ok=True)
        if paths.log.exists():
            paths.log.replace(paths.log.with_name("server.log.1"))
        binaries = reachable_binaries(find_binaries(self._bin_dir), account, paths.home)
        make_cluster(paths.cluster, binaries, account, sync=not self._unsafe)
        leftovers.clear(paths.cluster)
        port = self._tcp_port or _DEFAULT_PORT
        self._launch = launch = Launch(
            binaries=binaries,
            account=account,
            cluster=paths.cluster,
            log=paths.log,
            socket_dir=data_paths.socket_folder(paths, account, port),
            port=port,
            tcp=self._tcp_port is not None,
            unsafe=self._unsafe,
        )
        running = launch.start(self._stopping)
        provision(running.dsn(), running.dsn("postgres"))
        running.write(paths.record)
        self._keeper = threading.Thread(
            target=self._keep, args=(launch, paths), name="postgres-keeper", daemon=True
        )
        self._keeper.start()
        return running.dsn()

    def _keep(self, launch: Launch, paths: data_paths.DataPaths) -> None:
        """Start the server again whenever it ends without `stop`, with growing pauses while that fails."""
        pause = _FIRST_PAUSE_S
        while not self._stopping.is_set():
            launch.wait_for_end()
            if self._stopping.is_set():
                return
            log.error("the embedded database ended unexpectedly; starting it again")
            try:
                leftovers.clear(paths.cluster)
                launch.start(self._stopping).write(paths.record)
                pause = _FIRST_PAUSE_S
            except (data_paths.EmbeddedPostgresError, OSError) as error:
                if self._stopping.is_set():
                    return
                log.error("the embedded database could not be started again: %s", error)
                self._stopping.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_S)
