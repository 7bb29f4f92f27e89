"""`switchboard doctor`: looks at the installation, says what is missing and how to mend it."""

import asyncio
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from adapters.outbound.storage.instances import check_key
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.system.encryption import ConfigCipher
from apps import findings
from apps.compose.container import CommandContainer
from apps.compose.storage import blob_store
from apps.findings import KnowledgeState, state_of
from apps.logs import escaped
from apps.processes.readiness import check_workers
from apps.processes.starting import a_database, migrated, unlocked
from apps.settings import Settings
from apps.settings_loading import complete
from apps.sign_in_findings import of_sign_in
from domain.monitoring.model import Finding, Grade
from domain.refusals import INTERNAL

T = TypeVar("T")

PRINTED = {Grade.OK: "ok", Grade.NOTE: "note", Grade.FAIL: "FAIL"}


def main(settings: Settings, _: Namespace) -> int:
    """Prints the findings; exit status 1 when something fails."""
    failed = False
    for finding in _findings(settings):
        print(f"{PRINTED[finding.grade]:<5} {finding.subject:<14} {escaped(finding.text)}", flush=True)
        failed = failed or finding.grade is Grade.FAIL
    return 1 if failed else 0


def _in_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    """The result of `work` with the database of the installation."""

    async def run(dsn: str) -> T:
        database = Database(dsn)
        await database.open()
        try:
            return await work(database)
        finally:
            await database.close()

    with a_database(settings) as dsn:
        return asyncio.run(run(dsn))


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from findings.of_settings(settings)
    yield from findings.of_tls(settings)
    yield from of_sign_in(settings)

    def database() -> str:
        with a_database(settings) as dsn:
            migrated(dsn)
        return findings.database_text(settings)

    def encryption() -> str:
        with a_database(settings) as dsn:
            unlocked(complete(settings), dsn)
            return findings.key_text(check_key(dsn, ConfigCipher(complete(settings).config_encryption_key)))

    async def queue() -> str:
        arq_queue = ArqQueue(connect(settings.redis_url))
        try:
            return await findings.queue_text(settings, arq_queue.ping)
        finally:
            await arq_queue.close()

    yield findings.tried("database", database)
    yield findings.tried("encryption", encryption)
    yield findings.tried("queue", lambda: asyncio.run(queue()))
    files = blob_store(settings).check
    yield findings.tried("files", lambda: asyncio.run(findings.files_text(settings, files)))

    async def workers(database: Database) -> str:
        return await findings.workers_text(partial(check_workers, PostgresProcesses(database)))

    finding = findings.tried("workers", lambda: _in_database(settings, workers))
    if settings.embedded and finding.grade is Grade.FAIL:  # it runs for the moment, as the service does not
        finding = replace(finding, grade=Grade.NOTE)
    yield finding
    try:
        yield _in_database(settings, lambda database: findings.of_retention(settings, database))
    except findings.FAILURES as error:
        yield Finding(Grade.FAIL, "old rows", str(error) or INTERNAL)
    yield findings.of_resources(settings)
    yield from _knowledge(settings)
    yield from findings.of_machine(settings)


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
