"""The embedders of an installation: of its own model, and of those whose vectors its knowledge bases still have.

As a program (`python -m ... FOLDER`) it prepares the packaged model in a folder, for images.
"""

import asyncio
import sys
from collections.abc import Collection
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Protocol

from adapters.outbound.knowledge.embedding.exports import Exports, Precision
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from adapters.outbound.knowledge.embedding.onnx_embedder import OnnxEmbedder
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, MODELS, Kind, PinnedModel, model_named
from adapters.outbound.knowledge.models.downloads import ModelFolder
from domain.refusals import Unavailable
from ports.indexing import Embedder, EmbeddingModel

PRECISIONS: tuple[Precision, ...] = ("int8", "float32")


class ChosenModel(Protocol):
    """Where the choice is kept for all processes."""

    async def find(self) -> tuple[str, str] | None:
        """Name and precision."""
        ...

    async def choose(self, name: str, precision: str, *, unless_chosen: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Computing:
    """How models compute. `forced`: the precision is set; else the chosen model's counts, and `fitting`, which suits
    the processor, where none is chosen. `threads` as `OnnxEmbedder` has them. `prepared` as `Exports` has it."""

    fitting: Precision
    forced: Precision | None = None
    threads: int = 0
    prepared: Path | None = None


class InstalledEmbedders:
    """`ports.indexing.Embedders`. `given`: the model of the setting, which wins over the choice."""

    def __init__(
        self, folder: ModelFolder, given: ModelFiles | None, chosen: ChosenModel, computing: Computing
    ) -> None:
        self._folder = folder
        self._given = given
        self._chosen = chosen
        self._computing = computing
        self._exports = Exports(folder.exported, computing.prepared)
        self._embedders: dict[tuple[ModelFiles, Precision], OnnxEmbedder] = {}

    async def of(self, fingerprint: str | None) -> Embedder:
        if fingerprint is None:
            return await self._present()
        models = [
            self._folder.files(model)
            for model in MODELS
            if model.kind is Kind.EMBEDDING and self._folder.is_here(model)
        ]
        if self._given is not None:
            models.insert(0, self._given)
        # Models that were loaded already come first.
        for files, precision in (*self._embedders, *product(models, PRECISIONS)):
            embedder = self._kept(files, precision)
            if (await embedder.model()).fingerprint == fingerprint:
                return embedder
        return await self._present()

    async def release(self, in_use: Collection[str]) -> None:
        for embedder in self._embedders.values():
            if (await embedder.model()).fingerprint not in in_use:
                embedder.unload()

    async def model(self) -> EmbeddingModel:
        return await (await self._present()).model()

    async def ensure_prepared(self) -> bool:
        return await (await self._present()).ensure_prepared()

    async def prepare(self) -> None:
        await (await self._present()).prepare()

    async def close(self) -> None:
        for embedder in self._embedders.values():
            embedder.close()
        await self._exports.close()

    async def choose(self, model: PinnedModel) -> None:
        """Makes a model the installation's."""
        await self._chosen.choose(model.name, self._computing.forced or self._computing.fitting)

    async def chosen(self) -> str:
        """The name of the installation's model. What suits one processor is chosen for all, else vectors would change
        with the process that makes them."""
        return (await self._choice())[0]

    async def _choice(self) -> tuple[str, Precision]:
        fitting = self._computing.fitting
        choice = await self._chosen.find()
        if choice is None:
            await self._chosen.choose(BUILT_IN, fitting, unless_chosen=True)
            choice = await self._chosen.find() or (BUILT_IN, fitting)
        name, kept = choice
        precision: Precision = "int8" if kept == "int8" else "float32"
        return name, self._computing.forced or precision

    async def is_prepared(self) -> bool:
        """Return True if the installation's model is exported here, so that it can be loaded."""
        return await (await self._present()).is_prepared()

    async def _present(self) -> OnnxEmbedder:
        name, precision = await self._choice()
        if self._given is not None:
            return self._kept(self._given, precision)
        model = model_named(name)
        if model is None or not self._folder.is_here(model):
            raise Unavailable(f"the embedding model {name} is not here; run: switchboard models pull {name}")
        return self._kept(self._folder.files(model), precision)

    def _kept(self, files: ModelFiles, precision: Precision) -> OnnxEmbedder:
        """Always the same one, which keeps its model loaded."""
        key = files, precision
        if key not in self._embedders:
            threads = self._computing.threads
            self._embedders[key] = OnnxEmbedder(files, self._exports, precision=precision, threads=threads)
        return self._embedders[key]


def main(folder: Path) -> None:
    exports = Exports(folder)
    for precision in PRECISIONS:
        asyncio.run(exports.file_of(ModelFiles(), precision))
    for lock in folder.glob("*.lock"):
        lock.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
