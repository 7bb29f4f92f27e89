"""Grapheme boundaries, against the `grapheme` package and the examples of UAX 29."""

from itertools import pairwise

import grapheme
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering.cutting import boundary_at_or_before

# Without prepended marks (U+0600): the package lets a line end after one take combining marks, against GB4.
PIECES = st.sampled_from(
    [
        *"ab1 \n\r\t*",
        "\r\n",
        "e\u0301",
        "\u0301",
        "\u20e3",
        "\ufe0f",
        "\u200d",
        "\u200c",
        "\U0001f468",
        "\U0001f469",
        "\U0001f44d",
        "\U0001f3fe",
        "\u2764",
        "\u00a9",
        "\U0001f1e9",
        "\U0001f1ea",
        "\u1112",
        "\u1161",
        "\u11ab",
        "\uac00",
        "\uac01",
        "\u0915",
        "\u094d",
        "\u0937",
        "\u093f",
        "\u0e33",
        "\u0e01",
        "\U000e0067",
        "\u4e2d",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)


def clusters(text: str) -> list[str]:
    return [text[low:high] for low, high in pairwise(edges(text))]


def edges(text: str) -> list[int]:
    inner = [index for index in range(1, len(text)) if boundary_at_or_before(text, index, 0) == index]
    return sorted({0, *inner, len(text)})


@given(TEXTS | st.text(max_size=30))
def test_no_boundary_is_inside_a_cluster(text: str) -> None:
    position, expected = 0, {0}
    for cluster in grapheme.graphemes(text):
        position += len(cluster)
        expected.add(position)

    assert set(edges(text)) <= expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ab", ["a", "b"]),
        ("\r\n\n", ["\r\n", "\n"]),
        ("e\u0301e", ["e\u0301", "e"]),
        ("\U0001f1e9\U0001f1ea\U0001f1eb", ["\U0001f1e9\U0001f1ea", "\U0001f1eb"]),
        ("a\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", ["a", "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467!", ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "!"]),
        ("\u2764\ufe0f\u200d\U0001f525x", ["\u2764\ufe0f\u200d\U0001f525", "x"]),
        ("\U0001f44d\U0001f3fe\U0001f44d", ["\U0001f44d\U0001f3fe", "\U0001f44d"]),
        ("1\ufe0f\u20e32", ["1\ufe0f\u20e3", "2"]),
        ("\u1112\u1161\u11ab\uac00\u11a8\uac01", ["\u1112\u1161\u11ab", "\uac00\u11a8", "\uac01"]),
        ("\u0915\u094d\u0937\u093f\u0915", ["\u0915\u094d\u0937\u093f", "\u0915"]),
        ("a\u200db", ["a\u200d", "b"]),
        ("\u0e01\u0e33\u0e01", ["\u0e01\u0e33", "\u0e01"]),
        ("\u06001a", ["\u06001", "a"]),
        ("\U0001f3f4\U000e0067\U000e007fa", ["\U0001f3f4\U000e0067\U000e007f", "a"]),
        ("\ud83d\ude00a", ["\ud83d\ude00", "a"]),
    ],
    ids=ascii,
)
def test_clusters_stay_whole_and_apart(text: str, expected: list[str]) -> None:
    assert clusters(text) == expected


def test_a_cut_moves_back_to_the_cluster_before() -> None:
    text = "ab\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7"

    assert [boundary_at_or_before(text, index, 0) for index in range(1, 7)] == [1, 2, 2, 4, 4, 6]
    assert boundary_at_or_before("\u0301" * 9, 5, 0) == 0
