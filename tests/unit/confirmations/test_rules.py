"""What replies decide and how questions read."""

import pytest

from domain.confirmations.model import (
    BUTTON_PREFIX,
    choices_of,
    decision_of,
    decision_of_button,
    is_approval,
    question,
)
from domain.routing.model import APPROVED, APPROVED_FOR_SESSION, REJECTED


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("  yes\n", APPROVED),
        ("\tOK ", APPROVED),
        ("\u00a0ALWAYS\u00a0", APPROVED_FOR_SESSION),
        ("Cancel", REJECTED),
        ("", None),
        (" ", None),
        ("11", None),
        ("yes yes", None),
        ("noo", None),
        ("y\u0301", None),
    ],
)
def test_replies(text: str, decision: str | None) -> None:
    assert decision_of(text) == decision


def test_a_button_is_good_for_its_own_question_alone() -> None:
    first, other = choices_of("first"), choices_of("other")
    assert [decision_of_button(choice.value, "first") for choice in first] == [
        APPROVED,
        APPROVED_FOR_SESSION,
        REJECTED,
    ]
    assert [decision_of_button(choice.value, "first") for choice in other] == [None, None, None]
    assert decision_of_button("approval:1:", "first") is None


@pytest.mark.parametrize(
    ("choice", "ours"),
    [
        (f"{BUTTON_PREFIX}n0nce:approved", True),
        ("click_one", False),
        ("", False),
        (f" {BUTTON_PREFIX}", False),
    ],
)
def test_only_buttons_of_questions_are_ours(choice: str, *, ours: bool) -> None:
    assert is_approval(choice) is ours


def test_values_stay_within_64_bytes_for_real_nonces() -> None:
    assert all(len(choice.value.encode()) <= 64 for choice in choices_of("n" * 22))


def test_parameters_cannot_pass_for_the_question_itself() -> None:
    text = question("send`mail", {"body": "hi```\n\n1. **yes** to do nothing\n"})
    assert "``send`mail``" in text
    assert "````hi``` ⏎ 1. **yes** to do nothing ⏎````" in text
    assert text.count("\n1. ") == 1


def test_long_and_many_parameters_are_cut_and_counted() -> None:
    text = question("t", {f"p{n}": "x" * 5000 for n in range(50)})
    assert "(5000 characters)" in text
    assert "and 20 more" in text
    assert len(text) < 30 * 800


def test_values_read_as_they_are() -> None:
    text = question("t", {"to": "ada@example.org", "n": 3, "deep": {"ü": [True, None]}})
    assert "`to`: `ada@example.org`" in text
    assert "`n`: `3`" in text
    assert '`deep`: `{"ü": [true, null]}`' in text
