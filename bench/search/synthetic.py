"""Synthetic chunks: words by Zipf's law with a rare code in some chunks, vectors in clusters."""

from collections.abc import Iterator
from functools import cache, cached_property

import numpy

from domain.knowledge.index_words import index_words
from ports.indexing import DIMENSION, Vector

VOCABULARY = 60_000
WORDS = 90
"""In a chunk."""
BATCH = 2000
NOISE = 0.7
"""How far vectors lie around their cluster's centre, whose own coordinates have deviation 1."""
_SYLLABLES = ["ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo", "xe", "yu", "za", "be", "do", "fi", "gu", "ha"]


class Synthetic:
    """A stretch of chunks, the same for the same seed."""

    def __init__(self, chunks: int, seed: int) -> None:
        self.chunks = chunks
        self._seed = seed

    @cached_property
    def centres(self) -> numpy.ndarray:
        count = max(20, self.chunks // 500)
        return numpy.random.default_rng(self._seed).normal(size=(count, DIMENSION)).astype(numpy.float32)

    def batches(self, words: list[str]) -> Iterator[tuple[list[str], numpy.ndarray]]:
        """Texts and unit vectors, some thousands at a time."""
        random = numpy.random.default_rng(self._seed + 1)
        shares = numpy.cumsum(1 / numpy.arange(1, VOCABULARY + 1))
        shares /= shares[-1]
        for start in range(0, self.chunks, BATCH):
            count = min(BATCH, self.chunks - start)
            ranks = numpy.searchsorted(shares, random.random((count, WORDS)))
            texts = [_text(words, row, start + place) for place, row in enumerate(ranks.tolist())]
            near = self.centres[random.integers(len(self.centres), size=count)]
            noise = random.normal(scale=NOISE, size=near.shape).astype(numpy.float32)
            yield texts, units(near + noise)


@cache
def vocabulary() -> list[str]:
    """The words, the most frequent first."""
    return [_word(number) for number in range(VOCABULARY)]


def terms_of(text: str) -> set[str]:
    """What `index_words` says, quicker for these plain words."""
    known = set(text.split())
    codes = {word for word in known if not word.isalpha()}
    return (known - codes).union(*(index_words(code) for code in codes))


def units(vectors: numpy.ndarray) -> numpy.ndarray:
    scaled: numpy.ndarray = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def asked(base: Synthetic, count: int, *, on_topic: bool = True) -> list[Vector]:
    """Vectors of queries: near the clusters, or far from all of them."""
    random = numpy.random.default_rng(11)
    vectors = random.normal(scale=NOISE, size=(count, DIMENSION))
    if on_topic:
        vectors += base.centres[random.integers(len(base.centres), size=count)]
    found: list[Vector] = units(vectors).tolist()
    return found


def _word(number: int) -> str:
    word = ""
    number += 16
    while number:
        number, rest = divmod(number, 16)
        word += _SYLLABLES[rest]
    return word


def _text(words: list[str], ranks: list[int], number: int) -> str:
    text = " ".join([words[rank] for rank in ranks])
    return f"{text} ERR-{number:07d}" if number % 50 == 0 else text
