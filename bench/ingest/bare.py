"""The bare model, in a process of its own: a line of texts (JSON) is answered with the seconds that encoding takes.

One thread, single precision, batches of 16.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapters.outbound.knowledge.embedding.model_files import packaged_folder

BATCH = 16
"""The fastest size on a CPU."""


class Bare:
    """The process as the bench sees it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def seconds(self, texts: Sequence[str]) -> tuple[float, float]:
        """By the clock, and of the processor."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(texts) + "\n")
        self._process.stdin.flush()
        wall, cpu = self._process.stdout.readline().split()
        return float(wall), float(cpu)


@contextmanager
def bare_model() -> Iterator[Bare]:
    command = [sys.executable, "-m", "bench.ingest.bare"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Bare(process)
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(packaged_folder()), device="cpu", local_files_only=True)
    model.encode(["warm"] * BATCH, show_progress_bar=False)
    for line in sys.stdin:
        texts = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        model.encode(texts, batch_size=BATCH, show_progress_bar=False)
        print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)


if __name__ == "__main__":
    main()
