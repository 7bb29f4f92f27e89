"""The folders, the account, the owner lock and the record of the embedded server."""

import fcntl
import json
import logging
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

log = logging.getLogger(__name__)


class EmbeddedPostgresError(Exception):
    """The embedded PostgreSQL cannot be used; the message is one line that names the cause and the mend."""


KEPT = re.compile(r"PATH|LD_LIBRARY_PATH|FAKETIME(?!_SHARED)(_[A-Z_]+)?")


def server_environment() -> dict[str, str]:
    """The environment of the server: no secret of ours, and no PG... variable that changes it. Settings of
    libfaketime are for both, but for the memory that it shares with our own user."""
    kept = {name: os.environ[name] for name in os.environ if KEPT.fullmatch(name)}
    return {**kept, "TZ": "UTC"}


UNPRIVILEGED = "nobody"


@dataclass(frozen=True, slots=True)
class Account:
    """A user and group id; `demoted` when it is not the one we run as."""

    uid: int
    gid: int
    demoted: bool

    def run(
        self, command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a short command as this account; output and errors together in `stdout`."""
        return subprocess.run(  # noqa: S603 - our own commands, no shell
            command,
            cwd=cwd,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            user=self.uid if self.demoted else None,
            group=self.gid if self.demoted else None,
            extra_groups=[] if self.demoted else None,
        )

    def can_enter(self, folder: Path) -> bool:
        """True if this account may pass through `folder` and all of its parents (access lists included).

        A shell that was killed, or that found no memory, says neither yes nor no; it is asked once more.
        """
        if not self.demoted:
            return True
        command = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(folder)]
        try:
            status = self.run(command, cwd=Path("/")).returncode
            return (status if status in (0, 1) else self.run(command, cwd=Path("/")).returncode) == 0
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedPostgresError(
                f"this root user may not act as another user ({getattr(error, 'strerror', None) or error}), "
                "and PostgreSQL refuses to run as root: "
                "start Switchboard as an ordinary user or set DATABASE_URL"
            ) from None


def account_for(cluster: Path) -> Account:
    """The account for the folder `cluster`: its owner if it is there, else ours or, for root, `nobody`."""
    try:
        owner = cluster.stat()
    except FileNotFoundError:
        return _fresh_account()
    except OSError as error:
        raise EmbeddedPostgresError(f"cannot read {cluster}: {error.strerror}") from None
    if os.geteuid() == 0:
        if owner.st_uid == 0:
            raise EmbeddedPostgresError(f"{cluster} belongs to root, but PostgreSQL refuses to run as root")
        return Account(owner.st_uid, owner.st_gid, demoted=True)
    if owner.st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{cluster} belongs to another user (uid {owner.st_uid}): start as that user or root"
        )
    return Account(owner.st_uid, owner.st_gid, demoted=False)


def _fresh_account() -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), demoted=False)
    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise EmbeddedPostgresError(
            f"PostgreSQL refuses to run as root and there is no account {UNPRIVILEGED!r} here: "
            "start Switchboard as an ordinary user or set DATABASE_URL"
        ) from None
    return Account(entry.pw_uid, entry.pw_gid, demoted=True)


# The room for a path in sockaddr_un, less the final zero byte (unix(7); 104 bytes on BSD and macOS).
SOCKET_PATH_LIMIT = 103 if sys.platform == "darwin" else 107
_SOCKET_PREFIX = "switchboard-pg-"
# Folders that last and that every account may enter, by the Filesystem Hierarchy Standard.
SHARED_HOMES = (Path("/var/lib/switchboard"), Path("/srv/switchboard"))


@dataclass(frozen=True, slots=True)
class DataPaths:
    """`base` is DATA_DIR/postgres; `home`, with cluster and runtime, is the same where it can be reached."""

    base: Path
    home: Path

    @property
    def record(self) -> Path:
        return self.base / "running.json"

    @property
    def log(self) -> Path:
        return self.base / "server.log"

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"


def make_base(data_dir: Path) -> Path:
    """DATA_DIR/postgres, made if need be. Raises `EmbeddedPostgresError` if it cannot be written."""
    base = data_dir / "postgres"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        if not base.is_dir():
            base.mkdir()
            base.chmod(0o755)
        with tempfile.TemporaryFile(dir=base):
            pass
    except OSError as error:
        raise EmbeddedPostgresError(
            f"DATA_DIR {data_dir} cannot be written: {error.strerror}; "
            "mend its permissions or set another DATA_DIR"
        ) from None
    return base


def locate(base: Path) -> DataPaths:
    """The paths as an earlier start recorded them."""
    try:
        record = json.loads((base / "location.json").read_text())
        home = Path(record["home"])
    except FileNotFoundError:
        return DataPaths(base, base)
    except (OSError, ValueError, KeyError, TypeError):
        raise EmbeddedPostgresError(
            f"{base / 'location.json'} cannot be read; it names the database's folder"
        ) from None
    if not home.is_dir():
        raise EmbeddedPostgresError(
            f"the database's folder {home}, named in {base / 'location.json'}, is not there"
        )
    return DataPaths(base, home)


def reachable_paths(paths: DataPaths, account: Account) -> DataPaths:
    """Paths whose home `account` can reach: the given ones, or for a new cluster a folder of its own.

    Raises `EmbeddedPostgresError` if an existing cluster cannot be reached or no such folder can be made.
    """
    if account.can_enter(paths.home):
        return paths
    parts = [*reversed(paths.home.parents), paths.home]
    closed = next((part for part in parts if not account.can_enter(part)), paths.home)
    if paths.cluster.exists() or paths.home != paths.base:
        raise EmbeddedPostgresError(
            f"the database user (uid {account.uid}) cannot reach {paths.home}: folder {closed} is closed to it"
        )
    home = next(filter(None, (_make_home(shared, account) for shared in SHARED_HOMES)), None)
    if home is None:
        raise EmbeddedPostgresError(
            f"the database user (uid {account.uid}) cannot reach DATA_DIR: folder {closed} is closed to it; "
            "set a DATA_DIR outside of it, start as an ordinary user or set DATABASE_URL"
        )
    write_json(paths.base / "location.json", {"home": str(home)})
    log.warning("%s is closed to the database user; the database lies in %s", closed, home)
    return DataPaths(paths.base, home)


def _make_home(shared: Path, account: Account) -> Path | None:
    """A new folder in `shared`; None if it cannot be made or `account` cannot reach it."""
    home = shared / f"postgres-{secrets.token_hex(4)}"
    try:
        shared.mkdir(mode=0o755, exist_ok=True)
        home.mkdir(mode=0o755)
    except OSError:
        return None
    home.chmod(0o755)
    if account.can_enter(home):
        return home
    home.rmdir()
    return None


def write_json(path: Path, content: Mapping[str, object]) -> None:
    unfinished = path.with_suffix(".half")
    unfinished.write_text(json.dumps(content))
    unfinished.replace(path)


def socket_folder(paths: DataPaths, account: Account, port: int) -> Path:
    """The folder for the socket: the cluster, or a short folder of its own if that path does not serve.

    A path may be too long, and libpq takes a comma in it for the end of a host's name.
    """
    name = f".s.PGSQL.{port}"
    if len(os.fsencode(paths.cluster / name)) <= SOCKET_PATH_LIMIT and "," not in str(paths.cluster):
        return paths.cluster
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 - mkdtemp makes a private folder in it
        if len(os.fsencode(parent)) + len(_SOCKET_PREFIX) + 10 + len(name) <= SOCKET_PATH_LIMIT:
            folder = Path(tempfile.mkdtemp(prefix=_SOCKET_PREFIX, dir=parent))
            if account.demoted:
                os.chown(folder, account.uid, account.gid)
            if account.can_enter(folder):
                return folder
            folder.rmdir()
    raise EmbeddedPostgresError(
        f"the path {paths.cluster} does not serve for a socket and there is no shorter folder"
    )


def forget_socket_folder(folder: Path) -> None:
    if folder.name.startswith(_SOCKET_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


# `is_owned` holds the lock for an instant, and an owner that is just ending may still have it.
_PATIENCE_S = 0.5


class OwnerLock:
    """The lock on `path`; `acquire` refuses if another process holds it."""

    def __init__(self, path: Path, data_dir: Path) -> None:
        self._path = path
        self._data_dir = data_dir
        self._file: int | None = None

    def acquire(self) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        deadline = time.monotonic() + _PATIENCE_S
        while not _try_lock(handle, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
                os.close(handle)
                raise EmbeddedPostgresError(
                    f"DATA_DIR {self._data_dir} is in use by process {owner or 'unknown'}"
                )
            time.sleep(0.02)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._file = handle

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_owned(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


DATABASE = "switchboard"
SUPERUSER = "switchboard"
STARTING_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """Where a running server listens: the folder of its socket, and the port that names the socket."""

    socket_dir: str
    port: int
    postmaster: int

    def dsn(self, database: str = DATABASE) -> str:
        return f"postgresql://{SUPERUSER}@/{database}?host={quote(self.socket_dir, safe='')}&port={self.port}"

    def write(self, path: Path) -> None:
        write_json(path, asdict(self))


def read_record(path: Path) -> Running | None:
    """The record at `path`; None if there is no record of ours."""
    try:
        return Running(**json.loads(path.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def attach(data_dir: Path) -> str | None:
    """The DSN of the embedded server that another process runs on `data_dir`; None if none runs.

    Waits for a server that is just starting. Raises `EmbeddedPostgresError` if the folder cannot be read.
    """
    folder = data_dir.absolute() / "postgres"
    deadline = time.monotonic() + STARTING_SECONDS
    try:
        while is_owned(folder / "owner.lock"):
            record = read_record(folder / "running.json")
            if record and not os.access(record.socket_dir, os.X_OK):
                raise PermissionError
            if record and answers(record.dsn(), 2):
                return record.dsn()
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"the database in {folder} is starting or stopping and does not answer"
                )
            time.sleep(0.05)
    except PermissionError:
        raise EmbeddedPostgresError(
            f"user {os.geteuid()} may not read {folder}: run this as the user that runs the service"
        ) from None
    return None


def answers(dsn: str, seconds: int) -> bool:
    """Return True if a server takes a connection within that time."""
    try:
        psycopg.connect(dsn, connect_timeout=seconds).close()
    except psycopg.OperationalError:
        return False
    return True
