"""What is entered into a field of a form, and the value that it becomes."""

import math
from typing import Any

import pytest

from domain.channels.form_values import Unfit, entered_value, picked_value, written_value
from domain.channels.rich import FormField
from domain.channels.rich_reading import BadContent, read_rich

OPTIONS = [{"label": "2", "value": "x"}, {"label": "Two", "value": "2"}, {"label": "two", "value": "y"}]
SEVERAL = [{"label": "Red, dark", "value": "red"}, {"label": "Blue", "value": "blue"}]


def field(kind: str = "text", **more: Any) -> FormField:
    fields = [{"name": "name", "label": "Label", "type": kind, **more}]
    content = read_rich({"form": {"title": "Title", "fields": fields}})
    assert content is not None
    assert content.form is not None
    return content.form.fields[0]


@pytest.mark.parametrize(
    ("asked", "written", "value"),
    [
        (field("number"), "3,5", 3.5),
        (field("number", max=9), "9", 9),
        (field("date"), "1. 2. 2026", "2026-02-01"),
        (field("boolean"), "Nein", False),
        (field("phone"), "+43 1 234567", "+431234567"),
        (field("choice", options=OPTIONS), "2", "x"),
        (field("choice", options=OPTIONS), "Two", "2"),
        (field("choice", options=OPTIONS), "two", "y"),
        (field("choice", options=OPTIONS), "TWO", "2"),
        (field("choice", options=OPTIONS), "3.", "y"),
        (field("choices", options=SEVERAL), "red, dark", ["red"]),
        (field("choices", options=SEVERAL), "2, 1", ["red", "blue"]),
        (field("text", default="none"), "überspringen", "none"),
        (field("text"), "-", None),
    ],
)
def test_what_a_person_writes(asked: FormField, written: str, value: object) -> None:
    assert written_value(asked, written) == value


@pytest.mark.parametrize(
    ("asked", "written", "reason"),
    [
        (field("number"), "1.234,5", "not a number"),
        (field("number"), "\u0663", "not a number"),
        (field("number", min=1), "0", "at least 1"),
        (field("email"), "ada@example", "not a mail address"),
        (field("date"), "30.2.2026", "not a date"),
        (field("date"), "12/31/2026", "not a date"),
        (field("choice", options=OPTIONS), "4", "none of the options"),
        (field("choices", options=SEVERAL), "1, 3", "none of the options"),
        (field("text", required=True), " ", "needed"),
        (field("text", max=3), "four", "at most 3"),
        (field("text"), "x" * 4001, "at most 4000"),
        (field("text"), "two\nlines", "one line"),
    ],
)
def test_what_a_person_writes_and_does_not_fit(asked: FormField, written: str, reason: str) -> None:
    with pytest.raises(Unfit, match=reason):
        written_value(asked, written)


@pytest.mark.parametrize(
    ("asked", "entered", "value"),
    [
        (field("number"), 3, 3),
        (field("number"), "3.5", 3.5),
        (field("boolean"), False, False),
        (field("boolean"), ["no"], False),
        (field("choice", options=OPTIONS), "2", "2"),
        (field("choice", options=OPTIONS), ["x"], "x"),
        (field("choices", options=SEVERAL), ["blue", "red"], ["red", "blue"]),
        (field("choices", options=SEVERAL), "blue,red", ["red", "blue"]),
        (field("choices", options=SEVERAL), "", []),
        (field("text"), "skip", "skip"),
        (field("text"), 1010, "1010"),
        (field("text", default="x"), "", None),
        (field("phone"), 431234567, "431234567"),
    ],
)
def test_what_is_entered_where_all_fields_are_shown(asked: FormField, entered: object, value: object) -> None:
    assert entered_value(asked, entered) == value


@pytest.mark.parametrize(
    ("asked", "entered"),
    [
        (field("number", max=9), 12),
        (field("number"), math.inf),
        (field("number"), 10**400),
        (field("number"), True),
        (field("text"), {"text": "x"}),
        (field("text"), 10**400),
        (field("text"), ["one", "two"]),
        (field("text", required=True), None),
        (field("choice", options=OPTIONS), "other"),
        (field("choices", options=SEVERAL), ["blue", "green"]),
        (field("choices", options=SEVERAL), [1]),
        (field("choices", options=SEVERAL, required=True), []),
    ],
)
def test_what_is_entered_and_does_not_fit(asked: FormField, entered: object) -> None:
    with pytest.raises(Unfit):
        entered_value(asked, entered)


def test_a_picked_option() -> None:
    assert [picked_value(field("choice", options=OPTIONS), number) for number in (1, 2, 3)] == ["x", "2", "y"]
    assert [picked_value(field("boolean"), number) for number in (1, 2)] == [True, False]
    for number in (0, 4):
        with pytest.raises(Unfit):
            picked_value(field("choice", options=OPTIONS), number)


@pytest.mark.parametrize(
    ("kind", "more", "default"),
    [
        ("date", {"default": "31.12.2026"}, "2026-12-31"),
        ("phone", {"default": "+43 1 234567"}, "+431234567"),
        ("choices", {"options": SEVERAL, "default": ["blue", "blue"]}, ["blue"]),
        ("number", {"default": 3, "max": 9, "required": True}, 3),
    ],
)
def test_the_default_is_a_value(kind: str, more: dict[str, Any], default: object) -> None:
    assert field(kind, **more).default == default


@pytest.mark.parametrize(
    ("kind", "more", "fault"),
    [
        ("number", {"default": 12, "max": 9}, r"fields\[0\].default .*at most 9"),
        ("number", {"default": math.inf}, "default"),
        ("email", {"default": "ada"}, "default"),
        ("text", {"default": "four", "max": 3}, "default"),
        ("text", {"default": "two\nlines"}, "default"),
        ("date", {"default": "tomorrow"}, "default"),
        ("choice", {"options": OPTIONS, "default": "z"}, "default"),
        ("text", {"min": 4001}, "min"),
        ("text", {"max": 0}, "max"),
    ],
)
def test_what_no_answer_can_be(kind: str, more: dict[str, Any], fault: str) -> None:
    with pytest.raises(BadContent, match=fault):
        field(kind, **more)
