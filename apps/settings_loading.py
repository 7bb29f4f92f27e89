"""Reads the settings from the environment, the `.env` file and files of one value each, warns of unknown names, and
makes the secrets that are missing, kept in DATA_DIR with mode 0600.
"""

import os
import secrets
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import ValidationError

from adapters.outbound.system.encryption import ConfigCipher, DecryptionError, new_key
from apps.setting_types import (
    CHANNEL_ADDRESSES,
    EMULATOR,
    SIGN_IN_ADDRESSES,
    TRUSTED_HOSTS,
    SettingsError,
    check_service_key,
    first_error,
    sign_in_addresses,
)
from apps.settings import Settings, names


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Reads the settings. Raises `SettingsError` that names the setting at fault."""
    of_file = read_env_file(env_file)
    values = {**of_file, **(os.environ if environment is None else environment)}
    values = with_values_of_files(values, names())
    given_values = {name: value for name, value in values.items() if value}
    try:
        settings = Settings.model_validate(
            {**given_values, "environment": values, "env_file_names": frozenset(of_file)}
        )
    except ValidationError as invalid:
        raise first_error(invalid, names()) from None
    check_pairs(settings)
    trust(settings.ssl_cert_file)
    if settings.enterprise_chat_emulator and settings.demands_signatures:
        raise SettingsError(
            f"{EMULATOR} takes calls without any proof of origin; unset it, or set REQUIRE_SIGNATURES=false"
        )
    addresses = {
        **sign_in_addresses(given_values, settings.community_chat_server_url),
        TRUSTED_HOSTS: settings.enterprise_chat_trusted_hosts,
        EMULATOR: "on" if settings.enterprise_chat_emulator else "",
    }
    changes: dict[str, object] = {"addresses": addresses}
    if "AGENT_URL" not in given_values and settings.http_port:
        changes["agent_url"] = f"http://localhost:{settings.http_port}"
    return settings.model_copy(update=changes)


def trust(path: Path | None) -> None:
    """Makes it the file that OpenSSL trusts in this process, also where `.env` names it. Raises `SettingsError`."""
    if path is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError as error:
        raise SettingsError(
            f"SSL_CERT_FILE: {path} holds no certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----"
        ) from error
    except OSError as error:
        raise SettingsError(f"SSL_CERT_FILE: {path} cannot be read: {error.strerror}") from error
    os.environ["SSL_CERT_FILE"] = str(path)


def check_pairs(settings: Settings) -> None:
    """Raises `SettingsError` for a setting that is of no use without another one."""
    for name, other in (
        ("GRPC_TLS_CERT_FILE", "GRPC_TLS_KEY_FILE"),
        ("GRPC_TLS_KEY_FILE", "GRPC_TLS_CERT_FILE"),
        ("GRPC_TLS_CLIENT_CA_FILE", "GRPC_TLS_CERT_FILE"),
        ("CORE_TLS_CERT_FILE", "CORE_TLS_KEY_FILE"),
        ("CORE_TLS_KEY_FILE", "CORE_TLS_CERT_FILE"),
        ("OIDC_ISSUER", "OIDC_CLIENT_ID"),
        ("OIDC_CLIENT_ID", "OIDC_ISSUER"),
    ):
        if getattr(settings, name.lower()) and not getattr(settings, other.lower()):
            raise SettingsError(f"{name} is set without {other}; set both, or none")


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


PLUGINS = "switchboard.channels"
"""Entry points of channels from other packages, whose platforms have addresses of their own."""
CLOSE = 0.85
"""How much alike a variable of the environment must be to a setting to be a misspelt one: most are of others."""
ALIKE = 0.6
"""The same for a name in the `.env` file, which is this service's own."""


def unknown_settings(settings: Settings) -> Iterator[str]:
    """A sentence for each name of the `.env` file that is no setting, and for each variable of the environment that
    is nearly one."""
    strange = _misspelt(settings)
    if not strange:
        return
    rules = ""
    with suppress(OSError, UnicodeDecodeError):  # rules that cannot be read are reported elsewhere
        rules = Path(settings.resources_file).read_text(encoding="utf-8") if settings.resources_file else ""
    has_plugins = bool(entry_points(group=PLUGINS))
    for name, alike in strange.items():
        if name in rules or (has_plugins and name.endswith("_URL")):
            continue
        place = "the file .env" if name in settings.env_file_names else "the environment"
        yield f"{name} in {place} is no setting" + (f"; did you mean {alike}?" if alike else "")


def _misspelt(settings: Settings) -> dict[str, str]:
    """Names that are no settings, each with the setting that it is most like, or an empty text."""
    known = {*names(), *SIGN_IN_ADDRESSES, *CHANNEL_ADDRESSES}
    readable = known | {f"{name}_FILE" for name in known}
    strange = {}
    for name in sorted(set(settings.environment) - readable):
        is_own = name in settings.env_file_names
        similar = [other for other in readable if is_own or abs(len(other) - len(name)) < 3]
        alike = next(iter(get_close_matches(name, similar, 1, ALIKE if is_own else CLOSE)), "")
        if is_own or alike:
            strange[name] = alike
    return strange


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
    with suppress(OSError, ValueError):
        if path.read_text(encoding="utf-8").strip() == settings.config_encryption_key:
            return path.parent
    return None


def _kept(path: Path, make: Callable[[], str]) -> str:
    """The secret in the file, which is made first if it does not exist: the whole file or none. Of several processes
    that write it at once one wins, and all read the same."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            with NamedTemporaryFile("w", encoding="ascii", dir=path.parent) as file:
                file.write(make() + "\n")
                file.flush()
                os.fsync(file.fileno())
                with suppress(FileExistsError):
                    os.link(file.name, path)
    except OSError as error:
        raise SettingsError(f"DATA_DIR {path.parent.parent} cannot be written: {error.strerror}") from error
    try:
        secret = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    if not secret:
        raise SettingsError(f"{path} is empty: put the key of this installation back, as from a backup")
    return secret


def chosen_settings(settings: Settings) -> dict[str, str]:
    """The settings that are not as by default, by their names; of secrets that they are set."""
    chosen = {}
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        if value != field.default:
            chosen[str(field.validation_alias or name).upper()] = str(value) if field.repr else "set"
    return chosen
