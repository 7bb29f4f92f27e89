"""DOCX (ISO/IEC 29500-1, WordprocessingML), by the `unstructured` library.

It passes by what is not directly in a paragraph: inserted text, content controls, text boxes, formulas. The
document is therefore straightened first, on a copy in memory; notes, comments, charts and diagrams are read
from their own parts.
"""

import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.parsing import elements
from adapters.outbound.knowledge.parsing.containers import check_inflation
from adapters.outbound.knowledge.parsing.detection import detect
from adapters.outbound.knowledge.parsing.formats import reader
from adapters.outbound.knowledge.parsing.ooxml import part_texts, read_mended
from adapters.outbound.knowledge.parsing.readers import internet_mail, mail
from adapters.outbound.knowledge.parsing.reading import Job, contained
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block, BlockKind, Format
from domain.refusals import Unsupported

elements.prepare()

import docx  # noqa: E402
from lxml import etree  # noqa: E402
from unstructured.partition.docx import partition_docx  # noqa: E402

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TARGET = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_GONE = (f"{_W}del", f"{_W}moveFrom", f"{_MC}Fallback")
_RUN_WRAPPERS = "ins moveTo smartTag customXml fldSimple dir bdo sdtContent sdt"
_WRAPPERS = (*(f"{_W}{name}" for name in _RUN_WRAPPERS.split()), f"{_MC}Choice", f"{_MC}AlternateContent")
_PROPERTIES = frozenset({f"{_W}sdtPr", f"{_W}sdtEndPr", f"{_W}smartTagPr", f"{_W}customXmlPr"})
_ROOTS = frozenset({f"{_W}document", f"{_W}hdr", f"{_W}ftr"})
_LISTING = re.compile(r"(?:toc|index) (?:\d|heading)|table of (?:figures|authorities)", re.IGNORECASE)
_NOTES = "footnotes|endnotes|comments|chart|chartex|chartshapes|diagramData"
_MARK = re.compile("\ue000\\d+\ue001")
_DEEPEST = 5
"""Inserted documents in inserted documents that are read."""
_INSERTED = (
    ("text/html", Format.HTML),
    ("application/xhtml+xml", Format.HTML),
    ("text/plain", Format.TXT),
    ("text/rtf", Format.RTF),
    ("application/rtf", Format.RTF),
    ("message/rfc822", Format.EML),
)
"""Text formats of documents that are inserted as they are, by the beginning of their content types."""


def read(job: Job) -> Iterator[Block]:
    """Headings, paragraphs, lists, table rows, running headers and footers; then notes and comments."""
    check_inflation(job)
    return read_mended(job, partial(_read, depth=0))


def _read(job: Job, depth: int) -> Iterator[Block]:
    document = docx.Document(str(job.path))
    # Documents that are inserted as they are (`altChunk`, 17.17.2.1), by the marks put in their places.
    inserted: dict[str, Any] = {}
    for number, element in enumerate(list(document.part.element.iter(f"{_W}altChunk"))):
        relation = document.part.rels.get(element.get(_TARGET, ""))
        if relation is not None and not relation.is_external:
            mark = f"\ue000{number}\ue001"
            inserted[mark] = relation.target_part
            paragraph = element.makeelement(f"{_W}p")
            etree.SubElement(etree.SubElement(paragraph, f"{_W}r"), f"{_W}t").text = mark
            element.addprevious(paragraph)
    for part in document.part.package.iter_parts():
        root = getattr(part, "element", None)
        if root is not None and root.tag in _ROOTS:
            straighten(root)
            for link in root.iter(f"{_W}hyperlink"):  # the library stumbles over links to nowhere
                if link.get(_TARGET, "") not in part.rels:
                    link.attrib.pop(_TARGET, None)
    straight = io.BytesIO()
    document.save(straight)
    parts = partition_docx(file=straight, include_page_breaks=False, **elements.PLAIN)
    headings, contents = _headings_and_contents(document)
    blocks = elements.to_blocks(parts, headings, contents)
    job.title = document.core_properties.title or ""
    return _blocks(job, blocks, inserted, depth)


