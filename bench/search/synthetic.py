"""Synthetic bases: words by Zipf's law with a rare code in some chunks, vectors in clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from adapters.outbound.storage.knowledge.forms import lex_of_terms, term_hash, vector_text
from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.pool import Database
from domain.knowledge.model import NewBase
from domain.knowledge.words import index_words
from ports.embedding import DIMENSION, Vector

VOCABULARY = 60_000
WORDS = 90
BATCH = 2000
MODEL = "synthetic"


@dataclass(frozen=True, slots=True)
class Synthetic:
    """The base's id, sample texts to make queries from, and the cluster centres."""

    base_id: int
    texts: list[str]
    centres: numpy.ndarray


async def fill(database: Database, chunks: int, seed: int = 7) -> Synthetic:
    """A base of so many chunks, its rows written as an upload writes them."""
    random = numpy.random.default_rng(seed)
    centres = random.normal(size=(max(20, chunks // 500), DIMENSION))
    words = [_word(number) for number in range(VOCABULARY)]
    base_id = await _base(database, f"{chunks} chunks")
    file_id = await _file(database, base_id)
    model = await model_number(database, MODEL)
    frequency: Counter[str] = Counter()
    texts: list[str] = []
    for start in range(0, chunks, BATCH):
        count = min(BATCH, chunks - start)
        made = [_text(random, words, start + number) for number in range(count)]
        near = centres[random.integers(len(centres), size=count)]
        vectors = near + random.normal(scale=0.7, size=near.shape)
        await _copy(database, base_id, file_id, model, start, made, vectors, frequency)
        texts.extend(made[:: max(1, BATCH // 50)])
    await _finish(database, base_id, chunks, frequency)
    return Synthetic(base_id, texts, centres)


def _word(number: int) -> str:
    syllables = (
        "ka",
        "lo",
        "mi",
        "ne",
        "ru",
        "sa",
        "ti",
        "vo",
        "xe",
        "yu",
        "za",
        "be",
        "do",
        "fi",
        "gu",
        "ha",
    )
    word = ""
    number += 16
    while number:
        number, rest = divmod(number, 16)
        word += syllables[rest]
    return word


def _text(random: numpy.random.Generator, words: list[str], number: int) -> str:
    ranks = numpy.minimum(random.zipf(1.3, size=WORDS), VOCABULARY) - 1
    text = " ".join(words[rank] for rank in ranks)
    return f"{text} ERR-{number:07d}" if number % 50 == 0 else text


def unit(vector: numpy.ndarray) -> Vector:
    scaled: list[float] = (vector / numpy.linalg.norm(vector)).tolist()
    return scaled


async def _base(database: Database, name: str) -> int:
    new = NewBase(name)
    row = await database.fetch_one(
        "INSERT INTO knowledge_base (name, description, manifest, created_by) VALUES (%s, '', '{}', 'bench')"
        " RETURNING id",
        (new.name,),
    )
    assert row
    return int(row[0])


async def _file(database: Database, base_id: int) -> int:
    row = await database.fetch_one(
        "INSERT INTO kb_file (kb_id, file_name, blob_key, file_hash, size, mime_type, uploaded_by, status)"
        " VALUES (%s, 'bench.txt', '', %s, 0, 'text/plain', 'bench', 'ready') RETURNING id",
        (base_id, f"bench-{base_id}"),
    )
    assert row
    return int(row[0])


async def _copy(
    database: Database,
    base_id: int,
    file_id: int,
    model: int,
    start: int,
    texts: list[str],
    vectors: numpy.ndarray,
    frequency: Counter[str],
) -> None:
    entries = []
    for text in texts:
        words = index_words(text)
        frequency.update(words)
        entries.append(sorted({term_hash(base_id, word) for word in words}))
    async with database.transaction() as connection, connection.cursor() as cursor:
        async with cursor.copy(
            "COPY chunk (kb_id, seq, chunk_id, file_id, position, text, context, metadata) FROM STDIN"
        ) as copy:
            for place, text in enumerate(texts, start):
                await copy.write_row((base_id, place, f"{base_id}-{place}", file_id, place, text, "", "{}"))
        async with cursor.copy(
            "COPY chunk_index (kb_id, seq, model, terms, lex, embedding) FROM STDIN"
        ) as copy:
            for place, row in enumerate(_index_rows(entries, vectors), start):
                await copy.write_row((base_id, place, model, *row))


def _index_rows(entries: list[list[int]], vectors: numpy.ndarray) -> Iterator[tuple[list[int], str, str]]:
    for terms, vector in zip(entries, vectors, strict=True):
        yield terms, lex_of_terms(terms), vector_text(unit(vector))


async def _finish(database: Database, base_id: int, chunks: int, frequency: Counter[str]) -> None:
    async with database.transaction() as connection:
        async with (
            connection.cursor() as cursor,
            cursor.copy("COPY kb_term (kb_id, term, df) FROM STDIN") as copy,
        ):
            for term, count in frequency.items():
                await copy.write_row((base_id, term, count))
        await connection.execute(
            "UPDATE knowledge_base SET chunk_count = %s WHERE id = %s", (chunks, base_id)
        )
    await database.execute("ANALYZE chunk, chunk_index, kb_term")
