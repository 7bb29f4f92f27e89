"""Masks of held words, and the memory the database may plan with."""

from pathlib import Path

import pytest
from pgvector import SparseVector

from adapters.outbound.storage import processes as machine
from adapters.outbound.storage.knowledge import word_index as held_words
from adapters.outbound.storage.knowledge.word_index import HeldWords


def inner_product(vector: SparseVector, places: set[int]) -> float:
    pairs = zip(vector.indices(), vector.values(), strict=True)
    return sum(weight for place, weight in pairs if place in places)


def places_of(vectors: tuple[SparseVector, ...]) -> set[int]:
    return {place for vector in vectors for place in vector.indices()}


@pytest.mark.parametrize("count", [1, 24, 25, 100])
def test_a_mask_tells_exactly_the_words_that_are_held(count: int) -> None:
    words = [f"word{number}" for number in range(count)]
    held = HeldWords(7, words)
    assert len(held.vectors) == -(-count // held_words.BITS)
    some = words[::3]
    theirs = places_of(HeldWords(7, some).vectors)
    assert held.of([inner_product(vector, theirs) for vector in held.vectors]) == frozenset(some)
    everything = places_of(held.vectors)
    assert held.of([inner_product(vector, everything) for vector in held.vectors]) == frozenset(words)
    assert held.of([0.0] * len(held.vectors)) == frozenset()


def test_words_that_share_a_place_are_held_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_words, "term_hash", lambda base, term: len(term))
    held = HeldWords(7, ["one", "two", "three"])
    [vector] = held.vectors
    assert (vector.indices(), sorted(vector.values())) == ([3, 5], [1.0, 2.0])
    masks = [inner_product(vector, {3})]
    assert held.of(masks) == {"one", "two"}


def test_no_words_ask_for_an_empty_mask() -> None:
    assert [vector.indices() for vector in HeldWords(7, []).vectors] == [[]]


def test_a_container_s_limit_counts_when_it_is_lower(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    whole = machine.memory([limit, tmp_path / "missing"])
    assert whole > 0
    limit.write_text(f"{64 * machine.MEGABYTE}\n")
    assert machine.memory([limit]) == 64 * machine.MEGABYTE


def test_a_part_of_the_memory_stays_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "memory", lambda: 4096 * machine.MEGABYTE)
    assert machine.part_of_memory(8, 128, 2048) == 512
    assert machine.part_of_memory(64, 128, 2048) == 128
    assert machine.part_of_memory(1, 128, 2048) == 2048
