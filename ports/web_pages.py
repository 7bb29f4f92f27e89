"""What is read out of a fetched web page or sitemap."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FetchedBody:
    """A body that was fetched: where it lies, what it is called in messages, and what the server said of it."""

    path: Path
    name: str
    address: str
    mime_type: str
    charset: str


@dataclass(frozen=True, slots=True)
class SitemapEntries:
    """`is_index`: the addresses are those of other sitemaps. `cut`: there were more than are taken."""

    addresses: Sequence[str]
    is_index: bool
    cut: bool


@dataclass(frozen=True, slots=True)
class WebPage:
    """The main content of a page as an HTML document of its own. `canonical`: the address that it names as its own.
    `refusal`: why it asks not to be taken."""

    title: str
    html: str
    canonical: str
    refusal: str


class WebPageReader(Protocol):
    """Reads what was fetched, in a sandbox."""

    async def read_page(self, body: FetchedBody) -> WebPage | SitemapEntries | None:
        """None: it is neither a page nor a sitemap, but a file. Raises `Unreadable`, `TooLarge`."""
        ...
