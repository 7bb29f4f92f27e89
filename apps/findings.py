"""Findings about the settings, the files of this machine, certificates and the knowledge bases, for
`switchboard doctor` and a running service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from stat import S_IROTH
from urllib.parse import urlsplit

import psycopg
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from adapters.outbound.core_client.cores import Target, address_of, parse_targets
from adapters.outbound.knowledge.embedding.exports import can_prepare
from adapters.outbound.knowledge.embedding.installed import InstalledEmbedders
from adapters.outbound.knowledge.embedding.model_files import packaged_folder
from adapters.outbound.knowledge.parsing.formats import supported_formats
from adapters.outbound.net.tls import WARN_BEFORE, BadCertificate, PemSetting, TlsFiles, certificates, probe
from adapters.outbound.net.urls import safe_url
from adapters.outbound.resources.rules import named_bases
from adapters.outbound.storage.instances import WrongKey, check_key
from adapters.outbound.storage.migrate import first_line
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention
from adapters.outbound.system.encryption import ConfigCipher
from apps.compose.knowledge import Knowledge, whisper_folder
from apps.compose.storage import blob_store, times_of
from apps.compose.work import rules_of
from apps.processes.readiness import Check
from apps.processes.starting import StartError
from apps.setting_types import SettingsError
from apps.settings import Settings
from apps.settings_loading import complete, unknown_settings
from apps.tls import USE_TLS, core_files, gateway_files, is_loopback, tls_to_core, trusted_file
from domain.monitoring.model import Finding, Grade
from domain.refusals import INTERNAL, Refusal, Unavailable

UNPREPARED = (
    "must be prepared once with PyTorch, which is not installed here: start the service once from the image of the"
    " target `full` on the same DATA_DIR, or install PyTorch (pip install torch sentence-transformers onnx)"
)
FAILURES = (StartError, SettingsError, Refusal, WrongKey, RuntimeError, TimeoutError)
"""What a check raises that says what is wrong."""


def tried(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(Grade.OK, subject, check())
    except FAILURES as error:
        return Finding(Grade.FAIL, subject, str(error) or INTERNAL)


async def awaited(subject: str, check: Awaitable[str]) -> Finding:
    try:
        return Finding(Grade.OK, subject, await check)
    except FAILURES as error:
        return Finding(Grade.FAIL, subject, str(error) or INTERNAL)


def of_settings(settings: Settings) -> Iterator[Finding]:
    yield tried("settings", lambda: f"secrets are in place, data in {complete(settings).data_dir}")
    if bool(settings.database_url) != bool(settings.redis_url):
        yield Finding(
            Grade.NOTE,
            "settings",
            "DATABASE_URL and REDIS_URL go together when processes run apart; only one is set",
        )
    for sentence in unknown_settings(settings):
        yield Finding(Grade.NOTE, "settings", sentence)
    host = urlsplit(settings.agent_url).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1"):
        yield Finding(
            Grade.NOTE,
            "AGENT_URL",
            f"is {settings.agent_url}: platforms on the internet cannot call it; set it to a public https address",
        )
    if settings.platform_url != settings.agent_url:
        yield Finding(
            Grade.NOTE,
            "PLATFORM_URL",
            f"is {settings.platform_url}: OAuth redirects go there and must be forwarded to the gateway;"
            " without a platform in front, set it to AGENT_URL",
        )


def key_text(unreadable: int) -> str:
    """The text about the encryption key. Raises `StartError` if some configurations need another one."""
    if unreadable:
        raise StartError(
            f"{unreadable} configuration(s) were encrypted with a key that CONFIG_ENCRYPTION_KEY does not list;"
            " add that key, or save those instances anew"
        )
    return "CONFIG_ENCRYPTION_KEY fits the database"


async def queue_text(settings: Settings, ping: Check) -> str:
    """Raises `StartError`."""
    try:
        await ping()
    except Unavailable as error:
        raise StartError(f"REDIS_URL cannot be used: {error.__cause__ or error}") from error
    return "REDIS_URL takes writes" if settings.redis_url else "embedded"


async def files_text(settings: Settings, check: Check) -> str:
    """Raises `Unavailable`."""
    await check()
    return f"in the bucket {settings.blob_s3_bucket}" if settings.blob_s3_bucket else "in DATA_DIR"


async def workers_text(check: Check) -> str:
    """Raises `RuntimeError` where messages wait and no worker runs."""
    await check()
    return "no message waits for a worker"


def database_text(settings: Settings) -> str:
    return "embedded PostgreSQL, migrated" if settings.embedded else "DATABASE_URL answers, migrated"


def of_resources(settings: Settings) -> Finding:
    def check() -> str:
        rules = len(rules_of(settings))
        places = [f"{rules} rules of {settings.resources_file}"] if settings.resources_file else []
        places.append("the built-ins")
        if settings.downstream_url:
            places.append(f"for all else {safe_url(settings.downstream_url)}")
        return ", ".join(places)

    return tried("resources", check)


def of_knowledge(settings: Settings, state: KnowledgeState) -> Iterator[Finding]:
    left = {kind: count for kind, count in state.orphans.items() if count}
    orphans = ", ".join(f"{count} {kind}" for kind, count in left.items())
    yield Finding(Grade.FAIL if left else Grade.OK, "orphans", orphans or "0")
    yield Finding(Grade.OK, "vectors", f"of {state.model}")
    if not state.model_prepared:
        yield _unprepared(settings, state.model)
    if state.of_other_models:
        text = f"{state.embedded_anew} of {state.of_other_models} chunks are embedded anew with {state.model}"
        yield Finding(
            Grade.NOTE, "vectors", f"{text} by the running service; searches use the former vectors meanwhile"
        )
    for base_id, line in state.missing_bases:
        text = f"line {line} of RESOURCES_FILE names the knowledge base {base_id}, which does not exist"
        yield Finding(Grade.NOTE, "resources", f"{text}; correct the number, or leave it out")
    yield from _of_memory(settings, state)


def _of_memory(settings: Settings, state: KnowledgeState) -> Iterator[Finding]:
    if state.memory_tasks:
        text = f"memory nodes of {state.memory_tasks} deleted knowledge bases are still to be deleted"
        yield Finding(Grade.NOTE, "memory", f"{text}: {state.memory_error or 'not tried yet'}")
    if settings.kb_memory_sync and not settings.memory_url:
        yield Finding(Grade.FAIL, "memory", "KB_MEMORY_SYNC needs MEMORY_URL")


def _unprepared(settings: Settings, model: str) -> Finding:
    if not can_prepare():
        return Finding(Grade.FAIL, "model", f"{model} {UNPREPARED}")
    if settings.embedding_prepare_at_start or settings.embedding_preload:
        when = "the service does it in the background after its start; the log tells the end of it"
    else:
        when = "the first file or search does it, as EMBEDDING_PREPARE_AT_START is off"
    return Finding(
        Grade.NOTE,
        "model",
        f"{model} is not prepared on this machine yet: {when}; files wait for it meanwhile",
    )


async def of_retention(settings: Settings, database: Database) -> Finding:
    """About rows that should have been deleted a day ago, and tables of which most rows are dead."""
    retention = Retention(database, times_of(settings))
    late, bloated = await retention.late(), await retention.bloated()
    sentences = [f"{', '.join(late)}: overdue for more than a day; is a worker running?"] if late else []
    if bloated:
        sentences.append(f"more than half of {', '.join(bloated)} is dead rows; is autovacuum on?")
    return Finding(
        Grade.NOTE if sentences else Grade.OK, "old rows", "; ".join(sentences) or "deleted in time"
    )


def of_machine(settings: Settings) -> Iterator[Finding]:
    """Verification, the embedding model, and what reads each format."""

    def model() -> str:
        if not settings.embedding_model_dir:
            packaged_folder()
        return (
            settings.embedding_model_dir
            or "the bundled all-MiniLM-L6-v2; for others: switchboard models list"
        )

    yield from _verification(settings)
    yield tried("model", model)
    if settings.embedding_prepared_dir:
        yield _prepared(settings.embedding_prepared_dir)
    for support in supported_formats(whisper_folder(settings)):
        yield Finding(Grade.OK if support.available else Grade.NOTE, support.format.value, support.how)


def _verification(settings: Settings) -> Iterator[Finding]:
    if settings.smtp_host and settings.smtp_from:
        yield Finding(Grade.OK, "mail", f"verification mail goes through {settings.smtp_host}")
    else:
        yield Finding(Grade.NOTE, "mail", "no verification mail: set SMTP_HOST and SMTP_FROM")
    for provider in ("WORKSPACE_CHAT", "GAMING_CHAT", "COMMUNITY_CHAT", "ENTERPRISE_CHAT"):
        missing = [
            f"{provider}_{name}"
            for name in ("CLIENT_ID", "CLIENT_SECRET")
            if not getattr(settings, f"{provider}_{name}".lower())
        ]
        if missing:
            yield Finding(Grade.NOTE, provider.lower(), f"verification is off: set {' and '.join(missing)}")


def _prepared(folder: Path) -> Finding:
    """The folder holds models for both precisions; which of them is needed is known with the database alone."""
    try:
        files = [path for path in folder.iterdir() if path.suffix == ".onnx"]
        fault = "" if files else "holds no prepared model"
        for path in files:
            path.open("rb").close()
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    subject = "EMBEDDING_PREPARED_DIR"
    if not fault:
        return Finding(Grade.OK, subject, f"{len(files)} prepared models in {folder}")
    mend = f"{folder} {fault}: correct it, or leave it out"
    if can_prepare():
        return Finding(
            Grade.NOTE, subject, f"{mend}; models are prepared with PyTorch at first use meanwhile"
        )
    return Finding(
        Grade.FAIL, subject, f"{mend}; without it models are prepared with PyTorch, which is missing here"
    )


@dataclass(frozen=True, slots=True)
class KnowledgeState:
    """`orphans`: what is stored and belongs to nothing, by kind. `of_other_models`: the chunks of bases that are
    still to change over to `model`, of which so many are embedded anew. `missing_bases`: ids of bases that do not
    exist, each with the line of the rule that names it. `model_prepared`: the model need not be exported first."""

    orphans: Mapping[str, int]
    model: str
    embedded_anew: int
    of_other_models: int
    memory_tasks: int
    memory_error: str | None
    missing_bases: Sequence[tuple[int, int]]
    model_prepared: bool = True


async def state_of(
    settings: Settings, knowledge: Knowledge, embedder: InstalledEmbedders, database: Database
) -> KnowledgeState:
    """Counts; changes nothing."""
    chunks = knowledge.reindexing
    orphans = await chunks.orphans()
    orphans["files on disk that no record knows"] = await knowledge.sweeper.strays()
    model = await embedder.model()
    row = await database.fetch_one("SELECT count(*), max(last_error) FROM memory_task")
    done, others = await chunks.progress(model.fingerprint)
    tasks, error = row or (0, None)
    named: list[tuple[int, int]] = []
    with suppress(SettingsError):  # rules that cannot be read are a finding of their own
        named = list(named_bases(await asyncio.to_thread(rules_of, settings)))
    ids = [base_id for base_id, _ in named]
    known = await database.fetch_column("SELECT id FROM knowledge_base WHERE id = ANY(%s::bigint[])", (ids,))
    missing = [(base_id, line) for base_id, line in named if base_id not in known]
    prepared = await embedder.is_prepared()
    return KnowledgeState(orphans, model.name, done, others, tasks, error, missing, prepared)


def of_tls(settings: Settings) -> Iterator[Finding]:
    """The files of the core and of a gateway, and whether the cores of CORE_TARGET answer."""
    yield from _of_files(TlsFiles(ca=trusted_file(settings)))
    core = core_files(settings)
    yield from _of_files(core)
    if core:
        yield from _uncovered(settings, core)
    elif not is_loopback(settings.grpc_host):
        yield Finding(Grade.NOTE, "GRPC_HOST", f"is {settings.grpc_host}, without TLS: {USE_TLS}")
    of_gateway = [*_of_files(gateway_files(settings))]
    yield from of_gateway
    if settings.core_target and not any(finding.grade is Grade.FAIL for finding in of_gateway):
        for target in parse_targets(settings.core_target):
            yield _of_core(settings, target)


def _of_files(files: TlsFiles | None) -> Iterator[Finding]:
    if files is None:
        return
    now = datetime.now(UTC)
    try:
        valid = files.check(files.read(), now)
    except BadCertificate as error:
        yield Finding(Grade.FAIL, "certificates", str(error))
        return
    for name, valid_until in valid.items():
        soon = valid_until - now < WARN_BEFORE
        text = f"{name} is valid until {valid_until:%Y-%m-%d %H:%M} UTC{'; renew it' if soon else ''}"
        yield Finding(Grade.NOTE if soon else Grade.OK, "certificates", text)
    key, chain = files.key, files.certificate
    if key and key.path.stat().st_mode & S_IROTH:
        text = f"{key.name}: everybody on this machine can read {key.path}; run: chmod 640 {key.path}"
        yield Finding(Grade.NOTE, "certificates", text)
    if chain and not _is_in_order(certificates(chain, chain.read())):
        text = f"{chain.name}: in {chain.path} each certificate must be followed by the one that signed it"
        yield Finding(Grade.NOTE, "certificates", text)


def _is_in_order(chain: Sequence[x509.Certificate]) -> bool:
    """Return True if each certificate is followed by the one that signed it."""
    try:
        for link, issuer in pairwise(chain):
            link.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _uncovered(settings: Settings, core: TlsFiles) -> Iterator[Finding]:
    """Hosts of CORE_TARGET that the certificate of this core does not name."""
    names = _names(core.certificate) if core.certificate else []
    targets = [target for target in parse_targets(settings.core_target) if not target.path]
    hosts = [settings.core_tls_server_name] if settings.core_tls_server_name else [t.host for t in targets]
    for host in hosts if targets else []:
        if not any(_covers(name, host) for name in names):
            text = (
                f"GRPC_TLS_CERT_FILE names {', '.join(names) or 'no host'}, and not {host}, which gateways expect;"
                " make one that does, or set CORE_TLS_SERVER_NAME"
            )
            yield Finding(Grade.NOTE, "certificates", text)


def _names(certificate: PemSetting) -> Sequence[str]:
    try:
        leaf = certificates(certificate, certificate.read())[0]
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (BadCertificate, x509.ExtensionNotFound):
        return []
    return [str(name.value) for name in names]


def _covers(name: str, host: str) -> bool:
    """A wildcard stands for one label."""
    name, host = name.lower(), host.lower()
    return name == host or (name.startswith("*.") and host.partition(".")[2] == name[2:])


def _of_core(settings: Settings, target: Target) -> Finding:
    if target.path:
        return Finding(Grade.OK, "core", f"{target} is a socket of this machine, without TLS")
    tls = tls_to_core(settings)
    result = asyncio.run(
        probe(target.host, target.port, tls.files if tls else None, tls.server_name if tls else "")
    )
    where = address_of(target.host, target.port)
    if result.fault:
        return Finding(Grade.FAIL, "core", f"CORE_TARGET {where}: {result.fault}")
    until = f" over TLS, with a certificate until {result.valid_until:%Y-%m-%d}" if result.valid_until else ""
    return Finding(Grade.OK, "core", f"CORE_TARGET {where} answers{until}")


@dataclass(eq=False)
class RunningInstallation:
    """`ports.monitoring.Installation`: what the doctor finds out inside a running service, through the connections
    that it has. `checks` are those of readiness. One look at a time."""

    settings: Settings
    database: Database
    checks: Mapping[str, Check]
    knowledge: Knowledge
    embedder: InstalledEmbedders
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def findings(self) -> Sequence[Finding]:
        settings, checks = self.settings, self.checks

        async def database() -> str:
            for name in ("database", "migrations"):
                await checks[name]()
            return database_text(settings)

        async def encryption() -> str:
            cipher = ConfigCipher(settings.config_encryption_key)
            try:
                return key_text(await asyncio.to_thread(check_key, self.database.dsn, cipher))
            except psycopg.Error as error:
                raise RuntimeError(f"the database does not answer: {first_line(error)}") from error

        async with self.lock:
            findings = await asyncio.to_thread(lambda: [*of_settings(settings), *of_tls(settings)])
            findings += [
                await awaited("database", database()),
                await awaited("encryption", encryption()),
                await awaited("queue", queue_text(settings, checks["queue"])),
                await awaited("files", files_text(settings, blob_store(settings).check)),
                await awaited("workers", workers_text(checks["workers"])),
            ]
            try:
                findings.append(await of_retention(settings, self.database))
            except FAILURES as error:
                findings.append(Finding(Grade.FAIL, "old rows", str(error)))
            findings.append(await asyncio.to_thread(of_resources, settings))
            try:
                state = await state_of(settings, self.knowledge, self.embedder, self.database)
                findings += of_knowledge(settings, state)
            except FAILURES as error:
                findings.append(Finding(Grade.FAIL, "knowledge", str(error)))
            return findings + await asyncio.to_thread(lambda: [*of_machine(settings)])
