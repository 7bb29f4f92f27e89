"""`switchboard up` with vectors that cost nothing: what is left is reading, cutting, storing and indexing."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Collection, Sequence

from apps.compose.container import Container
from apps.processes.standalone import main
from apps.settings_loading import load
from ports.indexing import DIMENSION, EmbeddingModel, Vector

_SAME: Vector = [DIMENSION**-0.5] * DIMENSION


class Constant:
    """The same vector for every text."""

    async def model(self) -> EmbeddingModel:
        return EmbeddingModel("constant", "constant")

    async def of(self, fingerprint: str | None) -> Constant:
        return self

    async def release(self, in_use: Collection[str]) -> None:
        return

    async def ensure_prepared(self) -> bool:
        return True

    async def prepare(self) -> None:
        return

    async def embed_query(self, text: str) -> Vector:
        return _SAME

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [_SAME] * len(texts)

    async def close(self) -> None:
        return


if __name__ == "__main__":
    Container.embedder.override(Constant())
    sys.exit(main(load(), Namespace()))
