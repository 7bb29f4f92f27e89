"""Formats that hold a mail within a mail: Outlook's winmail.dat ([MS-OXTNEF], [MS-OXRTFCP]), and opaquely signed mail
(S/MIME, RFC 8551, 3.5.2; CMS, RFC 5652), whose signature is not checked."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from adapters.outbound.mail.charsets import decode_bytes

SIGNATURE = b"\x78\x9f\x3e\x22"
_BODY, _DATA, _TITLE, _RENDITION = 0x800C, 0x800F, 0x8010, 0x9002
_PROPERTIES, _OF_ATTACHMENT, _CODE_PAGE = 0x9003, 0x9005, 0x9007
"""Attributes ([MS-OXTNEF] 2.1.3.3)."""
_PLAIN, _RTF, _HTML = 0x1000, 0x1009, 0x1013
_CONTENT, _NAME, _LONG_NAME, _MIME_TYPE = 0x3701, 0x3704, 0x3707, 0x370E
"""Properties of a mail and of its files ([MS-OXPROPS])."""
_SIZES = {0x02: 4, 0x03: 4, 0x04: 4, 0x05: 8, 0x06: 8, 0x07: 8, 0x0A: 4, 0x0B: 4, 0x14: 8, 0x40: 8, 0x48: 16}
"""Bytes of a value by its type, padded to four ([MS-OXTNEF] 2.1.3.4)."""
_OBJECT, _STRING, _UNICODE, _BINARY = 0x0D, 0x1E, 0x1F, 0x102
_SEVERAL, _NAMED = 0x1000, 0x8000
_INTERFACE = 16
"""Bytes in front of an object."""
_WINDOW = 4096
_LONGEST_RTF = 500_000
_PRELOADED = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""With what the dictionary begins ([MS-OXRTFCP] 2.1.2.1)."""


@dataclass(slots=True)
class TnefFile:
    name: str = ""
    mime_type: str = ""
    content: bytes = b""


@dataclass(slots=True)
class Tnef:
    """A mail: `html` where it has no plain text."""

    plain: str = ""
    html: str = ""
    files: list[TnefFile] = field(default_factory=list)


def read_tnef(data: bytes) -> Tnef | None:
    """The mail, as far as it can be read; None for other data."""
    if not data.startswith(SIGNATURE):
        return None
    mail, charset, rtf = Tnef(), "", b""
    for attribute, value in _attributes(data):
        if attribute == _CODE_PAGE and len(value) >= 4:
            charset = f"cp{int.from_bytes(value[:4], 'little')}"
        elif attribute == _BODY:
            mail.plain = _text(value, charset)
        elif attribute == _PROPERTIES:
            properties = _properties(value)
            mail.plain = _string(properties, _PLAIN, charset) or mail.plain
            mail.html = _string(properties, _HTML, charset)
            rtf = properties.get(_RTF, (0, b""))[1]
        else:
            _read_file_attribute(mail.files, attribute, value, charset)
    if rtf and not (mail.plain + mail.html):
        mail.plain = _text_of_rtf(rtf)
    return mail


