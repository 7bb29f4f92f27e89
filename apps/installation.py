"""What the doctor finds out inside a running service: through the connections that it has."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import psycopg

from adapters.outbound.knowledge.embedding.installed import InstalledEmbedders
from adapters.outbound.storage.instances import check_key
from adapters.outbound.storage.migrate import first_line
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention
from adapters.outbound.system.encryption import ConfigCipher
from apps import findings
from apps.compose.knowledge import Knowledge
from apps.compose.storage import blob_store, times_of
from apps.findings import state_of
from apps.settings import Settings
from domain.monitoring.model import Finding, Grade

Checks = Mapping[str, Callable[[], Awaitable[None]]]


def _of_this_machine(settings: Settings) -> Sequence[Finding]:
    return [*findings.of_settings(settings), *findings.of_tls(settings)]


class RunningInstallation:
    """`ports.monitoring.Installation`. `checks` are those of readiness. One look at a time."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        checks: Checks,
        knowledge: Knowledge,
        embedder: InstalledEmbedders,
    ) -> None:
        self._settings = settings
        self._database = database
        self._checks = checks
        self._knowledge = knowledge
        self._embedder = embedder
        self._one = asyncio.Lock()

    async def findings(self) -> Sequence[Finding]:
        async with self._one:
            settings = self._settings
            return [
                *await asyncio.to_thread(_of_this_machine, settings),
                await findings.awaited("database", self._answers()),
                await findings.awaited("encryption", self._key()),
                await findings.awaited("queue", findings.queue_text(settings, self._checks["queue"])),
                await findings.awaited("files", findings.files_text(settings, blob_store(settings).check)),
                await findings.awaited("workers", findings.workers_text(self._checks["workers"])),
                await self._old_rows(),
                await asyncio.to_thread(findings.of_resources, settings),
                *await self._bases(),
                *await asyncio.to_thread(lambda: [*findings.of_machine(settings)]),
            ]

    async def _answers(self) -> str:
        for name in ("database", "migrations"):
            await self._checks[name]()
        return findings.database_text(self._settings)

    async def _key(self) -> str:
        cipher = ConfigCipher(self._settings.config_encryption_key)
        try:
            return findings.key_text(await asyncio.to_thread(check_key, self._database.dsn, cipher))
        except psycopg.Error as error:
            raise RuntimeError(f"the database does not answer: {first_line(error)}") from error

    async def _old_rows(self) -> Finding:
        try:
            retention = Retention(self._database, times_of(self._settings))
            return findings.of_retention(await retention.late(), await retention.bloated())
        except findings.FAILURES as error:
            return Finding(Grade.FAIL, "old rows", str(error))

    async def _bases(self) -> Sequence[Finding]:
        try:
            state = await state_of(self._settings, self._knowledge, self._embedder, self._database)
        except findings.FAILURES as error:
            return [Finding(Grade.FAIL, "knowledge", str(error))]
        return [*findings.of_knowledge(self._settings, state)]
