"""Where words of a query stand in a text."""

from collections.abc import Iterable, Iterator

from domain.knowledge.words import runs, words


def highlights(text: str, wanted: frozenset[str]) -> list[tuple[int, int]]:
    """The stretches of a text that hold one of the words, as they are indexed: first character and the one behind the
    last, in order, not overlapping."""
    return list(_merged(run for run in runs(text) if not wanted.isdisjoint(words(text[slice(*run)]))))


def _merged(stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last: tuple[int, int] | None = None
    for start, end in stretches:
        if last and start <= last[1]:
            last = last[0], max(last[1], end)
            continue
        if last:
            yield last
        last = start, end
    if last:
        yield last
