"""What callers may ask of knowledge bases, and the options of a search."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from domain import limits
from domain.file_names import MAX_FILE_NAME
from domain.knowledge.model import FilesWanted
from domain.refusals import Fault, Invalid

_HASH = re.compile(r"[0-9a-f]{64}")
_CHUNK_ID = re.compile(r"[0-9]{1,20}-[0-9a-f-]{36}")

NO_FILES = "No files uploaded"
NO_BASE = "Knowledge base not found"
NO_FILE = "File not found"
NO_CHUNK = "Chunk not found"


def check_name(name: str) -> str:
    return limits.check_filled("name", name, limits.BASE_NAME).strip()


def check_description(text: str) -> str:
    return limits.check_text("description", text, limits.DESCRIPTION)


def check_manifest(manifest: Mapping[str, Any]) -> None:
    if fault := limits.json_fault(manifest):
        raise Invalid.of([Fault("kb_manifest", fault)])


def is_file_hash(text: str) -> bool:
    return _HASH.fullmatch(text) is not None


def is_chunk_id(text: str) -> bool:
    return _CHUNK_ID.fullmatch(text) is not None


def upload_message(count: int, *, respond_async: bool) -> str:
    """What an upload is answered with, in a sentence."""
    files = f"{count} file{'s' if count != 1 else ''}"
    return f"{files} accepted, being processed" if respond_async else f"{files} uploaded successfully"


DEFAULT_WINDOW, LARGEST_WINDOW = 10_000, 50_000
"""Characters of a file's text in one answer."""


def check_files_wanted(wanted: FilesWanted) -> None:
    """Raises `Invalid`."""
    check_window(1 if wanted.limit is None else wanted.limit, wanted.offset)
    limits.check_text("name", wanted.name, MAX_FILE_NAME)


def check_window(limit: int, offset: int, largest: int = 1000) -> None:
    faults = []
    if not 1 <= limit <= largest:
        faults.append(Fault("limit", f"must be between 1 and {largest}"))
    if offset < 0:
        faults.append(Fault("offset", "must be 0 or more"))
    if faults:
        raise Invalid.of(faults)


MOST_RESULTS = 50
MOST_FILES = 1000
MOST_OF_FILE = 1000


class Mode(StrEnum):
    """Which of the two searches runs: both, the one by text, the one by vectors."""

    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """`file_ids`: hashes of the files to search, empty for the whole base. `per_file`: the most chunks of one file.
    `highlight`: the places of the query's words are returned as well."""

    top_k: int = 10
    min_similarity: float = 0.0
    file_ids: Sequence[str] = ()
    per_file: int | None = None
    mode: Mode = Mode.HYBRID
    highlight: bool = False

    @property
    def by_file(self) -> bool:
        """Return True if results depend on the file of a chunk."""
        return bool(self.file_ids) or self.per_file is not None

    @property
    def of_one_file(self) -> int:
        """How many chunks of one file there may be."""
        return min(self.per_file or self.top_k, self.top_k)


DEFAULT = SearchOptions()


def mode_of(text: str) -> Mode:
    """Raises `Invalid`."""
    if text not in tuple(Mode):
        raise Invalid.of([Fault("mode", f"must be one of {', '.join(Mode)}")])
    return Mode(text)


def check_options(options: SearchOptions) -> None:
    """Raises `Invalid`."""
    faults = []
    if not 1 <= options.top_k <= MOST_RESULTS:
        faults.append(Fault("topK", f"must be between 1 and {MOST_RESULTS}"))
    if not 0 <= options.min_similarity <= 1:
        faults.append(Fault("minSimilarity", "must be between 0 and 1"))
    if options.per_file is not None and not 1 <= options.per_file <= MOST_OF_FILE:
        faults.append(Fault("perFile", f"must be between 1 and {MOST_OF_FILE}"))
    if len(options.file_ids) > MOST_FILES:
        faults.append(Fault("fileIds", f"must be at most {MOST_FILES} files"))
    elif not all(map(is_file_hash, options.file_ids)):
        faults.append(Fault("fileIds", "must be ids of files, each 64 lower-case hexadecimal digits"))
    if faults:
        raise Invalid.of(faults)
