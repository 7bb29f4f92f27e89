"""Prepares the model that comes with the installation in a folder, for images: `python -m ... FOLDER`."""

import asyncio
import sys
from pathlib import Path

from adapters.outbound.embedding.exports import Exports
from adapters.outbound.embedding.installed import PRECISIONS
from adapters.outbound.embedding.model_files import ModelFiles


def main(folder: Path) -> None:
    exports = Exports(folder)
    for precision in PRECISIONS:
        asyncio.run(exports.file_of(ModelFiles(), precision))
    for lock in folder.glob("*.lock"):
        lock.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
