"""Makes the secrets of compose.yaml, each once, as files of one value: `python -m apps.container_secrets FOLDER`."""

import base64
import secrets
import sys
from pathlib import Path

DATABASE = "postgresql://switchboard:{}@database:5432/switchboard"


def main(folder: Path) -> None:
    """A file that is there stays as it is: the database keeps the password of its first start."""
    password = _once(folder / "database_password", secrets.token_urlsafe(32))
    _once(folder / "database_url", DATABASE.format(password))
    _once(folder / "internal_service_key", secrets.token_urlsafe(32))
    _once(folder / "config_encryption_key", base64.b64encode(secrets.token_bytes(32)).decode())


def _once(path: Path, value: str) -> str:
    if not path.exists():
        unfinished = path.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        unfinished.touch(0o600)
        unfinished.write_text(value, encoding="ascii")
        unfinished.replace(path)
    return path.read_text(encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
