"""Sources of a base: web pages, sitemaps and folders whose files are kept in step; and what is read of them."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MOST_PAGES = 20_000
"""Addresses or files of one source; those behind them are passed over, and the source says so."""


class SourceKind(StrEnum):
    WEB = "web"
    DRIVE = "drive"


class SourceState(StrEnum):
    """`waiting` for its first pass, `reading`, or `idle` until the next one."""

    WAITING = "waiting"
    READING = "reading"
    IDLE = "idle"


class PageKind(StrEnum):
    """`root` is the address of the source itself; a `list` names pages (a sitemap that an index names)."""

    ROOT = "root"
    LIST = "list"
    PAGE = "page"


class PageStatus(StrEnum):
    """`processing` until its file can be found; `failed` keeps what was read before, `skipped` and `gone` do not;
    `listed` is a list whose pages are known."""

    WAITING = "waiting"
    PROCESSING = "processing"
    READ = "read"
    FAILED = "failed"
    SKIPPED = "skipped"
    GONE = "gone"
    LISTED = "listed"


@dataclass(frozen=True, slots=True)
class NewSource:
    """`every` in minutes; None: it is read once. `by_admin`: the user may change every base."""

    base_id: int
    kind: SourceKind
    address: str
    key: bytes
    user_id: str
    by_admin: bool
    every: float | None
    instance_id: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source as it is listed. `found` counts its pages; `read` those that are found in the base, `failed` those
    that say why they are not, `waiting` those that this pass has not come to. `note` tells what was passed over."""

    id: int
    base_id: int
    kind: SourceKind
    address: str
    instance_id: int | None
    every: float | None
    created_by: str
    created_at: datetime
    state: SourceState
    read_at: datetime | None
    next_at: datetime | None
    error: str | None
    note: str | None
    found: int
    read: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page or file of a source as it is listed; `error` says why it is not read, `file_hash` names its file."""

    id: int
    address: str
    name: str
    status: PageStatus
    error: str | None
    read_at: datetime | None
    file_hash: str | None


@dataclass(frozen=True, slots=True)
class LeasedSource:
    """A source that a worker works on. `trouble` counts pages in a row that could not be reached."""

    id: int
    base_id: int
    kind: SourceKind
    address: str
    instance_id: int | None
    user_id: str
    by_admin: bool
    round: int
    trouble: int


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page that a list names. `version` changes with its content, where the list tells; `problem`: why it is not
    read."""

    key: bytes
    address: str
    kind: PageKind = PageKind.PAGE
    name: str = ""
    version: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Validators:
    """By which a server tells whether a page has changed."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class PageToRead:
    """The next page of a pass. `is_list`: it was one before. `validators`: of the version that is known."""

    id: int
    kind: PageKind
    address: str
    name: str = ""
    attempts: int = 0
    is_list: bool = False
    validators: Validators = Validators()


@dataclass(frozen=True, slots=True)
class Listing:
    """What was read is a list of pages; `note` tells what of it is passed over."""

    pages: Sequence[ListedPage]
    validators: Validators = Validators()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PageContent:
    """What was read is a file. `address` is where it is found, by its own account; `same_as` the key of another
    address that it names as its own."""

    name: str
    address: str
    content: AsyncIterator[bytes]
    validators: Validators = Validators()
    same_as: bytes | None = None


@dataclass(frozen=True, slots=True)
class FileSource:
    """The page of a source that a file is the new version of, and where it was read."""

    page_id: int
    url: str


class PageRefused(Exception):
    """A page is not read; `status` is what becomes of it. `unreachable`: so may be its whole server."""

    def __init__(self, status: PageStatus, reason: str, *, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.unreachable = unreachable


class PageLater(Exception):
    """A page is read later: its server asked for that (`reason`), or is being asked something else (None)."""

    def __init__(self, seconds: float, reason: str | None = None) -> None:
        super().__init__(reason or "")
        self.seconds = seconds
        self.reason = reason


def key_of(text: str) -> bytes:
    """What an address or an id is found by, however long it is."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
