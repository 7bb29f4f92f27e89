"""Dynamic forms (XFA), whose pages hold only a request to wait: their fields and texts."""

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

import pypdfium2.raw as pdfium_c
from lxml import etree

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.packages import safe_root
from domain.knowledge.documents import Block, BlockKind

_MOST_BYTES = 64 * 1024 * 1024
_PLACEHOLDER_CHARS = 2_000
_LEAST_LABEL = 3


def is_placeholder(document: Any, text: str) -> bool:
    """Return True where the pages are not what the form shows: `text` is what stands on them."""
    kind = pdfium_c.FPDF_GetFormType(document.raw)
    if kind == pdfium_c.FORMTYPE_XFA_FULL:
        return True
    if kind != pdfium_c.FORMTYPE_XFA_FOREGROUND:
        return False
    labels = [label for root in _roots(document) for label in _labels(root)]
    if labels:
        shown = one_line(text)
        return not any(label in shown for label in labels)
    return "adobe" in text.casefold() and len(document) == 1 and len(text) < _PLACEHOLDER_CHARS


def _labels(root: Any) -> Iterator[str]:
    """The texts that the form shows."""
    for element in (*root.iter("{*}draw"), *root.iterfind(".//{*}field/{*}caption")):
        if len(text := _text(element)) >= _LEAST_LABEL:
            yield text


def blocks(document: Any) -> Iterator[Block]:
    """The texts of the form, then its fields as "caption: value"."""
    captions: dict[str, str] = {}
    roots = list(_roots(document))
    for root in roots:
        for field in root.iter("{*}field"):
            captions[field.get("name", "")] = _text(field.find("{*}caption"))
        for text in root.iter("{*}draw"):
            yield Block(BlockKind.PARAGRAPH, _text(text))
    for root in roots:
        for data in root.iter("{http://www.xfa.org/schema/xfa-data/1.0/}data"):
            yield from _fields(data, captions)


def _roots(document: Any) -> Iterator[Any]:
    for index in range(pdfium_c.FPDF_GetXFAPacketCount(document.raw)):
        size = ctypes.c_ulong()
        pdfium_c.FPDF_GetXFAPacketContent(document.raw, index, None, 0, size)
        if not 0 < size.value <= _MOST_BYTES:
            continue
        buffer = ctypes.create_string_buffer(size.value)
        pdfium_c.FPDF_GetXFAPacketContent(document.raw, index, buffer, size.value, size)
        try:
            root = safe_root(buffer.raw, recover=True)
        except etree.XMLSyntaxError:
            continue
        if root is not None:
            yield root


def _fields(data: Any, captions: Mapping[str, str]) -> Iterator[Block]:
    """One block for the fields of each group."""
    groups: dict[Any, list[str]] = {}
    for element in data.iter(etree.Element):
        value = one_line(element.text or "")
        if value and not len(element):
            name = etree.QName(element).localname
            groups.setdefault(element.getparent(), []).append(f"{captions.get(name) or name}: {value}")
    for lines in groups.values():
        yield Block(BlockKind.FIELD, "\n".join(lines))


def _text(element: Any) -> str:
    return "" if element is None else one_line(" ".join(element.itertext()))
