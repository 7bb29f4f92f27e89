"""Reads web sites and folders into knowledge bases."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from domain.access.model import Caller, Role
from domain.delivery.concurrency import ReadLimiter
from domain.files import one_piece
from domain.instances.model import ACTIVE, Instance
from domain.knowledge.files import UploadService
from domain.knowledge.maintenance import Retention
from domain.knowledge.sources.model import (
    FileSource,
    LeasedSource,
    Listing,
    NewSource,
    PageContent,
    PageKind,
    PageLater,
    PageRefused,
    PageStatus,
    PageToRead,
    SourceKind,
    key_of,
)
from domain.refusals import Forbidden, NotFound, Refusal, StorageAway, Unavailable
from ports.channels import AnyChannel, Channels
from ports.instances import InstanceStore
from ports.knowledge import IncomingFile, SourceOrigin, SourceStore
from ports.knowledge_storage import KnowledgeFileStore

logger = logging.getLogger(__name__)


STEP_SECONDS = 140.0
"""For one page; shorter than a lease, so that nobody else takes the source meanwhile."""
MOST_PROCESSING = 20
"""Files of a source that wait to be processed: the owner's own uploads are not far behind them."""
LOOK_SECONDS = 0.5
"""Between looks whether files are ready."""
MOST_ATTEMPTS = 4
"""Of a page whose server asks to come back later."""
MOST_TROUBLE = 10
"""Pages in a row that cannot be reached, after which a pass is ended."""
UNUSED_AT_A_TIME = 20


@dataclass(eq=False)
class SourceReader:
    """One worker's hands. `owner` is the worker_id of its process."""

    store: SourceStore
    origins: Mapping[SourceKind, SourceOrigin]
    uploads: UploadService
    files: KnowledgeFileStore
    retention: Retention
    owner: int

    async def take(self, *, newcomers_only: bool = False) -> LeasedSource | None:
        return await self.store.claim(self.owner, newcomers_only=newcomers_only)

    async def work(self, source: LeasedSource) -> None:
        """Takes one step of a pass: reads a page, or ends the pass once all are read."""
        pause = 0.0
        try:
            pause = await self._step(source)
        except StorageAway:
            raise
        except Forbidden:
            why = f"{source.user_id} may not change this knowledge base any more"
            await self.store.finish(source, self.owner, why)
        except Exception:
            logger.exception("reading source %s failed", source.id)
            pause = 10 * LOOK_SECONDS
        await self.store.release(source.id, self.owner, pause)
        await self.delete_unused()

    async def delete_unused(self) -> None:
        """Deletes files that no page has any more."""
        for base_id, file_hash in await self.store.unused_files(UNUSED_AT_A_TIME):
            unused = await self.files.remove(base_id, file_hash)
            await self.retention.delete_unreferenced(unused or ())

    async def _step(self, source: LeasedSource) -> float:
        """Gives the seconds until the next step."""
        processing = await self.store.settle(source.id)
        if processing >= MOST_PROCESSING:
            return LOOK_SECONDS
        page = await self.store.next_page(source)
        if page is None and processing:
            return LOOK_SECONDS
        if page is None:
            await self.store.finish(source, self.owner)
            return 0.0
        try:
            async with asyncio.timeout(STEP_SECONDS):
                await self._keep(source, page, await self.origins[source.kind].read(source, page))
        except (StorageAway, Forbidden):
            raise
        except PageLater as later:
            return await self._put_off(source, page, later)
        except Unavailable as refusal:
            return await self._put_off(source, page, PageLater(refusal.retry_after, refusal.message))
        except (PageRefused, Refusal, TimeoutError) as failure:
            await self._refuse(source, page, _refusal_of(failure))
        except Exception:
            logger.exception("reading page %s failed", page.id)
            await self._refuse(
                source, page, PageRefused(PageStatus.FAILED, "reading it failed: internal error")
            )
        return 0.0

    async def _put_off(self, source: LeasedSource, page: PageToRead, later: PageLater) -> float:
        if later.reason is not None:
            again = page.attempts + 1 < MOST_ATTEMPTS
            status = PageStatus.WAITING if again else PageStatus.FAILED
            await self._refuse(source, page, PageRefused(status, later.reason, unreachable=True))
        return later.seconds

    async def _refuse(self, source: LeasedSource, page: PageToRead, refused: PageRefused) -> None:
        if page.is_list and refused.status is PageStatus.GONE:
            refused = PageRefused(PageStatus.FAILED, refused.reason)  # its pages may be there all the same
        await self.store.refused(source, page, refused)
        if refused.unreachable and source.trouble + 1 >= MOST_TROUBLE:
            why = f"the last {MOST_TROUBLE} pages could not be reached: {refused.reason}"
            await self.store.finish(source, self.owner, why)

    async def _keep(self, source: LeasedSource, page: PageToRead, got: PageContent | Listing | None) -> None:
        if got is None:
            await self.store.unchanged(source, page)
        elif isinstance(got, Listing):
            await self.store.listed(source, page, got)
        elif page.is_list or page.kind is PageKind.LIST:
            raise PageRefused(PageStatus.FAILED, "it is no list of pages, as it was said to be")
        elif got.same_as is not None and await self.store.has_page(source, got.same_as):
            same = f"it is the same page as {got.address}, which is read too"
            raise PageRefused(PageStatus.SKIPPED, same)
        else:
            caller = Caller(source.user_id, Role.ADMIN if source.by_admin else Role.MEMBER)
            file = IncomingFile(got.name, got.content, FileSource(page.id, got.address))
            try:
                await self.uploads.upload(caller, source.base_id, one_piece(file), True)
            except NotFound:
                return  # the base was deleted, and the source with it
            await self.store.stored(source, page, got)


def _refusal_of(failure: PageRefused | Refusal | TimeoutError) -> PageRefused:
    if isinstance(failure, PageRefused):
        return failure
    if isinstance(failure, Refusal):
        return PageRefused(PageStatus.FAILED, failure.message)
    return PageRefused(PageStatus.FAILED, "reading it took too long", unreachable=True)


@dataclass(eq=False)
class FolderSync:
    """Keeps the sources of folders in step with the configurations of their instances."""

    store: SourceStore

    async def polled(self, instance: Instance, channel: AnyChannel) -> bool:
        """Has the folder of an instance that was just polled read into its base; whether it feeds one."""
        if channel.folder is None:
            return False
        config = channel.config.load(instance.config)
        base_id = channel.folder.base_id(config)
        await self.store.detach(instance.id, base_id)
        if base_id is None:
            return False
        address, key = channel.folder.address(config), key_of(f"instance {instance.id}")
        source = NewSource(
            base_id, SourceKind.DRIVE, address, key, instance.user_id, False, None, instance.id
        )
        return await self.store.put(source) is not None


@dataclass(eq=False)
class FolderOrigin:
    """Reads the files of folders through their channels. Conforms to `SourceOrigin`."""

    instances: InstanceStore
    channels: Channels
    reads: ReadLimiter

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        instance = None if source.instance_id is None else await self.instances.find(source.instance_id)
        channel = self.channels.find(instance.channel_id) if instance else None
        folder = channel.folder if channel else None
        if instance is None or channel is None or folder is None or instance.status != ACTIVE:
            raise PageRefused(PageStatus.FAILED, "no channel instance feeds this folder any more")
        config = channel.config.load(instance.config)
        if folder.base_id(config) != source.base_id:
            raise PageRefused(PageStatus.FAILED, "its channel instance feeds another knowledge base now")
        async with self.reads.slot(instance, channel):
            return await folder.read(config, page)
