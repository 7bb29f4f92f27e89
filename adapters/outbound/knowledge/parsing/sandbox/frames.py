"""Frames between service, fork server and children: JSON, never pickles, for a child may be taken over."""

import json
import socket
import struct
from operator import attrgetter
from typing import Any

from domain.knowledge.documents import Block, BlockKind
from domain.knowledge.model import Piece
from ports.indexing import ReadPart

PROGRESS, BLOCKS, PART, FILE_TYPE = "progress", "blocks", "part", "file_type"
WEB_PAGE, DONE, REFUSED, EXIT = "web_page", "done", "refused", "exit"

ALONE, SHARED = b"a", b"s"
"""What the service is told first: whether the fork server has left the network."""
_HEAD = struct.Struct(">I")
_MAX_FRAME = 64 * 1024 * 1024
_values = attrgetter(
    *("kind", "text", "heading_path", "level", "page", "sheet", "row_start", "row_end"),
    *("slide", "time_start", "time_end", "header"),
)


def send(sock: socket.socket, kind: str, payload: Any) -> None:
    """One frame. Blocks until the other side has taken it, or raises what the socket raises."""
    body = json.dumps([kind, payload], ensure_ascii=False, separators=(",", ":")).encode()
    sock.sendall(_HEAD.pack(len(body)) + body)


def receive(sock: socket.socket) -> tuple[str, Any] | None:
    """The next frame, or None once the other side is gone, be it in the middle of a frame.

    Raises `ValueError` for what is no frame, `TimeoutError` after the socket's own time limit.
    """
    head = _exactly(sock, _HEAD.size)
    size = _HEAD.unpack(head)[0] if head else 0
    if size > _MAX_FRAME:
        raise ValueError("a frame over the limit")
    body = _exactly(sock, size) if head else None
    if body is None:
        return None
    kind, payload = json.loads(body)
    return str(kind), payload


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        try:
            piece = sock.recv(min(size - len(received), 1 << 20))
        except ConnectionError:
            return None
        if not piece:
            return None
        received += piece
    return bytes(received)


def pack(block: Block) -> list[Any]:
    """A block as JSON values, without its place in the document's text."""
    return list(_values(block))


def unpack(values: list[Any], start: int = 0) -> Block:
    kind, text, path, *position = values
    return Block(BlockKind(kind), text, start, tuple(path), *position)


def pack_part(part: ReadPart) -> list[Any]:
    pieces = [
        [piece.position, piece.text, piece.context, piece.metadata, list(piece.words)]
        for piece in part.pieces
    ]
    return [part.text, pieces, list(part.warnings)]


def unpack_part(payload: Any) -> ReadPart:
    """Raises `ValueError` where a child that was taken over sends what is no part."""
    text, pieces, warnings = payload
    if not all(isinstance(value, str) for value in (text, *warnings)):
        raise ValueError("a text that is none")
    for position, piece_text, context, where, words in pieces:
        texts = (piece_text, context, *words)
        is_piece = isinstance(position, int) and isinstance(where, dict)
        if not is_piece or not all(isinstance(value, str) for value in texts):
            raise ValueError("a piece that is none")
    return ReadPart(text, [Piece(*values) for values in pieces], warnings)
