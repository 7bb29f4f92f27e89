"""Sources of knowledge bases: what reads web pages into them."""

import asyncio

from adapters.outbound.storage.knowledge.files import PostgresFileChanges
from adapters.outbound.storage.knowledge.source_pages import PostgresSourcePages
from adapters.outbound.storage.knowledge.sources import (
    PostgresSourceLeases,
    PostgresSources,
    PostgresWebHosts,
)
from adapters.outbound.web.fetching import PageFetcher
from adapters.outbound.web.pages import WebOrigin
from adapters.outbound.web.robots import Robots
from apps.containers.channels import Channels
from apps.containers.foundation import Foundation
from apps.containers.knowledge import Uploads
from apps.containers.storage import Storage
from domain.knowledge.sources.model import SourceKind
from domain.knowledge.sources.reading import FolderOrigin, SourceReader
from domain.knowledge.sources.service import SourceService


class Sources:
    """`service` takes sources in, `reader` reads them; `due` is set when there is one to read."""

    def __init__(
        self, foundation: Foundation, storage: Storage, uploads: Uploads, channels: Channels
    ) -> None:
        settings, database = foundation.settings, storage.database
        self.due = asyncio.Event()
        self.service = SourceService(uploads.access, PostgresSources(database), self.due.set)
        hosts = PostgresWebHosts(database)
        robots = Robots(foundation.http, hosts)
        pause, most = settings.pages_pause_ms / 1000, settings.pages_max_mb * 1024 * 1024
        fetcher = PageFetcher(foundation.http, hosts, robots, pause, most)
        folders = FolderOrigin(storage.instances, channels.registry, channels.reads)
        self.reader = SourceReader(
            PostgresSourceLeases(database),
            PostgresSourcePages(database),
            {SourceKind.WEB: WebOrigin(fetcher, uploads.parser), SourceKind.DRIVE: folders},
            uploads.service,
            PostgresFileChanges(database),
            uploads.retention,
            foundation.worker_id,
        )
