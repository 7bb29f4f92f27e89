"""Reads the settings from the environment and the `.env` file."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from apps.platform_addresses import EMULATOR, TRUSTED_HOSTS, sign_in_addresses
from apps.setting_files import read_env_file, with_values_of_files
from apps.setting_types import SettingsError, first_error
from apps.settings import Settings, names
from apps.tls_settings import check_pairs, trust


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Reads the settings. Raises `SettingsError` that names the setting at fault."""
    of_file = read_env_file(env_file)
    values = {**of_file, **(os.environ if environment is None else environment)}
    values = with_values_of_files(values, names())
    given = {name: value for name, value in values.items() if value}
    try:
        settings = Settings.model_validate(
            {**given, "environment": values, "env_file_names": frozenset(of_file)}
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
        **sign_in_addresses(given, settings.community_chat_server_url),
        TRUSTED_HOSTS: settings.enterprise_chat_trusted_hosts,
        EMULATOR: "on" if settings.enterprise_chat_emulator else "",
    }
    changes: dict[str, object] = {"addresses": addresses}
    if "AGENT_URL" not in given and settings.http_port:
        changes["agent_url"] = f"http://localhost:{settings.http_port}"
    return settings.model_copy(update=changes)
