"""The file of a backup: a plain tar whose last member, the manifest, lists the others with their SHA-256."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, BinaryIO

from pydantic import Field, NonNegativeInt, TypeAdapter

from adapters.outbound.system.blobs import sync

FORMAT = 1
DATABASE = "database.dump"
MANIFEST = "manifest.json"
BLOBS = "blobs/"
SECRETS = "secrets/"
DEVICES = "linked-devices/"
LARGEST_MANIFEST = 1024 * 1024 * 1024
LARGEST_HEADER = 2048
"""Bytes of the header that holds a name or a size for which the plain header has no room."""
LONGEST_NAME = 255
"""Bytes of the last part of a name: what file systems take."""
PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Member:
    """A file of the backup, as the manifest lists it."""

    size: NonNegativeInt
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `restore` reads of the manifest."""

    version: str
    schema: str
    rows: dict[str, NonNegativeInt]
    blobs: NonNegativeInt
    gone_blobs: Annotated[list[str], Field(alias="goneBlobs")]
    key_fingerprints: Annotated[list[str], Field(alias="keyFingerprints", min_length=1)]
    members: dict[str, Member]


@dataclass(frozen=True, slots=True)
class _Format:
    format: int


class BadBackup(Exception):
    """The file is no backup that can be restored; the message says what is wrong with it."""


class _Hashed(io.RawIOBase):
    """Hashes what is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


@dataclass
class NewArchive:
    """A backup that is being written."""

    tar: tarfile.TarFile
    members: dict[str, dict[str, object]] = field(default_factory=dict)

    def add(self, name: str, path: Path) -> None:
        """Raises `FileNotFoundError`."""
        with path.open("rb") as file:
            self._add(name, file, os.fstat(file.fileno()).st_size)

    def finish(self, manifest: Mapping[str, object]) -> None:
        text = json.dumps({"format": FORMAT, **manifest, "members": self.members}, indent=1).encode()
        self._add(MANIFEST, io.BytesIO(text), len(text))

    def _add(self, name: str, file: BinaryIO, size: int) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = size, 0o600, int(time.time())
        hashed = _Hashed(file)
        self.tar.addfile(info, hashed)
        self.members[name] = {"size": size, "sha256": hashed.digest.hexdigest()}


@contextmanager
def written(path: Path) -> Iterator[NewArchive]:
    """A new backup, which stands under its name once it is whole and on the disk. Nothing else is left."""
    partial = path.with_name(f"{path.name}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                yield NewArchive(tar)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except BaseException as error:
        with suppress(FileNotFoundError):
            partial.unlink()
        if isinstance(error, OSError) and not error.filename:
            error.filename = str(partial)
        raise
    sync(path.parent)


class Archive:
    """A backup that is read. Raises `BadBackup` for what cannot be one.

    Whoever wrote the file may have forged it: only plain files are taken, under the names that a backup has, and
    sizes are compared before bytes are read.
    """

    def __init__(self, path: Path) -> None:
        self._infos: dict[str, tarfile.TarInfo] = {}
        try:
            with ExitStack() as opened:
                self._tar = opened.enter_context(tarfile.open(path, mode="r:", tarinfo=_Header))
                for info in self._tar:
                    if info.name in self._infos:
                        raise _strange(info.name, "twice")
                    if info.issparse() or info.size < 0 or not is_member(info.name):
                        raise _strange(info.name)
                    self._infos[info.name] = info
                self.manifest = self._manifest(path)
                opened.pop_all()
        except OSError as error:
            raise BadBackup(f"{path} cannot be read: {error.strerror or error}") from error
        except (tarfile.TarError, ValueError, ArithmeticError, RecursionError) as error:
            raise BadBackup(f"{path} is no backup, or damaged: {error}") from error
        self.members = self.manifest.members

    def close(self) -> None:
        self._tar.close()

    def verify(self) -> None:
        """Reads all of it. Raises `BadBackup` where a member is missing or its bytes changed."""
        if strange := sorted(set(self._infos) - set(self.members) - {MANIFEST}):
            raise BadBackup(f"the backup holds {strange[0]}, which its manifest does not list")
        for name, listed in self.members.items():
            digest, size = hashlib.sha256(), self._info(name).size
            if size == listed.size:
                for piece in self.pieces(name):
                    digest.update(piece)
            if (size, digest.hexdigest()) != (listed.size, listed.sha256):
                raise BadBackup(f"the backup is damaged: {name} is not as it was written; take another one")

    def pieces(self, name: str) -> Iterator[bytes]:
        with self._opened(name) as file:
            while True:
                try:
                    piece = file.read(PIECE)
                except tarfile.TarError as error:
                    fault = f"the backup is damaged: {name} is cut off; take another one"
                    raise BadBackup(fault) from error
                if not piece:
                    return
                yield piece

    def below(self, folder: str) -> list[str]:
        """The members of a folder: their names in it."""
        return [name.removeprefix(folder) for name in self.members if name.startswith(folder)]

    def extract(self, name: str, folder: Path) -> None:
        """Writes a member into `folder`, under the last part of its name: a new file that only this user can read."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / name.rpartition("/")[2]
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for piece in self.pieces(name):
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())

    def _opened(self, name: str) -> IO[bytes]:
        file = self._tar.extractfile(self._info(name))
        assert file is not None, "members are plain files"
        return file

    def _info(self, name: str) -> tarfile.TarInfo:
        if name not in self._infos:
            raise BadBackup(f"the backup is damaged: {name} is missing; take another one")
        return self._infos[name]

    def _manifest(self, path: Path) -> Manifest:
        if MANIFEST not in self._infos:
            raise BadBackup(f"{path} is no backup, or cut off: it has no {MANIFEST}")
        if self._infos[MANIFEST].size > LARGEST_MANIFEST:
            raise BadBackup(f"{path} is damaged: its {MANIFEST} is larger than {LARGEST_MANIFEST >> 20} MB")
        with self._opened(MANIFEST) as file:
            text = file.read()
        try:
            if TypeAdapter(_Format).validate_json(text).format > FORMAT:
                raise BadBackup(f"{path} was written by a newer version: restore it with that one")
            return TypeAdapter(Manifest).validate_json(text, strict=True)
        except ValueError as error:
            raise BadBackup(f"{path} is damaged: its {MANIFEST} cannot be read") from error


class _Header(tarfile.TarInfo):
    """The header of a member. It is judged before `tarfile` reads what it announces."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        info = super().frombuf(buf, encoding, errors)
        is_file = info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and info.size >= 0
        if not is_file and not (info.type == tarfile.XHDTYPE and 0 <= info.size <= LARGEST_HEADER):
            raise _strange(info.name)
        return info


def is_member(name: str) -> bool:
    """Return True if a member may have this name: it does not lead out of the folder that the member is restored to,
    here or on another system, and a file there can have it."""
    folder, slash, last = name.rpartition("/")
    is_known = f"{folder}{slash}" in (BLOBS, SECRETS, DEVICES) or name in (DATABASE, MANIFEST)
    is_plain = last.isprintable() and last not in ("", ".", "..") and not {"\\", ":"} & set(last)
    return is_known and is_plain and len(last.encode()) <= LONGEST_NAME


def _strange(name: str, fault: str = "which is no file of a backup") -> BadBackup:
    return BadBackup(f"the backup holds {name!r}, {fault}: Switchboard did not write it; take another one")
