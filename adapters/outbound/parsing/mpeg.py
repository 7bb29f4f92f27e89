"""Frames of MPEG audio, layer III."""

_MPEG_LAYER_3 = 1


def mpeg_frame(data: bytes) -> int:
    """The length of the MPEG layer III frame that begins here, or 0 (ISO/IEC 11172-3, 2.4.1.3)."""
    if len(data) < 4 or data[0] != 0xFF or data[1] & 0xE0 != 0xE0:
        return 0
    version, layer = data[1] >> 3 & 3, data[1] >> 1 & 3
    rate_index, sampling_index = data[2] >> 4, data[2] >> 2 & 3
    if version == 1 or layer != _MPEG_LAYER_3 or sampling_index == 3 or not 0 < rate_index < 15:
        return 0
    first = version == 3
    kbits = (
        (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
        if first
        else (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
    )[rate_index]
    hertz = (44_100, 48_000, 32_000)[sampling_index] >> {3: 0, 2: 1, 0: 2}[version]
    return (144 if first else 72) * kbits * 1000 // hertz + (data[2] >> 1 & 1)
