"""Secrets that the installation makes for itself, kept in DATA_DIR with mode 0600."""

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from adapters.outbound.system.encryption import ConfigCipher, DecryptionError, new_key
from apps.setting_types import SettingsError, check_service_key
from apps.settings import Settings

FOLDER = "secrets"
ENCRYPTION_KEY = "config_encryption_key"


def complete(settings: Settings) -> Settings:
    """The settings with generated secrets filled in. Raises `SettingsError`.

    Where DATABASE_URL is set several machines may share the database, so both keys must be given.
    """
    if not settings.embedded:
        for name, value in (
            ("INTERNAL_SERVICE_KEY", settings.internal_service_key),
            ("CONFIG_ENCRYPTION_KEY", settings.config_encryption_key),
        ):
            if not value:
                raise SettingsError(
                    f"{name} must be set where DATABASE_URL is set, the same for every process;"
                    " make one with: openssl rand -base64 32"
                )
    folder = settings.data_dir / FOLDER
    service_key = settings.internal_service_key or _kept(
        folder / "internal_service_key", secrets.token_urlsafe
    )
    encryption_key = settings.config_encryption_key or _kept(folder / ENCRYPTION_KEY, new_key)
    check_service_key(service_key)
    try:
        ConfigCipher(encryption_key)
    except DecryptionError as error:
        raise SettingsError(str(error)) from error
    keys = {"internal_service_key": service_key, "config_encryption_key": encryption_key}
    return settings.model_copy(update=keys)


def folder_of_encryption_key(settings: Settings) -> Path | None:
    """The folder that holds the encryption key of complete settings, None where the environment gave the key."""
    path = settings.data_dir / FOLDER / ENCRYPTION_KEY
    try:
        return (
            path.parent
            if path.read_text(encoding="utf-8").strip() == settings.config_encryption_key
            else None
        )
    except (OSError, ValueError):
        return None


def _kept(path: Path, make: Callable[[], str]) -> str:
    """The secret in the file; made first when the file is not there."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _write(path, make())
    except OSError as error:
        raise SettingsError(f"DATA_DIR {path.parent.parent} cannot be written: {error.strerror}") from error
    return _read(path)


def _write(path: Path, secret: str) -> None:
    """The whole file or none. Of several processes that write it at once one wins, and all read the same."""
    with NamedTemporaryFile("w", encoding="ascii", dir=path.parent) as file:
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(file.name, path)


def _read(path: Path) -> str:
    try:
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    if not secret:
        raise SettingsError(f"{path} is empty: put the key of this installation back, as from a backup")
    return secret
