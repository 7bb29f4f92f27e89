"""Makes the secrets of compose.yaml, each once, as files of one value:
`python -m apps.container_secrets FOLDER FOLDER_OF_THE_GATEWAY`."""

import base64
import secrets
import sys
from pathlib import Path

DATABASE = "postgresql://switchboard:{}@database:5432/switchboard"


def main(folder: Path, gateway: Path) -> None:
    """A file that is there stays as it is: the database keeps the password of its first start. The gateway gets
    a copy of the service key alone."""
    password = _once(folder / "database_password", secrets.token_urlsafe(32))
    _once(folder / "database_url", DATABASE.format(password))
    service_key = _once(folder / "internal_service_key", secrets.token_urlsafe(32))
    _write(gateway / "internal_service_key", service_key)
    _once(folder / "config_encryption_key", base64.b64encode(secrets.token_bytes(32)).decode())


def _once(path: Path, value: str) -> str:
    if not path.exists():
        _write(path, value)
    return path.read_text(encoding="ascii")


def _write(path: Path, value: str) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(0o600)
    unfinished.write_text(value, encoding="ascii")
    unfinished.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
