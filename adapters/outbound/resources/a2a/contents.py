"""Contents of files, kept apart from the JSON around them: the A2A library would decode them on the event loop."""

import binascii
import json
import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

from a2a.types import Part, StreamResponse, Task

from adapters.outbound.resources.messages import BadAnswer

SMALL = 100_000
"""Characters of base64 that the library may decode itself."""
_PIECE = 1_000_000
"""Characters that are decoded at once: between two pieces the event loop gets its turn."""
_STANDARD = bytes.maketrans(b"-_", b"+/")
_BLANKS = b" \r\n\t"
_NAMES = ("raw", "bytes")
"""Where a file stands in A2A 1.0 and 0.3."""
_OPAQUE = frozenset({"data", "metadata"})
"""Values of the agent's own, in which nothing is a file of the protocol."""


class Contents:
    """The contents of one exchange. In the JSON a random name stands in the place of each."""

    def __init__(self) -> None:
        self._kept: dict[bytes, bytes] = {}

    def clear(self) -> None:
        self._kept.clear()

    def take_out(self, text: bytes, value: dict[str, Any]) -> bytes:
        """The JSON text of `value` without the contents of large files. Raises `BadAnswer` for what is not base64."""
        if len(text) <= SMALL:
            return text
        is_changed = False
        values: list[Any] = [value]
        while values:
            item = values.pop()
            for key, child in item.items() if isinstance(item, dict) else enumerate(item):
                if key in _NAMES and isinstance(child, str) and len(child) > SMALL:
                    item[key] = self._keep(child)
                    is_changed = True
                elif isinstance(child, dict | list) and key not in _OPAQUE:
                    values.append(child)
        return json.dumps(value).encode() if is_changed else text

    def put_back(self, answer: StreamResponse | Task) -> None:
        for part in _parts(answer) if self._kept else ():
            if part.raw in self._kept:
                part.raw = self._kept.pop(part.raw)

    def _keep(self, data: str) -> str:
        name = os.urandom(16)
        try:
            self._kept[name] = _decoded(data)
        except ValueError:
            raise BadAnswer("a file in it is not base64") from None
        return binascii.b2a_base64(name, newline=False).decode()


def _parts(answer: StreamResponse | Task) -> Iterator[Part]:
    """The parts of an answer, wherever they stand."""
    if isinstance(answer, Task):
        messages = (message.parts for message in (answer.status.message, *answer.history))
        return chain(*messages, *(artifact.parts for artifact in answer.artifacts))
    match answer.WhichOneof("payload"):
        case "task":
            return _parts(answer.task)
        case "message":
            return iter(answer.message.parts)
        case "status_update":
            return iter(answer.status_update.status.message.parts)
    return iter(answer.artifact_update.artifact.parts)


def _decoded(data: str) -> bytes:
    """Reads both alphabets, with and without padding. Raises `ValueError`."""
    pieces, rest = [], b""
    for at in range(0, len(data), _PIECE):
        rest += data[at : at + _PIECE].encode().translate(_STANDARD, _BLANKS)
        end = len(rest) - len(rest) % 4
        pieces.append(binascii.a2b_base64(rest[:end], strict_mode=True))
        rest = rest[end:]
    return b"".join([*pieces, binascii.a2b_base64(rest + b"=" * (-len(rest) % 4))])
