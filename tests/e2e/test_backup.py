"""A backup of an external database comes back whole; what cannot be restored is told in one line and left alone.

The embedded database: test_wheel.py.
"""

import errno
import io
import json
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from adapters.outbound.storage.instances import check_key
from adapters.outbound.storage.migrate import head, schema_version
from adapters.outbound.system.encryption import ConfigCipher, new_key
from apps.cli import main
from tests.support.postgres import fresh_database
from tests.support.released import released_database, revision
from tests.support.s3 import BUCKET, KEY_ID, REGION, SECRET, FakeS3
from tests.support.servers import serving_apart

BYTES = b"Roses are pruned in early spring."


@pytest.fixture
def place(postgres_dsn: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs a command with the settings of an external database."""
    monkeypatch.chdir(open_folder)
    for name in ("PG_BIN_DIR", "BLOB_S3_BUCKET", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    key = new_key()

    def run(dsn: str, *arguments: str, folder: str = "data", with_key: str = key) -> int:
        monkeypatch.setenv("DATABASE_URL", dsn)
        monkeypatch.setenv("INTERNAL_SERVICE_KEY", "k" * 32)
        monkeypatch.setenv("CONFIG_ENCRYPTION_KEY", with_key)
        monkeypatch.setenv("DATA_DIR", str(open_folder / folder))
        return main(list(arguments))

    run.key = key  # type: ignore[attr-defined]
    return run


def stored(dsn: str, folder: Path, cipher: ConfigCipher) -> str:
    """Rows of an instance, of a message and of a stored file; the file's key."""
    key = sha256(BYTES).hexdigest()
    check_key(dsn, cipher)
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO blob (key, size, reference_count) VALUES (%s, %s, 1)", (key, len(BYTES))
        )
        connection.execute("INSERT INTO blob (key, size, reference_count) VALUES (%s, 1, 0)", ("0" * 64,))
        connection.execute("INSERT INTO process (worker_id, role, beat_at) VALUES (1, 'worker', now())")
    path = folder / "uploads" / key[:2] / key
    path.parent.mkdir(parents=True)
    path.write_bytes(BYTES)
    return key


