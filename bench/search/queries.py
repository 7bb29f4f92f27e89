"""Queries of several kinds, each with its vector given: what is measured is the search, not the model."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bench.search.loading import MODEL
from bench.search.synthetic import Synthetic, asked, vocabulary
from domain.knowledge.search import SearchService
from ports.indexing import EmbeddingModel, Vector

KINDS = ("code", "phrase of 4 words", "question of 14 words", "one typing error", "common words")


class Given:
    """Answers with the vector that was set."""

    vector: Vector = ()

    async def model(self) -> EmbeddingModel:
        return EmbeddingModel(MODEL, MODEL)

    async def of(self, fingerprint: str | None) -> Given:
        return self

    async def release(self, in_use: Collection[str]) -> None:
        return

    async def ensure_prepared(self) -> bool:
        return True

    async def prepare(self) -> None:
        return

    async def embed_query(self, text: str) -> Vector:
        return self.vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Question:
    kind: str
    base_id: int
    text: str
    vector: Vector


async def ask(service: SearchService, embedder: Given, question: Question) -> None:
    embedder.vector = question.vector
    await service.find(question.base_id, question.text)


def questions(base_id: int, made: Synthetic, texts: Sequence[str], count: int) -> list[Question]:
    """So many of each kind, the kinds in turn."""
    chance = random.Random(3)
    vectors = asked(made, count * len(KINDS))
    asked_for = [
        (kind, _text(kind, chance.choice(texts).split()[:90], chance, made.chunks))
        for _ in range(count)
        for kind in KINDS
    ]
    return [
        Question(kind, base_id, text, vector) for (kind, text), vector in zip(asked_for, vectors, strict=True)
    ]


def _text(kind: str, words: list[str], chance: random.Random, chunks: int) -> str:
    match kind:
        case "code":
            return f"ERR-{chance.randrange(0, max(51, chunks), 50):07d}"
        case "phrase of 4 words":
            at = chance.randrange(len(words) - 4)
            return " ".join(words[at : at + 4])
        case "question of 14 words":
            return " ".join(chance.sample(words, 14))
        case "one typing error":
            return _misspelt(max(words, key=len), chance)
        case _:
            return " ".join(chance.sample(vocabulary()[:12], 3))


def _misspelt(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    return word[:at] + "q" + word[at + 1 :]
