"""The child: under restrictions it reads one file, sends the result and ends.

Blocks are cleaned, counted, put into batches, and cut into pieces while they are read.
"""

import contextlib
import os
import resource
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.parsing.detection import detect
from adapters.outbound.knowledge.parsing.formats import MIME_TYPES, RECOGNISING, reader
from adapters.outbound.knowledge.parsing.reading import LABELS, Job, Limits, meaning, stem
from adapters.outbound.knowledge.parsing.sandbox import frames, restrictions
from adapters.outbound.knowledge.parsing.text import clean, one_line
from domain.knowledge.chunking import Chunker, CountTokens
from domain.knowledge.documents import Block, Document, Format, separator
from domain.knowledge.titles import meant_title, title_of
from ports.indexing import ReadPart

_BATCH_CHARS = 262_144
_BATCH_BLOCKS = 2_000
_SECONDS_PER_CHARACTER = 10e-6
"""What cutting may take on a slow processor."""
_PART_PIECES = 512


def batches(job: Job, blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """The blocks with clean text, empty ones left out, very long ones in several.

    Raises `TooLarge` over the limits on text and blocks, `Unreadable` where no text is left at all.
    """
    limits = job.limits
    batch: list[Block] = []
    size = total = count = 0
    for block in _clean(blocks):
        batch.append(block)
        count += 1
        size += len(block.text) + sum(map(len, block.heading_path))
        total += len(block.text)
        if total > limits.text_chars:
            raise job.too_large(f"it holds more than {limits.text_chars:,} characters of text")
        if count > limits.blocks:
            raise job.too_large(f"it holds more than {limits.blocks:,} paragraphs, rows or fields")
        if size >= _BATCH_CHARS or len(batch) >= _BATCH_BLOCKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
    if not count:
        raise job.unreadable("it holds no text")


def _clean(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        text = clean(block.text)
        while len(text) > _BATCH_CHARS:  # cut behind a line, else a sentence, else a word
            ends = (
                end + len(mark)
                for mark in ("\n", ". ", " ")
                if (end := text.rfind(mark, _BATCH_CHARS // 2, _BATCH_CHARS)) > 0
            )
            end = next(ends, _BATCH_CHARS)
            yield _tidy(block, clean(text[:end]))
            text = text[end:].lstrip()
        if text.strip():
            yield _tidy(block, text)


def _tidy(block: Block, text: str) -> Block:
    if any(not label.isprintable() for label in (*block.heading_path, block.sheet or "", block.header or "")):
        block = replace(
            block,
            heading_path=tuple(one_line(label) for label in block.heading_path),
            sheet=block.sheet and one_line(block.sheet),
            header=block.header and one_line(block.header),
        )
    return block if text == block.text else replace(block, text=text)


def parts(job: Job, document: Iterable[Block], count_tokens: CountTokens) -> Iterator[ReadPart]:
    """Cuts a document. Its title comes from its first blocks, since each piece carries it."""
    at = 0
    before: str | None = None
    chunker: Chunker | None = None
    for batch in batches(job, document):
        texts: list[str] = []
        blocks: list[Block] = []
        for block in batch:
            gap = separator(before, block.kind) if before is not None else ""
            blocks.append(replace(block, start=at + len(gap)))
            texts += (gap, block.text)
            at, before = blocks[-1].end, block.kind
        text = "".join(texts)
        job.earn(len(text) * _SECONDS_PER_CHARACTER)
        if chunker is None:
            title = document_title(job, blocks)
            opening = Document(title, text, tuple(blocks), MIME_TYPES[job.format], job.format)
            chunker = Chunker(title_of(opening, job.name), count_tokens)
        pieces = list(chunker.take(blocks))
        yield ReadPart(text, pieces[:_PART_PIECES])
        for start in range(_PART_PIECES, len(pieces), _PART_PIECES):
            yield ReadPart("", pieces[start : start + _PART_PIECES])
    if chunker is not None:
        yield ReadPart("", list(chunker.end()), job.warnings)


def document_title(job: Job, opening: Sequence[Block]) -> str:
    """The document's own title if a person meant it, else its first heading that says something, else the name."""
    headings = (block.text for block in opening if block.level)
    titles = (meant_title(one_line(title)) for title in (job.title, *headings))
    return next(filter(None, titles), stem(job.name))


@lru_cache(1)
def counter(model_dir: str) -> CountTokens:
    """Counts as the model in this folder does."""
    count_tokens = ModelFiles(Path(model_dir)).count_tokens
    count_tokens([""])
    return count_tokens


STDERR = "stderr"
_NICE = 5
"""Reading is behind what people wait for: messages and searches."""


def run(out: socket.socket, request: dict[str, Any], scratch: Path, parent: int) -> None:
    """Does what `request` asks, and never comes back."""

    def progress(share: float) -> None:
        frames.send(out, frames.PROGRESS, round(min(max(share, 0.0), 1.0), 4))

    status = 1
    try:
        limits = Limits(**request["limits"])
        format_ = Format(request["format"]) if request["format"] else None
        sys.dont_write_bytecode = True
        os.setsid()
        os.nice(_NICE)
        restrictions.die_with_parent(parent)
        null = os.open(os.devnull, os.O_RDWR)
        errors = os.open(scratch / STDERR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for source, stream in ((null, 0), (null, 1), (errors, 2)):
            os.dup2(source, stream)
        os.environ["TMPDIR"] = str(scratch)
        memory = limits.memory_bytes_ocr if format_ in RECOGNISING else limits.memory_bytes
        earn = restrictions.limit(memory, limits.cpu_seconds, limits.cpu_seconds_most, limits.file_bytes)
        restrictions.refuse_access(scratch)
        path, name = Path(request["path"]), request["name"]
        if request["web"]:
            from adapters.outbound.knowledge.parsing import web_pages

            job = Job(path, name, Format.HTML, limits, progress, earn)
            frames.send(out, frames.WEB_PAGE, web_pages.read(job, **request["web"]))
        elif format_ is None:
            detected = detect(path, name, limits)
            frames.send(out, frames.FILE_TYPE, [detected.value, MIME_TYPES[detected]])
        else:
            job = Job(path, name, format_, limits, progress, earn, request["whisper_dir"])
            _read(out, job, request["model_dir"])
        status = 0
    except Exception as error:  # noqa: BLE001 - the last stop: every failure becomes a refusal of this file
        with contextlib.suppress(OSError):
            frames.send(out, frames.REFUSED, refusal(error, request["name"], request["format"]))
            status = 0
    finally:
        os._exit(status)


def _read(out: socket.socket, job: Job, model_dir: str) -> None:
    """Sends a document in blocks, or with the folder of a model in pieces whose tokens it counts."""
    count_tokens = counter(model_dir) if model_dir else None
    blocks = reader(job.format)(job)
    end: dict[str, Any] = {}
    if count_tokens:
        for part in parts(job, blocks, count_tokens):
            frames.send(out, frames.PART, frames.pack_part(part))
    else:
        title = ""
        for batch in batches(job, blocks):
            title = title or document_title(job, batch)
            frames.send(out, frames.BLOCKS, [frames.pack(block) for block in batch])
        end = {"title": title, "engine": job.engine, "warnings": job.warnings}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    costs = {"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_kilobytes": usage.ru_maxrss}
    frames.send(out, frames.DONE, {**end, "costs": costs})


def refusal(error: Exception, name: str, format_name: str | None) -> list[str]:
    """`[reason, message, what to log]`: a refusal as it is, anything else as what it means for the file. The error
    behind it is logged."""
    refused = meaning(error, name, LABELS[Format(format_name)] if format_name else "a file")
    cause = error.__cause__ if refused is error else error
    logged = f"{type(cause).__name__}: {cause}"[:500] if cause else ""
    return [refused.reason, refused.message, logged]
