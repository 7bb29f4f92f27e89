"""Configs and targets as typed values of their stored JSON objects."""

from dataclasses import dataclass
from typing import Any

import pytest

from domain.channels.typed import ChannelTarget, CommonConfig, ConfigModel, JsonModel, setting, stored_as
from domain.values import value


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerConfig(CommonConfig):
    phone_number: str = setting("The number.", required=True, secret=True)
    check_interval: float | None = setting("Minutes.")
    silent: bool = setting("Whether it rings.")
    repeated: bool = setting("Whether it rings again.", default=True)


@value
class PagerTarget(ChannelTarget):
    to: str | int = ""
    thread_id: str = stored_as("threadId")
    names: tuple[str, ...] = ()
    count: int | None = None


CONFIG, TARGET = ConfigModel(PagerConfig), JsonModel(PagerTarget)


def test_the_declaration_gives_the_fields_of_the_catalogue() -> None:
    fields = [(field.name, field.type, field.required, field.secret) for field in CONFIG.fields]
    assert fields == [
        ("phoneNumber", "string", True, True),
        ("checkInterval", "number", False, False),
        ("silent", "boolean", False, False),
        ("repeated", "boolean", False, False),
        ("identifyUsers", "boolean", False, False),
        ("accessMode", "string", False, False),
    ]


@pytest.mark.parametrize(
    "stored", [{}, {"phoneNumber": None, "checkInterval": True, "silent": 1, "accessMode": []}, {"x": 1}]
)
def test_what_is_missing_or_of_another_type_has_its_default(stored: dict[str, Any]) -> None:
    assert CONFIG.load(stored) == PagerConfig(
        phone_number="", check_interval=None, silent=False, identify_users=False, access_mode=""
    )


def test_numbers_stay_as_they_are_stored() -> None:
    assert CONFIG.load({"checkInterval": 5}).check_interval == 5
    assert CONFIG.load({"checkInterval": 0.5}).check_interval == 0.5


def test_a_config_is_loaded_once() -> None:
    stored = {"phoneNumber": "1"}
    assert CONFIG.load(stored) is CONFIG.load(stored)
    assert CONFIG.load(dict(stored)) == CONFIG.load(stored)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"to": "a"},
        {"to": 7, "threadId": "t", "names": ["a", "b"], "count": 0},
    ],
)
def test_a_target_is_stored_as_it_was(stored: dict[str, Any]) -> None:
    dumped = TARGET.dump(TARGET.load(stored))
    assert {key: list(value) if key == "names" else value for key, value in dumped.items()} == stored
