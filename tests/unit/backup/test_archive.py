"""A forged backup writes nothing outside the folders that it is restored to, whatever its members are called."""

import io
import json
import tarfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.system.backup_archive import Archive, BadBackup

CONTENT = b"forged"
MANIFEST: dict[str, Any] = {
    "format": 1,
    "version": "0.1.0",
    "schema": "0001",
    "rows": {},
    "blobs": 0,
    "goneBlobs": [],
    "keyFingerprints": ["a"],
}
FOLDERS = ("secrets/", "linked-devices/")


def forged(path: Path, *members: tarfile.TarInfo, **manifest: object) -> Path:
    """A backup whose manifest lists each member with its true size and hash."""
    listed = {
        member.name: {"size": len(CONTENT), "sha256": sha256(CONTENT).hexdigest()} for member in members
    }
    text = json.dumps({**MANIFEST, "members": listed, **manifest}).encode()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(CONTENT))
        last = tarfile.TarInfo("manifest.json")
        last.size = len(text)
        tar.addfile(last, io.BytesIO(text))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, **headers: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.pax_headers = kind, headers
    info.size = len(CONTENT) if kind == tarfile.REGTYPE else 0
    info.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
    return info


def refusal(path: Path) -> str:
    with pytest.raises(BadBackup) as caught, closing(Archive(path)) as archive:
        archive.verify()
    return str(caught.value)


@pytest.mark.parametrize("folder", [*FOLDERS, "blobs/"])
@pytest.mark.parametrize("name", ["/tmp/x", "/", "../x", "..", ".", "a/../../x", "a/x", "./x", "../../tmp/x"])
def test_a_name_that_leads_out_of_its_folder_is_refused(tmp_path: Path, folder: str, name: str) -> None:
    assert "Switchboard did not write it" in refusal(forged(tmp_path / "f.tar", member(folder + name)))


@pytest.mark.parametrize("folder", [*FOLDERS, "blobs/"])
@pytest.mark.parametrize(
    "name", ["C:x", "..\\x", "x\n", "\x1b[2Jx", "\u202ex", "\udcffx", "a" * 256, "\u00e4" * 128, "x:stream"]
)
def test_a_name_that_no_backup_has_is_refused(tmp_path: Path, folder: str, name: str) -> None:
    told = refusal(forged(tmp_path / "f.tar", member(folder + name)))
    assert "Switchboard did not write it" in told
    assert told.isprintable()


@pytest.mark.parametrize("name", ["x", "other/x", "Secrets/x", "secrets", "secrets\\x", "manifest.json/x"])
def test_a_member_outside_of_the_folders_of_a_backup_is_refused(tmp_path: Path, name: str) -> None:
    assert "Switchboard did not write it" in refusal(forged(tmp_path / "f.tar", member(name)))


@pytest.mark.parametrize("kind", [b"x", b"g", b"X", b"L", b"K", b"S", b"M", b"V"])
@pytest.mark.parametrize("size", [4096, 2**33, 2**62])
def test_a_header_is_bounded_before_it_is_read(tmp_path: Path, kind: bytes, size: int) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, size
    path = forged(tmp_path / "f.tar")
    path.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + path.read_bytes())
    assert "Switchboard did not write it" in refusal(path)


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.DIRTYPE,
        tarfile.FIFOTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.CONTTYPE,
    ],
)
def test_links_devices_and_folders_are_refused(tmp_path: Path, kind: bytes) -> None:
    assert "Switchboard did not write it" in refusal(forged(tmp_path / "f.tar", member("secrets/x", kind)))


def test_a_sparse_member_is_refused_before_its_claimed_terabyte_is_read(tmp_path: Path) -> None:
    sparse = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,6"}
    info = member("secrets/x", **sparse, **{"GNU.sparse.size": str(2**40)})
    assert "Switchboard did not write it" in refusal(forged(tmp_path / "f.tar", info))


@pytest.mark.parametrize("size", ["-512", "-1", "1e400", str(2**70), "x"])
def test_a_size_that_cannot_be_is_refused(tmp_path: Path, size: str) -> None:
    assert refusal(forged(tmp_path / "f.tar", member("secrets/x", size=size)))


def test_a_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    assert "twice" in refusal(forged(tmp_path / "f.tar", member("secrets/x"), member("secrets/x")))


def test_a_chain_of_headers_is_refused(tmp_path: Path) -> None:
    header = member("x", tarfile.XHDTYPE).tobuf(tarfile.USTAR_FORMAT)
    path = tmp_path / "f.tar"
    path.write_bytes(header * 5000)
    assert "no backup, or damaged" in refusal(path)


def test_sizes_are_compared_before_bytes_are_read(tmp_path: Path) -> None:
    listed = {"secrets/x": {"size": 10**15, "sha256": sha256(CONTENT).hexdigest()}}
    path = forged(tmp_path / "f.tar", member("secrets/x"), members=listed)
    assert "secrets/x is not as it was written" in refusal(path)
    empty = {"secrets/x": {"size": 0, "sha256": sha256().hexdigest()}}
    path = forged(tmp_path / "f.tar", member("secrets/x"), members=empty)
    assert "secrets/x is not as it was written" in refusal(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"members": []},
        {"members": {"secrets/x": {"size": -1, "sha256": "0" * 64}}},
        {"members": {"secrets/x": {"size": 6}}},
        {"members": {"secrets/x": {"size": 6, "sha256": None}}},
        {"keyFingerprints": []},
        {"rows": {"public.blob": "many"}},
        {"goneBlobs": None},
        {"format": "x"},
    ],
)
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    assert "manifest.json cannot be read" in refusal(
        forged(tmp_path / "f.tar", member("secrets/x"), **changes)
    )


def test_a_manifest_without_end_is_refused(tmp_path: Path) -> None:
    path = forged(tmp_path / "f.tar")
    deep = b"[" * 100_000
    with tarfile.open(path, "w") as tar:
        info = tarfile.TarInfo("manifest.json")
        info.size = len(deep)
        tar.addfile(info, io.BytesIO(deep))
    assert "manifest.json cannot be read" in refusal(path)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_member_is_written_into_the_folder_that_is_named(tmp_path: Path, folder: str) -> None:
    with closing(Archive(forged(tmp_path / "f.tar", member(f"{folder}plain name.db")))) as archive:
        archive.verify()
        for name in archive.below(folder):
            archive.extract(folder + name, tmp_path / "new")
    written = tmp_path / "new/plain name.db"
    assert written.read_bytes() == CONTENT
    assert written.stat().st_mode & 0o777 == 0o600


def test_an_existing_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new/x").symlink_to(tmp_path / "elsewhere")
    path = forged(tmp_path / "f.tar", member("secrets/x"))
    with closing(Archive(path)) as archive, pytest.raises(FileExistsError):
        archive.extract("secrets/x", tmp_path / "new")
    assert not (tmp_path / "elsewhere").exists()
