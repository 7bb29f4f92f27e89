"""Votes on answers: what reactions mean, and what buttons carry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversations.model import answer_to
from domain.feedback.model import Press, Rating, rating_of, read_press, thumbs, vote_reference


@pytest.mark.parametrize(
    ("reaction", "rating"),
    [
        ("👍", Rating.UP),
        ("👍🏿", Rating.UP),
        ("👎️", Rating.DOWN),
        ("👎🏻", Rating.DOWN),
        ("🎉", None),
        (":thumbsup-custom:", None),
        ("👍👎", None),
        ("", None),
    ],
)
def test_reactions(reaction: str, rating: Rating | None) -> None:
    assert rating_of(reaction) is rating


@given(st.integers(1, 10**17), st.text(max_size=40))
def test_a_button_names_its_answer_in_64_bytes(row: int, secret: str) -> None:
    reference = vote_reference(answer_to(row), secret.encode("utf-8", "replace").decode())
    up, down = thumbs(reference)
    assert read_press(up.button_value) == Press(row, reference, Rating.UP)
    assert read_press(down.button_value) == Press(row, reference, Rating.DOWN)
    assert max(len(choice.button_value.encode()) for choice in (up, down)) <= 64


def test_a_button_cannot_be_made_up() -> None:
    """Without the request id of the question, which no sender knows."""
    assert vote_reference(answer_to(7), "a") != vote_reference(answer_to(7), "b")
    assert vote_reference(answer_to(7), "a") != vote_reference(answer_to(8), "a")


@given(st.text(max_size=80) | st.text(":-outinsendup0123456789", max_size=60).map("thumb:".__add__))
def test_any_text_is_read_without_an_error(pressed: str) -> None:
    press = read_press(pressed)
    assert press is None or press.inbox_id > 0


@pytest.mark.parametrize(
    "pressed", ["thumb:", "thumb:in-7:x:up", "thumb:send-7:x:up", "thumb:out-7:x:sideways"]
)
def test_what_is_no_thumb(pressed: str) -> None:
    assert read_press(pressed) is None
