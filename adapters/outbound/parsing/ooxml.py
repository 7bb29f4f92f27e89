"""Parts of Office files that the general readers pass by: notes, comments, charts, diagrams."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from adapters.outbound.parsing.cleaning import one_line

_PARAGRAPHS = frozenset({"p", "comment", "threadedComment", "cat", "val", "tx", "xVal", "yVal"})
_TEXTS = frozenset({"t", "v", "text"})
_NATURAL = re.compile(r"\d+")


def safe_root(data: bytes) -> Any:
    """The root element of a part; entities are not fetched."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def part_texts(path: Path, kinds: str) -> Iterator[str]:
    """The paragraphs of the parts whose content types end in one of these kinds, parts in natural order.

    The names of parts are free (ISO/IEC 29500-2, 6.2), and programs name them differently.
    """
    with zipfile.ZipFile(path) as archive:
        there = frozenset(archive.namelist())
        types = safe_root(archive.read("[Content_Types].xml"))
        kind = re.compile(rf"[./]({kinds})\+xml", re.IGNORECASE)
        names = {
            part.get("PartName", "").lstrip("/")
            for part in types.iter("{*}Override")
            if kind.search(part.get("ContentType", ""))
        }
        for name in sorted(names & there, key=_natural):
            yield from paragraphs(safe_root(archive.read(name)))


def paragraphs(root: Any) -> Iterator[str]:
    """The text of each paragraph-like element with text of its own, without that of deeper ones."""
    pieces: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = etree.QName(element).localname if isinstance(element.tag, str) else ""
        if name in _PARAGRAPHS:
            text = one_line("".join(pieces))
            pieces = []
            if text:
                yield text
        elif event == "end" and name in _TEXTS:
            pieces.append((element.text or "") + (" " if name == "v" else ""))
    if text := one_line("".join(pieces)):
        yield text


def title_of(path: Path) -> str:
    """The title in the core properties (ISO/IEC 29500-2, 11), or an empty text."""
    with zipfile.ZipFile(path) as archive:
        if "docProps/core.xml" not in archive.namelist():
            return ""
        root = safe_root(archive.read("docProps/core.xml"))
    return one_line(root.findtext("{http://purl.org/dc/elements/1.1/}title") or "")


def _natural(name: str) -> list[str]:
    return [digits.zfill(9) for digits in _NATURAL.findall(name)] + [name]
