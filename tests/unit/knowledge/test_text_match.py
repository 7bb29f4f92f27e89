"""The score of the text match."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.codes import joined
from domain.knowledge.index_words import index_words
from domain.knowledge.text_match import NO_EVIDENCE, Query, Statistics, TextMatch, unknown_words


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
    assert 0 <= score(query, text, Statistics(chunks, frequency)) <= 1


def test_in_a_small_base_a_word_is_not_rare_because_it_stands_in_one_chunk_alone() -> None:
    query = Query.of("belt pulley motor gasket")
    frequency = {"belt": 1, "pulley": 1, "motor": 1, "gasket": 1}
    small, large = Statistics(12, frequency), Statistics(1200, frequency)
    assert TextMatch(query, large).score({"belt"}) == pytest.approx(0.225)
    assert TextMatch(query, small).score({"belt"}) < 0.13
    assert TextMatch(query, small, alone=True).score({"belt"}) == pytest.approx(0.225)


def test_words_that_tell_nothing_of_a_subject_are_never_rare() -> None:
    statistics = Statistics(12, {"where": 1, "is": 1, "the": 1, "nakamura": 1})
    match = TextMatch(Query.of("where is the office of Nakamura"), statistics)
    assert match.score({"nakamura"}) > 3 * match.score({"where", "is", "the"})
    assert TextMatch(Query.of("to be or not to be"), Statistics(900, {"be": 1})).score({"be"}) > 0.15


def test_several_words_together_are_evidence_though_none_is_rare() -> None:
    words = ["valve", "spring", "tension", "gauge", "bearing", "flange"]
    match = TextMatch(Query.of(" ".join(words)), Statistics(1000, dict.fromkeys(words, 40)))
    assert match.score(set(words)) > 0.75
    assert match.score(set(words[:2])) < 0.2


def test_another_form_counts_less_than_the_word_itself() -> None:
    statistics = Statistics(1000, {"pumps": 3, "pump": 5}, forms={"pumps": {"pump": 0.8}})
    match = TextMatch(Query.of("pumps"), statistics)
    assert match.score({"pumps"}) > match.score({"pump"}) > 0.4
    assert "pump" in match.vocabulary
    alone = TextMatch(Query.of("pumps"), Statistics(1000, {"pump": 300}, forms={"pumps": {"pump": 0.8}}))
    assert alone.score({"pump"}) < 0.3, "as common as its form"


def test_a_code_that_several_chunks_hold_counts_fully_for_each_and_most_where_it_is_defined() -> None:
    statistics = Statistics(36, {"asn1": 6, "der": 6, "decoding": 8, "asn1derdecoding": 6})
    used = score("asn1_der_decoding", "later calls of asn1_der_decoding fail " * 3, statistics, "Errors")
    assert used > 0.97
    text = "It takes bytes. Later calls of it may end without a result, as those of asn1_der_decoding do."
    assert score("asn1_der_decoding", text, statistics, "asn1_der_decoding") > score(
        "asn1_der_decoding", text, statistics, "Errors"
    )


@pytest.mark.parametrize("code", ["asn1_der_decoding", "INV-2024-00317", "read_line", "E34131"])
@pytest.mark.parametrize("question", ["{}", "Which arguments does {} take, and who calls it in the night?"])
def test_a_code_as_one_piece_comes_before_its_scattered_parts_and_before_similar_texts(
    code: str, question: str
) -> None:
    query = Query.of(question.format(code))
    held = index_words(f"The {code} is told here.")
    statistics = Statistics(500, dict.fromkeys([*query.words, joined(query.codes[0])], 3))
    match = TextMatch(query, statistics)
    evidence = match.evidence(held, "", f"The {code} is told here.")
    scattered = set(query.words)
    nearest_cosine = 0.964 if question == "{}" else 0.889
    assert match.score(held, evidence) > max(nearest_cosine, match.score(scattered, NO_EVIDENCE))


def test_a_short_number_binds_to_its_word() -> None:
    statistics = Statistics(200, {"pump": 40, "12": 30, "pump12": 3})
    bound = score("pump 12", "Pump 12 is serviced in March.", statistics)
    apart = score("pump 12", "Pump 7 is filled with 12 litres.", statistics)
    assert bound > 1.5 * apart


def test_a_code_is_not_taken_for_another_that_shares_its_end() -> None:
    statistics = Statistics(
        100, {"inv": 9, "po": 9, "2024": 40, "00317": 2, "inv202400317": 1, "202400317": 2, "po202400317": 1}
    )
    assert score("INV-2024-00317", "see INV-2024-00317", statistics) > 0.85
    assert score("INV-2024-00317", "see PO-2024-00317", statistics) < 0.7


def test_a_name_alone_is_looked_for_itself_whatever_the_base_s_size() -> None:
    name = Query.of("Zimmermann")
    assert TextMatch(name, Statistics(12, {"zimmermann": 1})).score({"zimmermann"}) == pytest.approx(0.9)
    misspelt = Statistics(12, {}, {"zimermann": {"zimmermann": 0.64}})
    assert TextMatch(Query.of("Zimermann"), misspelt).score({"zimmermann"}) == pytest.approx(0.9 * 0.8)
