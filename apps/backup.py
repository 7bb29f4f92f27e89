"""`switchboard backup`: the database, the stored files and the generated keys in one file, while the service runs.

`switchboard restore`: a backup into an empty place, checked afterwards. With `--check` into a temporary one.
"""

import asyncio
import shutil
import sqlite3
import sys
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from adapters.outbound.storage.embedded.data_paths import is_owned
from adapters.outbound.storage.migrate import first_line, head
from adapters.outbound.system import dumps
from adapters.outbound.system.backup_archive import (
    BLOBS,
    DATABASE,
    DEVICES,
    SECRETS,
    Archive,
    BadBackup,
    NewArchive,
    is_member,
    written,
)
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from adapters.version import VERSION
from apps.compose.storage import UPLOADS, blob_store
from apps.processes.starting import StartError, a_database, embedded_database, migrated, unlocked
from apps.settings import Settings
from apps.settings_loading import ENCRYPTION_KEY, FOLDER, complete, folder_of_encryption_key
from domain.refusals import NotFound

KNOWN = {UPLOADS, FOLDER, "linked-devices", "postgres"}
"""What lies in DATA_DIR and is in the backup in one form or another."""
LARGEST_KEY = 64 * 1024
UNKNOWN_KEY = "looked at without its encryption key, as CONFIG_ENCRYPTION_KEY is not set"


def main(settings: Settings, options: Namespace) -> int:
    if options.check:
        if options.file is None:
            raise StartError("say which file: switchboard backup --check FILE")
        return restore(settings, options)
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
    """Writes the backup. Returns notes for the person who made it."""
    data_dir, left_out = settings.data_dir, list[str]()
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
            for device in sorted((data_dir / "linked-devices").glob("*.db")):
                copy = Path(folder) / device.name
                try:
                    with (
                        closing(sqlite3.connect(f"{device.absolute().as_uri()}?mode=ro", uri=True)) as source,
                        closing(sqlite3.connect(copy)) as target,
                    ):
                        source.backup(target)  # SQLite makes the copy, as a linked device may be writing
                except sqlite3.Error as error:
                    raise StartError(f"{device} cannot be copied: {error}") from error
                archive.add(DEVICES + device.name, copy)
        gone = asyncio.run(_add_blobs(archive, settings, contents.blobs))
        for secret in sorted((data_dir / FOLDER).glob("*")) if with_secrets else ():
            if secret.is_file() and is_member(SECRETS + secret.name):
                archive.add(SECRETS + secret.name, secret)
        with suppress(FileNotFoundError):
            left_out = sorted(entry.name for entry in data_dir.iterdir() if entry.name not in KNOWN)
        archive.finish(
            {
                "version": VERSION,
                "schema": contents.revision,
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
                "rows": contents.rows,
                "blobs": len(contents.blobs) - len(gone),
                "goneBlobs": gone,
                "keyFingerprints": ConfigCipher(settings.config_encryption_key).fingerprints,
                "leftOut": left_out,
            }
        )
    holds_key = with_secrets and folder_of_encryption_key(settings) is not None
    return _notes(gone, left_out, holds_key=holds_key)


def _notes(gone: list[str], left_out: list[str], *, holds_key: bool) -> list[str]:
    if holds_key:
        notes = ["the file holds the keys of this installation: keep it as safe as a password"]
    else:
        lost = "without it configurations cannot be read"
        notes = [f"the file does not hold CONFIG_ENCRYPTION_KEY: keep that key too, {lost}"]
    if gone:
        shown = ", ".join(gone[:5])
        notes.append(
            f"{len(gone)} files were deleted meanwhile, or not stored yet, and are not in it: {shown}"
        )
    if left_out:
        notes.append(f"not in it, of DATA_DIR: {', '.join(left_out)} (models can be pulled again)")
    return notes


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


def restore(settings: Settings, options: Namespace) -> int:
    with reported(), closing(Archive(options.file)) as archive:
        if archive.manifest.schema > head():
            raise StartError(
                f"the backup is of version {archive.manifest.version}, whose schema {archive.manifest.schema} is"
                f" newer than this one's {head()}: restore it with that version or a newer one"
            )
        archive.verify()
        if options.check:
            folder = Path(tempfile.mkdtemp(prefix="switchboard-check-"))
            try:
                folder.chmod(0o711)  # the account of the embedded database enters it too
                changes = {"data_dir": folder, "database_url": "", "blob_s3_bucket": ""}
                place = settings.model_copy(update=changes)
                known = _check_key(place, archive, optional=True)
                _restored(place, archive, with_key=known)
            finally:
                shutil.rmtree(folder)
            if not known:
                print(f"note: {UNKNOWN_KEY}", file=sys.stderr)
            return 0
        _check_key(settings, archive)
        _check_empty(settings)
        _restored(settings, archive, with_key=True)
    print("start the service; replies that were sent after the backup are sent again", file=sys.stderr)
    return 0


