"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as they come in. Pure."""

from adapters.outbound.downstream.messages import BadAnswer

_DATA = b"data:"
_TOO_LONG = "a line of the stream is too long"


class Lines:
    """Cuts a stream of bytes into lines; a line longer than `limit` bytes is refused. Its work grows with the bytes
    alone, however they are cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that end in these bytes, without their ends. Raises `BadAnswer`."""
        first, *lines = piece.split(b"\n")
        self._add(first)
        if not lines:
            return []
        lines.insert(0, self.rest())
        self._rest, self._size = [], 0
        self._add(lines.pop())
        if max(map(len, lines)) > self._limit:
            raise BadAnswer(_TOO_LONG)
        return [line.rstrip(b"\r") for line in lines] if b"\r" in piece else lines

    def rest(self) -> bytes:
        """The line that has not ended."""
        return b"".join(self._rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise BadAnswer(_TOO_LONG)
        self._rest.append(piece)


def data_of(line: bytes) -> bytes | None:
    """What a line adds to its event, None for comments and other fields."""
    if not line.startswith(_DATA):
        return None
    return line[len(_DATA) :].removeprefix(b" ")


class ServerEvents:
    """The data of the events of a stream. Comments and other fields are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines = Lines(limit)
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that end in these bytes. Raises `BadAnswer`."""
        events: list[bytes] = []
        for line in self._lines.feed(piece):
            if not line:
                if self._data:
                    events.append(b"\n".join(self._data))
                    self._data, self._size = [], 0
            elif (data := data_of(line)) is not None:
                self._size += len(data) + 1
                self._data.append(data)
                if self._size > self._limit:
                    raise BadAnswer("an event of the stream is too long")
        return events
