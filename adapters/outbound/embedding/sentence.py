"""Embeds with a sentence-transformers model on the CPU, in threads of its own.

The model is loaded at first use and never by name: by folder nothing is asked of the network. Queries have a
thread of their own, so that they never wait behind a batch of passages; both share the weights.
"""

import asyncio
import logging
import os
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from adapters.outbound.embedding.model_files import ModelFiles
from ports.embedding import EmbeddingModel, Vector

BATCH = 16
"""The fastest size on a CPU, at half the memory of larger ones."""
REMEMBERED_QUERIES = 2048

logger = logging.getLogger(__name__)


class SentenceEmbedder:
    """`threads`: of torch, for one batch; more than one pays only on an idle machine.

    `dtype`: 'float32', or 'bfloat16', twice as fast on processors with AVX512-BF16 or AMX and slow elsewhere.
    """

    def __init__(self, files: ModelFiles, *, threads: int = 1, dtype: str = "float32") -> None:
        self._files = files
        self._threads = threads
        self._dtype = dtype
        self._model: Any = None
        self._loading = threading.Lock()
        self._tokenizing = threading.Lock()
        self._queries = ThreadPoolExecutor(1, "embed-queries")
        self._passages = ThreadPoolExecutor(1, "embed-passages")
        self._known: OrderedDict[str, Vector] = OrderedDict()

    async def model(self) -> EmbeddingModel:
        if "model" in self._files.__dict__:
            return self._files.model
        return await asyncio.to_thread(lambda: self._files.model)

    async def prepare(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._passages, self._loaded)

    async def embed_query(self, text: str) -> Vector:
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        loop = asyncio.get_running_loop()
        vector = (await loop.run_in_executor(self._queries, self.encode, [text], True))[0]
        self._known[text] = vector
        if len(self._known) > REMEMBERED_QUERIES:
            self._known.popitem(last=False)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        loop = asyncio.get_running_loop()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: list[Vector] = [()] * len(texts)
        for start in range(0, len(order), BATCH):  # one by one: other uploads get their turn between them
            places = order[start : start + BATCH]
            batch = [texts[place] for place in places]
            made = await loop.run_in_executor(self._passages, self.encode, batch, False)
            for place, vector in zip(places, made, strict=True):
                vectors[place] = vector
        return vectors

    def close(self) -> None:
        """Ends both threads after what they are doing."""
        self._queries.shutdown(wait=False, cancel_futures=True)
        self._passages.shutdown(wait=False, cancel_futures=True)

    def encode(self, texts: list[str], is_query: bool) -> list[Vector]:
        import numpy

        model = self._loaded()
        encode = model.encode_query if is_query else model.encode_document
        made = encode(
            texts, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True, normalize_embeddings=True
        )
        exact = numpy.asarray(made, dtype=numpy.float32)
        exact /= numpy.maximum(numpy.linalg.norm(exact, axis=1, keepdims=True), 1e-9)
        return [array("f", row.tobytes()) for row in exact]

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                logger.info("loading the embedding model from %s", self._files.folder)
                started = time.monotonic()
                self._model = self.load()
                logger.info("embedding model loaded in %.1f s", time.monotonic() - started)
        return self._model

    def load(self) -> Any:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as reports

        reports.disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(self._threads)
        model = SentenceTransformer(
            str(self._files.folder),
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, self._dtype)},
        )
        model.eval()
        self._guard_tokenizer(model)
        return model

    def _guard_tokenizer(self, model: Any) -> None:
        """Tokenizers must not be used by two threads at once: they keep padding and truncation as state."""
        name = "preprocess" if hasattr(model, "preprocess") else "tokenize"
        tokenize = getattr(model, name)

        def one_at_a_time(*arguments: Any, **named: Any) -> Any:
            with self._tokenizing:
                return tokenize(*arguments, **named)

        setattr(model, name, one_at_a_time)
