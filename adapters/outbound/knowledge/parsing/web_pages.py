"""Web pages and sitemaps, read in the child: the main content of a page by the `trafilatura` library, the addresses
of a sitemap (https://www.sitemaps.org/protocol.html)."""

import zlib
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urljoin

from lxml import etree
from lxml import html as lxml_html
from trafilatura import extract, html2txt
from trafilatura.settings import DEFAULT_CONFIG

from adapters.outbound.knowledge.parsing.containers import release
from adapters.outbound.knowledge.parsing.reading import Job
from adapters.outbound.knowledge.parsing.text import decode, one_line, without_controls
from adapters.outbound.mail.charsets import charset_of_html
from domain.knowledge.documents import Format

PAGE, SITEMAP, FILE = "page", "sitemap", "file"
MOST_ADDRESSES = 50_000
"""What the protocol allows in one sitemap."""
MOST_SITEMAP_BYTES = 50 * 1024 * 1024
LONGEST_ADDRESS = 2_000
_GZIP = b"\x1f\x8b"
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED = 1024
_PIECE = 64 * 1024


def read(job: Job, address: str, mime_type: str, charset: str) -> dict[str, Any]:
    """What was fetched, as the values of `ports.http`."""
    with job.path.open("rb") as file:
        head = file.read(_SNIFFED)
    if head.startswith(_GZIP):
        head = next(_inflated(job), b"")[:_SNIFFED]
    begin = head.lstrip(b"\xef\xbb\xbf\r\n\t ").lower()
    if b"<urlset" in begin or b"<sitemapindex" in begin:
        return _sitemap(replace(job, format=Format.XML))
    if mime_type in _HTML_TYPES or begin.startswith((b"<!doctype html", b"<html")):
        return _page(job, address, charset)
    return {"kind": FILE}


def _sitemap(job: Job) -> dict[str, Any]:
    addresses: dict[str, None] = {}
    is_index = False
    count = 0
    try:
        for event, element in _events(job):
            name = etree.QName(element).localname if isinstance(element.tag, str) else ""
            if event == "start":
                is_index = is_index or name == "sitemapindex"
                continue
            if name == "loc":
                count += 1
                addresses[one_line(element.text or "")[: LONGEST_ADDRESS + 1]] = None
            elif name in ("url", "sitemap"):
                release(element)
            if count > MOST_ADDRESSES:
                break
    except etree.XMLSyntaxError as error:
        raise job.unreadable(f"it is no well-formed sitemap: {error.msg}") from error
    usable = list(filter(lambda address: 0 < len(address) <= LONGEST_ADDRESS, addresses))[:MOST_ADDRESSES]
    return {"kind": SITEMAP, "addresses": usable, "is_index": is_index, "cut": count > MOST_ADDRESSES}


def _events(job: Job) -> Iterator[tuple[str, Any]]:
    """Where the elements of a sitemap start and end. Raises `XMLSyntaxError` where it is not well-formed."""
    parser = etree.XMLPullParser(
        events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False
    )
    for piece in _inflated(job):
        parser.feed(piece)
        yield from parser.read_events()
    parser.close()


def _inflated(job: Job) -> Iterator[bytes]:
    """The bytes of a file, inflated where it is a gzip file. Raises `TooLarge` for more than a sitemap may have."""
    total = 0
    with job.path.open("rb") as file:
        piece = file.read(_PIECE)
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16) if piece.startswith(_GZIP) else None
        while piece:
            part = inflater.decompress(piece, _PIECE) if inflater else piece
            total += len(part)
            if total > MOST_SITEMAP_BYTES:
                raise job.too_large("a sitemap may have 50 MB")
            if part:
                yield part
            piece = (inflater.unconsumed_tail if inflater else b"") or file.read(_PIECE)


def _page(job: Job, address: str, charset: str) -> dict[str, Any]:
    markup = without_controls(decode(job, declared=lambda head: charset or charset_of_html(head)))
    try:
        root = lxml_html.document_fromstring(markup.encode(), parser=lxml_html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise job.unreadable("it holds no text") from error
    title = one_line(root.findtext(".//title", "")) or one_line(root.findtext(".//h1", ""))
    canonical, refusal = _canonical(root, address), _refusal(root)
    body = extract(
        root,
        url=address,
        output_format="html",
        include_comments=False,
        include_formatting=True,
        favor_recall=True,
        config=_CONFIG,
    )
    text = "" if body else html2txt(markup)
    if not body and not text.strip():
        raise job.unreadable("it holds no text")
    content = body or "".join(f"<p>{escape(line)}</p>\n" for line in text.splitlines() if line.strip())
    inner = content.partition("<body>")[2].rpartition("</body>")[0] or content
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    html = f"<!DOCTYPE html>\n<html><head>{head}</head><body>{inner}</body></html>\n"
    return {"kind": PAGE, "title": title, "html": html, "canonical": canonical, "refusal": refusal}


def _canonical(root: Any, address: str) -> str:
    for link in root.iter("link"):
        if (link.get("rel") or "").strip().lower() == "canonical" and (link.get("href") or "").strip():
            try:
                return str(urljoin(address, link.get("href").strip()))[: LONGEST_ADDRESS + 1]
            except ValueError:
                return ""
    return ""


def _refusal(root: Any) -> str:
    for meta in root.iter("meta"):
        if (meta.get("name") or "").strip().lower() in ("robots", "switchboard"):
            words = (meta.get("content") or "").lower().replace(",", " ").split()
            if {"noindex", "none"} & set(words):
                return "noindex"
    asks = any((field.get("type") or "").strip().lower() == "password" for field in root.iter("input"))
    return "password" if asks else ""


_CONFIG = deepcopy(DEFAULT_CONFIG)
_CONFIG.read_dict(
    {"DEFAULT": {"MIN_EXTRACTED_SIZE": "1", "EXTRACTION_TIMEOUT": "0"}}
)  # a page may be a sentence
