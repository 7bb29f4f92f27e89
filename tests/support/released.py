"""The released version that tests compare with, and whose processes they run beside those of this tree.

It is the latest tag of a version (`v1.2.3`) where the repository has one, otherwise the commit that
`tests/released/commit` names.
"""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from adapters.outbound.storage.migrate import NEEDED
from adapters.outbound.storage.upgrade import upgrade
from tests.support.postgres import fresh_database

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests/released"


def revision() -> str:
    """The newest migration of the released version."""
    return (FILES / "revision").read_text().strip()


def protos() -> FileDescriptorSet:
    return FileDescriptorSet.FromString((FILES / "protos.binpb").read_bytes())


def commit() -> str:
    """What git calls the released version."""
    tags = _git("tag", "--list", "v[0-9]*", "--sort=-version:refname", "--merged", "HEAD")
    latest = tags.stdout.decode().split() if tags.returncode == 0 else []
    return latest[0] if latest else (FILES / "commit").read_text().strip()


def unpacked(folder: Path) -> Path:
    """The tree of the released version, under `folder`. Skips the test where this copy has no history."""
    wanted = commit()
    archive = _git(
        "archive", "--format=tar", wanted, "adapters", "apps", "domain", "ports", "proto", "pyproject.toml"
    )
    if archive.returncode:
        reason = archive.stderr.decode(errors="replace").strip()
        pytest.skip(f"the released version {wanted} is not in this copy of the repository ({reason})")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


@contextmanager
def released_database(postgres_dsn: str) -> Iterator[str]:
    """A database as the released version left it."""
    with fresh_database(postgres_dsn, migrated=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as database:
            for extension in NEEDED:
                database.execute(f'CREATE EXTENSION IF NOT EXISTS "{extension}"')
        upgrade(dsn, revision())
        yield dsn


def _git(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(arguments, 127, b"", b"there is no git")
