"""`switchboard doctor`: looks at the installation, says what is missing and how to mend it."""

import asyncio
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from adapters.outbound.storage.instances import check_key
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.storage.retention import Retention
from adapters.outbound.system.encryption import ConfigCipher
from apps import findings
from apps.compose.container import CommandContainer
from apps.compose.storage import blob_store, times_of
from apps.findings import KnowledgeState, state_of
from apps.logs import escaped
from apps.processes.readiness import check_workers
from apps.processes.starting import a_database, migrated, unlocked
from apps.settings import Settings
from apps.settings_loading import complete
from domain.monitoring.model import Finding, Grade
from domain.refusals import INTERNAL

PRINTED = {Grade.OK: "ok", Grade.NOTE: "note", Grade.FAIL: "FAIL"}


def main(settings: Settings, _: Namespace) -> int:
    """Prints the findings; exit status 1 when something fails."""
    failed = False
    for finding in _findings(settings):
        print(f"{PRINTED[finding.grade]:<5} {finding.subject:<14} {escaped(finding.text)}", flush=True)
        failed = failed or finding.grade is Grade.FAIL
    return 1 if failed else 0


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from findings.of_settings(settings)
    yield from findings.of_tls(settings)
    yield findings.tried("database", lambda: _database(settings))
    yield findings.tried("encryption", lambda: _encryption(settings))
    yield findings.tried("queue", lambda: _queue(settings))
    files = blob_store(settings).check
    yield findings.tried("files", lambda: asyncio.run(findings.files_text(settings, files)))
    yield _workers(settings)
    yield _old_rows(settings)
    yield findings.of_resources(settings)
    yield from _knowledge(settings)
    yield from findings.of_machine(settings)


def _database(settings: Settings) -> str:
    with a_database(settings) as dsn:
        migrated(dsn)
    return findings.database_text(settings)


def _workers(settings: Settings) -> Finding:
    """A note where the database is the embedded one: it runs for the moment, as the service does not."""

    async def looked(dsn: str) -> str:
        database = Database(dsn)
        await database.open()
        try:
            return await findings.workers_text(partial(check_workers, PostgresProcesses(database)))
        finally:
            await database.close()

    def check() -> str:
        with a_database(settings) as dsn:
            return asyncio.run(looked(dsn))

    finding = findings.tried("workers", check)
    if settings.embedded and finding.grade is Grade.FAIL:
        return replace(finding, grade=Grade.NOTE)
    return finding


def _old_rows(settings: Settings) -> Finding:
    async def look(dsn: str) -> Finding:
        database = Database(dsn)
        await database.open()
        try:
            retention = Retention(database, times_of(settings))
            return findings.of_retention(await retention.late(), await retention.bloated())
        finally:
            await database.close()

    try:
        with a_database(settings) as dsn:
            return asyncio.run(look(dsn))
    except findings.FAILURES as error:
        return Finding(Grade.FAIL, "old rows", str(error) or INTERNAL)


def _encryption(settings: Settings) -> str:
    with a_database(settings) as dsn:
        unlocked(complete(settings), dsn)
        return findings.key_text(check_key(dsn, ConfigCipher(complete(settings).config_encryption_key)))


def _knowledge(settings: Settings) -> Iterator[Finding]:
    async def look(dsn: str) -> KnowledgeState:
        container = CommandContainer(settings=complete(settings), dsn=dsn)
        database = container.storage().database
        await database.open()
        try:
            return await state_of(complete(settings), container.knowledge(), container.embedder(), database)
        finally:
            await container.embedder().close()
            await database.close()

    try:
        with a_database(settings) as dsn:
            state = asyncio.run(look(dsn))
    except findings.FAILURES as error:
        yield Finding(Grade.FAIL, "knowledge", str(error) or INTERNAL)
    else:
        yield from findings.of_knowledge(settings, state)


def _queue(settings: Settings) -> str:
    async def checked() -> str:
        queue = ArqQueue(connect(settings.redis_url))
        try:
            return await findings.queue_text(settings, queue.ping)
        finally:
            await queue.close()

    return asyncio.run(checked())
