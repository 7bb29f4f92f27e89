"""A deterministic stand-in for the model: texts with common words get near vectors. For tests and trials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b

from domain.knowledge.words import words
from ports.embedding import DIMENSION, EmbeddingModel, Vector


class HashedEmbedder:
    """Each word adds a direction of its own, made from its hash."""

    def __init__(self, name: str = "hashed", *, latin_only: bool = True) -> None:
        self._model = EmbeddingModel(name, f"{name}:{DIMENSION}", latin_only=latin_only)

    async def model(self) -> EmbeddingModel:
        return self._model

    async def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        sums = [0.0] * DIMENSION
        for word in words(text) or [text]:
            digest = blake2b(f"{self._model.name}:{word}".encode("utf-8", "replace"), digest_size=48).digest()
            for place, byte in enumerate(digest):
                for bit in range(8):
                    sums[place * 8 + bit] += 1.0 if byte >> bit & 1 else -1.0
        length = math.sqrt(sum(value * value for value in sums)) or 1.0
        return [value / length for value in sums]


def count_words(text: str) -> int:
    """A stand-in for the model's tokenizer: a token for every four characters of a word."""
    return sum(-(-len(word) // 4) for word in text.split())
