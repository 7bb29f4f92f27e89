"""What buttons of choices carry, and what a press or a typed text picks."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.channels.answers import Answer, Choice
from domain.conversations.choices import (
    is_reference,
    literal,
    message_of,
    numbered,
    offered,
    pressed_choice,
    typed_choice,
)
from domain.conversations.model import MessageId, MessageKind, answer_to

CHOICES = (Choice("Small", "s"), Choice("Large size", "l"), Choice("1", "one"))
LARGEST = MessageId(MessageKind.SENT_FIRST, 10**18 - 1)


def offering(message: MessageId = LARGEST, secret: str = "secret", count: int = 25) -> Answer:
    choices = tuple(Choice(f"Choice {number}", "x" * 2000) for number in range(count))
    return offered(Answer("Which?", choices=choices), message, secret, "https://bot.example/press")


def test_references_fit_into_any_button_and_name_their_message() -> None:
    answer = offering()
    references = [choice.reference for choice in answer.choices]
    assert len(set(references)) == 25
    assert all(is_reference(reference) and len(reference.encode()) <= 64 for reference in references)
    assert {message_of(reference) for reference in references} == {LARGEST}
    assert [pressed_choice(answer.choices, reference) for reference in references] == list(answer.choices)


def test_a_message_that_is_made_again_has_the_same_references() -> None:
    assert offering() == offering()


@pytest.mark.parametrize("other", [offering(secret="other"), offering(answer_to(7))])
def test_references_of_another_message_pick_nothing(other: Answer) -> None:
    assert [pressed_choice(offering().choices, choice.reference) for choice in other.choices] == [None] * 25


@given(st.text() | st.builds("choice:{}".format, st.text()))
def test_hostile_values_of_buttons_name_no_choice(pressed: str) -> None:
    message_of(pressed)
    assert pressed_choice(offering().choices, pressed) is None
    assert pressed_choice((Choice("Approve", "approval:1:a"),), pressed) is None


def test_a_label_stands_for_an_empty_value() -> None:
    answer = offered(Answer("Which?", choices=(Choice("Small", ""),)), LARGEST, "secret", "")
    assert answer.choices[0].value == "Small"


def test_a_question_of_ours_keeps_the_values_of_its_buttons() -> None:
    asked = Answer("May I?", choices=(Choice("Approve", "approval:1:a"),), question="May I?")
    assert offered(asked, LARGEST, "secret", "https://bot.example") == replace(
        asked, callback_url="https://bot.example"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", "l"),
        (" 2. ", "l"),
        ("2)", "l"),
        ("LARGE SIZE", "l"),
        ("small", "s"),
        ("1", "one"),
        ("3", "one"),
        ("0", None),
        ("4", None),
        ("02", None),
        ("-1", None),
        ("\N{SUPERSCRIPT TWO}", None),
        ("2 of them", None),
        ("large", None),
        ("", None),
    ],
)
def test_a_number_or_a_label_picks_a_choice(text: str, value: str | None) -> None:
    found = typed_choice(CHOICES, text)
    assert (found and found.value) == value


def test_labels_stand_in_the_list_as_they_are() -> None:
    choices = (Choice("*a* <b> [c](d)", "1"), Choice("# e", "2"))
    assert numbered(Answer("Which?\n", choices=choices)) == Answer(
        "Which?\n\n1. \\*a\\* \\<b\\> \\[c\\](d)\n2. \\# e"
    )


@pytest.mark.parametrize(
    ("label", "markdown"),
    [
        ("1. *Large*", r"1\. \*Large\*"),
        ("see https://shop.example/a_b-c#d.", "see https://shop.example/a_b-c#d."),
        ("[x](https://a.example)", r"\[x\](https://a.example)"),
        ("https://a.example/**b**", r"https://a.example/\*\*b\*\*"),
    ],
)
def test_a_label_is_shown_as_it_is_written(label: str, markdown: str) -> None:
    """An escape within a web address would be shown, and lead elsewhere."""
    assert literal(label) == markdown
