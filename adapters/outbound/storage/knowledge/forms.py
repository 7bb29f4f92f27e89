"""Values of the knowledge tables: texts that PostgreSQL takes, hashed terms, vectors as text, rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from struct import pack
from typing import Any

from psycopg.adapt import Dumper
from psycopg.pq import Format

from domain.knowledge.model import Base, Chunk, FileRecord, FileStatus, Level
from ports.embedding import Vector

LEX_DIMENSIONS = 1_000_000_000

BASE_COLUMNS = "b.id, b.name, b.description, b.created_by, b.created_at, b.updated_at"
FILE_COLUMNS = (
    "f.id, f.kb_id, f.file_name, f.blob_key, f.file_hash, f.size, f.mime_type, f.text, f.uploaded_by,"
    " f.created_at, f.updated_at, f.status, f.progress, f.error"
)
CHUNK_COLUMNS = "c.chunk_id, f.uploaded_by, c.text, f.file_hash, c.metadata, c.created_at"


def clean(text: str) -> str:
    """The text without what a PostgreSQL text cannot hold: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


@lru_cache(16_384)
def term_hash(base_id: int, term: str) -> int:
    """A term of one base as a signed 32-bit number."""
    digest = blake2b(f"{base_id}:{term}".encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big", signed=True)


def lex_place(hashed: int) -> int:
    """Where a term stands in sparse vectors; they count from 1."""
    return (hashed & 0x7FFFFFFF) % LEX_DIMENSIONS + 1


def lex(weights: Mapping[int, float]) -> str:
    """A sparse vector of weights by term hash, in PostgreSQL's text form."""
    entries: dict[int, float] = {}
    for hashed, weight in weights.items():
        index = lex_place(hashed)
        entries[index] = max(entries.get(index, 0.0), weight)
    inner = ",".join(f"{index}:{weight:.9g}" for index, weight in sorted(entries.items()))
    return f"{{{inner}}}/{LEX_DIMENSIONS}"


def lex_of_terms(hashes: Iterable[int]) -> str:
    return lex(dict.fromkeys(hashes, 1.0))


def vector_text(vector: Vector) -> str:
    """A dense vector in PostgreSQL's text form."""
    return "[" + ",".join([f"{value:.6g}" for value in vector]) + "]"


class HalfVector(bytes):
    """A dense vector as pgvector receives it: dimension, two unused bytes, half-precision numbers."""


class HalfVectorDumper(Dumper):
    """Sends it as it is; the server knows its type from where it stands."""

    format = Format.BINARY

    def dump(self, obj: HalfVector) -> bytes:
        return obj


def half_vector(vector: Vector) -> HalfVector:
    """A dense vector to be sent to the server: a tenth of the work of its text form."""
    return HalfVector(pack(f">HH{len(vector)}e", len(vector), 0, *vector))


def base_of(row: Any) -> Base:
    """A base from BASE_COLUMNS, with the granted level behind them."""
    *values, level = row
    return replace(Base(*values), level=Level(level or 0))


def file_of(row: Any) -> FileRecord:
    """A file record from FILE_COLUMNS."""
    record = FileRecord(*row[:11])
    return replace(record, status=FileStatus(row[11]), progress=row[12], error=row[13])


def chunk_of(row: Any) -> Chunk:
    """A chunk from CHUNK_COLUMNS."""
    return Chunk(*row[:6])
