"""PDF files whose lines are drawn at given places, and that keep the library's own way of drawing out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.parsing.making import assembled, escaped

WIDTH, HEIGHT = 612, 792


@dataclass(frozen=True)
class Drawn:
    """A line at `left`, `top` (points from the page's left and top edge)."""

    text: str
    left: float
    top: float
    size: float = 11


def lines(*texts: str, left: float = 72, top: float = 100, size: float = 11) -> list[Drawn]:
    """Lines one below the other."""
    return [Drawn(text, left, top + number * size * 1.25, size) for number, text in enumerate(texts)]


def drawn(
    pages: Sequence[Sequence[Drawn]],
    *,
    title: str = "",
    letters: Mapping[int, str] | None = None,
    rotate: int = 0,
) -> bytes:
    """Each line is a text object of its own, in the given order. `letters` says for which text a byte stands."""
    kids = " ".join(f"{5 + 2 * number} 0 R" for number in range(len(pages)))
    to_unicode = _to_unicode(letters or {})
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding "
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        font + ("/ToUnicode 4 0 R >>" if letters else ">>"),
        f"<< /Length {len(to_unicode)} >>\nstream\n{to_unicode}\nendstream",
    ]
    for number, page in enumerate(pages):
        stream = "\n".join(
            f"BT /F1 {line.size} Tf {line.left} {HEIGHT - line.top} Td ({escaped(line.text)}) Tj ET"
            for line in page
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Rotate {rotate} "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {6 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({escaped(title)}) >>")
    return assembled(objects)


def _to_unicode(letters: Mapping[int, str]) -> str:
    """A character map (ISO 32000-1, 9.10.3)."""
    entries = "\n".join(f"<{code:02X}> <{text.encode('utf-16-be').hex()}>" for code, text in letters.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        f"1 begincodespacerange <00> <FF> endcodespacerange\n{len(letters)} beginbfchar\n{entries}\nendbfchar\n"
        "endcmap CMapName currentdict /CMap defineresource pop end end"
    )


SECTIONS = {
    "Arrival": "Ships take a pilot on board at buoy seven and wait for the tide.",
    "Mooring": "A berth is given by the harbour master, who asks for the length.",
    "Fees": "Each ship pays twelve euros for a day, and half of it in winter.",
    "Fines": "Who moors at a berth of another pays a fine of ninety euros.",
}
CONTENTS = [f"{number} {name} . . . . . . . . . {number}" for number, name in enumerate(SECTIONS, 1)]


def manual() -> bytes:
    """A title page, contents, and four pages with a running header and their number."""
    cover = [
        *lines("Port authority", top=80),
        *lines("Rules of the harbour", "of Aberwyth", top=200, size=24),
    ]
    pages = [cover, lines("Contents", *CONTENTS)]
    for number, (name, text) in enumerate(SECTIONS.items(), 1):
        header = Drawn(f"Aberwyth QX-4711 {number}", 72, 50)
        pages.append([header, *lines(f"{number} {name}", text, text), Drawn(f"- {number} -", 300, 750)])
    return drawn(pages)
