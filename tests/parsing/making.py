"""Files for the tests of the parser, good and hostile, made on the spot."""

import io
import random
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import docx
import soundfile
from PIL import Image, ImageDraw, ImageFont

from domain.knowledge.documents import BlockKind, Document

SAMPLES = Path(__file__).parent.parent / "samples"

NOISE = random.Random(7).randbytes(4096)

CONTENT_TYPES = (
    b'<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
)


def word(*paragraphs: str) -> bytes:
    """A DOCX."""
    written, out = docx.Document(), io.BytesIO()
    for paragraph in paragraphs:
        written.add_paragraph(paragraph)
    written.save(out)
    return out.getvalue()


def pdf(pages: Sequence[Sequence[str]], outline: Sequence[tuple[str, int]] = (), title: str = "") -> bytes:
    """A PDF with a text layer: each page a list of lines in Helvetica; `outline` is (title, page index)."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(count))
    first_mark = 4 + 2 * count
    marks = range(first_mark, first_mark + len(outline))
    root = f"<< /Type /Catalog /Pages 2 0 R {f'/Outlines {marks.stop} 0 R' if outline else ''} >>"
    objects = [
        root,
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for index, lines in enumerate(pages):
        shown = " ".join(f"({escaped(line)}) Tj T*" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 760 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    for mark, (text, page) in zip(marks, outline, strict=True):
        after = f"/Next {mark + 1} 0 R" if mark + 1 < marks.stop else ""
        before = f"/Prev {mark - 1} 0 R" if mark > marks.start else ""
        objects.append(
            f"<< /Title ({escaped(text)}) /Parent {marks.stop} 0 R {after} {before} "
            f"/Dest [{4 + 2 * page} 0 R /Fit] >>"
        )
    if outline:
        objects.append(f"<< /First {marks.start} 0 R /Last {marks.stop - 1} 0 R /Count {len(outline)} >>")
    objects.append(f"<< /Title ({escaped(title)}) >>")
    return assembled(objects)


def assembled(objects: Sequence[str]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    size = len(objects) + 1
    out += (
        f"trailer << /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{table}\n%%EOF".encode()
    )
    return bytes(out)


def escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def bomb(
    path: Path,
    member: str,
    unit: bytes,
    times: int,
    *,
    declared: int | None = None,
    head: bytes = b"",
    mimetype: bytes | None = None,
) -> None:
    """A ZIP container whose one large member inflates to `head` and `times` units, whatever it declares.

    The unit is deflated once and its bytes are repeated: a full flush makes them independent of each other.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    start = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    two = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    assert one == two
    packed = start + one * times + packer.flush(zlib.Z_FINISH)
    size = len(head) + len(unit) * times if declared is None else declared
    small = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    name, content = ("mimetype", mimetype) if mimetype else ("[Content_Types].xml", CONTENT_TYPES)
    types = small.compress(content) + small.flush()
    _zip(path, [(name, types, len(content), zlib.crc32(content)), (member, packed, size, 0)])


def _zip(path: Path, members: Sequence[tuple[str, bytes, int, int]]) -> None:
    out, directory = bytearray(), bytearray()
    for name, packed, size, checksum in members:
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, checksum, len(packed), size, len(name), 0)
        directory += (
            b"PK\x01\x02\x14\x00" + fields + struct.pack("<HHHII", 0, 0, 0, 0, len(out)) + name.encode()
        )
        out += b"PK\x03\x04" + fields + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(out), 0)
    path.write_bytes(bytes(out) + bytes(directory) + b"PK\x05\x06" + end)


def texts(document: Document, kind: BlockKind) -> list[str]:
    return [block.text for block in document.blocks if block.kind is kind]


def saved(thing) -> bytes:
    out = io.BytesIO()
    thing.save(out)
    return out.getvalue()


def picture(format_: str) -> bytes:
    image = Image.new("RGB", (760, 220), "white")
    font = ImageFont.load_default(36)
    draw = ImageDraw.Draw(image)
    draw.text((30, 30), "Invoice number 48213", fill="black", font=font)
    draw.text((30, 120), "Total amount 950 EUR", fill="black", font=font)
    out = io.BytesIO()
    image.save(out, format_)
    return out.getvalue()


def speech(format_: str) -> bytes:
    samples, rate = soundfile.read(SAMPLES / "speech.ogg")
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=format_)
    return out.getvalue()
