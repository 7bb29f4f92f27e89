"""Reactions as characters."""

import pytest

from adapters.outbound.channels.common.contents import emoji_named


@pytest.mark.parametrize(
    ("name", "characters"),
    [
        ("thumbsup", "\N{THUMBS UP SIGN}"),
        ("+1", "\N{THUMBS UP SIGN}"),
        ("+1::skin-tone-3", "\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-3}"),
        ("flag-de", "\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}"),
        ("our-logo", ":our-logo:"),
    ],
)
def test_an_emoji_is_told_by_its_characters(name: str, characters: str) -> None:
    assert emoji_named(name) == characters
