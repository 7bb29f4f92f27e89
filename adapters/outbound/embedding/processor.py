"""What the processor of this machine computes fast."""

import platform
import sys
from functools import cache
from pathlib import Path

X86_FEATURES = frozenset({"avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8"})
ARM_FEATURES = frozenset({"asimddp", "i8mm"})
"""Dot products of 8-bit integers. Without them, integers are no faster than single precision, and x86 processors
saturate sums of products at 16 bits."""
CPU_INFO = Path("/proc/cpuinfo")


@cache
def has_fast_int8(cpu_info: Path = CPU_INFO) -> bool:
    """Whether 8-bit integers are multiplied faster than floating-point numbers; False where nothing tells."""
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