def _read_file_attribute(files: list[TnefFile], attribute: int, value: bytes, charset: str) -> None:
    """Begins a file, or reads an attribute of the last one."""
    if attribute == _RENDITION:
        files.append(TnefFile())
    if not files:
        return
    file = files[-1]
    if attribute == _TITLE:
        file.name = file.name or _text(value, charset)
    elif attribute == _DATA:
        file.content = value
    elif attribute == _OF_ATTACHMENT:
        properties = _properties(value)
        names = (_string(properties, name, charset) for name in (_LONG_NAME, _NAME))
        file.name = next(filter(None, names), file.name)
        file.mime_type = _string(properties, _MIME_TYPE, charset)
        kind, content = properties.get(_CONTENT, (0, b""))
        content = content[_INTERFACE:] if kind == _OBJECT else content
        file.content = file.content or content


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Ids and values: a level, an id and type, a length, the value and a checksum each."""
    at = 6
    while at + 9 <= len(data):
        attribute, _, length = struct.unpack_from("<HHI", data, at + 1)
        at += 9
        yield attribute, data[at : at + length]
        at += length + 2


def _properties(data: bytes) -> Mapping[int, tuple[int, bytes]]:
    """Types and first values by id, as far as they can be read."""
    properties: dict[int, tuple[int, bytes]] = {}
    try:
        (count,) = struct.unpack_from("<I", data, 0)
        at = 4
        for _ in range(count):
            at = _read_property(data, at, properties)
    except (struct.error, KeyError):
        pass  # what follows is of an unknown form, or missing
    return properties


def _read_property(data: bytes, at: int, properties: dict[int, tuple[int, bytes]]) -> int:
    kind, id = struct.unpack_from("<HH", data, at)
    at += 4
    if id >= _NAMED:
        (is_string,) = struct.unpack_from("<I", data, at + 16)
        (number,) = struct.unpack_from("<I", data, at + 20)
        at += 24 + (_padded(number) if is_string else 0)
    base = kind & ~_SEVERAL
    is_variable = base in (_OBJECT, _STRING, _UNICODE, _BINARY)
    count = 1
    if is_variable or kind & _SEVERAL:
        (count,) = struct.unpack_from("<I", data, at)
        at += 4
    for index in range(count):
        length = _SIZES[base] if not is_variable else struct.unpack_from("<I", data, at)[0]
        at += 4 if is_variable else 0
        if at + length > len(data):
            raise KeyError(id)
        if index == 0:
            properties[id] = (base, data[at : at + length])
        at += _padded(length)
    return at


def _padded(length: int) -> int:
    return (length + 3) // 4 * 4


def _string(properties: Mapping[int, tuple[int, bytes]], id: int, charset: str) -> str:
    kind, value = properties.get(id, (0, b""))
    return _text(value, "utf-16-le" if kind == _UNICODE else charset)


def _text(value: bytes, charset: str) -> str:
    return decode_bytes(value, charset).replace("\0", "").strip()


def _text_of_rtf(data: bytes) -> str:
    from striprtf.striprtf import rtf_to_text

    try:
        return str(rtf_to_text(_decompressed(data).decode("latin-1"), errors="replace")).strip()
    except (ValueError, LookupError, IndexError, struct.error):
        return ""


def _decompressed(data: bytes) -> bytes:
    """The RTF of its compressed form: literal bytes and references into a window of 4096 bytes."""
    _, _, form, _ = struct.unpack_from("<II4sI", data, 0)
    if form != b"LZFu":
        return data[16 : 16 + _LONGEST_RTF]
    window = bytearray(_PRELOADED.ljust(_WINDOW, b"\0"))
    write, at = len(_PRELOADED), 16
    out = bytearray()
    while at < len(data) and len(out) < _LONGEST_RTF:
        control = data[at]
        at += 1
        for bit in range(8):
            if control & (1 << bit):
                if at + 2 > len(data):
                    return bytes(out)
                offset, length = data[at] << 4 | data[at + 1] >> 4, (data[at + 1] & 15) + 2
                at += 2
                if offset == write:
                    return bytes(out)
                piece = []
                for step in range(length):
                    byte = window[(offset + step) % _WINDOW]
                    window[(write + step) % _WINDOW] = byte
                    piece.append(byte)
            else:
                if at >= len(data):
                    return bytes(out)
                piece, length = [data[at]], 1
                window[write] = data[at]
                at += 1
            write = (write + length) % _WINDOW
            out += bytes(piece)
    return bytes(out)


_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")
_SEQUENCE, _SET, _OCTETS, _CONSTRUCTED_OCTETS, _EXPLICIT = 0x30, 0x31, 0x04, 0x24, 0xA0
_INDEFINITE = 0x80


def signed_content(data: bytes) -> bytes | None:
    """The mail inside, None where the bytes are no signed data or are encrypted."""
    try:
        return _Reader(data).content()
    except (IndexError, ValueError):
        return None


@dataclass(slots=True)
class _Reader:
    """Reads BER (X.690) up to the content. Raises `ValueError` or `IndexError` for anything else."""

    data: bytes
    at: int = 0

    def content(self) -> bytes:
        self._enter(_SEQUENCE)
        if not self.data.startswith(_SIGNED_DATA, self.at):
            raise ValueError("no signed data")
        self._skip()
        self._enter(_EXPLICIT)
        self._enter(_SEQUENCE)
        self._skip()  # the version
        self._skip()  # the digest algorithms
        self._enter(_SEQUENCE)
        self._skip()  # the type of the content
        self._enter(_EXPLICIT)
        if self.data[self.at] == _OCTETS:
            return self._octets()
        length = self._enter(_CONSTRUCTED_OCTETS)
        end = len(self.data) if length is None else self.at + length
        pieces = []
        while self.at < end and self.data[self.at] == _OCTETS:
            pieces.append(self._octets())
        return b"".join(pieces)

    def _enter(self, tag: int) -> int | None:
        """Goes to the content of an element. Its length, None where it is indefinite."""
        if self.data[self.at] != tag:
            raise ValueError("another element is expected")
        first = self.data[self.at + 1]
        self.at += 2
        if first == _INDEFINITE:
            return None
        if first < _INDEFINITE:
            return first
        size = first & 0x7F
        length = int.from_bytes(self.data[self.at : self.at + size], "big")
        self.at += size
        return length

    def _octets(self) -> bytes:
        length = self._enter(_OCTETS)
        if length is None or self.at + length > len(self.data):
            raise ValueError("the content is incomplete")
        self.at += length
        return self.data[self.at - length : self.at]

    def _skip(self) -> None:
        """Goes behind an element; one of indefinite length must hold none of those."""
        length = self._enter(self.data[self.at])
        if length is not None:
            self.at += length
            return
        while self.data[self.at : self.at + 2] != b"\0\0":
            inner = self._enter(self.data[self.at])
            if inner is None:
                raise ValueError("an element is nested too deep")
            self.at += inner
        self.at += 2
