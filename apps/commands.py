"""`switchboard keys`, `console`, `migrate`, `reseal` and `reindex`; they work beside a running service."""

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta

from adapters.outbound.storage.instances import encrypt_anew, replace_key
from adapters.outbound.storage.migrate import revision_of
from apps import logs, sign_in
from apps.compose.container import CommandContainer
from apps.logs import escaped
from apps.processes.starting import StartError, a_database, migrated
from apps.settings import Settings
from apps.settings_loading import complete
from domain import limits
from domain.access.model import Scope, parse_role, sign_in_address
from domain.audit.service import AuditService
from domain.refusals import NotFound


def create(settings: Settings, options: argparse.Namespace) -> int:
    name = options.name.strip()
    if fault := limits.text_fault(name, limits.KEY_NAME):
        raise StartError(f"--name {fault}")
    expires_at = expiry(options.expires, datetime.now(UTC)) if options.expires is not None else None

    scopes = scopes_of(options.scopes) if options.scopes else None

    async def run(container: CommandContainer) -> None:
        _, token = await container.access().create_key(
            options.user, parse_role(options.role), name, expires_at, scopes=scopes
        )
        print(token)

    return with_database(settings, run)


def expiry(text: str, now: datetime) -> datetime:
    """So many days from now, or the end of a day in UTC. Raises `StartError`."""
    try:
        expires_at = (
            now + timedelta(days=int(text))
            if text.isdigit()
            else datetime.combine(date.fromisoformat(text), time(23, 59, 59), UTC)
        )
    except (ValueError, OverflowError):
        expires_at = now
    if not now < expires_at <= now + timedelta(days=limits.KEY_DAYS):
        raise StartError(
            f"--expires must be a number of days from 1 to {limits.KEY_DAYS}, or a later day within that time, such"
            f" as {now + timedelta(days=90):%Y-%m-%d}"
        )
    return expires_at


def scopes_of(text: str) -> tuple[Scope, ...]:
    """Raises `StartError`."""
    names = dict.fromkeys(name.strip() for name in text.split(","))
    if not all(name in tuple(Scope) for name in names):
        raise StartError(f"--scopes must be some of {', '.join(Scope)}, separated by commas")
    return tuple(map(Scope, names))


def verify_audit(settings: Settings, options: argparse.Namespace) -> int:
    """Prints the last entry with its hash. Whoever removes the latest entries also removes what tells of it: a line
    that was printed before, kept elsewhere and given with --expect, shows that."""
    expected = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", options.expect)
    if options.expect and not expected:
        raise StartError("--expect must be ID:HASH, as this command prints it")

    async def run(container: CommandContainer) -> None:
        log = container.storage().audit
        check = await AuditService(log).verify(int(expected[1]) if expected else None)
        last = check.entry
        if check.fault and last is not None:
            raise StartError(f"entry {last.id} of {last.at:%Y-%m-%d %H:%M:%S} UTC: {check.fault}")
        if expected and (check.expected is None or check.expected.hash.hex() != expected[2]):
            raise StartError(f"entry {expected[1]} is gone, or is another one")
        print(f"{check.count} entries, none changed or removed")
        if last is not None:
            print(f"{last.id}:{last.hash.hex()}")

    return with_database(settings, run)


def listing(settings: Settings, _: argparse.Namespace) -> int:
    async def run(container: CommandContainer) -> None:
        print(f"{'ID':>4}  {'USER':<24} {'ROLE':<9} {'KEY':<14} {'CREATED':<20} {'STATE':<18} NAME")
        for key in await container.access().list_keys():
            created, state = f"{key.created_at:%Y-%m-%d %H:%M:%S}", "live"
            if key.revoked_at:
                state = f"revoked {key.revoked_at:%Y-%m-%d}"
            elif key.expires_at:
                state = f"{'expires' if key.live else 'expired'} {key.expires_at:%Y-%m-%d}"
            print(
                f"{key.id:>4}  {escaped(key.user_id):<24} {key.role:<9} {key.prefix + '…':<14} {created:<20}"
                f" {state:<18} {escaped(key.name)}".rstrip()
            )

    return with_database(settings, run)


def revoke(settings: Settings, options: argparse.Namespace) -> int:
    async def run(container: CommandContainer) -> None:
        text, access = options.key, container.access()
        if text.isascii() and text.isdigit() and len(text) < 19:
            key_id = int(text)
        elif key := await access.find_key(text):
            key_id = key.id
        else:
            raise NotFound("no live key looks like that; 'switchboard keys list' shows the ids")
        await access.revoke_key(key_id)
        print("revoked")

    return with_database(settings, run)


def link(settings: Settings, options: argparse.Namespace) -> int:
    async def run(container: CommandContainer) -> None:
        role = parse_role(options.role) if options.role else None
        if options.reset:
            await sign_in.reset(container.storage(), options.user)
        token = await container.access().create_link(options.user, role)
        print(sign_in_address(settings.agent_url, token))

    return with_database(settings, run)


def migrate(settings: Settings, _: argparse.Namespace) -> int:
    with a_database(settings) as dsn:
        print(f"the database is at {revision_of(migrated(dsn))}")
    return 0


def reseal(settings: Settings, options: argparse.Namespace) -> int:
    async def run(container: CommandContainer) -> None:
        storage = container.storage()
        database, cipher = storage.database, storage.config_cipher
        count, instances, agents = await encrypt_anew(database, cipher)
        print(f"encrypted {count} configuration(s) anew")
        if (unreadable := len(instances) + len(agents)) and not options.drop_unreadable:
            raise StartError(
                f"{unreadable} configuration(s) were encrypted with a key that CONFIG_ENCRYPTION_KEY does not list;"
                " add that key, or give the instances and agents up with: switchboard reseal --drop-unreadable"
            )
        for instance_id in instances:
            await storage.instances.remove(instance_id)
            print(f"removed the instance {instance_id}")
        for agent_id in agents:
            await storage.agents.remove(agent_id)
            print(f"removed the agent {agent_id}")
        await asyncio.to_thread(replace_key, database.dsn, cipher)

    return with_database(settings, run)


def reindex(settings: Settings, _: argparse.Namespace) -> int:
    """Embeds with the present model what another one has embedded. May be stopped and started again."""

    async def run(container: CommandContainer) -> None:
        service = container.knowledge().reindex
        try:
            count = await service.run(lambda done, total: print(f"{done} of {total}", flush=True))
        finally:
            await container.embedder().close()
        if count is None:
            raise StartError("another process embeds anew at this moment; see: switchboard models list")
        print(
            f"{count} chunks embedded anew" if count else "nothing to do: all chunks are of the present model"
        )

    logs.set_up(settings)
    return with_database(settings, run)


def with_database(settings: Settings, work: Callable[[CommandContainer], Awaitable[None]]) -> int:
    settings = complete(settings)

    async def run(dsn: str) -> None:
        container = CommandContainer(settings=settings, dsn=dsn)
        await container.storage().database.open()
        try:
            await work(container)
        finally:
            await container.storage().database.close()

    with a_database(settings) as dsn:
        asyncio.run(run(migrated(dsn)))
    return 0
