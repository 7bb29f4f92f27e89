"""Words in speech: Whisper where a model directory is set, else PocketSphinx with its wheel's own model."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

SAMPLE_RATE = 16_000
_SPLIT_SECONDS = 20.0
_LEAD_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Segment:
    """What was said between two moments, in seconds."""

    start: float
    end: float
    text: str


Samples = Any
"""Mono sound at `SAMPLE_RATE`, an array of float32 between -1 and 1."""


def segments(samples: Samples, whisper_dir: str) -> tuple[str, Iterator[Segment]]:
    """The engine's name, and what it hears. Raises `ImportError` where its package is missing."""
    return _whisper(samples, whisper_dir) if whisper_dir else _sphinx(samples)


def _whisper(samples: Samples, directory: str) -> tuple[str, Iterator[Segment]]:
    from faster_whisper import WhisperModel

    if not (Path(directory) / "tokenizer.json").is_file():
        raise ImportError(f"model in WHISPER_MODEL_DIR ({directory} holds no tokenizer.json)")
    model = WhisperModel(directory, device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True)
    recognised, _ = model.transcribe(samples, vad_filter=True)
    return f"faster-whisper {Path(directory).name}", (
        Segment(segment.start, segment.end, segment.text.strip()) for segment in recognised
    )


def _sphinx(samples: Samples) -> tuple[str, Iterator[Segment]]:
    import pocketsphinx

    decoder = pocketsphinx.Decoder(samprate=SAMPLE_RATE, loglevel="FATAL")
    return "pocketsphinx en-us", _recognised(decoder, (samples * 32767).astype(numpy.int16))


def _recognised(decoder: Any, pulses: Any) -> Iterator[Segment]:
    for begin, end in _speech_spans(pulses):
        decoder.start_utt()
        decoder.process_raw(pulses[begin:end].tobytes(), full_utt=True)
        decoder.end_utt()
        hypothesis = decoder.hyp()
        text = hypothesis.hypstr.strip() if hypothesis is not None else ""
        yield Segment(begin / SAMPLE_RATE, end / SAMPLE_RATE, text)


def _speech_spans(pulses: Any) -> Iterator[tuple[int, int]]:
    """The stretches with speech, cut at pauses, and in any case after 20 seconds."""
    from pocketsphinx import Endpointer

    endpointer = Endpointer(sample_rate=SAMPLE_RATE)
    size = endpointer.frame_bytes // 2
    longest = int(_SPLIT_SECONDS * SAMPLE_RATE)
    begin: int | None = None
    for at in range(0, len(pulses) - size + 1, size):
        endpointer.process(pulses[at : at + size].tobytes())
        if begin is None and endpointer.in_speech:
            begin = max(int((endpointer.speech_start - _LEAD_SECONDS) * SAMPLE_RATE), 0)
        elif begin is not None and (not endpointer.in_speech or at - begin > longest):
            yield begin, at
            begin = None if not endpointer.in_speech else at
    if begin is not None:
        yield begin, len(pulses)
