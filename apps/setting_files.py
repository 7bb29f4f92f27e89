"""Reads settings from a `.env` file."""

from pathlib import Path

from apps.setting_types import SettingsError


def read_env_file(path: Path | None) -> dict[str, str]:
    """`NAME=value` lines; `#` begins a comment line; matching quotes around a value are taken off."""
    if path is None or not path.is_file():
        return {}
    values = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        stripped = line.strip().removeprefix("export ")
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        if not equals:
            raise SettingsError(f"{path}, line {number}: expected NAME=value")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[name.strip()] = value
    return values
