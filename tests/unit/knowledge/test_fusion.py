"""One order out of two searches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.ranking import EQUALS, Hit, Score, fuse, leaders
from domain.knowledge.words import words_as_written


def test_the_same_chunk_twice_keeps_the_higher_similarity() -> None:
    fused = fuse([Hit("a", text=0.4), Hit("b", cosine=0.5), Hit("a", cosine=0.7)])
    assert [(hit.key, hit.similarity) for hit in fused] == [("a", 0.7), ("b", 0.5)]


def test_equals_are_decided_by_the_other_search() -> None:
    fused = fuse(
        [Hit("a", text=0.9, cosine=0.1), Hit("b", text=0.9, cosine=0.3), Hit("c", cosine=0.9, text=0.2)]
    )
    assert [hit.key for hit in fused] == ["b", "c", "a"]


def test_similarities_are_cut_to_0_and_1_and_rounded() -> None:
    assert [
        hit.similarity for hit in fuse([Hit("a", cosine=1.0000004), Hit("b", cosine=-0.3), Hit("c", 0.12345)])
    ] == [
        1.0,
        0.123,
        0.0,
    ]


@given(
    st.lists(
        st.builds(Hit, st.sampled_from("abcdefghijklmnop"), st.floats(0, 1), st.floats(-1, 1)), max_size=60
    )
)
def test_each_once_in_falling_order(hits: list[Hit]) -> None:
    fused = fuse(hits)
    assert len(fused) == len({hit.key for hit in hits})
    assert len({hit.key for hit in fused}) == len(fused)
    assert [hit.similarity for hit in fused] == sorted((hit.similarity for hit in fused), reverse=True)


def test_leaders_keep_equals_of_the_last_one() -> None:
    scores = [
        Score("a", 0.9),
        Score("b", 0.5),
        Score("c", 0.5),
        Score("d", 0.5),
        Score("e", 0.1),
        Score("f", 0.0),
    ]
    assert sorted(leaders(scores, 2, 2)) == ["a", "b", "c", "d"]
    assert sorted(leaders(scores[4:], 2, 2)) == ["e"]
    assert len(leaders([Score(str(number), 0.5) for number in range(99)], 2, 2)) == 2 * EQUALS


def test_leaders_are_chosen_of_each_file() -> None:
    one = [Score(f"one-{number}", 0.9, 1) for number in range(20)]
    others = [Score("two", 0.8, 2), Score("two-less", 0.7, 2), Score("three", 0.6, 3), Score("four", 0.1, 4)]
    found = leaders([*one, *others], 3, 1)
    assert len(found) == EQUALS + 2
    assert {key.partition("-")[0] for key in found} == {"one", "two", "three"}
    assert "two-less" not in found


@pytest.mark.parametrize(
    ("asked", "other"),
    [("café", "cafe"), ("Straße", "Strasse"), ("أحمد", "احمد"), ("Müller", "Muller"), ("مدرسة", "مدرسه")],
)
def test_the_form_as_it_is_written_comes_first_among_equals(asked: str, other: str) -> None:
    for query, spelling in ((asked, other), (other, asked)):
        written = words_as_written(f"Where is {query}?")
        hits = [
            Hit(key, 0.9, 0.5, len(written & words_as_written(f"{word} is here.")))
            for key, word in (("a", spelling), ("b", query))
        ]
        assert [hit.key for hit in fuse(hits)] == ["b", "a"]


@pytest.mark.parametrize(
    ("asked", "longer"),
    [
        ("asn1_der_decoding", "asn1_der_decoding_startEnd"),
        ("INV-2024-00317", "INV-2024-00317-B"),
        ("v1.2", "v1.2.1"),
    ],
)
def test_a_code_comes_before_a_longer_one_that_begins_with_it(asked: str, longer: str) -> None:
    written = words_as_written(f"What is {asked}?")
    hits = [
        Hit(key, 0.9, 0.5, len(written & words_as_written(f"Read of {code}.")))
        for key, code in (("a", longer), ("b", asked))
    ]
    assert [hit.key for hit in fuse(hits)] == ["b", "a"]
