"""A misspelt setting is named with the one that was meant."""

from pathlib import Path

import pytest

from apps import findings
from apps.setting_types import CHANNEL_ADDRESSES, SIGN_IN_ADDRESSES
from apps.settings import names
from apps.settings_loading import load, unknown_settings
from domain.monitoring.model import Grade
from scripts.settings_page import channel_addresses

KNOWN = [*names(), *SIGN_IN_ADDRESSES, *CHANNEL_ADDRESSES]


def named(folder: Path, *lines: str, **environment: str) -> list[str]:
    file = folder / ".env"
    file.write_text("".join(f"{line}\n" for line in lines))
    return list(unknown_settings(load(environment, file)))


def test_the_addresses_of_all_channels_are_known() -> None:
    assert set(CHANNEL_ADDRESSES) == set(channel_addresses())


@pytest.mark.parametrize("place", ["the file .env", "the environment"])
def test_two_letters_in_the_wrong_order_are_found_in_every_setting(tmp_path: Path, place: str) -> None:
    misspelt = {f"{name[:-2]}{name[-1]}{name[-2]}": name for name in KNOWN if name[-1] != name[-2]}
    misspelt = {wrong: right for wrong, right in misspelt.items() if wrong not in KNOWN}
    lines = [f"{name}=hidden" for name in misspelt] if place == "the file .env" else []
    told = named(tmp_path, *lines, **({} if lines else dict.fromkeys(misspelt, "hidden")))
    expected = [
        f"{wrong} in {place} is no setting; did you mean {right}?" for wrong, right in misspelt.items()
    ]
    assert sorted(told) == sorted(expected)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("SMPT_HOST", "SMTP_HOST"),
        ("DATABSE_URL", "DATABASE_URL"),
        ("SMTP_PASSWORD_FLIE", "SMTP_PASSWORD_FILE"),
    ],
)
def test_a_misspelt_line_names_what_was_meant_and_never_its_value(
    tmp_path: Path, line: str, meant: str
) -> None:
    [told] = named(tmp_path, f"export {line}='hidden'")
    assert told == f"{line} in the file .env is no setting; did you mean {meant}?"


def test_what_is_like_no_setting_is_named_in_the_file_alone(tmp_path: Path) -> None:
    assert named(tmp_path, "COLOUR=red", SHELL="/bin/sh", NIX_SSL_CERT_FILE="/x", HTTP_PROXY="http://p") == [
        "COLOUR in the file .env is no setting"
    ]


def test_every_setting_and_what_a_rule_names_is_accepted(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[resource]]\ntoken_env = "AGENT_TOKEN"\n')
    lines = [f"{name}=" for name in KNOWN] + [f"{name}_FILE=" for name in KNOWN]
    assert named(tmp_path, *lines, "AGENT_TOKEN=x", RESOURCES_FILE=str(rules)) == []


def test_the_doctor_names_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SMPT_HOST=x\n")
    settings = load({"DATA_DIR": str(tmp_path)}, tmp_path / ".env")
    told = [finding for finding in findings.of_settings(settings) if "SMPT_HOST" in finding.text]
    assert [finding.grade for finding in told] == [Grade.NOTE]
