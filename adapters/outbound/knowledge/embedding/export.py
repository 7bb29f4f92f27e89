"""Turns a sentence-transformers model into one file of ONNX: `python -m ... FOLDER FILE int8|float32`.

It runs in a process of its own, since torch, which it needs, takes memory that a service never gets back. Everything
else comes before it, and it does not outlive the service, which holds its standard input open.
"""

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "sentence_embedding"  # "embedding" is taken by a name inside
OPSET = 17
NICENESS = 10
"""A tenth of the share of a process that does not step back."""


def main(arguments: Sequence[str]) -> None:
    folder, file, precision = arguments
    with tempfile.TemporaryDirectory(dir=Path(file).parent) as work:
        plain = Path(work) / "plain.onnx"
        made = export(folder, plain)
        if precision == "int8":
            made = quantise(plain, Path(work) / "int8.onnx")
        made.replace(file)


def export(folder: str, file: Path) -> Path:
    """One text at a time of any length; the answer is the unit vector."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as reports

    reports.disable_progress_bar()  # type: ignore[no-untyped-call]
    model = SentenceTransformer(
        folder, device="cpu", local_files_only=True, model_kwargs={"attn_implementation": "eager"}
    )
    model.float().eval()
    names = [name for name in INPUTS if name in model.tokenizer.model_input_names]

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            features = dict(zip(names, inputs, strict=True))
            return torch.nn.functional.normalize(self.inner(features)[OUTPUT], dim=1)

    ids = torch.ones(1, 8, dtype=torch.int64)
    sample = {"input_ids": ids, "attention_mask": ids, "token_type_ids": torch.zeros_like(ids)}
    torch.onnx.export(
        Whole(),
        tuple(sample[name] for name in names),
        str(file),
        input_names=names,
        output_names=[OUTPUT],
        dynamic_axes={name: {1: "length"} for name in names},
        opset_version=OPSET,
        dynamo=False,
    )
    return file


def quantise(plain: Path, file: Path) -> Path:
    """Weights as 8-bit integers, a scale for each channel; activations get theirs for each text."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(plain, file, per_channel=True, weight_type=QuantType.QInt8)
    return file


def step_back() -> None:
    """Gives way to others; where memory runs out, this process is the one that goes."""
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # there is no such file but on Linux
        Path("/proc/self/oom_score_adj").write_text("1000")


def end_with_parent() -> None:
    """Begins to watch standard input, which closes when the service ends, however it does."""

    def watch() -> None:
        os.read(0, 1)  # not sys.stdin: its lock would be held when the interpreter ends
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    step_back()
    end_with_parent()
    main(sys.argv[1:])
