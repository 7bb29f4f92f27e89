"""What a file may be called, wherever its name comes from. Pure."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

MAX_FILE_NAME = 255

# Control characters, halves of surrogate pairs, which no UTF-8 holds, and the characters that turn the direction of
# writing: 'txt.exe' must not look like 'exe.txt'.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def file_name(given: str) -> str:
    """The name alone, without folders or unseen characters; never empty, never one that means a folder.

    A name that is too long keeps its end, which tells the format.
    """
    bare = PureWindowsPath(PurePosixPath(given).name).name
    name = _UNSEEN.sub("", bare).strip()[-MAX_FILE_NAME:]
    return name if name.strip(". ") else "unnamed"
