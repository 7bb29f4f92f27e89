"""OpenDocument files, books and messages for the tests of the parser."""

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping
from email.message import EmailMessage

_ODF = "application/vnd.oasis.opendocument"
MIMETYPES = {
    ".odt": f"{_ODF}.text".encode(),
    ".ods": f"{_ODF}.spreadsheet".encode(),
    ".odp": f"{_ODF}.presentation".encode(),
    ".epub": b"application/epub+zip",
}
_NAMES = {"office", "text", "table", "presentation"}
_SPACES = " ".join(
    [
        *(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in sorted(_NAMES)),
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"',
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ]
)


def container(mimetype: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", mimetype)
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def open_document(ending: str, body: str, *, head: str = "", **parts: str) -> bytes:
    """An OpenDocument file; `body` is what stands in office:body, `parts` are other members without ".xml"."""
    root = f"<office:document-content {_SPACES}><office:body>{body}</office:body></office:document-content>"
    content = f'<?xml version="1.0"?>{head}{root}'
    others = {f"{name}.xml": f"<office:other {_SPACES}>{text}</office:other>" for name, text in parts.items()}
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry m:full-path="/" '
        f'm:media-type="{MIMETYPES[ending].decode()}"/></m:manifest>'
    )
    return container(MIMETYPES[ending], {"content.xml": content, "META-INF/manifest.xml": manifest, **others})


def book(title: str, chapters: Mapping[str, str | bytes], **members: str) -> bytes:
    """An EPUB with a page of contents and these chapters, by their file names."""
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title></metadata><manifest>"
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f'{items}</manifest><spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    place = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="text/book.opf"/></rootfiles></container>'
    )
    return container(
        MIMETYPES[".epub"],
        {
            "META-INF/container.xml": place,
            "text/book.opf": package,
            "text/nav.xhtml": "<html><body><p>Page of contents</p></body></html>",
            **{f"text/{name}": text for name, text in chapters.items()},
            **members,
        },
    )


def letter(
    subject: str, text: str, attachments: Iterable[tuple[str, bytes]] = (), sender: str = "ann@example.com"
) -> EmailMessage:
    message = EmailMessage()
    message["From"] = sender
    message["To"] = "bob@example.com"
    message["Date"] = "Mon, 05 Jan 2026 10:00:00 +0000"
    message["Subject"] = subject
    message.set_content(text)
    for name, data in attachments:
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


_TEXT, _BINARY, _OBJECT = 0x001F, 0x0102, 0x000D
_Properties = Mapping[tuple[int, int], bytes]


def outlook(subject: str, text: str, attachments: Iterable[tuple[str, bytes]] = ()) -> bytes:
    """An Outlook message ([MS-OXMSG]) with a sender, a recipient and attachments."""
    tree: dict[str, object] = _storage(
        {
            (0x0037, _TEXT): subject.encode("utf-16-le"),
            (0x1000, _TEXT): text.encode("utf-16-le"),
            (0x0C1A, _TEXT): "Ann Müller".encode("utf-16-le"),
            (0x5D01, _TEXT): "ann@example.com".encode("utf-16-le"),
        },
        32,
    )
    names = {
        (0x3001, _TEXT): "Bob".encode("utf-16-le"),
        (0x39FE, _TEXT): "bob@example.com".encode("utf-16-le"),
    }
    tree["__recip_version1.0_#00000000"] = _storage(names, 8)
    for number, (name, data) in enumerate(attachments):
        properties = {(0x3707, _TEXT): name.encode("utf-16-le"), (0x3701, _BINARY): data}
        tree[f"__attach_version1.0_#{number:08X}"] = _storage(properties, 8)
    return _compound(tree)


def _storage(properties: _Properties, header: int) -> dict[str, object]:
    rows = b"".join(
        struct.pack("<HHIII", kind, name, 6, len(value), 0) for (name, kind), value in properties.items()
    )
    streams: dict[str, object] = {
        f"__substg1.0_{name:04X}{kind:04X}": value for (name, kind), value in properties.items()
    }
    return {"__properties_version1.0": bytes(header) + rows, **streams}


_END, _FREE, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF
_SECTOR, _MINI, _CUTOFF = 512, 64, 4096


def _compound(tree: Mapping[str, object]) -> bytes:
    """A compound file ([MS-CFB]): small streams in the mini stream, others in sectors of their own."""
    entries: list[list[object]] = [["Root Entry", 5, _NONE, _NONE, b""]]
    _list(tree, 0, entries)
    mini = bytearray()
    mini_table: list[int] = []
    sectors = bytearray()
    table: list[int] = []

    def place(data: bytes, into: bytearray, chain: list[int], size: int) -> int:
        count = -(-len(data) // size)
        first = len(chain)
        chain += [first + number + 1 for number in range(count - 1)] + [_END] * bool(count)
        into += data + bytes(-len(data) % size)
        return first if count else _END

    starts = []
    for _, kind, _, _, data in entries:
        assert isinstance(data, bytes)
        small = len(data) < _CUTOFF
        starts.append(
            _END
            if kind != 2
            else place(data, *((mini, mini_table, _MINI) if small else (sectors, table, _SECTOR)))
        )
    starts[0] = place(bytes(mini), sectors, table, _SECTOR)
    entries[0][4] = bytes(mini)
    first_mini = place(struct.pack(f"<{len(mini_table)}I", *mini_table), sectors, table, _SECTOR)
    directory = b"".join(_entry(*entry, start) for entry, start in zip(entries, starts, strict=True))
    first_directory = place(directory, sectors, table, _SECTOR)
    fat_sectors = 1
    while len(table) + fat_sectors > fat_sectors * 128:
        fat_sectors += 1
    first_fat = len(table)
    table += [0xFFFFFFFD] * fat_sectors
    table += [_FREE] * (fat_sectors * 128 - len(table))
    sectors += struct.pack(f"<{len(table)}I", *table)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    numbers = (0, fat_sectors, first_directory, 0, _CUTOFF, first_mini, -(-len(mini_table) // 128), _END, 0)
    head += struct.pack("<5H6x9I", 0x3E, 3, 0xFFFE, 9, 6, *numbers)
    slots = [first_fat + number for number in range(fat_sectors)]
    head += struct.pack("<109I", *slots, *[_FREE] * (109 - fat_sectors))
    return head + bytes(sectors)


def _list(tree: Mapping[str, object], parent: int, entries: list[list[object]]) -> None:
    """The entries of a storage, each the right sibling of the one before."""
    last: int | None = None
    for name, value in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
        place = len(entries)
        is_stream = isinstance(value, bytes)
        entries.append([name, 2 if is_stream else 1, _NONE, _NONE, value if is_stream else b""])
        if last is None:
            entries[parent][3] = place
        else:
            entries[last][2] = place
        last = place
        if isinstance(value, Mapping):
            _list(value, place, entries)


def _entry(name: str, kind: int, right: int, child: int, data: bytes, start: int) -> bytes:
    encoded = name.encode("utf-16-le")
    head = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded) + 2, kind, 1, _NONE, right, child)
    return head + bytes(36) + struct.pack("<IQ", start if kind != 1 else 0, len(data))
