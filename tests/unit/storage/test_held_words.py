"""Masks of held words, and the memory the database may plan with."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.outbound.storage import machine
from adapters.outbound.storage.knowledge import held_words
from adapters.outbound.storage.knowledge.held_words import HeldWords


def inner_product(vector: str, places: set[int]) -> float:
    entries = vector[1 : vector.index("}")].split(",")
    pairs = [entry.split(":") for entry in entries if entry]
    return sum(float(weight) for place, weight in pairs if int(place) in places)


def places_of(vectors: tuple[str, ...]) -> set[int]:
    return {
        int(entry.split(":")[0])
        for each in vectors
        for entry in each[1 : each.index("}")].split(",")
        if entry
    }


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
    assert held.vectors == ("{4:2,6:1}/1000000000",) or held.vectors == ("{4:1,6:2}/1000000000",)
    masks = [inner_product(held.vectors[0], {4})]
    assert held.of(masks) == {"one", "two"}


def test_no_words_ask_for_an_empty_mask() -> None:
    assert HeldWords(7, []).vectors == ("{}/1000000000",)


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
