"""The content of opaquely signed mail (S/MIME, RFC 8551, 3.5.2; CMS, RFC 5652). Its signature is not checked."""

_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
_SEQUENCE, _SET, _OCTETS, _CONSTRUCTED_OCTETS, _EXPLICIT = 0x30, 0x31, 0x04, 0x24, 0xA0
_INDEFINITE = 0x80


def signed_content(data: bytes) -> bytes | None:
    """The mail inside, None where the bytes are no signed data or are encrypted."""
    try:
        return _Reader(data).content()
    except (IndexError, ValueError):
        return None


class _Reader:
    """Reads BER (X.690) up to the content. Raises `ValueError` or `IndexError` for anything else."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def content(self) -> bytes:
        self._enter(_SEQUENCE)
        if not self._data.startswith(_SIGNED_DATA, self._at):
            raise ValueError("no signed data")
        self._skip()
        self._enter(_EXPLICIT)
        self._enter(_SEQUENCE)
        self._skip()  # the version
        self._skip()  # the digest algorithms
        self._enter(_SEQUENCE)
        self._skip()  # the type of the content
        self._enter(_EXPLICIT)
        if self._data[self._at] == _OCTETS:
            return self._octets()
        length = self._enter(_CONSTRUCTED_OCTETS)
        end = len(self._data) if length is None else self._at + length
        pieces = []
        while self._at < end and self._data[self._at] == _OCTETS:
            pieces.append(self._octets())
        return b"".join(pieces)

    def _enter(self, tag: int) -> int | None:
        """Goes to the content of an element. Its length, None where it is indefinite."""
        if self._data[self._at] != tag:
            raise ValueError("another element is expected")
        first = self._data[self._at + 1]
        self._at += 2
        if first == _INDEFINITE:
            return None
        if first < _INDEFINITE:
            return first
        size = first & 0x7F
        length = int.from_bytes(self._data[self._at : self._at + size], "big")
        self._at += size
        return length

    def _octets(self) -> bytes:
        length = self._enter(_OCTETS)
        if length is None or self._at + length > len(self._data):
            raise ValueError("the content is incomplete")
        self._at += length
        return self._data[self._at - length : self._at]

    def _skip(self) -> None:
        """Goes behind an element; one of indefinite length must hold none of those."""
        length = self._enter(self._data[self._at])
        if length is not None:
            self._at += length
            return
        while self._data[self._at : self._at + 2] != b"\0\0":
            inner = self._enter(self._data[self._at])
            if inner is None:
                raise ValueError("an element is nested too deep")
            self._at += inner
        self._at += 2