def test_an_external_database_comes_back_and_what_does_not_fit_is_refused(
    postgres_dsn: str,
    database_url: str,
    place: Callable[..., int],
    open_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refused(*arguments: str, **others: str) -> str:
        assert place(*arguments, **others) == 1
        [line] = capsys.readouterr().err.splitlines()
        return line

    key = stored(database_url, open_folder / "data", ConfigCipher(place.key))  # type: ignore[attr-defined]
    assert place(database_url, "backup", "whole.tar") == 0
    told = capsys.readouterr().err
    assert "does not hold CONFIG_ENCRYPTION_KEY" in told
    assert "1 files were deleted meanwhile" in told
    assert "exists already" in refused(database_url, "backup", "whole.tar")
    assert "has" in refused(database_url, "restore", "whole.tar", folder="new")

    with fresh_database(postgres_dsn, migrated=False) as empty:
        wrong = refused(empty, "restore", "whole.tar", folder="new", with_key=new_key())
        assert "CONFIG_ENCRYPTION_KEY is not the key of this backup" in wrong
        assert "is not empty (uploads)" in refused(empty, "restore", "whole.tar")
        for name, words in damaged(Path("whole.tar")).items():
            assert words in refused(empty, "restore", name, folder="new")
            assert words in refused(empty, "backup", "--check", name, folder="new")
        assert not Path("new").exists()
        assert not Path("forged").exists()
        assert place(empty, "restore", "whole.tar", folder="new") == 0
        assert (open_folder / "new/uploads" / key[:2] / key).read_bytes() == BYTES
        with psycopg.connect(empty) as connection:
            assert connection.execute("SELECT count(*) FROM process").fetchone() == (0,)
            assert connection.execute("SELECT size FROM blob WHERE key = %s", (key,)).fetchone() == (
                len(BYTES),
            )


def damaged(file: Path) -> dict[str, str]:
    """Files that are no backup to restore, and what is said of them."""
    content = file.read_bytes()
    changed = content.replace(BYTES, BYTES.swapcase())
    Path("changed.tar").write_bytes(changed)
    Path("cut.tar").write_bytes(content[: len(content) // 2])
    Path("text.tar").write_bytes(b"no tar at all")
    rewritten(file, "newer.tar", {"schema": "9999_later"})
    for folder in ("secrets", "linked-devices"):
        rewritten(file, f"forged-{folder}.tar", {}, more=f"{folder}/{Path('forged').absolute()}")
    return {
        "forged-secrets.tar": "Switchboard did not write it",
        "forged-linked-devices.tar": "Switchboard did not write it",
        "changed.tar": "is not as it was written",
        "cut.tar": "damaged",
        "text.tar": "no backup",
        "newer.tar": "newer than this one's",
        "absent.tar": "cannot be read",
    }


def rewritten(file: Path, name: str, manifest: dict[str, object], more: str | None = None) -> None:
    """The backup with another manifest, which lists a member more."""
    with tarfile.open(file) as old, tarfile.open(name, "w") as new:
        for info in old.getmembers():
            member = old.extractfile(info)
            assert member is not None
            text = member.read()
            if info.name == "manifest.json":
                changed = {**json.loads(text), **manifest}
                if more:
                    changed["members"][more] = {"size": len(BYTES), "sha256": sha256(BYTES).hexdigest()}
                    added = tarfile.TarInfo(more)
                    added.size = len(BYTES)
                    new.addfile(added, io.BytesIO(BYTES))
                text = json.dumps(changed).encode()
            info.size = len(text)
            new.addfile(info, io.BytesIO(text))


def test_an_interrupted_backup_leaves_nothing_under_the_name(
    database_url: str, place: Callable[..., int], open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        assert (open_folder / "cut.tar.partial").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("adapters.outbound.system.dumps.dump", interrupted)
    assert place(database_url, "backup", "cut.tar") != 0
    assert [path.name for path in open_folder.iterdir() if path.name.startswith("cut")] == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "cut.tar.partial: No space left on device"),
        (
            psycopg.OperationalError("the connection is lost\nbecause"),
            "does not answer: the connection is lost",
        ),
    ],
)
def test_what_goes_wrong_on_the_way_is_one_line_and_leaves_nothing(
    database_url: str,
    place: Callable[..., int],
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: Exception,
    words: str,
) -> None:
    def failing(*_: object) -> None:
        assert all(path.name.startswith("cut.tar.") for path in open_folder.iterdir()), "found by its name"
        raise fault

    monkeypatch.setattr("adapters.outbound.system.dumps.dump", failing)
    assert place(database_url, "backup", "cut.tar") == 1
    [line] = capsys.readouterr().err.splitlines()
    assert words in line
    assert list(open_folder.iterdir()) == []


def test_a_place_or_a_file_that_cannot_be_used_is_one_line(
    database_url: str, place: Callable[..., int], open_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(file: str) -> str:
        assert place(database_url, "backup", file) == 1
        [line] = capsys.readouterr().err.splitlines()
        return line

    assert "File name too long" in refused("x" * 300)
    assert "does not exist" in refused("absent/whole.tar")
    device = open_folder / "data/linked-devices/1.db"
    device.parent.mkdir(parents=True)
    device.write_text("no database at all")
    assert f"{device} cannot be copied: file is not a database" in refused("whole.tar")
    assert [path.name for path in open_folder.iterdir()] == ["data"]


def test_a_backup_without_secrets_needs_the_key_from_elsewhere(
    postgres_dsn: str,
    database_url: str,
    place: Callable[..., int],
    open_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key: str = place.key  # type: ignore[attr-defined]
    stored(database_url, open_folder / "data", ConfigCipher(key))
    (open_folder / "data/secrets").mkdir()
    (open_folder / "data/secrets/config_encryption_key").write_text(key)
    assert place(database_url, "backup", "with.tar") == 0
    assert "the file holds the keys" in capsys.readouterr().err
    assert place(database_url, "backup", "--without-secrets", "without.tar") == 0
    assert "does not hold CONFIG_ENCRYPTION_KEY" in capsys.readouterr().err
    assert secrets_in("with.tar") == ["secrets/config_encryption_key"]
    assert secrets_in("without.tar") == []

    with fresh_database(postgres_dsn, migrated=False) as empty:
        told = {}
        for name in ("with.tar", "without.tar"):
            assert place(empty, "restore", name, folder="new", with_key="") == 1
            [told[name]] = capsys.readouterr().err.splitlines()
            assert not (open_folder / "new").exists()
        assert "must be set, as this backup does not hold it" in told["without.tar"]
        assert "it is secrets/config_encryption_key of this backup" in told["with.tar"]
        assert place(empty, "restore", "without.tar", folder="new") == 0

    capsys.readouterr()
    assert place(database_url, "backup", "--check", "without.tar", with_key="") == 0
    assert "looked at without its encryption key" in capsys.readouterr().err


def secrets_in(file: str) -> list[str]:
    with tarfile.open(file) as tar:
        return [name for name in tar.getnames() if name.startswith("secrets/")]


def test_a_backup_of_an_older_schema_is_migrated(
    postgres_dsn: str, place: Callable[..., int], open_folder: Path
) -> None:
    with released_database(postgres_dsn) as old:
        key = stored(old, open_folder / "data", ConfigCipher(place.key))  # type: ignore[attr-defined]
        assert place(old, "backup", "old.tar") == 0
    with tarfile.open("old.tar") as tar:
        member = tar.extractfile("manifest.json")
        assert member is not None
        assert json.load(member)["schema"] == revision()
    with fresh_database(postgres_dsn, migrated=False) as empty:
        assert place(empty, "restore", "old.tar", folder="new") == 0
        with psycopg.connect(empty) as connection:
            assert schema_version(connection).revision == head()
            assert connection.execute("SELECT key FROM blob WHERE size > 1").fetchall() == [(key,)]


def test_files_of_a_bucket_come_back_into_another_one(
    postgres_dsn: str,
    database_url: str,
    place: Callable[..., int],
    open_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    key = stored(database_url, open_folder / "elsewhere", ConfigCipher(place.key))  # type: ignore[attr-defined]
    bucket, other = FakeS3(), FakeS3()
    bucket.objects[f"switchboard/{key}"] = BYTES
    settings = {"BUCKET": BUCKET, "REGION": REGION, "ACCESS_KEY_ID": KEY_ID, "SECRET_ACCESS_KEY": SECRET}
    for name, value in settings.items():
        monkeypatch.setenv(f"BLOB_S3_{name}", value)

    with serving_apart(bucket.handle) as base:
        monkeypatch.setenv("BLOB_S3_ENDPOINT", base)
        bucket.refuse = 403
        assert place(database_url, "backup", "whole.tar") == 1
        assert "the file store answers with status 403" in capsys.readouterr().err
        assert not Path("whole.tar").exists()
        bucket.refuse = None
        assert place(database_url, "backup", "whole.tar") == 0
        assert "1 files were deleted meanwhile" in capsys.readouterr().err
    with serving_apart(other.handle) as base, fresh_database(postgres_dsn, migrated=False) as empty:
        monkeypatch.setenv("BLOB_S3_ENDPOINT", base)
        assert place(empty, "restore", "whole.tar") == 0
    assert other.objects == {f"switchboard/{key}": BYTES}
    assert "1 files; all are there" in capsys.readouterr().out
