"""Reads settings from a `.env` file, and from files of one value each."""

from collections.abc import Collection, Mapping
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


def with_values_of_files(values: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """`NAME_FILE` names a file whose content is the value of the setting `NAME`, as containers get secrets. Raises
    `SettingsError`."""
    complete = dict(values)
    for name in names:
        naming = f"{name}_FILE"
        if naming in names or not values.get(naming):
            continue
        if values.get(name):
            raise SettingsError(f"{name} and {naming} are both set; unset one of them")
        try:
            complete[name] = Path(values[naming]).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingsError(f"{naming}: {values[naming]} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise SettingsError(f"{naming}: {values[naming]} is not text in UTF-8") from None
        if not complete[name]:
            raise SettingsError(f"{naming}: {values[naming]} is empty")
    return complete
