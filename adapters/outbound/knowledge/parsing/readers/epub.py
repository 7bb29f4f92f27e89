"""EPUB 2 and 3: the chapters in the order of the book, each read as HTML."""

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from lxml import etree

from adapters.outbound.knowledge.parsing.containers import Package, check_inflation, safe_root
from adapters.outbound.knowledge.parsing.readers.html import read_markup
from adapters.outbound.knowledge.parsing.reading import Job, contained
from adapters.outbound.knowledge.parsing.text import decoded, one_line
from domain.knowledge.documents import Block

_TITLE = ".//{http://purl.org/dc/elements/1.1/}title"
_LOCKS = "META-INF/encryption.xml"
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways of hiding fonts, which leave the text readable."""
_MARKUP = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def read(job: Job) -> Iterator[Block]:
    check_inflation(job)
    package = Package(job.path)
    if _LOCKS in package:
        methods = [method.get("Algorithm") for method in package.root(_LOCKS).iter("{*}EncryptionMethod")]
        if not set(methods) <= set(_FONTS_ONLY):
            raise job.unreadable("it is encrypted (protected against copying)")
    rootfile = package.root("META-INF/container.xml").find(".//{*}rootfile")
    place = rootfile.get("full-path", "") if rootfile is not None else ""
    if place not in package:
        raise job.unreadable("it does not say which chapters it has")
    root = package.root(place)
    chapters = list(_chapters(root, posixpath.dirname(place)))
    job.title = one_line(root.findtext(_TITLE) or "")
    return _blocks(job, package, chapters)


def _chapters(package: Any, folder: str) -> Iterator[str]:
    """The members in reading order, without the list of contents that reading programs show."""
    items = {item.get("id"): item for item in package.iter("{*}item")}
    for reference in package.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _MARKUP:
            continue
        if "nav" not in (item.get("properties") or "").split():
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))


def _blocks(job: Job, package: Package, chapters: list[str]) -> Iterator[Block]:
    for position, name in enumerate(chapters, start=1):
        if name not in package:
            job.warn(f"the chapter {name} is missing")
            continue
        with contained(job, f"the chapter {name}"):
            chapter = package.read(name)
            try:
                root = safe_root(chapter)
                body = root.find("{*}body")
                text = "".join((root if body is None else body).itertext())
                # As HTML, which knows no short form of empty elements.
                markup = etree.tostring(root, method="html", encoding="unicode") if text.strip() else ""
            except etree.XMLSyntaxError:  # names of characters that only HTML knows, for one
                markup = decoded(chapter) or ""
            if markup:
                yield from read_markup(job, markup)
        job.progress(position / len(chapters))
