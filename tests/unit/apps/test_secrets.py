"""Secrets that the installation makes: once, whole or not at all, and never taken from a file that is damaged."""

import errno
import os
from pathlib import Path

import pytest

from apps.setting_types import SettingsError
from apps.settings import Settings
from apps.settings_loading import ENCRYPTION_KEY, FOLDER, complete, load


def settings_of(folder: Path) -> Settings:
    return load({"DATA_DIR": str(folder)}, env_file=None)


def test_they_are_made_once(tmp_path: Path) -> None:
    made = complete(settings_of(tmp_path))
    again = complete(settings_of(tmp_path))
    assert made.config_encryption_key == again.config_encryption_key
    assert len(made.internal_service_key) >= 32
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / FOLDER).iterdir()] == [0o600] * 2


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b"\n", "is empty"), ("ключ".encode(), "cannot be read"), (None, "cannot be read")],
)
@pytest.mark.parametrize("name", ["internal_service_key", ENCRYPTION_KEY])
def test_a_damaged_one_is_named(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    complete(settings_of(tmp_path))
    path = tmp_path / FOLDER / name
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(SettingsError, match=words) as told:
        complete(settings_of(tmp_path))
    assert str(path) in str(told.value)


@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_service_key_that_could_be_guessed_is_refused_wherever_it_is_kept(
    tmp_path: Path, place: str
) -> None:
    complete(settings_of(tmp_path))
    short = {"INTERNAL_SERVICE_KEY": "hidden" * 5 + "!"}
    if place == "file":
        (tmp_path / FOLDER / "internal_service_key").write_text(short.popitem()[1])
    with pytest.raises(SettingsError, match="must have at least 32 characters, and has 31") as told:
        complete(load({"DATA_DIR": str(tmp_path), **short}, env_file=None))
    assert "hidden" not in str(told.value)


def test_a_full_disk_leaves_none_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(SettingsError, match="No space left on device"):
            complete(settings_of(tmp_path))
    assert list((tmp_path / FOLDER).iterdir()) == []
    assert complete(settings_of(tmp_path)).internal_service_key


def test_of_two_starts_at_once_both_have_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[Settings] = []

    def other_starts(_: int) -> None:
        monkeypatch.undo()
        others.append(complete(settings_of(tmp_path)))

    monkeypatch.setattr(os, "fsync", other_starts)
    own = complete(settings_of(tmp_path))
    [other] = others
    assert own.internal_service_key == other.internal_service_key
    assert own.config_encryption_key == other.config_encryption_key
    assert len(list((tmp_path / FOLDER).iterdir())) == 2
