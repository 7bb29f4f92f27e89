"""Where the parts of an embedded server lie, and where they go if the database user cannot reach DATA_DIR."""

import json
import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapters.outbound.storage.embedded.accounts import Account
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError

log = logging.getLogger(__name__)

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
    closed = _first_closed(paths.home, account)
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


def _first_closed(folder: Path, account: Account) -> Path:
    return next((part for part in [*reversed(folder.parents), folder] if not account.can_enter(part)), folder)
