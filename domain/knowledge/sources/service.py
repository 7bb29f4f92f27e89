"""The use cases of sources: adding, listing, reading again, removing."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from urllib.parse import urldefrag, urlsplit

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import Level, needs
from domain.addresses import address_fault
from domain.audit.model import Action
from domain.knowledge.bases import LARGEST_ID, BaseAccess
from domain.knowledge.rules import NO_BASE
from domain.knowledge.sources.model import NewSource, PageStatus, Source, SourceKind, SourcePage, key_of
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Invalid, NotFound
from ports.audit import Audit
from ports.knowledge import SourceStore

LEAST_MINUTES, MOST_MINUTES = 1.0, 60.0 * 24 * 30
NO_SOURCE = "Source not found"


@dataclass(eq=False)
class SourceService:
    """The sources of a base. `wake` tells the worker that there is something to read.

    Each method raises `NotFound`, `Forbidden`.
    """

    access: BaseAccess
    store: SourceStore
    wake: Callable[[], None]
    audit: Audit

    @needs(Scope.KNOWLEDGE_WRITE)
    async def add_pages(self, caller: Caller, base_id: int, url: str, every: float | None) -> Source:
        """Has a web page or a sitemap read into the base, and again every so many minutes; one that the base has
        already gets the new interval and is read again. Needs UPDATE. Raises `Invalid`."""
        user = caller.user
        await self.access.require(caller, base_id, Level.UPDATE)
        address = checked_address(url)
        interval = checked_interval(every)
        key = key_of(address)
        new = NewSource(base_id, SourceKind.WEB, address, key, user, caller.is_admin, interval)
        data = {"address": address, "every": interval}
        async with self.audit.change(caller, Action.SOURCE_ADDED, f"base:{base_id}", data) as details:
            source_id = await self.store.put(new)
            source = None if source_id is None else await self.store.source(base_id, source_id)
            if source is None:
                raise NotFound(NO_BASE)
            details["object"] = f"base:{base_id}/source:{source.id}"
        self.wake()
        return source

    @needs(Scope.KNOWLEDGE_READ)
    async def list(self, caller: Caller, base_id: int, limit: int, cursor: int) -> Page[Source, int]:
        """The newest first; `cursor`: 0 for the first page."""
        await self.access.inside(caller, base_id)
        sources = await self.store.sources(base_id, checked_limit(limit) + 1, cursor)
        shown = sources[:limit]
        return Page(shown, shown[-1].id if len(sources) > limit else None)

    @needs(Scope.KNOWLEDGE_READ)
    async def pages(
        self, caller: Caller, base_id: int, source_id: int, status: str, limit: int, cursor: int
    ) -> Page[SourcePage, int]:
        """In the order in which they are read; `status` empty: all. Raises `Invalid`."""
        await self.access.inside(caller, base_id)
        if status and status not in tuple(PageStatus):
            raise Invalid.of([Fault("state", f"must be one of {', '.join(PageStatus)}")])
        source = await self._find(base_id, source_id)
        pages = await self.store.pages(source.id, status, checked_limit(limit) + 1, cursor)
        shown = pages[:limit]
        return Page(shown, shown[-1].id if len(pages) > limit else None)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def read_now(self, caller: Caller, base_id: int, source_id: int) -> None:
        """Begins the next pass, as soon as one that is under way has ended. Needs UPDATE."""
        await self.access.require(caller, base_id, Level.UPDATE)
        source = await self._find(base_id, source_id)
        async with self.audit.change(caller, Action.SOURCE_READ, f"base:{base_id}/source:{source.id}"):
            await self.store.read_now(source.id)
        self.wake()

    @needs(Scope.KNOWLEDGE_WRITE)
    async def remove(self, caller: Caller, base_id: int, source_id: int, *, keep_files: bool) -> None:
        """Removes a source, and its files unless they are to be kept. Needs UPDATE. Raises `Conflict` for a folder
        that a channel feeds."""
        await self.access.require(caller, base_id, Level.UPDATE)
        source = await self._find(base_id, source_id)
        if source.instance_id is not None:
            raise Conflict(
                f"channel instance {source.instance_id} feeds this folder into the base: take knowledgeBaseId out of"
                " its configuration first"
            )
        data = {"address": source.address, "keepFiles": keep_files}
        async with self.audit.change(
            caller, Action.SOURCE_DELETED, f"base:{base_id}/source:{source.id}", data
        ):
            await self.store.remove(source.id, keep_files=keep_files)
        self.wake()

    async def _find(self, base_id: int, source_id: int) -> Source:
        known = 0 < source_id < 2**63
        source = await self.store.source(base_id, source_id) if known and base_id <= LARGEST_ID else None
        if source is None:
            raise NotFound(NO_SOURCE)
        return source


def checked_address(url: str) -> str:
    """The address without its fragment. Raises `Invalid`."""
    address = url.strip()
    fault = limits.text_fault(url, limits.ADDRESS)
    if fault is None and (no_address := address_fault(address)):
        fault = f"{no_address}: that of a web page or a sitemap"
    if fault is None and urlsplit(address).username is not None:
        fault = "must not hold a user name or a password: only pages that everybody may read are read"
    if fault:
        raise Invalid.of([Fault("url", fault)])
    return urldefrag(address).url


def checked_interval(every: float | None) -> float | None:
    """Raises `Invalid`."""
    if every is not None and not (isfinite(every) and LEAST_MINUTES <= every <= MOST_MINUTES):
        fault = (
            f"must be from {LEAST_MINUTES:g} to {MOST_MINUTES:g} minutes; leave it out to read the page once"
        )
        raise Invalid.of([Fault("every", fault)])
    return every
