"""Models in the data folder of an installation, and how they come there.

A model is fetched file by file, each is checked, and the model is put into its place when it is whole. What a broken
connection left is gone on with the next time; what is not as expected is removed.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from adapters.outbound.knowledge.embedding.model_files import ModelFiles, sha256_of
from adapters.outbound.knowledge.models.catalogue import BUILT_IN, SCALES, Kind, PinnedModel
from domain.refusals import StorageFull, Unavailable, is_full_disk
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

SPEECH = "speech"
"""The link to the speech model in use."""
EXPORTED = "exported"


class ModelFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, ModelFiles] = {}

    @property
    def exported(self) -> Path:
        return self.path / EXPORTED

    def of(self, name: str) -> Path:
        return self.path / name

    def has(self, model: PinnedModel) -> bool:
        """Return True if it was pulled: a folder gets its name when all of its files are there."""
        return self.of(model.name).is_dir()

    def is_here(self, model: PinnedModel) -> bool:
        return model.name == BUILT_IN or self.has(model)

    def files(self, model: PinnedModel) -> ModelFiles:
        """An embedding model that was pulled, or the one that comes with the installation; always the same object."""
        if model.name not in self._files:
            packaged = model.name == BUILT_IN and not self.has(model)
            folder = None if packaged else self.of(model.name)
            self._files[model.name] = ModelFiles(
                folder, multilingual=model.multilingual and not packaged, scales=SCALES
            )
        return self._files[model.name]

    def speech(self) -> str:
        """The name of the speech model in use, or nothing."""
        link = self.path / SPEECH
        return link.readlink().name if link.is_symlink() and link.exists() else ""

    def use_speech(self, name: str) -> None:
        """Whoever starts from now on recognises speech with it."""
        with tempfile.TemporaryDirectory(dir=self.path) as work:
            link = Path(work) / SPEECH
            link.symlink_to(name)
            link.replace(self.path / SPEECH)


def describe(model: PinnedModel, folder: Path) -> None:
    """Writes what sentence-transformers and the service want to know besides the files of the hub."""
    module = "sentence_transformers.models"
    parts = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    texts = {
        "modules.json": [
            {"idx": place, "name": str(place), "path": path, "type": f"{module}.{name}"}
            for place, (path, name) in enumerate(parts.items())
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": 384,
            "pooling_mode_cls_token": model.pooling == "cls",
            "pooling_mode_mean_tokens": model.pooling == "mean",
        },
        "sentence_bert_config.json": {"max_seq_length": model.window, "do_lower_case": False},
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": model.window,
        },
        "config_sentence_transformers.json": {
            "prompts": {"query": model.prompts.query, "document": model.prompts.passage},
        },
    }
    for name, content in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=2))


MEGABYTE = 1_000_000
WHOLE_SECONDS = 12 * 3600.0
STALL_SECONDS = 60
PARTIAL = ".partial"
RESUMED, NOTHING_BEHIND = 206, 416
"""Statuses: the rest of the file follows, and there is no more of it than was asked to be passed over."""

Progress = Callable[[str, int], None]
"""Told of the file and how many of its bytes are there."""


class WrongContent(Unavailable):
    """A file that is not the expected one."""


class ModelDownloads:
    """`address`: of a server laid out as huggingface.co is."""

    def __init__(self, http: Http, address: str, folder: ModelFolder) -> None:
        self._http = http
        self._address = address.rstrip("/")
        self._folder = folder

    async def pull(self, model: PinnedModel, progress: Progress) -> Path:
        """The folder of the model. Raises `Unavailable` or `StorageFull`."""
        final = self._folder.of(model.name)
        if self._folder.has(model):
            return final
        work = self._folder.of(model.name + PARTIAL)
        try:
            await asyncio.to_thread(work.mkdir, parents=True, exist_ok=True)
            for name, digest in model.files.items():
                await self._file(model, name, digest, work / name, progress)
            if model.kind is Kind.EMBEDDING:
                await asyncio.to_thread(describe, model, work)
            await asyncio.to_thread(work.rename, final)
        except WrongContent:
            await asyncio.to_thread(shutil.rmtree, work)
            raise
        except HttpFailed as failed:
            raise Unavailable(
                f"{model.name} could not be fetched: {failed}; try again to go on with it"
            ) from failed
        except OSError as error:
            if not is_full_disk(error):
                raise
            await asyncio.to_thread(shutil.rmtree, work)
            raise StorageFull(
                f"the disk is full: {model.name} needs {model.megabytes} MB in {self._folder.path}"
            ) from error
        return final

    async def _file(self, model: PinnedModel, name: str, digest: str, path: Path, progress: Progress) -> None:
        """Continues a file that is there in part; if the result is not the expected one, fetches it anew."""
        partial = await asyncio.to_thread(_digest, path)
        if partial == digest:
            return
        fetched = await self._fetched(model, name, path, progress)
        if fetched != digest and partial:
            await asyncio.to_thread(path.unlink)
            fetched = await self._fetched(model, name, path, progress)
        if fetched != digest:
            raise WrongContent(
                f"{self._url(model, name)} is not the expected file: its SHA-256 is {fetched}, not {digest};"
                " nothing of it is kept"
            )

    async def _fetched(self, model: PinnedModel, name: str, path: Path, progress: Progress) -> str:
        """Fetches the rest of a file; returns the digest of the file."""
        size = await asyncio.to_thread(lambda: path.stat().st_size if path.is_file() else 0)
        heads: list[HttpAnswer] = []
        request = HttpRequest(
            "GET",
            self._url(model, name),
            headers={"Range": f"bytes={size}-"} if size else {},
            timeout=WHOLE_SECONDS,
            follow_redirects=True,
            max_bytes=2 * model.megabytes * MEGABYTE,
            on_head=heads.append,
        )
        try:
            pieces = aiter(self._http.stream(request))
            piece = await _next(pieces)
            is_resumed = bool(heads) and heads[-1].status == RESUMED
            with await asyncio.to_thread(path.open, "ab" if is_resumed else "wb") as file:
                while piece:
                    await asyncio.to_thread(file.write, piece)
                    progress(name, file.tell())
                    piece = await _next(pieces)
        except HttpFailed as failed:
            if failed.answer is None or failed.answer.status != NOTHING_BEHIND:
                raise
        return await asyncio.to_thread(_digest, path)

    def _url(self, model: PinnedModel, name: str) -> str:
        return f"{self._address}/{model.repository}/resolve/{model.revision}/{name}"


async def _next(pieces: AsyncIterator[bytes]) -> bytes:
    """The next piece, or none at the end. Raises `HttpFailed` where nothing comes."""
    try:
        async with asyncio.timeout(STALL_SECONDS):
            return await anext(pieces, b"")
    except TimeoutError:
        raise HttpFailed(f"nothing came for {STALL_SECONDS} seconds", before_request=False) from None


def _digest(path: Path) -> str:
    return sha256_of(path) if path.is_file() else ""
