"""The start and the end of a process: databases, ports, errors in one clear line, and signals.

The first signal asks the process to end; the second one and the deadline force it. Modules of databases are imported
in the functions that use them, because a gateway alone has none.
"""

import atexit
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from apps import logs
from apps.setting_types import SettingsError
from apps.settings import Settings
from domain.refusals import Refusal

log = logging.getLogger("switchboard")

DEADLINE = 9.3
"""Seconds from the first signal to the forced end; the documentation promises ten."""
LAST_RESORT = 0.5
"""Seconds after the deadline at which the kernel ends a process in which no thread gets to run."""
INTERRUPTED = 130
"""Exit status of a process that was told to stop before it was ready."""


class Shutdown:
    """Takes SIGTERM and SIGINT of this process, and enforces the deadline of its end.

    The first signal calls what `asking` was given, or raises `KeyboardInterrupt` where nothing was given; any
    further one ends the process at once with status 128 plus its number.
    """

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._signals = 0
        self._ends_at: float | None = None
        self._ask: Callable[[], object] | None = None
        self._last_steps: list[Callable[[], None]] = []
        self._status: int | None = None
        self.stage = "starting"

    def take_signals(self) -> None:
        """To be called by the main thread, before anything that may block."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        atexit.register(self._skip_finalization)

    @contextmanager
    def asking(self, ask: Callable[[], object]) -> Iterator[None]:
        """While the block runs the first signal calls `ask`, in the main thread between any two instructions."""
        self._ask = ask
        try:
            yield
        finally:
            self._ask = None

    def begin(self) -> None:
        """From here on the deadline runs. May be called again."""
        if self._ends_at is not None:
            return
        self._ends_at = time.monotonic() + self._deadline
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._deadline + LAST_RESORT)

        def watch() -> None:
            while left := self.remaining():
                time.sleep(left)
            log.error(
                "the process did not end within %g seconds (%s); it is ended now", self._deadline, self.stage
            )
            self._leave(1)

        threading.Thread(target=watch, name="shutdown-deadline", daemon=True).start()

    def remaining(self) -> float | None:
        """Seconds until the forced end; None while the process does not end."""
        return None if self._ends_at is None else max(0.0, self._ends_at - time.monotonic())

    def stopped(self, status: int) -> None:
        """Everything has stopped: the process ends with this status once its threads have ended."""
        self._status = status

    @contextmanager
    def last_step(self, step: Callable[[], None]) -> Iterator[None]:
        """While the block runs a forced end calls `step` first, which must not block."""
        self._last_steps.append(step)
        try:
            yield
        finally:
            self._last_steps.remove(step)

    def _signalled(self, number: int, _: FrameType | None) -> None:
        self._signals += 1
        if self._signals > 1:
            self._end(128 + number)
        already = self._ends_at is not None
        self.begin()
        if self._ask is not None:
            self._ask()
        elif not already:
            raise KeyboardInterrupt

    def _skip_finalization(self) -> None:
        """The interpreter would destroy all objects, for seconds on a busy machine, while no thread runs that could
        end it."""
        if self._ends_at is not None and self._status is not None:
            self._leave(self._status)

    def _leave(self, status: int) -> NoReturn:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._end(status)

    def _end(self, status: int) -> NoReturn:
        for step in self._last_steps:
            with contextlib.suppress(Exception):
                step()
        os._exit(status)


PROCESS = Shutdown()
"""This process's: signals belong to the whole of it."""


OTHER_FILES = 256
"""Open files that are left for the database, platforms, resources and uploads."""


class StartError(Exception):
    """The process cannot start; the message is one line for the person who starts it."""


def listen(host: str, port: int, setting: str) -> socket.socket:
    """A bound socket. Raises `StartError` when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise StartError(
                f"port {port} on {host} is in use; stop the other program or set {setting}"
            ) from error
        raise StartError(
            f"cannot listen on {host}:{port}: {error.strerror}; check {setting.replace('PORT', 'HOST')} and {setting}"
        ) from error
    return listener


def allowed_connections(wanted: int) -> int:
    """So many connections as are wanted and as the limit of open files leaves room for, which is raised as far as the
    system allows. Beyond that limit nothing could be opened any more, health checks included."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + OTHER_FILES if hard == resource.RLIM_INFINITY else min(wanted + OTHER_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    allowed = wanted if soft == resource.RLIM_INFINITY else min(wanted, max(soft - OTHER_FILES, soft // 2))
    if allowed < wanted:
        log.warning("%d connections at a time instead of %d: raise the limit of open files", allowed, wanted)
    return allowed


