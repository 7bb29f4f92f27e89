"""Office Open XML packages (ISO/IEC 29500-2): parts, repair, text of parts, charts (DrawingML, 29500-1, 21.2)."""

import os
import posixpath
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lxml import etree

from adapters.outbound.knowledge.parsing.containers import DAMAGED, Package, part_name, safe_root
from adapters.outbound.knowledge.parsing.number_formats import GENERAL, displayed
from adapters.outbound.knowledge.parsing.reading import Job, contained
from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import Block
from domain.refusals import Refusal

CONTENT_TYPES = "[Content_Types].xml"
RELATIONSHIPS = "{*}Relationship"
_PARAGRAPHS = frozenset({"p", "comment", "threadedComment", "tx"})
_TEXTS = frozenset({"t", "v", "text"})
_NATURAL = re.compile(r"\d+")
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_SPELT_APART = (
    (b"relationships/extendedProperties", b"relationships/extended-properties"),
    (b"relationships/customProperties", b"relationships/custom-properties"),
    (b"2006/extendedProperties", b"2006/extended-properties"),
    (b"2006/customProperties", b"2006/custom-properties"),
)
_MARKUP = (".xml", ".rels")
_WITH_TEXT = frozenset(
    {"header", "footer", "footnotes", "endnotes", "comments", "notesSlide", "chart", "diagramData", "aFChunk"}
)
"""Kinds of relationships that lead to text."""
_REFERENCES = ("{*}sldId", "{*}headerReference", "{*}footerReference")
_PICTURES = "media/"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relationship of a part: `kind` is the last word of its type, `target` the name of the other part."""

    kind: str
    target: str


class OfficePackage(Package):
    """A package with its relationships and content types."""

    def relations(self, name: str = "") -> Mapping[str, Relation]:
        """The relationships of a part, or of the package, by their ids; none to places outside of it."""
        source = posixpath.join(posixpath.dirname(name), "_rels", f"{posixpath.basename(name)}.rels")
        if source not in self:
            return {}
        return {
            relation.get("Id", ""): Relation(relation.get("Type", "").rpartition("/")[2], target)
            for relation in self.root(source).iter(RELATIONSHIPS)
            if (target := _target(relation, source))
        }

    def main(self, usual: str) -> str:
        """The name of the part that the package is about; `usual` is what most programs call it."""
        targets = (part.target for part in self.relations().values() if part.kind == "officeDocument")
        return next(targets, usual)

    def parts(self, kinds: str) -> list[str]:
        """The parts whose content types end in one of these kinds, in natural order.

        The names of parts are free (6.2), and programs name them differently.
        """
        kind = re.compile(rf"[./]({kinds})\+xml", re.IGNORECASE)
        names = {
            part_name(part.get("PartName", ""))
            for part in self.root(CONTENT_TYPES).iter("{*}Override")
            if kind.search(part.get("ContentType", ""))
        }
        return sorted(
            names & self.members.keys(),
            key=lambda name: [*(digits.zfill(9) for digits in _NATURAL.findall(name)), name],
        )


def _target(relation: Any, source: str) -> str:
    """The name of the part that a relationship leads to; empty for a place outside of the package."""
    if relation.get("TargetMode") == "External":
        return ""
    folder = posixpath.dirname(posixpath.dirname(source))
    target = relation.get("Target", "").replace("\\", "/").partition("#")[0]
    return part_name(posixpath.normpath(posixpath.join("/", folder, target)))


def read_mended(job: Job, read: Callable[[Job], Iterator[Block]]) -> Iterator[Block]:
    """Reads a package. One that `read` cannot take is written anew, with what can be read of it, and read again.

    `read` raises at its call, not from its iterator, where the package cannot be taken."""
    try:
        return read(job)
    except (Refusal, MemoryError, RecursionError, ImportError):
        raise
    except Exception:  # noqa: BLE001 - whatever it was, the second try tells it if it is there to stay
        mended = replace(job, path=_mended(job))
        blocks = read(mended)
        job.title = mended.title
        return blocks


def _mended(job: Job) -> Path:
    """A copy of a package as the libraries know it.

    They do not take strict Open XML (ISO/IEC 29500-1), names with backslashes or in another case, relationships to
    parts that are not there, and damaged parts. Pictures, which are not read, are left empty.
    """
    package = OfficePackage(job.path)
    copy = Path(os.environ["TMPDIR"]) / "mended"
    contents = {
        name: content for name in package.members if (content := _content(job, package, name)) is not None
    }
    types = safe_root(contents.pop(CONTENT_TYPES.lower(), b"<Types/>"))
    for part in types.iter("{*}Override"):
        name = part_name(part.get("PartName", ""))
        part.set("PartName", f"/{name}")
        if not name.endswith(_MARKUP) and part.get("ContentType", "").endswith("+xml"):
            part.set("ContentType", "application/octet-stream")  # a package in the package
    main = package.main("")
    with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENT_TYPES, bytes(etree.tostring(types)))
        for name, content in contents.items():
            mended = content
            if name.endswith(".rels"):
                mended = _without_missing(job, content, name, contents.keys())
            elif name == main:
                mended = _without_references(job, content, package.relations(main), contents.keys())
            archive.writestr(name, mended)
    return copy


def _without_references(
    job: Job, content: bytes, relations: Mapping[str, Relation], names: Collection[str]
) -> bytes:
    """The main part without references to slides, headers and footers that are not there."""
    root = safe_root(content)
    for number, reference in enumerate(list(root.iter(*_REFERENCES)), start=1):
        relation = relations.get(next((value for key, value in reference.items() if key.endswith("}id")), ""))
        if relation is None or relation.target not in names:
            if etree.QName(reference).localname == "sldId":
                job.warn(f"slide {number} is missing or damaged")
            reference.getparent().remove(reference)
    return bytes(etree.tostring(root))


def _content(job: Job, package: Package, name: str) -> bytes | None:
    """A part as it is written into the copy; None for one that cannot be read at all."""
    if _PICTURES in name:
        return b""
    try:
        content = package.read(name)
    except DAMAGED:
        job.warn(f"the part {name} is damaged, so that not all of it was read")
        content = package.read_damaged(name)
    if not name.endswith(_MARKUP):
        return content
    if _STRICT.search(content):
        content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
        for strict, usual in _SPELT_APART:
            content = content.replace(strict, usual)
    root = package.recovered(job, name, content)
    return None if root is None or not etree.QName(root).namespace else bytes(etree.tostring(root))


def _without_missing(job: Job, content: bytes, source: str, names: Collection[str]) -> bytes:
    root = safe_root(content)
    for relation in list(root.iter(RELATIONSHIPS)):
        if relation.get("TargetMode") == "External":
            continue
        target = _target(relation, source)
        if target in names:
            relation.set("Target", f"/{target}")
            continue
        root.remove(relation)
        if relation.get("Type", "").rpartition("/")[2] in _WITH_TEXT:
            job.warn(f"the part {target} is missing or damaged")
    return bytes(etree.tostring(root))


def part_texts(job: Job, kinds: str) -> Iterator[str]:
    """The paragraphs of the parts whose content types end in one of these kinds; see `Package.parts`."""
    package = OfficePackage(job.path)
    for name in package.parts(kinds):
        with contained(job, f"the part {name}"):
            yield from texts_of(package.root(name))


def texts_of(root: Any) -> Iterator[str]:
    """The paragraphs of a part, or the values of a chart."""
    is_chart = etree.QName(root).localname == "chartSpace"
    yield from chart_lines(root) if is_chart else paragraphs(root)


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


def title_of(job: Job) -> str:
    """The title in the core properties (ISO/IEC 29500-2, 11), or an empty text."""
    title = ""
    with contained(job, "the part with the title"):
        package = OfficePackage(job.path)
        if "docProps/core.xml" in package:
            root = package.root("docProps/core.xml")
            title = one_line(root.findtext("{http://purl.org/dc/elements/1.1/}title") or "")
    return title


_MOST_POINTS = 20_000


def chart_lines(root: Any) -> Iterator[str]:
    """The titles of a chart and its axes, then a line for each category: "East: Tonnes 1.5, Ships 3"."""
    for title in root.iter("{*}title"):
        if text := one_line("".join(title.itertext("{*}t", "{*}v"))):
            yield text
    lines: dict[str, list[str]] = {}
    names: list[str] = []
    for number, series in enumerate(root.iter("{*}ser")):
        name = one_line(" ".join(series.xpath("./*[local-name()='tx']//*[local-name()='v']/text()")))
        names.append(name)
        categories = _points(series, "cat", "xVal")
        for index, value in _points(series, "val", "yVal").items():
            category = categories.get(index) or str(index + 1)
            lines.setdefault(category, []).append(f"{name} {value}".strip() or str(number))
    yield from (f"{category}: {', '.join(values)}" for category, values in lines.items())
    if not lines:
        yield from filter(None, (*names, one_line(" ".join(root.itertext("{*}pt")))))


def _points(series: Any, *roles: str) -> Mapping[int, str]:
    """The stored values of a series by their index; of categories on several levels, those of the lowest."""
    holder = next((child for role in roles for child in series.iterchildren(f"{{*}}{role}")), None)
    if holder is None:
        return {}
    code = holder.findtext(".//{*}formatCode") or GENERAL
    level = next(holder.iter("{*}lvl"), holder)
    points: dict[int, str] = {}
    for point in level.iter("{*}pt"):
        index, value = point.get("idx", ""), point.findtext("{*}v", "")
        if index.isdecimal() and len(points) < _MOST_POINTS:
            try:
                points[int(index)] = displayed(float(value), point.get("formatCode") or code)
            except ValueError:
                points[int(index)] = one_line(value)
    return points
