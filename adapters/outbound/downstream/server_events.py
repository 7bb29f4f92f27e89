"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as they come in. Pure."""

from collections.abc import Iterator

from adapters.outbound.downstream.messages import BadAnswer

_DATA = b"data:"


class Lines:
    """Cuts a stream of bytes into lines; a line longer than `limit` bytes is refused. Its work grows with the bytes
    alone, however they are cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The lines that end in these bytes, without their ends. Raises `BadAnswer`."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._add(line)
            yield self.rest().rstrip(b"\r")
            self._rest.clear()
            self._size = 0
        self._add(rest)

    def rest(self) -> bytes:
        """The line that has not ended."""
        return b"".join(self._rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise BadAnswer("a line of the stream is too long")
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

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that end in these bytes. Raises `BadAnswer`."""
        for line in self._lines.feed(piece):
            if not line and self._data:
                yield b"\n".join(self._data)
                self._data, self._size = [], 0
            elif (data := data_of(line)) is not None:
                self._size += len(data) + 1
                if self._size > self._limit:
                    raise BadAnswer("an event of the stream is too long")
                self._data.append(data)
