"""A text without markup takes a short way, and comes out as on the long one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import rendering
from adapters.outbound.rendering.model import Markup, Rendered
from adapters.outbound.rendering.rendering import WORDS, WRITERS, render
from domain.channels.model import TextLimit, Unit

PIECES = [
    *("word", "É", "12", "he's", '"so"', "a-b", "(x)", "end.", "what?", "wow!", "a:", "中文", "e.g."),
    *("--", "1.", "http:", "www", "wait...", "No.", ";", "()", "'", "-", "!", "x"),
]
LIMITS = (None, TextLimit(4096, Unit.UTF16), TextLimit(160, Unit.CHARACTERS))


PARAGRAPHS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map(" ".join)
TEXTS = st.builds(
    lambda paragraphs, end: "\n\n".join(paragraphs) + end,
    st.lists(PARAGRAPHS, min_size=1, max_size=3),
    st.sampled_from(["", " ", "   ", "\n", " \n\n", "\n \n"]),
)


@given(words=TEXTS)
@pytest.mark.parametrize("markup", list(WRITERS))
def test_words_come_out_as_by_way_of_markdown(words: str, markup: Markup) -> None:
    for limit in LIMITS:
        short = render(markup, words, limit)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rendering, "WORDS", re.compile("(?!)"))
            assert render(markup, words, limit) == short


@pytest.mark.parametrize(
    ("text", "sent"), [("Yes ", "Yes"), ("Yes\n", "Yes"), ("So\n\nis it.\n", "So\n\nis it\\.")]
)
def test_paragraphs_and_what_ends_them_take_the_short_way(
    text: str, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "parsed", None)
    [message] = render(Markup.TELEGRAM_MARKDOWNV2, text, LIMITS[1])
    assert message == Rendered(sent, sent.replace("\\", ""))


@pytest.mark.parametrize(
    "text",
    [
        "1. one",
        "- one",
        "a *b*",
        "a_b",
        "`a`",
        "https://x.org",
        "a.b",
        "a@b",
        "a\nb",
        "a ",
        " a",
        "a &amp; b",
        "a\\",
    ],
)
def test_what_may_be_markup_takes_the_long_way(text: str) -> None:
    assert not WORDS.fullmatch(text)
