"""What a file and its type may be called, wherever the names come from. Pure."""

import re
from pathlib import PurePosixPath, PureWindowsPath

MAX_FILE_NAME = 255

# Control characters, halves of surrogate pairs, which no UTF-8 holds, and the characters that turn the direction of
# writing: 'txt.exe' must not look like 'exe.txt'.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


_MIME_TYPE = re.compile(r"[!-~]{1,100}/[ -~]{1,100}")


def mime_type(given: str) -> str:
    """The type that somebody gave a file; one that no header could carry is that of mere bytes."""
    return given if _MIME_TYPE.fullmatch(given) else "application/octet-stream"


def file_name(given: str) -> str:
    """The name alone, without folders or unseen characters; never empty, never one that means a folder.

    A name that is too long keeps its end, which tells the format.
    """
    bare = PureWindowsPath(PurePosixPath(given).name).name
    name = _UNSEEN.sub("", bare).strip()[-MAX_FILE_NAME:]
    return name if name.strip(". ") else "unnamed"
