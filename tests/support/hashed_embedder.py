"""A deterministic stand-in for the model: texts with common words get near vectors. It is made for English, too. For
tests and trials."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any

import numpy

from domain.knowledge.words import words
from ports.indexing import DIMENSION, EmbeddingModel, Scale, Vector


class HashedEmbedder:
    """Each word adds a direction of its own, made from its hash."""

    def __init__(self, name: str = "hashed", *, latin_only: bool = True) -> None:
        self._latin_only = latin_only
        self._scale = Scale(language="english" if latin_only else "")
        self.prepared = asyncio.Event()
        self.prepared.set()
        self.waiting: list[str] = []
        """Queries that came while it was not prepared."""
        self.become(name)

    def become(self, name: str) -> None:
        """Makes other vectors from now on."""
        self._model = EmbeddingModel(
            name, f"{name}:{DIMENSION}", latin_only=self._latin_only, scale=self._scale
        )

    async def model(self) -> EmbeddingModel:
        return self._model

    async def of(self, fingerprint: str | None) -> HashedEmbedder:
        """Of what model a base's vectors are, their fingerprint says."""
        former = fingerprint is not None and fingerprint != self._model.fingerprint
        return HashedEmbedder(str(fingerprint).split(":")[0]) if former else self

    async def release(self, in_use: Collection[str]) -> None:
        """Nothing takes memory."""

    async def is_prepared(self) -> bool:
        return True

    async def ensure_prepared(self) -> bool:
        return self.prepared.is_set()

    async def prepare(self) -> None:
        await self.prepared.wait()

    async def embed_query(self, text: str) -> Vector:
        if not self.prepared.is_set():
            self.waiting.append(text)
            await self.prepared.wait()
        return self._vector(text)

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        await self.prepared.wait()
        return [self._vector(text) for text in texts]

    async def close(self) -> None:
        """Nothing runs that would have to end."""

    def _vector(self, text: str) -> Vector:
        total = numpy.sum([self._direction(word) for word in words(text) or [text]], axis=0)
        length = float(numpy.linalg.norm(total)) or 1.0
        return array("f", (total / length).astype(numpy.float32).tobytes())

    def _direction(self, word: str) -> Any:
        digest = blake2b(f"{self._model.name}:{word}".encode("utf-8", "replace"), digest_size=48).digest()
        return numpy.unpackbits(numpy.frombuffer(digest, numpy.uint8)) * 2.0 - 1.0


def count_words(texts: Sequence[str]) -> list[int]:
    """A stand-in for the model's tokenizer: a token for every four characters of a word."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]
