"""How much a file may ask of us."""

from __future__ import annotations

from dataclasses import dataclass

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on what a file holds, and on what reading it may cost. Sizes in bytes, times in seconds.

    `inflated_bytes` and `inflate_ratio` count what a container really inflates to, whatever it declares; the
    ratio counts from `inflate_floor` on. `cpu_seconds` is for reading; recognising text and speech earns
    more as it goes on, up to `cpu_seconds_most`. `quiet_seconds` is the longest silence of a child.
    """

    inflated_bytes: int = 200 * _MB
    inflate_ratio: int = 200
    inflate_floor: int = 10 * _MB
    members: int = 5_000
    pages: int = 2_000
    rows: int = 200_000
    pixels: int = 50_000_000
    ocr_side: int = 2_500
    audio_seconds: int = 1_800
    text_chars: int = 20_000_000
    blocks: int = 400_000
    depth: int = 200
    memory_bytes: int = 2_048 * _MB
    memory_bytes_ocr: int = 3_072 * _MB
    file_bytes: int = 64 * _MB
    cpu_seconds: int = 120
    cpu_seconds_most: int = 1_800
    quiet_seconds: int = 300
    total_seconds: int = 3_600
