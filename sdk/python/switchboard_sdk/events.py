"""Events of Switchboard, and how a stream of them is read."""

import json
from typing import Any, NotRequired, TypedDict, cast


class Event(TypedDict):
    """An event. docs/events.md tells the `data` of each kind; `instanceId` and `sessionId` are there where the event
    is about an instance or a conversation. The kind `reset` has no more than an `id`: events before it are gone."""

    id: int
    kind: str
    at: NotRequired[str]
    instanceId: NotRequired[int | None]
    sessionId: NotRequired[str | None]
    data: NotRequired[dict[str, Any]]


MAX_EVENT_BYTES = 16_000_000


class EventStream:
    """Reads the bytes of a stream. `cursor` is the id of the last whole frame: the next stream goes on from there."""

    def __init__(self, cursor: int | None = None) -> None:
        self.cursor = cursor
        self._line = bytearray()
        self._frame: dict[bytes, bytes] = {}

    def begin(self) -> None:
        """A new connection: half a frame of the last one does not count."""
        self._line.clear()
        self._frame = {}

    def feed(self, piece: bytes) -> list[Event]:
        """The events that end in this piece. Raises `ValueError` for an event of unreasonable size."""
        self._line += piece
        if len(self._line) > MAX_EVENT_BYTES + len(piece):
            raise ValueError(f"an event has over {MAX_EVENT_BYTES} bytes")
        if b"\n" not in piece:
            return []
        *lines, rest = self._line.split(b"\n")
        self._line = rest
        return [event for line in lines if (event := self._take(bytes(line.removesuffix(b"\r")))) is not None]

    def _take(self, line: bytes) -> Event | None:
        if line:
            name, _, value = line.partition(b":")
            self._frame[name] = value.removeprefix(b" ")
            return None
        frame, self._frame = self._frame, {}
        if frame.get(b"id", b"").isdigit():
            self.cursor = int(frame[b"id"])
        if frame.get(b"event") == b"reset":
            return Event(id=self.cursor or 0, kind="reset")
        return cast(Event, json.loads(frame[b"data"])) if b"data" in frame else None
