"""Models as files of ONNX: made once, at first use, in a child process, and kept.

The name of a file ends with the digest of its content, so that a damaged one is known and made anew.
"""

import fcntl
import importlib.util
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from adapters.outbound.embedding.model_files import ModelFiles, sha256_of
from domain.full_disk import full_disk_refused
from domain.refusals import Unavailable

Precision = Literal["int8", "float32"]
EXPORTER = 1
"""Raised when files are made in another way."""
PATIENCE_SECONDS = 900
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 30.0, 1800.0
"""After a failure, and after many: a child that loads PyTorch is not started for each search."""
MODULE = "adapters.outbound.embedding.export"

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

    def file_of(self, files: ModelFiles, precision: Precision) -> Path:
        """The model as a whole and sound file; makes it where there is none. Blocks; raises `Unavailable`, for a
        while after a failure at once and with the same words."""
        key = _key(files, precision)
        if ready := self._ready(key):
            return ready
        failure = self._failed.get(key)
        if failure and self._now() < failure.until:
            raise Unavailable(failure.why)
        with full_disk_refused():
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._alone(key):
                path = self._sound(key) or self._tried(key, files, precision)
        self._failed.pop(key, None)
        return path

    def is_there(self, files: ModelFiles, precision: Precision) -> bool:
        """Whether it need not be made. Raises `Unavailable` without the model itself."""
        key = _key(files, precision)
        return bool(self._ready(key) or _sound_in(self.folder, key))

    def _ready(self, key: str) -> Path | None:
        try:
            return self._prepared and _sound_in(self._prepared, key)
        except OSError as error:
            logger.warning("EMBEDDING_PREPARED_DIR cannot be read: %s", error)
            return None

    def _tried(self, key: str, files: ModelFiles, precision: Precision) -> Path:
        try:
            return self._made(key, files, precision)
        except Unavailable as refusal:
            before = self._failed.get(key)
            pause = min(before.pause * 2, LONGEST_PAUSE_SECONDS) if before else FIRST_PAUSE_SECONDS
            self._failed[key] = _Failure(refusal.message, pause, self._now() + pause)
            logger.error("%s; tried again after %g seconds, when it is needed", refusal.message, pause)
            raise

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """One process at a time: others wait for what it makes."""
        with (self.folder / f"{key}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _sound(self, key: str) -> Path | None:
        sound = _sound_in(self.folder, key)
        for path in () if sound else self.folder.glob(f"{key}.*.onnx"):
            logger.warning("%s is damaged and made anew", path)
            path.unlink()
        return sound

    def _made(self, key: str, files: ModelFiles, precision: Precision) -> Path:
        started = time.monotonic()
        logger.info("preparing the embedding model %s as %s", files.model.name, precision)
        with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as work:
            made = Path(work) / "model.onnx"
            _run(files.folder, made, precision)
            path = self.folder / f"{key}.{sha256_of(made)}.onnx"
            made.replace(path)
        logger.info("embedding model prepared in %.1f s", time.monotonic() - started)
        return path


def _key(files: ModelFiles, precision: Precision) -> str:
    return sha256(f"{files.model.fingerprint} {precision} {EXPORTER}".encode()).hexdigest()[:16]


def _sound_in(folder: Path, key: str) -> Path | None:
    files = folder.glob(f"{key}.*.onnx")
    return next((path for path in files if path.suffixes[0] == f".{sha256_of(path)}"), None)


def can_prepare() -> bool:
    """Whether what prepares models is installed: images go without it."""
    return all(importlib.util.find_spec(name) for name in ("torch", "sentence_transformers", "onnx"))


def _run(folder: Path, file: Path, precision: Precision) -> None:
    if not can_prepare():
        raise Unavailable(
            f"the embedding model in {folder} must be prepared with PyTorch, which is not installed here; use the"
            " image of the target `full` (docs/deployment.md)"
        )
    command = [sys.executable, "-P", "-m", MODULE, str(folder), str(file), precision]
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 - "" is the current folder
    environment = {
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": path,
        "TMPDIR": str(file.parent),
    }
    try:
        subprocess.run(  # noqa: S603 - our own module, under our own interpreter
            command,
            check=True,
            capture_output=True,
            cwd=file.parent,
            env={**os.environ, **environment},
            timeout=PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"the embedding model in {folder} could not be prepared in time") from None
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise Unavailable(
            f"the embedding model in {folder} could not be prepared: {''.join(why) or error.returncode}"
        ) from None
