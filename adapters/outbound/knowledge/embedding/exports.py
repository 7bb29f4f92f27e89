"""Models as files of ONNX: made once in a child process of low priority, and kept.

The name of a file ends with the digest of its content, so that a damaged one is known and made anew.
"""

import asyncio
import fcntl
import importlib.util
import logging
import os
import shutil
import signal
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from adapters.outbound.knowledge.embedding.model_files import ModelFiles, sha256_of
from adapters.tasks import end, seen
from domain.refusals import Refusal, Unavailable, full_disk_refused

Precision = Literal["int8", "float32"]
EXPORTER = 1
"""Raised when files are made in another way."""
PATIENCE_SECONDS = 900
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 1800.0
"""After a failure, and after many: a child that loads PyTorch is not started for each search. The first is shorter
than the tries of an upload take together."""
LOCK_SECONDS = 0.5
"""Between two looks whether another process is done."""
CLOSE_SECONDS = 1.0
UNWRITABLE = "the embedding model cannot be prepared in {}, which the service must be able to write"
MEMORY_NEEDED = "1 GB"
MODULE = "adapters.outbound.knowledge.embedding.export"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Failure:
    why: str
    pause: float
    until: float


class Exports:
    """The exported models of a folder, which several processes may share. `prepared`: a folder that is only read,
    with models that were made beforehand."""

    def __init__(
        self, folder: Path, prepared: Path | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = folder
        self._prepared = prepared
        self._now = now
        self._failed: dict[str, _Failure] = {}
        self._making: dict[str, asyncio.Task[Path]] = {}

    async def file_of(self, files: ModelFiles, precision: Precision) -> Path:
        """The complete and undamaged file of the model, exported first if it does not exist, once for all callers.

        Raises `Unavailable`, for a while after a failure at once and with the same words.
        """
        key = await asyncio.to_thread(_key, files, precision)
        if path := await asyncio.to_thread(self._existing, key):
            return path
        return await asyncio.shield(self._begun(key, files, precision))

    async def begin(self, files: ModelFiles, precision: Precision) -> bool:
        """Returns True if the file exists, else begins to make it. Raises what `file_of` raises."""
        key = await asyncio.to_thread(_key, files, precision)
        if await asyncio.to_thread(self._existing, key):
            return True
        self._begun(key, files, precision)
        return False

    def is_there(self, files: ModelFiles, precision: Precision) -> bool:
        """Return True if it need not be made. Reads the complete file. Raises `Unavailable` without the model."""
        return self._existing(_key(files, precision)) is not None

    def _existing(self, key: str) -> Path | None:
        prepared: Path | None = None
        try:
            prepared = self._prepared and _undamaged(self._prepared, key)
        except OSError as error:
            logger.warning("EMBEDDING_PREPARED_DIR cannot be read: %s", error)
        return prepared or _undamaged(self.folder, key)

    async def close(self) -> None:
        """Ends what is being made; the next process begins anew."""
        await end(self._making.values(), "preparing the embedding model", CLOSE_SECONDS)

    def _begun(self, key: str, files: ModelFiles, precision: Precision) -> asyncio.Task[Path]:
        if key not in self._making:
            failure = self._failed.get(key)
            if failure and self._now() < failure.until:
                raise Unavailable(failure.why)
            if not can_prepare():
                raise Unavailable(
                    f"the embedding model in {files.folder} must be prepared with PyTorch, which is not installed"
                    " here; use the image of the target `full` (docs/deployment.md)"
                )
            task = asyncio.create_task(self._tried(key, files, precision))
            task.add_done_callback(seen)
            task.add_done_callback(lambda _: self._making.pop(key))
            self._making[key] = task
        return self._making[key]

    async def _tried(self, key: str, files: ModelFiles, precision: Precision) -> Path:
        try:
            with full_disk_refused():
                self.folder.mkdir(parents=True, exist_ok=True)
                # One process at a time: others wait for the file that it makes.
                with (self.folder / f"{key}.lock").open("w") as lock:
                    while True:
                        try:
                            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                            break
                        except BlockingIOError:
                            await asyncio.sleep(LOCK_SECONDS)
                    path = await asyncio.to_thread(_undamaged, self.folder, key)
                    if path is None:
                        path = await self._made(key, files, precision)
        except Refusal as refusal:
            self._fails(key, refusal.message)
            raise
        except OSError as error:
            why = f"{UNWRITABLE.format(self.folder)}: {error.strerror or error}"
            self._fails(key, why)
            raise Unavailable(why) from error
        self._failed.pop(key, None)
        return path

    def _fails(self, key: str, why: str) -> None:
        before = self._failed.get(key)
        pause = min(before.pause * 2, LONGEST_PAUSE_SECONDS) if before else FIRST_PAUSE_SECONDS
        self._failed[key] = _Failure(why, pause, self._now() + pause)
        logger.error("%s; tried again after %g seconds, when it is needed", why, pause)

    async def _made(self, key: str, files: ModelFiles, precision: Precision) -> Path:
        for damaged in self.folder.glob(f"{key}.*.onnx"):
            logger.warning("%s is damaged and made anew", damaged)
            damaged.unlink()
        started = time.monotonic()
        name = files.model.name
        logger.info("preparing the embedding model %s as %s, once, at low priority", name, precision)
        for left in self.folder.glob(f"making-{key}-*"):  # of a process that was killed
            await asyncio.to_thread(shutil.rmtree, left)
        with tempfile.TemporaryDirectory(prefix=f"making-{key}-", dir=self.folder) as work:
            made = Path(work) / "model.onnx"
            await _run(files.folder, made, precision)
            path = self.folder / f"{key}.{await asyncio.to_thread(sha256_of, made)}.onnx"
            made.replace(path)
        logger.info("embedding model %s prepared in %.1f s", name, time.monotonic() - started)
        return path


def _undamaged(folder: Path, key: str) -> Path | None:
    files = folder.glob(f"{key}.*.onnx")
    return next((path for path in files if path.suffixes[0] == f".{sha256_of(path)}"), None)


def _key(files: ModelFiles, precision: Precision) -> str:
    return sha256(f"{files.model.fingerprint} {precision} {EXPORTER}".encode()).hexdigest()[:16]


def can_prepare() -> bool:
    """Return True if the packages that prepare models are installed: images go without them."""
    return all(importlib.util.find_spec(name) for name in ("torch", "sentence_transformers", "onnx"))


async def _run(folder: Path, file: Path, precision: Precision) -> None:
    command = [sys.executable, "-P", "-m", MODULE, str(folder), str(file), precision]
    module_path = [os.path.abspath(entry) for entry in sys.path]  # noqa: ASYNC240, PTH100 - "" is the current folder
    environment = {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(module_path),
        "TMPDIR": str(file.parent),
    }
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, cwd=file.parent, env={**os.environ, **environment}
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            # Standard input stays open meanwhile: the child ends once nobody holds it.
            errors = await process.stderr.read()
            await process.wait()
    except TimeoutError:
        raise Unavailable(f"the embedding model in {folder} could not be prepared in time") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else f"it ended with {process.returncode}"
        if process.returncode == -signal.SIGKILL:
            why = f"it was killed, as happens where memory runs out; it needs about {MEMORY_NEEDED}"
        raise Unavailable(f"the embedding model in {folder} could not be prepared: {why}")
