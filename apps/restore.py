"""`switchboard restore`: a backup into an empty place, checked afterwards. With `--check` into a temporary one."""

import asyncio
import shutil
import sys
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from adapters.outbound.storage.embedded.data_paths import is_owned
from adapters.outbound.storage.migrate import first_line, head
from adapters.outbound.system import dumps
from adapters.outbound.system.backup_archive import BLOBS, DATABASE, DEVICES, SECRETS, Archive, BadBackup
from adapters.outbound.system.dumps import DumpFailed
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from apps.compose.storage import UPLOADS, blob_store
from apps.processes.starting import StartError, embedded_database, migrated, unlocked
from apps.settings import Settings
from apps.settings_loading import ENCRYPTION_KEY, FOLDER, complete
from domain.refusals import NotFound

LARGEST_KEY = 64 * 1024
UNKNOWN_KEY = "looked at without its encryption key, as CONFIG_ENCRYPTION_KEY is not set"


def main(settings: Settings, options: Namespace) -> int:
    with reported(), closing(Archive(options.file)) as archive:
        if archive.manifest.schema > head():
            raise StartError(
                f"the backup is of version {archive.manifest.version}, whose schema {archive.manifest.schema} is"
                f" newer than this one's {head()}: restore it with that version or a newer one"
            )
        archive.verify()
        if options.check:
            return _checked(settings, archive)
        _check_key(settings, archive)
        _check_empty(settings, archive)
        _restored(settings, archive, with_key=True)
    print("start the service; replies that were sent after the backup are sent again", file=sys.stderr)
    return 0


def _checked(settings: Settings, archive: Archive) -> int:
    with _temporary_place() as folder:
        changes = {"data_dir": folder, "database_url": "", "blob_s3_bucket": ""}
        place = settings.model_copy(update=changes)
        known = _check_key(place, archive, optional=True)
        _restored(place, archive, with_key=known)
    if not known:
        print(f"note: {UNKNOWN_KEY}", file=sys.stderr)
    return 0


@contextmanager
def _temporary_place() -> Iterator[Path]:
    """A folder that the account of the embedded database can enter too."""
    folder = Path(tempfile.mkdtemp(prefix="switchboard-check-"))
    try:
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder)


def _check_key(settings: Settings, archive: Archive, *, optional: bool = False) -> bool:
    """Return True if the key at hand opens what is stored. Raises `StartError` if it does not, or no key is given."""
    member = SECRETS + ENCRYPTION_KEY
    held = member in archive.members
    key = settings.config_encryption_key or _key_of(settings, archive, member)
    if not key and optional:
        return False
    fingerprints = archive.manifest.key_fingerprints
    try:
        if key and fingerprints[0] in ConfigCipher(key).fingerprints:
            return True
    except DecryptionError as error:
        raise StartError(str(error)) from error
    where = f"it is {member} of this backup" if held else "as this backup does not hold it"
    fault = "is not the key of this backup" if key else f"must be set, {where}"
    raise StartError(
        f"CONFIG_ENCRYPTION_KEY {fault}: set the key that was used before (its mark is {fingerprints[0]})"
    )


def _key_of(settings: Settings, archive: Archive, member: str) -> str:
    """The key that the backup holds; empty if it has none, or the database is not the embedded one."""
    if member not in archive.members or not settings.embedded:
        return ""
    if archive.members[member].size > LARGEST_KEY:
        raise StartError(f"the backup is damaged: {member} is no key; take another one")
    return b"".join(archive.pieces(member)).decode(errors="replace").strip()


def _check_empty(settings: Settings, archive: Archive) -> None:
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
    if settings.embedded:
        with embedded_database(settings) as dsn:
            _restore_database(settings, archive, dsn, with_key=with_key)
    else:
        _restore_database(settings, archive, settings.database_url, with_key=with_key)


def _restore_database(settings: Settings, archive: Archive, dsn: str, *, with_key: bool) -> None:
    with tempfile.TemporaryDirectory(dir=settings.data_dir) as folder:
        archive.extract(DATABASE, Path(folder))
        dumps.restore(dsn, settings.pg_bin_dir, Path(folder) / DATABASE)
    contents = dumps.contents(dsn)
    _check_rows(archive, contents)
    dumps.forget_processes(dsn)
    migrated(dsn)
    if with_key:
        unlocked(settings, dsn)
    missing = asyncio.run(_missing(settings, contents)) - set(archive.manifest.gone_blobs)
    if missing:
        raise StartError(f"{len(missing)} files that the database names are not there: {min(missing)}")
    print(f"restored {sum(contents.rows.values()):,} rows and {archive.manifest.blobs} files; all are there")


def _check_rows(archive: Archive, found: dumps.Contents) -> None:
    expected = archive.manifest.rows
    for table in sorted({*expected, *found.rows}):
        if expected.get(table) != found.rows.get(table):
            raise StartError(
                f"the table {table} has {found.rows.get(table)} rows, and had {expected.get(table)}:"
                " the restore failed"
            )


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
    except (DumpFailed, BadBackup) as error:
        raise StartError(str(error)) from error
    except psycopg.Error as error:
        raise StartError(f"the database does not answer: {first_line(error)}") from error
    except BrokenPipeError:  # nobody reads what the command prints
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise StartError(f"{where}{error.strerror or error}") from error