def check_free(host: str, port: int, setting: str) -> None:
    """Raises `StartError` when the port is taken: early, and without the lines that gRPC would print itself."""
    listen(host, port, setting).close()


@contextmanager
def embedded_database(settings: Settings) -> Iterator[str]:
    """The embedded PostgreSQL while the process lives; its DSN. Raises `StartError`."""
    from adapters.outbound.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError

    server = EmbeddedPostgres(settings.data_dir, bin_dir=settings.pg_bin_dir)
    try:
        dsn = server.start()
    except EmbeddedPostgresError as error:
        raise StartError(str(error)) from error
    with PROCESS.last_step(server.abandon):
        try:
            yield dsn
        finally:
            PROCESS.stage = "stopping the database"
            server.stop(PROCESS.remaining())
            PROCESS.stage = "ending threads"


@contextmanager
def a_database(settings: Settings) -> Iterator[str]:
    """The database for a command: the given one, that of a running service, or the embedded one for a moment."""
    if dsn := settings.database_url or _running_database(settings):
        yield dsn
    else:
        with embedded_database(settings) as started:
            yield started


def shared_database(settings: Settings) -> str:
    """The DSN of DATABASE_URL, or of an embedded server that another process runs. Raises `StartError`.

    Processes that share a database share a queue too: an embedded one would be seen by none but its own.
    """
    dsn = settings.database_url or _running_database(settings)
    if not dsn:
        raise StartError(
            "no database: set DATABASE_URL (and REDIS_URL), or start `switchboard up` with this DATA_DIR"
            f" ({settings.data_dir}) first"
        )
    if not settings.redis_url:
        raise StartError("no queue: processes that run apart share one; set REDIS_URL")
    return dsn


def _running_database(settings: Settings) -> str | None:
    """The DSN of the embedded server that another process runs. Raises `StartError`."""
    from adapters.outbound.storage.embedded import EmbeddedPostgresError, attach

    try:
        return attach(settings.data_dir)
    except EmbeddedPostgresError as error:
        raise StartError(str(error)) from error


def migrated(dsn: str, *, embedded: bool = False) -> str:
    """Brings the database up to date. Raises `StartError`. An embedded one has no pooler in front."""
    from adapters.outbound.storage.migrate import MigrationError, migrate

    if not embedded:
        import psycopg

        from adapters.outbound.storage.signals import TRANSACTION_POOLING, is_transaction_pooled

        with suppress(psycopg.Error):
            if is_transaction_pooled(dsn):
                raise StartError(TRANSACTION_POOLING)
    try:
        migrate(dsn)
    except MigrationError as error:
        raise StartError(str(error)) from error
    return dsn


def unlocked(settings: Settings, dsn: str) -> str:
    """The DSN, once CONFIG_ENCRYPTION_KEY proves to be the key of that database. Raises `StartError`."""
    import psycopg

    from adapters.outbound.storage.instances import WrongKey, check_key
    from adapters.outbound.storage.migrate import first_line
    from adapters.outbound.system.encryption import ConfigCipher
    from apps.settings_loading import folder_of_encryption_key

    try:
        unreadable = check_key(dsn, ConfigCipher(settings.config_encryption_key))
    except WrongKey as error:
        folder = folder_of_encryption_key(settings)
        where = f" (kept in {folder})" if folder else ""
        raise StartError(
            f"CONFIG_ENCRYPTION_KEY{where} does not fit the database: {error}. Set the key that was used before; to"
            " change it, list both, the new one in front, and run: switchboard reseal"
        ) from error
    except psycopg.Error as error:
        raise StartError(f"the database does not answer: {first_line(error)}") from error
    if unreadable:
        log.error(
            "%d configurations were encrypted with keys that CONFIG_ENCRYPTION_KEY does not list", unreadable
        )
    return dsn


def reporting(main: Callable[[], int]) -> int:
    """Runs `main`; what keeps it from starting becomes one line on standard error and exit status 1.

    A signal before the event loop asks for it ends it in order, as Ctrl-C does; the next one ends it at once.
    """
    PROCESS.take_signals()
    try:
        status = main()
    except KeyboardInterrupt:
        logs.announce_end("interrupted")
        status = INTERRUPTED
    except (StartError, SettingsError, Refusal) as error:
        logs.announce_end(str(error))
        status = 1
    PROCESS.stopped(status)
    return status
