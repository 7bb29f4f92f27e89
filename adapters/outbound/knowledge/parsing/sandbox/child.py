"""The child: under restrictions it reads one file, sends the result and ends."""

import contextlib
import os
import resource
import socket
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.parsing.cutting import batches, document_title, parts
from adapters.outbound.knowledge.parsing.detection import detect
from adapters.outbound.knowledge.parsing.formats import MIME_TYPES, RECOGNISING, reader
from adapters.outbound.knowledge.parsing.reading import LABELS, Job, Limits, meaning
from adapters.outbound.knowledge.parsing.sandbox import frames, restrictions
from domain.knowledge.documents import Format
from domain.knowledge.text_units import CountTokens


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
