"""Which postings a text search follows."""

import pytest

from adapters.outbound.storage.knowledge.vocabulary import best_by_weight
from adapters.outbound.storage.knowledge.word_index import HeldWords, term_hash
from domain.knowledge.text_match import Statistics


@pytest.mark.parametrize(
    ("frequency", "followed"),
    [
        ({"pump": 3, "hall": 700, "what": 1300}, ["pump", "hall"]),
        ({"pump": 3, "what": 1300, "the": 4900}, ["pump"]),
        ({"what": 1300, "the": 4900}, ["what"]),
        ({"is": 4700, "the": 4900}, []),  # the whole base is scanned: so many postings cost more
        ({"pump": 900, "hall": 900}, []),
    ],
)
def test_in_a_small_base_words_that_tell_little_are_not_followed_beside_others(
    frequency: dict[str, int], followed: list[str]
) -> None:
    statistics = Statistics(5000, frequency)
    weights = {word: statistics.idf(count) for word, count in frequency.items()}
    statement = best_by_weight(1, weights, statistics, HeldWords(1, weights)).as_string(None)
    hashes = ",".join(str(term_hash(1, word)) for word in followed)
    assert (f"terms && '{{{hashes}}}'::int4[]" in statement) is bool(followed)
    assert ("terms &&" in statement) is bool(followed)
