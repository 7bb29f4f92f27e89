"""The words under which a chunk is indexed, and their places in a text."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.knowledge.codes import code_words, identifiers, is_gap, joined, may_be_grouped
from domain.knowledge.words import normalise, normalise_1, normalise_2, runs, words, words_of_folded

VERSION = 3
"""Chunks of an older version are indexed anew in the background. In version 2 Chinese was as it is written; in
version 1 Arabic letters were not folded either, and groups that form a code were not one word."""


def index_words(text: str, version: int = VERSION) -> set[str]:
    """The distinct words under which a text is found, its codes also in one piece."""
    if version == 1:
        codes = (joined(phrase) for phrase in identifiers(text, normalise_1) if len(phrase) > 1)
        return {*words_of_folded(normalise_1(text)), *codes}
    folded = normalise(text) if version > 2 else normalise_2(text)
    return {*words_of_folded(folded), *code_words(text, folded)}


_MOST_GROUPS = 20
"""Groups of one code."""


def highlights(text: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """The stretches of a text that hold one of the words, as they are indexed, or a code in whichever groups: first
    character and the one behind the last, in order, not overlapping."""
    written = [(run, words(text[slice(*run)])) for run in runs(text)]
    held = [run for run, run_words in written if not wanted.isdisjoint(run_words)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted([*held, *_codes(text, written, wanted)]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _codes(
    text: str, written: Sequence[tuple[tuple[int, int], list[str]]], wanted: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Neighbouring groups that spell a code."""
    codes = tuple(filter(may_be_grouped, wanted))
    for at, ((start, _), run_words) in enumerate(written):
        spelled = "".join(run_words)
        for ((_, end), _), ((first, last), more) in pairwise(written[at : at + _MOST_GROUPS]):
            if not any(code.startswith(spelled) for code in codes) or not is_gap(text[end:first]):
                break
            spelled += "".join(more)
            if spelled in codes:
                yield start, last
