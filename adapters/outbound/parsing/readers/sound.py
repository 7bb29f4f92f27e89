"""MP3, WAV and OGG: decoded by libsndfile, then the speech in it is recognised."""

import math
from collections.abc import Iterator
from typing import Any

import numpy
import soundfile
from scipy.signal import resample_poly

from adapters.outbound.parsing.engines import speech
from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.sound_ends import is_cut_off
from domain.knowledge.documents import Block, BlockKind

_CPU_PER_SECOND = 1.0
_PIECE_SECONDS = 30


def read(job: Job) -> Reading:
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
    engine, heard = speech.segments(_samples(job), job.whisper_dir)
    return Reading(_blocks(job, heard, max(seconds, 0.1)), engine=engine)


def _blocks(job: Job, heard: Iterator[speech.Segment], seconds: float) -> Iterator[Block]:
    for segment in heard:
        start, end = round(segment.start, 2), round(segment.end, 2)
        yield Block(BlockKind.SPEECH, segment.text, time_start=start, time_end=end)
        job.progress(segment.end / seconds)


def _samples(job: Job) -> Any:
    """Mono at the rate of recognition, made in pieces: a long file is never whole in memory at its own rate."""
    pieces = []
    limit = job.limits.audio_seconds
    try:
        with soundfile.SoundFile(str(job.path)) as file:
            rate = file.samplerate
            common = math.gcd(rate, speech.SAMPLE_RATE)
            taken = 0
            while len(block := file.read(rate * _PIECE_SECONDS, dtype="float32", always_2d=True)):
                taken += len(block)
                if taken > limit * rate:
                    raise job.too_large(f"it lasts more than {limit // 60} minutes")
                pieces.append(resample_poly(block.mean(axis=1), speech.SAMPLE_RATE // common, rate // common))
    except soundfile.LibsndfileError as error:
        raise job.unreadable(f"it is damaged ({error.error_string.strip()})") from error
    if not pieces:
        raise job.unreadable("it holds no sound")
    return numpy.concatenate(pieces).astype(numpy.float32)
