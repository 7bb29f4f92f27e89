"""Reads and embeds files for knowledge bases."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from domain.knowledge.documents import Document, FileType, FormatSupport
from domain.knowledge.model import Piece

Vector = Sequence[float]
"""A unit vector of the model's dimension."""

DIMENSION = 384
OTHER_LANGUAGE = 0.3
"""What a cosine counts where the model was made for another language: there unrelated texts have high ones too."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How cosines of a model are read. `floor` and `span`: the cosine of texts that have nothing in common, and how
    far above it those of the same meaning lie. `language`: the only one that it is made for, by its English name in
    lower case; empty where there are several or it is not known."""

    floor: float = 0.0
    span: float = 1.0
    language: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector: vectors of different fingerprints must never be compared.

    `latin_only`: the model knows Latin script alone, so its cosines mean nothing for other scripts.
    """

    name: str
    fingerprint: str
    dimension: int = DIMENSION
    latin_only: bool = True
    scale: Scale = Scale()

    def knows(self, languages: Collection[str]) -> bool:
        """Return True if the model is made for one of the languages of a text, or if these are unknown."""
        return not self.scale.language or not languages or self.scale.language in languages

    def similarity(self, cosine: float, languages: Collection[str] = ()) -> float:
        """A cosine of this model on the scale from 0 to 1 that all models and the text match share. `languages`:
        those of the texts, empty where they are not known."""
        similarity = min(1.0, max(0.0, (cosine - self.scale.floor) / self.scale.span))
        return similarity if self.knows(languages) else OTHER_LANGUAGE * similarity


class Embedder(Protocol):
    """Embeds texts with one model. Queries are served before passages."""

    async def model(self) -> EmbeddingModel:
        """Which model it is; reads the model's files, does not load them. Raises `Unavailable`."""

    async def ensure_prepared(self) -> bool:
        """Return True if the model is prepared, which takes minutes once on each machine. Otherwise starts the
        preparation and does not wait. Raises `Unavailable` without the model, and if the preparation has just
        failed."""

    async def prepare(self) -> None:
        """Prepares and loads the model, where that is still to be done; whoever embeds next does not wait for it."""

    async def embed_query(self, text: str) -> Vector:
        """One query; a text longer than the model's window is cut."""

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Vectors in the order of the texts; bulk work, which waits for queries."""


class Embedders(Protocol):
    """The embedders of the installation's own model and of its other ones."""

    async def of(self, fingerprint: str | None) -> Embedder:
        """Which makes vectors of that fingerprint; the installation's for None, and where that model is not here."""

    async def release(self, in_use: Collection[str]) -> None:
        """Gives up what models of other fingerprints take of the memory; they can be asked for again."""


Progress = Callable[[float], None]
"""Told the share of the work that is done, 0 to 1, now and then, on the event loop."""


@dataclass(frozen=True, slots=True)
class ReadPart:
    """The next stretch of a document's text, the pieces that were completed with it, and what could not be read."""

    text: str
    pieces: Sequence[Piece]
    warnings: Sequence[str] = ()


class Parser(Protocol):
    """Reads files of every format of the contract.

    Every refusal names the file and the reason, and leaves nothing behind.
    """

    async def identify(self, path: Path, file_name: str) -> FileType:
        """What the file is, from its first bytes and its directory; reads little of it.

        Raises `Unsupported` (no format of ours), `Unreadable` (empty, or text under a binary extension).
        """

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        """The document in the file; `path` is where the bytes lie, `file_name` what the user calls it.

        Raises `Unsupported` (no format of ours, or an optional part is missing: says which),
        `Unreadable` (corrupt, encrypted, empty, without any text), `TooLarge` (over a limit on pages, rows,
        pixels, duration, text, time, memory or what a container inflates to).
        """

    def cut(
        self, path: Path, file_name: str, progress: Progress | None = None
    ) -> AsyncGenerator[ReadPart, None]:
        """The document in the file, cut into pieces while it is read: the next part is read when it is asked for.

        Refuses as `parse` does, be it in the middle; raises `Unavailable` where reading broke off.
        """

    def available(self) -> Sequence[FormatSupport]:
        """One entry per format, in the contract's order."""

    async def close(self) -> None:
        """Ends what is running; a parse under way is abandoned."""
