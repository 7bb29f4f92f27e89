"""Folders that a channel instance watches, and whose files it feeds into a knowledge base."""

from dataclasses import dataclass

from domain.delivery.concurrency import ReadLimiter
from domain.instances.model import ACTIVE, Instance
from domain.knowledge.sources.model import (
    LeasedSource,
    Listing,
    NewSource,
    PageContent,
    PageRefused,
    PageStatus,
    PageToRead,
    SourceKind,
    key_of,
)
from ports.channels import AnyChannel, Channels
from ports.instances import InstanceLookup
from ports.knowledge import SourceStore


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

    instances: InstanceLookup
    channels: Channels
    reads: ReadLimiter

    async def read(self, source: LeasedSource, page: PageToRead) -> PageContent | Listing | None:
        found = None if source.instance_id is None else await self.instances.find(source.instance_id)
        channel = self.channels.find(found.channel_id) if found else None
        folder = channel.folder if channel else None
        if found is None or channel is None or folder is None or found.status != ACTIVE:
            raise PageRefused(PageStatus.FAILED, "no channel instance feeds this folder any more")
        config = channel.config.load(found.config)
        if folder.base_id(config) != source.base_id:
            raise PageRefused(PageStatus.FAILED, "its channel instance feeds another knowledge base now")
        async with self.reads.slot(found, channel):
            return await folder.read(config, page)
