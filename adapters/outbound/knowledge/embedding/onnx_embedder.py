"""Embeds with an ONNX model on the CPU, in its own threads; neither torch nor transformers is imported.

The model is loaded at first use. Texts are computed one by one: batches gain next to nothing on a processor, cost
their padding, and the scale of 8-bit activations would depend on the other texts. Queries have their own thread, and
no passage is begun while a query runs: a query waits for the rest of one passage at most.
"""

import asyncio
import logging
import os
import platform
import sys
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.embedding.exports import Exports, Precision
from adapters.outbound.knowledge.embedding.model_files import ModelFiles
from ports.indexing import EmbeddingModel, Vector

REMEMBERED_QUERIES = 2048
QUANTISED = "int8-1"
"""Ends the fingerprint of vectors made with 8-bit integers; raised when they come out otherwise."""
MOST_THREADS = 8
READY_FOR_A_THREAD = 2
"""While a thread embeds one passage, the next lies ready: it need not wait for the event loop."""
LONGEST_PAUSE = 0.1
"""Seconds for which a passage lets queries pass, so that it goes on under a flood of them."""
NICENESS = 4
"""Two fifths of the share of a thread that does not step back."""

logger = logging.getLogger(__name__)


class OnnxEmbedder:
    """`threads`: passages embedded at a time; 0: as many as there are processors, at most `MOST_THREADS`."""

    def __init__(
        self, files: ModelFiles, exports: Exports, *, precision: Precision, threads: int = 0
    ) -> None:
        self._files = files
        self._exports = exports
        self._precision: Precision = precision
        processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
        self._threads = threads or min(MOST_THREADS, processors)
        self._session: Any = None
        self._loading = threading.Lock()
        self._queries = ThreadPoolExecutor(1, "embed-queries")
        self._passages = ThreadPoolExecutor(self._threads, "embed-passages", initializer=_step_back)
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._asking = 0
        self._quiet = threading.Event()
        self._quiet.set()

    async def model(self) -> EmbeddingModel:
        if "model" not in self._files.__dict__:
            await asyncio.to_thread(lambda: self._files.model)
        model = self._files.model
        if self._precision == "float32":
            return model
        return replace(model, fingerprint=f"{model.fingerprint}:{QUANTISED}")

    async def is_prepared(self) -> bool:
        """Return True if the model need not be exported first."""
        return await asyncio.to_thread(self._exports.is_there, self._files, self._precision)

    async def ensure_prepared(self) -> bool:
        return self._session is not None or await self._exports.begin(self._files, self._precision)

    async def prepare(self) -> None:
        await self.session()

    async def session(self) -> Any:
        """The loaded model; it is exported and loaded where that is still to be done."""
        if (session := self._session) is not None:
            return session
        file = await self._exports.file_of(self._files, self._precision)

        def load() -> Any:
            with self._loading:
                if self._session is None:
                    started = time.monotonic()
                    self._session = self.load(file)
                    logger.info("embedding model loaded in %.1f s", time.monotonic() - started)
                return self._session

        return await asyncio.get_running_loop().run_in_executor(self._queries, load)

    async def embed_query(self, text: str) -> Vector:
        if text in self._known:
            self._known.move_to_end(text)
            return self._known[text]
        self._asking += 1
        self._quiet.clear()
        try:
            session = await self.session()
            prompted = self._files.prompts.query + text
            loop = asyncio.get_running_loop()
            vector = await loop.run_in_executor(self._queries, self.embed, session, prompted)
        finally:
            self._asking -= 1
            if not self._asking:
                self._quiet.set()
        self._known[text] = vector
        if len(self._known) > REMEMBERED_QUERIES:
            self._known.popitem(last=False)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Uploads take turns at every passage."""
        vectors: list[Vector] = [()] * len(texts)
        waiting = iter(range(len(texts)))

        def embed(session: Any, text: str) -> Vector:
            self._quiet.wait(LONGEST_PAUSE)
            return self.embed(session, self._files.prompts.passage + text)

        async def embed_next() -> None:
            loop = asyncio.get_running_loop()
            for place in waiting:
                session = await self.session()
                vectors[place] = await loop.run_in_executor(self._passages, embed, session, texts[place])

        await asyncio.gather(*(embed_next() for _ in range(self._threads * READY_FOR_A_THREAD)))
        return vectors

    def close(self) -> None:
        """Ends the threads after what they are doing."""
        self._queries.shutdown(wait=False, cancel_futures=True)
        self._passages.shutdown(wait=False, cancel_futures=True)

    def unload(self) -> None:
        """Gives the model's memory up; whoever embeds next loads it again."""
        with self._loading:
            self._session = None

    def embed(self, session: Any, text: str) -> Vector:
        import numpy

        ids = numpy.array([self._files.token_ids(text)], dtype=numpy.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        names = [model_input.name for model_input in session.get_inputs()]
        exact = session.run(None, {name: inputs[name] for name in names})[0][0]
        return array("f", exact.astype(numpy.float32).tobytes())

    def load(self, file: Path) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = options.enable_mem_pattern = (
            False  # memory for the longest text, kept for ever
        )
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _step_back() -> None:
    """Messages and queries come before passages on a busy processor."""
    if sys.platform == "linux":  # where niceness is a thread's own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


X86_FEATURES = frozenset({"avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8"})
ARM_FEATURES = frozenset({"asimddp", "i8mm"})
"""Dot products of 8-bit integers. Without them, integers are no faster than single precision, and x86 processors
saturate sums of products at 16 bits."""
CPU_INFO = Path("/proc/cpuinfo")


@cache
def has_fast_int8(cpu_info: Path = CPU_INFO) -> bool:
    """Return True if 8-bit integers are multiplied faster than floating-point numbers; False if it is unknown."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"  # all of Apple's own have the dot products
    try:
        lines = cpu_info.read_text().splitlines()
    except OSError:
        return False
    features = {
        word
        for line in lines
        if line.startswith(("flags", "Features"))
        for word in line.split(":", 1)[-1].split()
    }
    return bool(features & (X86_FEATURES | ARM_FEATURES))