def _blocks(job: Job, blocks: Iterable[Block], inserted: dict[str, Any], depth: int) -> Iterator[Block]:
    for block in blocks:
        if block.text.strip() in inserted:
            yield from _document_in(job, inserted.pop(block.text.strip()), block.heading_path, depth)
        else:
            yield replace(block, text=_MARK.sub("", block.text)) if _MARK.search(block.text) else block
    for part in inserted.values():
        yield from _document_in(job, part, (), depth)
    for text in part_texts(job, _NOTES):
        yield Block(BlockKind.NOTE, text)


def _document_in(job: Job, part: Any, path: tuple[str, ...], depth: int) -> Iterator[Block]:
    name = str(part.partname).lstrip("/")
    place = Path(os.environ["TMPDIR"]) / f"inserted-{depth}"
    place.write_bytes(part.blob)
    try:
        kinds = (format_ for start, format_ in _INSERTED if part.content_type.startswith(start))
        format_ = next(kinds, None) or detect(place, name, job.limits)
    except Unsupported:
        job.warn(f"the inserted document {name} was not read")
        return
    inner = replace(job, path=place, name=name, format=format_)
    with contained(job, f"the inserted document {name}"):
        if format_ is Format.DOCX:
            if depth >= _DEEPEST:
                raise inner.unreadable("it is inserted too deeply")
            check_inflation(inner)
            blocks = read_mended(inner, partial(_read, depth=depth + 1))
        elif format_ is Format.EML:
            blocks = mail.body(inner, internet_mail.load(inner.path))
        else:
            blocks = reader(format_)(inner)
        for block in blocks:
            yield replace(block, heading_path=(*path, *block.heading_path))


def _headings_and_contents(document: Any) -> tuple[dict[str, int], set[str]]:
    """The text of each paragraph with a heading style, and its level (1 for the style Title); and the other lines
    with a style of tables of contents, of lists of figures or of indexes."""
    levels = {"Title": 1, **{f"Heading {level}": min(level, 6) for level in range(1, 10)}}
    headings: dict[str, int] = {}
    contents: set[str] = set()
    for paragraph in document.paragraphs:
        text, style = one_line(paragraph.text), paragraph.style
        if style is not None and _LISTING.match(style.name or ""):
            contents.add(text)
        while style is not None and not _LISTING.match(style.name or ""):
            if style.name in levels:
                headings.setdefault(text, levels[style.name])
                break
            style = style.base_style
    return headings, contents - headings.keys() - {""}


def straighten(root: Any) -> None:
    """Drops deleted text, unwraps what wraps runs and paragraphs, puts text boxes after their paragraph."""
    for element in list(root.iter(*_GONE)):
        element.getparent().remove(element)
    for formula in list(root.iter(f"{_M}oMath")):
        run = etree.Element(f"{_W}r")
        etree.SubElement(run, f"{_W}t").text = "".join(piece.text or "" for piece in formula.iter(f"{_M}t"))
        parent = formula.getparent()
        if parent.tag == f"{_M}oMathPara":
            parent.addprevious(run)
        else:
            parent.replace(formula, run)
    for wrapper in list(root.iter(*_WRAPPERS)):
        _unwrap(wrapper)
    for box in list(root.iter(f"{_W}txbxContent")):
        if above := list(box.iterancestors(f"{_W}p")):
            for content in reversed(list(box)):
                above[-1].addnext(content)
            box.getparent().remove(box)


def _unwrap(wrapper: Any) -> None:
    parent = wrapper.getparent()
    if parent is None:
        return
    position = parent.index(wrapper)
    for child in [child for child in wrapper if child.tag not in _PROPERTIES]:
        parent.insert(position, child)
        position += 1
    parent.remove(wrapper)