def _check_key(settings: Settings, archive: Archive, *, optional: bool = False) -> bool:
    """Return True if the key at hand opens what is stored. Raises `StartError` if it does not, or no key is given."""
    member = SECRETS + ENCRYPTION_KEY
    held = member in archive.members
    key = settings.config_encryption_key
    if held and not key and settings.embedded:
        if archive.members[member].size > LARGEST_KEY:
            raise StartError(f"the backup is damaged: {member} is no key; take another one")
        key = b"".join(archive.pieces(member)).decode(errors="replace").strip()
    if not key and optional:
        return False
    fingerprints = archive.manifest.key_fingerprints
    where = f"it is {member} of this backup" if held else "as this backup does not hold it"
    fault = f"must be set, {where}"
    if key:
        fault = "is not the key of this backup"
        try:
            if fingerprints[0] in ConfigCipher(key).fingerprints:
                return True
        except DecryptionError as error:
            raise StartError(str(error)) from error
    raise StartError(
        f"CONFIG_ENCRYPTION_KEY {fault}: set the key that was used before (its mark is {fingerprints[0]})"
    )


def _check_empty(settings: Settings) -> None:
    """Raises `StartError`."""
    data_dir = settings.data_dir
    if settings.embedded:
        if is_owned(data_dir / "postgres" / "owner.lock"):
            raise StartError(
                f"a service runs on DATA_DIR {data_dir}: stop it, and set DATA_DIR to an empty folder"
            )
        taken = ["postgres"] if (data_dir / "postgres").exists() else []
    else:
        taken = []
        if count := dumps.tables(settings.database_url):
            raise StartError(
                f"the database of DATABASE_URL has {count} tables: make an empty one (CREATE DATABASE) and set it"
            )
    for name in (UPLOADS, FOLDER, DEVICES):
        taken += [name] if (data_dir / name).is_dir() and any((data_dir / name).iterdir()) else []
    if taken:
        raise StartError(
            f"DATA_DIR {data_dir} is not empty ({', '.join(taken)}): a backup is restored into an empty place alone;"
            " set DATA_DIR to a new folder, or move those away"
        )


def _restored(settings: Settings, archive: Archive, *, with_key: bool) -> None:
    data_dir = settings.data_dir
    data_dir.mkdir(parents=True, exist_ok=True)
    for member, folder in ((SECRETS, FOLDER), (DEVICES, DEVICES)):
        for name in archive.below(member):
            archive.extract(member + name, data_dir / folder)
    if with_key:
        settings = complete(settings)
    asyncio.run(_put_blobs(settings, archive))
    database = embedded_database(settings) if settings.embedded else nullcontext(settings.database_url)
    with database as dsn:
        with tempfile.TemporaryDirectory(dir=data_dir) as temporary:
            archive.extract(DATABASE, Path(temporary))
            dumps.restore(dsn, settings.pg_bin_dir, Path(temporary) / DATABASE)
        contents, expected = dumps.contents(dsn), archive.manifest.rows
        for table in sorted({*expected, *contents.rows}):
            if expected.get(table) != contents.rows.get(table):
                raise StartError(
                    f"the table {table} has {contents.rows.get(table)} rows, and had {expected.get(table)}:"
                    " the restore failed"
                )
        dumps.forget_processes(dsn)
        migrated(dsn)
        if with_key:
            unlocked(settings, dsn)
        missing = asyncio.run(_missing(settings, contents)) - set(archive.manifest.gone_blobs)
        if missing:
            raise StartError(f"{len(missing)} files that the database names are not there: {min(missing)}")
        rows = sum(contents.rows.values())
        print(f"restored {rows:,} rows and {archive.manifest.blobs} files; all are there")


async def _put_blobs(settings: Settings, archive: Archive) -> None:
    store = blob_store(settings)

    async def pieces(key: str) -> AsyncIterator[bytes]:
        for piece in archive.pieces(BLOBS + key):
            yield piece

    for key in archive.below(BLOBS):
        stored = await store.put(pieces(key), archive.members[BLOBS + key].size)
        if stored.key != key:
            raise StartError(f"the backup is damaged: the file {key} has other bytes")


async def _missing(settings: Settings, found: dumps.Contents) -> set[str]:
    store, missing = blob_store(settings), set()
    for key in found.blobs:
        try:
            await store.size(key)
        except NotFound:
            missing.add(key)
    return missing


@contextmanager
def reported() -> Iterator[None]:
    """What can go wrong, as one line."""
    try:
        yield
    except (dumps.DumpFailed, BadBackup) as error:
        raise StartError(str(error)) from error
    except psycopg.Error as error:
        raise StartError(f"the database does not answer: {first_line(error)}") from error
    except BrokenPipeError:  # nobody reads what the command prints
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise StartError(f"{where}{error.strerror or error}") from error
