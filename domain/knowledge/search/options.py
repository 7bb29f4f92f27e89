"""What a search may be asked for beside its query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.knowledge.rules import is_file_hash
from domain.refusals import Fault, Invalid

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
    """`file_ids`: hashes of the files to search, none for all of the base. `per_file`: at most so many chunks of one
    file. `highlight`: the places of the query's words are told as well."""

    top_k: int = 10
    min_similarity: float = 0.0
    file_ids: Sequence[str] = ()
    per_file: int | None = None
    mode: Mode = Mode.HYBRID
    highlight: bool = False

    @property
    def by_file(self) -> bool:
        """Whether it matters in which file a chunk stands."""
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
    if faults := list(_faults(options)):
        raise Invalid.of(faults)


def _faults(options: SearchOptions) -> Iterator[Fault]:
    if not 1 <= options.top_k <= MOST_RESULTS:
        yield Fault("topK", f"must be between 1 and {MOST_RESULTS}")
    if not 0 <= options.min_similarity <= 1:
        yield Fault("minSimilarity", "must be between 0 and 1")
    if options.per_file is not None and not 1 <= options.per_file <= MOST_OF_FILE:
        yield Fault("perFile", f"must be between 1 and {MOST_OF_FILE}")
    if len(options.file_ids) > MOST_FILES:
        yield Fault("fileIds", f"must be at most {MOST_FILES} files")
    elif not all(is_file_hash(file_id) for file_id in options.file_ids):
        yield Fault("fileIds", "must be ids of files, each 64 lower-case hexadecimal digits")
