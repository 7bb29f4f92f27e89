"""Web pages and sitemaps as the pages of a source."""

import mimetypes
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urldefrag

from adapters.outbound.knowledge.fetching import Fetched, PageFetcher, host_name
from domain.knowledge.sources.model import (
    LeasedSource,
    ListedPage,
    Listing,
    PageContent,
    PageKind,
    PageRefused,
    PageStatus,
    PageToRead,
    key_of,
)
from ports.http import FetchedBody, SitemapEntries, WebPage, WebPageReader

LONGEST_NAME = 150
_PIECE = 64 * 1024
_ASKS_NOT_TO_BE_INDEXED = re.compile(
    r"(?:^|,)\s*(?:(?:switchboard\s*)?:\s*)?(?:noindex|none)\s*(?:,|\Z)", re.IGNORECASE
)
"""A rule of X-Robots-Tag for everybody or for us."""
_NO_INDEX = PageStatus.SKIPPED, "it asks not to be taken into an index (robots: noindex)"
_REFUSALS = {
    "noindex": _NO_INDEX,
    "password": (PageStatus.FAILED, "it asks for a password: only pages that everybody may read are read"),
}


@dataclass(eq=False)
class WebOrigin:
    """Conforms to `SourceOrigin`."""

    fetcher: PageFetcher
    reader: WebPageReader

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        only_host = "" if page.kind is PageKind.ROOT else host_name(page.address)
        with tempfile.TemporaryDirectory(prefix="switchboard-page-") as folder:
            path = Path(folder) / "page"
            is_first = not page.attempts and not source.trouble and page.kind is PageKind.PAGE
            fetched = await self.fetcher.fetch(
                page.address, page.validators, path, only_host, rests=not is_first
            )
            if fetched is None:
                return None
            if _ASKS_NOT_TO_BE_INDEXED.search(fetched.headers.get("x-robots-tag", "")):
                raise PageRefused(*_NO_INDEX)
            name = fetched.last_of_path or page.address
            body = FetchedBody(path, name, fetched.address, fetched.mime_type, fetched.charset)
            got = await self.reader.read_page(body)
            if isinstance(got, SitemapEntries) and page.kind is not PageKind.PAGE:
                return _listing(page, fetched, got)
            if isinstance(got, WebPage):
                return _page(page, fetched, got)
            return PageContent(
                _file_name(fetched), page.address, _pieces(path.open("rb")), fetched.validators
            )


def _listing(page: PageToRead, fetched: Fetched, sitemap: SitemapEntries) -> Listing:
    """Only addresses of the sitemap's own host are read. A sitemap index names sitemaps, which name pages."""
    host = host_name(fetched.address)
    own = [urldefrag(address).url for address in sitemap.addresses if host_name(address) == host]
    notes = []
    if others := len(sitemap.addresses) - len(own):
        notes.append(f"{others} addresses of other hosts are passed over.")
    if sitemap.cut:
        notes.append("The sitemap has more addresses than a sitemap may have; those are passed over.")
    if sitemap.is_index and page.kind is PageKind.LIST:
        notes.append(f"{page.address} names further sitemaps, which are passed over.")
        own = []
    kind = PageKind.LIST if sitemap.is_index else PageKind.PAGE
    pages = [ListedPage(key_of(address), address, kind) for address in dict.fromkeys(own)]
    return Listing(pages, fetched.validators, " ".join(notes) or None)


def _page(page: PageToRead, fetched: Fetched, got: WebPage) -> PageContent:
    if got.refusal:
        raise PageRefused(*_REFUSALS[got.refusal])
    canonical = urldefrag(got.canonical).url if host_name(got.canonical) == host_name(fetched.address) else ""
    address = canonical or page.address
    title = got.title or unquote(address.partition("://")[2])
    name = title.replace("/", " ").replace("\\", " ")[:LONGEST_NAME].strip()
    same_as = key_of(address) if address != page.address else None
    html = _pieces(BytesIO(got.html.encode()))
    return PageContent(f"{name}.html", address, html, fetched.validators, same_as)


def _file_name(fetched: Fetched) -> str:
    """As the server calls it, with an extension that tells its type."""
    name = (fetched.file_name or fetched.last_of_path or host_name(fetched.address))[-LONGEST_NAME:]
    if fetched.mime_type and mimetypes.guess_type(name)[0] is None:
        name += mimetypes.guess_extension(fetched.mime_type) or ""
    return name


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    """The bytes of a file that has lost its name."""
    with file:
        while piece := file.read(_PIECE):
            yield piece
