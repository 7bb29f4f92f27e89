"""The child: behind the walls it reads one file, sends what it found and ends."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from pathlib import Path
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.detection import detect
from adapters.outbound.parsing.fence import walls, wire
from adapters.outbound.parsing.limits import Limits
from adapters.outbound.parsing.names import LABELS, MIME_TYPES, stem
from adapters.outbound.parsing.pipeline import batches
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.registry import RECOGNISING, reader
from domain.full_disk import FULL, is_full_disk
from domain.knowledge.documents import Format
from domain.refusals import Refusal, StorageFull, TooLarge, Unreadable, Unsupported

_LIBXML_NO_MEMORY = 2  # xmlParserErrors.XML_ERR_NO_MEMORY, in the code of lxml's errors


def run(out: socket.socket, request: dict[str, Any], scratch: Path, parent: int) -> None:
    """Does what `request` asks, and never comes back."""
    status = 1
    sys.dont_write_bytecode = True
    try:
        os.setsid()
        walls.die_with_parent(parent)
        _point_streams_at(scratch)
        limits = Limits(**request["limits"])
        format_ = Format(request["format"]) if request["format"] else None
        earn = walls.limit(
            limits.memory_bytes_ocr if format_ in RECOGNISING else limits.memory_bytes,
            limits.cpu_seconds,
            limits.cpu_seconds_most,
            limits.file_bytes,
        )
        walls.close_the_gates(scratch)
        path, name = Path(request["path"]), request["name"]
        if format_ is None:
            found = detect(path, name, limits)
            wire.send(out, wire.FILE_TYPE, [found.value, MIME_TYPES[found]])
        else:
            progress = _progress(out)
            job = Job(path, name, format_, limits, progress, earn, request["whisper_dir"])
            _parse(out, job)
        status = 0
    except Exception as error:  # noqa: BLE001 - the last stop: every failure becomes a refusal of this file
        with contextlib.suppress(OSError):
            wire.send(out, wire.REFUSED, refusal(error, request["name"], request["format"]))
            status = 0
    finally:
        os._exit(status)


def _parse(out: socket.socket, job: Job) -> None:
    reading: Reading = reader(job.format)(job)
    heading = ""
    for batch in batches(job, reading.blocks):
        heading = heading or next((block.text for block in batch if block.level), "")
        wire.send(out, wire.BLOCKS, [wire.pack(block) for block in batch])
    title = one_line(reading.title) or one_line(heading) or stem(job.name)
    wire.send(out, wire.DONE, {"title": title, "mime_type": MIME_TYPES[job.format], "engine": reading.engine})


def refusal(error: Exception, name: str, format_name: str | None) -> list[str]:
    """`[reason, message, what to log]`: a refusal as it is, anything else as what it means for the file."""
    if isinstance(error, Refusal):
        return [error.reason, error.message, ""]
    kind = LABELS[Format(format_name)] if format_name else "a file"
    logged = f"{type(error).__name__}: {error}"[:500]
    if isinstance(error, MemoryError) or getattr(error, "code", None) == _LIBXML_NO_MEMORY:
        said: Refusal = TooLarge(f"{name} is too large: reading it needs more memory than a file may take")
    elif is_full_disk(error):
        said = StorageFull(FULL)
    elif isinstance(error, RecursionError):
        said = Unreadable(f"{name} cannot be read as {kind}: it is nested too deeply")
    elif isinstance(error, ImportError):
        said = Unsupported(
            f"{name} cannot be read here: {kind} needs the Python package {error.name or error}; "
            "install it, then upload the file again"
        )
    else:
        said = Unreadable(f"{name} cannot be read as {kind}: the content is damaged ({_short(error)})")
    return [said.reason, said.message, logged]


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:160]


def _progress(out: socket.socket) -> Any:
    def report(share: float) -> None:
        wire.send(out, wire.PROGRESS, round(min(max(share, 0.0), 1.0), 4))

    return report


def _point_streams_at(scratch: Path) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    errors = os.open(scratch / "errors", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(errors, 2)
    os.environ["TMPDIR"] = str(scratch)
