"""The database files: made by initdb, checked for their version, and the database with its extensions."""

import os
import re
import secrets
import shutil
from pathlib import Path

import psycopg
from psycopg import sql

from adapters.outbound.storage.embedded.accounts import Account
from adapters.outbound.storage.embedded.binaries import EXTENSIONS, major_version
from adapters.outbound.storage.embedded.child import server_environment
from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError
from adapters.outbound.storage.embedded.running import DATABASE, SUPERUSER

_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \S+ \S+ \[\d+\] ")
_WORST = re.compile(r"PANIC:|FATAL:|ERROR:|error:")
_HARMLESS = re.compile(r"the database system is (starting up|not yet accepting)")
_CAUSE = re.compile(r"(LOG|WARNING):.*(could not|unrecognized|invalid|error)")

# pg_trgm drops every letter that LC_CTYPE does not know: with plain "C" a Cyrillic word has no trigrams.
_LOCALES = ("C.UTF-8", "en_US.UTF-8")


def make_cluster(cluster: Path, binaries: Path, account: Account, *, sync: bool) -> None:
    """Run initdb for `cluster` unless it is there. An interrupted run leaves nothing that counts as one."""
    if (cluster / "PG_VERSION").is_file():
        _check_version(cluster, binaries)
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
    """What is wrong, in one line, by a program's output or log: the first grave line and what led to it."""
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


def _check_version(cluster: Path, binaries: Path) -> None:
    made = (cluster / "PG_VERSION").read_text().strip()
    have = major_version(binaries)
    if made != str(have):
        raise EmbeddedPostgresError(
            f"the database in {cluster} was made by PostgreSQL {made}, and the one installed is {have}: "
            f"run it with version {made} (PG_BIN_DIR) to dump it, and restore the dump into a new DATA_DIR"
        )
