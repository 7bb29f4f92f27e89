"""MP3, WAV and OGG: decoded by libsndfile, their speech recognised.

By Whisper where a model directory is set, else by PocketSphinx with the model in its wheel.
"""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy
import soundfile
from scipy.signal import resample_poly

from adapters.outbound.knowledge.parsing.detection import mpeg_frame
from adapters.outbound.knowledge.parsing.reading import Job
from domain.knowledge.documents import Block, BlockKind, Format

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
    """The engine's name, and the recognised segments. Raises `ImportError` where its package is missing."""
    if not whisper_dir:
        import pocketsphinx

        decoder = pocketsphinx.Decoder(samprate=SAMPLE_RATE, loglevel="FATAL")
        return "pocketsphinx en-us", _recognised(decoder, (samples * 32767).astype(numpy.int16))
    from faster_whisper import WhisperModel

    if not (Path(whisper_dir) / "tokenizer.json").is_file():
        raise ImportError(f"model in WHISPER_MODEL_DIR ({whisper_dir} holds no tokenizer.json)")
    model = WhisperModel(whisper_dir, device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True)
    recognised, _ = model.transcribe(samples, vad_filter=True)
    return f"faster-whisper {Path(whisper_dir).name}", (
        Segment(segment.start, segment.end, segment.text.strip()) for segment in recognised
    )


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


_UNKNOWN_SIZES = range(0x7FFF_F000, 0x1_0000_0000)
"""What programs write that do not know how much will follow."""
_OGG_HEADER, _OGG_MOST = 27, 65_307
_FIRST_FRAME = 200
"""Bytes in which the count of frames stands."""


def is_cut_off(path: Path, format_: Format) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        if format_ is Format.WAV:
            return _wav(file, size)
        return _ogg(file, size) if format_ is Format.OGG else _mp3(file, size)


def _wav(file: BinaryIO, size: int) -> bool:
    """A "data" chunk that is longer than the file."""
    order: Literal["big", "little"] = "big" if file.read(12)[:4] == b"RIFX" else "little"
    while len(head := file.read(8)) == 8:
        length = int.from_bytes(head[4:], order)
        if head[:4] == b"data":
            return length not in _UNKNOWN_SIZES and file.tell() + length > size + 1
        file.seek(length + length % 2, os.SEEK_CUR)
    return False


def _ogg(file: BinaryIO, size: int) -> bool:
    """A last page that is longer than what is left of the file (RFC 3533, 6)."""
    file.seek(max(0, size - _OGG_MOST))
    tail = file.read()
    start = tail.rfind(b"OggS")
    if start < 0:
        return True
    page = tail[start:]
    segments = page[_OGG_HEADER - 1] if len(page) >= _OGG_HEADER else 0
    lacing = page[_OGG_HEADER : _OGG_HEADER + segments]
    is_whole = len(page) >= _OGG_HEADER and len(lacing) == segments
    return not is_whole or _OGG_HEADER + segments + sum(lacing) > len(page)


def _mp3(file: BinaryIO, size: int) -> bool:
    """Return True for a last frame that is longer than the rest of the file, or fewer frames than the first one says.

    Encoders write their number into it ("Xing" or "Info"). The first bytes that are no frame, such as a tag, end the
    sound.
    """
    at = _behind_id3(file.read(10))
    file.seek(at)
    head = file.read(_FIRST_FRAME)
    place = max(head.find(b"Xing"), head.find(b"Info"))
    tag = head[place + 4 : place + 12] if place >= 0 else b""
    declared = int.from_bytes(tag[4:], "big") if len(tag) == 8 and tag[3] & 1 else 0
    count = 0
    while at < size:
        file.seek(at)
        length = mpeg_frame(file.read(4))
        if not length:
            break
        at += length
        count += 1
    return at > size or count < declared


def _behind_id3(head: bytes) -> int:
    """Where the sound begins: behind a tag, whose length is given in groups of seven bits (ID3v2.4, 3.1)."""
    if len(head) < 10 or head[:3] != b"ID3":
        return 0
    length = 0
    for byte in head[6:10]:
        length = length << 7 | byte & 0x7F
    return 10 + length + (10 if head[5] & 0x10 else 0)


_CPU_PER_SECOND = 1.0
_PIECE_SECONDS = 30


def read(job: Job) -> Iterator[Block]:
    """One block for each stretch of speech. Raises `TooLarge` over the limit on duration."""
    try:
        information = soundfile.info(str(job.path))
    except soundfile.LibsndfileError as error:
        raise job.unreadable(f"it is damaged ({error.error_string.strip()})") from error
    if is_cut_off(job.path, job.format):
        raise job.unreadable("it is cut off: it ends before its sound does")
    seconds = information.frames / max(information.samplerate, 1)
    if seconds > job.limits.audio_seconds:
        raise job.too_large(
            f"it lasts {seconds / 60:.0f} minutes, {job.limits.audio_seconds // 60} are allowed"
        )
    job.earn(seconds * _CPU_PER_SECOND)
    job.engine, heard = segments(_samples(job), job.whisper_dir)
    for segment in heard:
        start, end = round(segment.start, 2), round(segment.end, 2)
        yield Block(BlockKind.SPEECH, segment.text, time_start=start, time_end=end)
        job.progress(segment.end / max(seconds, 0.1))


def _samples(job: Job) -> Any:
    """Mono at the rate of recognition, made in pieces: a long file is never whole in memory at its own rate."""
    pieces = []
    limit = job.limits.audio_seconds
    try:
        with soundfile.SoundFile(str(job.path)) as file:
            rate = file.samplerate
            common = math.gcd(rate, SAMPLE_RATE)
            taken = 0
            while len(block := file.read(rate * _PIECE_SECONDS, dtype="float32", always_2d=True)):
                taken += len(block)
                if taken > limit * rate:
                    raise job.too_large(f"it lasts more than {limit // 60} minutes")
                pieces.append(resample_poly(block.mean(axis=1), SAMPLE_RATE // common, rate // common))
    except soundfile.LibsndfileError as error:
        raise job.unreadable(f"it is damaged ({error.error_string.strip()})") from error
    if not pieces:
        raise job.unreadable("it holds no sound")
    return numpy.concatenate(pieces).astype(numpy.float32)
