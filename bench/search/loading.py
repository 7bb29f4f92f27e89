"""Writes synthetic bases by binary COPY; the inverted indexes are made anew afterwards."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from struct import pack

from adapters.outbound.storage.copying import copy_rows, packed_row
from adapters.outbound.storage.knowledge.staging import model_number
from adapters.outbound.storage.knowledge.word_index import packed_lex, packed_terms, term_hash
from adapters.outbound.storage.pool import Database
from bench.search.synthetic import Synthetic, terms_of, vocabulary

MODEL = "synthetic"
_GIN = """
SELECT c.oid::regclass::text, pg_get_indexdef(c.oid) FROM pg_class c
JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam
WHERE a.amname = 'gin' AND (i.indrelid::regclass::text LIKE 'chunk_index_p%%'
    OR i.indrelid::regclass::text LIKE 'kb_term_p%%')
"""


@asynccontextmanager
async def bulk(database: Database) -> AsyncIterator[None]:
    """Without the inverted indexes: making them at the end takes a fraction of keeping them."""
    found = await database.fetch(_GIN)
    for name, _ in found:
        await database.execute(f"DROP INDEX {name}")
    yield
    async with database.connection() as connection:
        await connection.execute("SET maintenance_work_mem = '1GB'")
        for _, definition in found:
            await connection.execute(definition)
        await connection.execute("RESET maintenance_work_mem")
    await database.execute("VACUUM ANALYZE chunk")
    await database.execute("VACUUM ANALYZE chunk_index")
    await database.execute("VACUUM ANALYZE kb_term")


async def base_named(database: Database, name: str) -> int | None:
    row = await database.fetch_one("SELECT id FROM knowledge_base WHERE name = %s", (name,))
    return int(row[0]) if row else None


async def load(database: Database, name: str, made: Synthetic) -> int:
    """Writes one base; its id."""
    base_id = await _base(database, name, made.chunks)
    file_id = await _file(database, base_id)
    model = await model_number(database, MODEL)
    frequency: Counter[str] = Counter()
    hashes = _Hashes(base_id)
    position = 0
    for texts, vectors in made.batches(vocabulary()):
        words = [terms_of(text) for text in texts]
        for each in words:
            frequency.update(each)
        rows = enumerate(texts, position)
        chunks = (
            packed_row(
                pack(">i", base_id),
                pack(">q", place),
                f"{base_id}-{place}".encode(),
                pack(">q", file_id),
                pack(">i", place),
                text.encode(),
                b"",
                b"{}",
            )
            for place, text in rows
        )
        halves = vectors.astype(">f2")
        index = (
            packed_row(
                pack(">i", base_id),
                pack(">q", position + offset),
                pack(">h", model),
                *hashes.columns(held),
                pack(">HH", halves.shape[1], 0) + halves[offset].tobytes(),
            )
            for offset, held in enumerate(words)
        )
        async with database.transaction() as connection:
            await copy_rows(
                connection, "chunk (kb_id, seq, chunk_id, file_id, position, text, context, metadata)", chunks
            )
            await copy_rows(connection, "chunk_index (kb_id, seq, model, terms, lex, embedding)", index)
        position += len(texts)
    async with database.transaction() as connection:
        terms = (
            packed_row(pack(">i", base_id), term.encode(), pack(">i", count))
            for term, count in frequency.items()
        )
        await copy_rows(connection, "kb_term (kb_id, term, df)", terms)
    return base_id


class _Hashes:
    """The columns `terms` and `lex` of words, whose hashes are remembered."""

    def __init__(self, base_id: int) -> None:
        self._base_id = base_id
        self._known: dict[str, int] = {}

    def columns(self, words: Iterable[str]) -> tuple[bytes, bytes]:
        hashes = sorted({self._of(word) for word in words})
        return packed_terms(hashes), packed_lex(hashes)

    def _of(self, word: str) -> int:
        if word not in self._known:
            self._known[word] = term_hash(self._base_id, word)
        return self._known[word]


async def _base(database: Database, name: str, chunks: int) -> int:
    row = await database.fetch_one(
        "INSERT INTO knowledge_base (name, description, manifest, created_by, chunk_count)"
        " VALUES (%s, '', '{}', 'bench', %s) RETURNING id",
        (name, chunks),
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


async def texts_of(database: Database, base_id: int, places: Sequence[int]) -> list[str]:
    rows = await database.fetch(
        "SELECT text FROM chunk WHERE kb_id = %s AND seq = ANY(%s) ORDER BY seq", (base_id, list(places))
    )
    return [text for (text,) in rows]
