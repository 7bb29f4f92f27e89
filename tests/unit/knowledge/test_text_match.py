"""The score of the text match."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.index_words import index_words
from domain.knowledge.text_match import Query, Statistics, TextMatch, unknown_words


def score(query: str, text: str, statistics: Statistics, context: str = "") -> float:
    match = TextMatch(Query.of(query), statistics)
    held = index_words(f"{context}\n{text}")
    return match.score(held, match.evidence(held, context, text))


BASE = Statistics(
    1000, {"invoice": 400, "the": 900, "err": 40, "4711": 3, "4712": 3, "err4711": 2, "turbine": 1}
)


def test_a_query_of_one_rare_word_scores_the_most() -> None:
    assert score("turbine", "a turbine here", BASE) == pytest.approx(0.9)


def test_a_query_of_common_words_alone_stays_low() -> None:
    assert score("the invoice", "the invoice", BASE) < 0.2


def test_the_formula_to_the_letter() -> None:
    idf = {
        word: math.log(1 + (1000 - df + 0.5) / (df + 0.5))
        for word, df in {"invoice": 400, "turbine": 1}.items()
    }
    covered = idf["invoice"] / (idf["invoice"] + idf["turbine"])
    rarity = idf["invoice"] / idf["turbine"]
    assert score("invoice turbine", "one invoice", BASE) == pytest.approx(0.9 * covered * rarity)


def test_an_exact_code_in_a_sentence_beats_a_code_one_digit_off() -> None:
    query = "where do we mention the code ERR-4711 please"
    assert score(query, "shown as ERR-4711 here", BASE) > 0.55
    assert score(query, "shown as ERR-4712 here", BASE) < 0.2


def test_a_code_counts_only_where_its_words_stand_side_by_side() -> None:
    apart = score("ERR-4711", "4711 cases of err", BASE)
    together = score("ERR-4711", "err 4711", BASE)
    assert together >= 0.8
    assert together > apart


def test_a_typing_error_is_found_by_similarity_alone_when_the_word_is_unknown() -> None:
    typo = Statistics(1000, BASE.frequency, {"turbne": {"turbine": 0.5}})
    assert score("turbne", "a turbine", typo) == pytest.approx(
        0.9 * math.sqrt(0.5) * min(1, math.sqrt(0.5) * 1.2), rel=0.2
    )
    assert score("turbne", "an invoice", typo) == 0
    assert score("turbne", "a turbine", Statistics(1000, BASE.frequency, {"turbne": {"turbine": 0.34}})) == 0


def test_only_unknown_words_of_some_length_are_matched_by_similarity() -> None:
    assert unknown_words(Query.of("the turbne abc"), BASE.frequency) == ("turbne",)


def test_an_empty_base_and_an_empty_query_score_nothing() -> None:
    assert score("turbine", "turbine", Statistics(0, {})) >= 0
    assert score("", "turbine", BASE) == 0
    assert score("!!!", "turbine", BASE) == 0


def test_the_vocabulary_names_all_that_bears_on_the_score() -> None:
    match = TextMatch(Query.of("ERR-4711 turbne"), Statistics(9, {"err": 2}, {"turbne": {"turbine": 0.5}}))
    assert match.vocabulary == {"err", "4711", "err4711", "turbne", "turbine"}
    assert set(match.weights()) >= {"err", "4711", "err4711", "turbine"}


@given(
    st.text(max_size=80),
    st.text(max_size=200),
    st.integers(0, 5),
    st.dictionaries(st.sampled_from(["a", "err", "4711", "the"]), st.integers(0, 10)),
)
def test_scores_lie_between_0_and_0945(query: str, text: str, chunks: int, frequency: dict[str, int]) -> None:
    assert 0 <= score(query, text, Statistics(chunks, frequency)) <= 0.945 + 1e-9


def test_in_a_small_base_a_word_is_not_rare_because_it_stands_in_one_chunk_alone() -> None:
    query = Query.of("where is my parcel")
    frequency = {"where": 1, "is": 1, "my": 1, "parcel": 1}
    small, large = Statistics(12, frequency), Statistics(1200, frequency)
    assert TextMatch(query, large).score({"where"}) == pytest.approx(0.225)
    assert TextMatch(query, small).score({"where"}) < 0.13
    assert TextMatch(query, small, alone=True).score({"where"}) == pytest.approx(0.225)
    assert TextMatch(query, Statistics(1, frequency)).score(set(query.words)) == pytest.approx(0.45)


def test_a_name_alone_is_looked_for_itself_whatever_the_base_s_size() -> None:
    name = Query.of("Zimmermann")
    assert TextMatch(name, Statistics(12, {"zimmermann": 1})).score({"zimmermann"}) == pytest.approx(0.9)
    misspelt = Statistics(12, {}, {"zimermann": {"zimmermann": 0.64}})
    assert TextMatch(Query.of("Zimermann"), misspelt).score({"zimmermann"}) == pytest.approx(0.9 * 0.8)
