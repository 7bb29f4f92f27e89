"""`switchboard backup`: the database, the stored files and the generated keys in one file, while the service runs."""

import asyncio
import sqlite3
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from adapters.outbound.system import dumps
from adapters.outbound.system.backup_archive import (
    BLOBS,
    DATABASE,
    DEVICES,
    SECRETS,
    NewArchive,
    is_member,
    written,
)
from adapters.outbound.system.encryption import ConfigCipher
from adapters.version import VERSION
from apps import restore
from apps.compose.storage import UPLOADS, blob_store
from apps.processes.starting import StartError, a_database
from apps.restore import reported
from apps.settings import Settings
from apps.settings_loading import FOLDER, complete, folder_of_encryption_key
from domain.refusals import NotFound

KNOWN = {UPLOADS, FOLDER, "linked-devices", "postgres"}
"""What lies in DATA_DIR and is in the backup in one form or another."""


def main(settings: Settings, options: Namespace) -> int:
    if options.check:
        if options.file is None:
            raise StartError("say which file: switchboard backup --check FILE")
        return restore.main(settings, options)
    path = options.file or Path(f"switchboard-{datetime.now(UTC):%Y%m%d-%H%M%S}.tar")
    with reported():
        if path.exists():
            raise StartError(f"{path} exists already: name another file, or remove it")
        if not path.absolute().parent.is_dir():
            raise StartError(f"the folder {path.absolute().parent} does not exist: make it first")
        if settings.embedded and not (settings.data_dir / "postgres").is_dir():
            raise StartError(f"there is nothing to back up in DATA_DIR {settings.data_dir}")
        notes = _write(complete(settings), path, with_secrets=not options.without_secrets)
    print(f"{path}: {path.stat().st_size:,} bytes")
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    return 0


def _write(settings: Settings, path: Path, *, with_secrets: bool) -> list[str]:
    """What the person should know."""
    with a_database(settings) as dsn, written(path) as archive:
        with (
            dumps.snapshot(dsn) as contents,
            tempfile.TemporaryDirectory(
                dir=path.absolute().parent, prefix=f"{path.name}.", suffix=".partial"
            ) as folder,
        ):
            if contents.revision is None:
                raise StartError("there is nothing to back up: the database is empty")
            dumps.dump(dsn, settings.pg_bin_dir, contents, Path(folder) / DATABASE)
            archive.add(DATABASE, Path(folder) / DATABASE)
            _add_devices(archive, settings.data_dir / "linked-devices", Path(folder))
        gone = asyncio.run(_add_blobs(archive, settings, contents.blobs))
        kept = _add_secrets(archive, settings) if with_secrets else False
        archive.finish(
            {
                "version": VERSION,
                "schema": contents.revision,
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
                "rows": contents.rows,
                "blobs": len(contents.blobs) - len(gone),
                "goneBlobs": gone,
                "keyFingerprints": ConfigCipher(settings.config_encryption_key).fingerprints,
                "leftOut": (left_out := _left_out(settings.data_dir)),
            }
        )
    return [*_key_note(kept), *_notes(gone, left_out)]


def _add_devices(archive: NewArchive, devices: Path, folder: Path) -> None:
    """Copies that SQLite makes itself, as a linked device may be writing."""
    for path in sorted(devices.glob("*.db")):
        _copy_device(path, folder / path.name)
        archive.add(DEVICES + path.name, folder / path.name)


def _copy_device(path: Path, copy: Path) -> None:
    """Raises `StartError`."""
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
    except sqlite3.Error as error:
        raise StartError(f"{path} cannot be copied: {error}") from error


async def _add_blobs(archive: NewArchive, settings: Settings, blobs: Mapping[str, int]) -> list[str]:
    """The keys of those that were deleted since the snapshot, or not stored yet."""
    store, gone = blob_store(settings), []
    for key in blobs:
        try:
            async with store.local(key) as path:
                await asyncio.to_thread(archive.add, BLOBS + key, path)
        except (NotFound, FileNotFoundError):
            gone.append(key)
    return gone


def _add_secrets(archive: NewArchive, settings: Settings) -> bool:
    """Return True if the encryption key in use is among them."""
    for path in sorted((settings.data_dir / FOLDER).glob("*")):
        if path.is_file() and is_member(SECRETS + path.name):
            archive.add(SECRETS + path.name, path)
    return folder_of_encryption_key(settings) is not None


def _left_out(data_dir: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return sorted(entry.name for entry in data_dir.iterdir() if entry.name not in KNOWN)
    return []


def _key_note(kept: bool) -> list[str]:
    if kept:
        return ["the file holds the keys of this installation: keep it as safe as a password"]
    return [
        "the file does not hold CONFIG_ENCRYPTION_KEY: keep that key too, without it configurations cannot be read"
    ]


def _notes(gone: list[str], left_out: list[str]) -> Iterator[str]:
    if gone:
        yield f"{len(gone)} files were deleted meanwhile, or not stored yet, and are not in it: {', '.join(gone[:5])}"
    if left_out:
        yield f"not in it, of DATA_DIR: {', '.join(left_out)} (models can be pulled again)"
