"""Channel instances in PostgreSQL, with encrypted configurations, and cached for the path of a message."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import (
    Select,
    Update,
    UpdateBase,
    bindparam,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    update,
)

from adapters.outbound.storage.codec import stored_event
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.health import SQL
from adapters.outbound.storage.permissions import PermissionTables, visible_to
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import QueueKind
from adapters.outbound.storage.routes import dump_policy, dump_routes, load_policy, load_routes
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import (
    agent,
    channel_instance,
    event_log,
    inbox,
    instance_access,
    instance_permission,
    instance_team_permission,
    outbox,
    queue,
)
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from domain.access.sharing import Grantee, InstanceLevel, Permission
from domain.channels.messages import Event
from domain.channels.model import REACTIONS
from domain.instances.health import UNDECRYPTED
from domain.instances.model import ACTIVE, UNREADABLE, Activity, Instance, InstanceChange, NewInstance
from domain.monitoring.model import InstanceName
from domain.refusals import Conflict, Unavailable

log = logging.getLogger(__name__)

PAGE_ROWS = 500
MOST_UNANSWERED = 50

columns = channel_instance.c
PERMISSIONS = PermissionTables(instance_permission, instance_team_permission, "instance_id")
INSTANCE = columns_of(
    channel_instance,
    "id user_id channel_id channel_name config resource_id created_at updated_at status trusted routes fallback"
    " feedback approval_policy",
)
_FIND = select(*INSTANCE).where(columns.id == bindparam("instance_id"))
ACTIVE_INSTANCES = select(*INSTANCE).where(columns.status == ACTIVE).order_by(columns.id)
_NAMES = ACTIVE_INSTANCES.with_only_columns(
    columns.id, columns.user_id, columns.channel_id, columns.channel_name
)
RETIRED = "retired"
"""The status of an instance that is removed once its messages are answered."""


def retiring(instance_id: int) -> Update:
    return update(channel_instance).where(columns.id == instance_id).values(status=RETIRED)


def _of(instances: Select[Any], user_id: str | None) -> Select[Any]:
    """Those that one user sees, or all (None)."""
    return instances if user_id is None else instances.where(visible_to(user_id))


class PostgresInstances:
    """`ports.instances.InstanceStore`. Calls `changed` with the id of each instance that was changed or removed,
    after the commit."""

    def __init__(self, database: Database, cipher: ConfigCipher, changed: Callable[[int], None]) -> None:
        self._database = database
        self._cipher = cipher
        self._changed = changed
        self._cache = InstanceCache(self.find)

    async def find(self, instance_id: int) -> Instance | None:
        row = await self._database.fetch_one(_FIND, {"instance_id": instance_id})
        return self.read(*row) if row else None

    async def cached(self, instance_id: int) -> Instance | None:
        return await self._cache.get(instance_id)

    def forget(self, instance_id: int | None = None) -> None:
        self._cache.drop(instance_id)

    async def of_ids(self, instance_ids: Sequence[int]) -> Sequence[Instance]:
        named = select(*INSTANCE).where(columns.id.in_(instance_ids)).order_by(columns.id)
        return [self.read(*row) for row in await self._database.fetch(named)]

    async def of_user(self, user_id: str) -> Sequence[Instance]:
        rows = await self._database.fetch(ACTIVE_INSTANCES.where(columns.user_id == user_id))
        return [self.read(*row) for row in rows]

    async def page_of_user(
        self, user_id: str, after: int, most_bytes: int
    ) -> tuple[Sequence[Instance], bool]:
        following = select(
            *INSTANCE,
            func.sum(func.octet_length(columns.config) + func.octet_length(func.coalesce(columns.routes, "")))
            .over(order_by=columns.id)
            .label("size"),
            func.row_number().over(order_by=columns.id).label("number"),
            func.count().over().label("total"),
        ).where(columns.user_id == user_id, columns.status == ACTIVE, columns.id > after)
        rest = following.subquery()
        page = select(rest).where(or_(rest.c.size <= most_bytes, rest.c.number == 1))
        rows = await self._database.fetch(page.order_by(rest.c.id).limit(PAGE_ROWS))
        instances = [self.read(*row[: len(INSTANCE)]) for row in rows]
        return instances, bool(rows) and rows[-1][-1] > len(rows)

    async def levels(self, user_id: str, instance_ids: Sequence[int]) -> Mapping[int, InstanceLevel]:
        access = instance_access.c
        levels = select(access.instance_id, func.max(access.level)).where(
            access.user_id == user_id, access.instance_id.in_(instance_ids)
        )
        rows = await self._database.fetch(levels.group_by(access.instance_id))
        return {instance_id: InstanceLevel(level) for instance_id, level in rows}

    async def shared_ids(self, user_id: str) -> Sequence[int]:
        ids = select(instance_access.c.instance_id).where(instance_access.c.user_id == user_id).distinct()
        return await self._database.fetch_column(ids)

    async def permissions(self, instance_id: int) -> Sequence[Permission]:
        return await PERMISSIONS.of(self._database, instance_id)

    async def grant(self, instance_id: int, grantee: Grantee, level: InstanceLevel) -> bool:
        return await PERMISSIONS.grant(self._database, instance_id, grantee, level)

    async def following(
        self, user_id: str | None, after: int, limit: int, without: str | None = None
    ) -> Sequence[Instance]:
        active = _of(ACTIVE_INSTANCES, user_id).where(columns.id > after)
        if without is not None:
            active = active.where(columns.user_id != without)
        return [self.read(*row) for row in await self._database.fetch(active.limit(limit))]

    async def names(self, user_id: str | None) -> Sequence[InstanceName]:
        return [InstanceName(*row) for row in await self._database.fetch(_of(_NAMES, user_id))]

    async def of_channels(self, channel_ids: Sequence[str]) -> Sequence[Instance]:
        rows = await self._database.fetch(ACTIVE_INSTANCES.where(columns.channel_id.in_(channel_ids)))
        instances = [self.read(*row) for row in rows]
        return [instance for instance in instances if instance.status != UNREADABLE]

    async def add(self, user_id: str, new: NewInstance, *, connects: bool = False) -> Instance:
        added = insert(channel_instance).values(
            user_id=user_id,
            channel_id=new.channel_id,
            channel_name=new.channel_name,
            config=self._cipher.encrypt(json.dumps(new.config)),
            resource_id=new.resource_id,
            routes=dump_routes(new.routes),
            fallback=None if new.fallback is None else json.dumps(new.fallback),
            feedback=bool(new.feedback),
            approval_policy=dump_policy(new.approval_policy),
            connects=connects,
        )
        instance = await self._saved(added)
        assert instance is not None
        self.announce(instance.id)
        return instance

    async def change(
        self, instance_id: int, change: InstanceChange, *, connects: bool = False, ends_trust: bool = False
    ) -> Instance | None:
        changed = update(channel_instance).where(columns.id == instance_id)
        instance = await self._saved(
            changed.values(
                config=self._cipher.encrypt(json.dumps(change.config)),
                resource_id=func.coalesce(change.resource_id, columns.resource_id),
                channel_name=func.coalesce(change.channel_name, columns.channel_name),
                routes=func.coalesce(dump_routes(change.routes), columns.routes),
                fallback=func.coalesce(
                    None if change.fallback is None else json.dumps(change.fallback), columns.fallback
                ),
                feedback=columns.feedback if change.feedback is None else change.feedback,
                approval_policy=func.coalesce(dump_policy(change.approval_policy), columns.approval_policy),
                updated_at=func.now(),
                connects=connects,
                trusted=false() if ends_trust else columns.trusted,
            ),
            instance_id,
        )
        self.announce(instance_id)
        return instance

    @retried
    async def _saved(self, statement: UpdateBase, changed: int | None = None) -> Instance | None:
        saved = {"instance": changed, "checks": list(Activity), "reason": None}
        try:
            async with self._database.transaction() as connection:
                if changed is not None:
                    await connection.execute(SQL["log_saved"], saved)
                row = await (await connection.run(statement.returning(*INSTANCE))).fetchone()
                return self.read(*row) if row else None
        except psycopg.errors.UniqueViolation as error:
            raise Conflict("an instance of this channel with this channelName exists already") from error

    async def set_trusted(self, instance_id: int, *, trusted: bool) -> None:
        await self._database.execute(
            update(channel_instance).where(columns.id == instance_id).values(trusted=trusted)
        )
        self.announce(instance_id)

    async def set_connects(self, instance_id: int, connects: bool) -> None:
        switched = update(channel_instance).where(columns.id == instance_id, columns.connects != connects)
        if await self._database.execute(switched.values(connects=connects)):
            self.announce(instance_id)

    async def retire(self, instance_id: int) -> None:
        await self._database.execute(retiring(instance_id))
        self.announce(instance_id)

    async def remove_retired(self) -> Sequence[int]:
        """Removes retired instances whose messages are answered; their ids."""
        waiting = exists().where(
            queue.c.kind.in_((QueueKind.INBOUND, QueueKind.OUTBOUND)),
            queue.c.instance_id == columns.id,
            queue.c.pending > 0,
        )
        retired = delete(channel_instance).where(columns.status == RETIRED, ~waiting)
        removed = await self._database.fetch_column(retired.returning(columns.id))
        for instance_id in removed:
            self.announce(instance_id)
        return removed

    @retried
    async def annotate(self, instance_id: int, field: str, value: str) -> None:
        """Writes a field of the configuration that the service itself keeps; nothing else changes."""
        stored = select(columns.config).where(columns.id == instance_id).with_for_update()
        changed = update(channel_instance).where(columns.id == instance_id)
        async with self._database.transaction() as connection:
            row = await (await connection.run(stored)).fetchone()
            config = json.loads(self._cipher.decrypt(row[0])) if row else {}
            if row is None or config.get(field) == value:
                return
            encrypted = self._cipher.encrypt(json.dumps({**config, field: value}))
            await connection.run(changed.values(config=encrypted))
        self.announce(instance_id)

    @retried
    async def remove(self, instance_id: int) -> Sequence[Event]:
        messages = delete(inbox).filter_by(instance_id=instance_id)
        removed = messages.returning(inbox.c.id, inbox.c.event, inbox.c.status).cte("removed")
        newest = (
            select(removed.c.event).filter_by(status=0).order_by(removed.c.id.desc()).limit(MOST_UNANSWERED)
        )
        async with self._database.transaction() as connection:
            await connection.run(delete(channel_instance).filter_by(id=instance_id))
            unanswered = await (await connection.run(newest)).fetchall()
            for table in (outbox, queue):
                await connection.run(delete(table).filter_by(instance_id=instance_id))
            events = delete(event_log).filter_by(instance_id=instance_id)
            await connection.run(events.where(event_log.c.session_key.is_not(None)))
        self.announce(instance_id)
        return [stored_event(event) for (event,) in unanswered]

    def announce(self, instance_id: int) -> None:
        """Tells that an instance was changed or removed."""
        self.forget(instance_id)
        self._changed(instance_id)

    def read(self, id: int, user_id: str, channel_id: str, name: str, stored: bytes, *rest: Any) -> Instance:
        """One row that cannot be decrypted must not stand in the way of the others."""
        resource_id, created_at, updated_at, status, trusted, routes, fallback, feedback, policy = rest
        try:
            config = json.loads(self._cipher.decrypt(stored))
        except (DecryptionError, ValueError) as error:
            log.error("a configuration cannot be decrypted: %s", error, extra={"instance": id})
            config, status = {}, UNREADABLE if status == ACTIVE else status
        return Instance(
            id,
            user_id,
            channel_id,
            name,
            config,
            resource_id,
            created_at,
            updated_at,
            status,
            trusted,
            load_routes(routes) if routes else (),
            tuple(json.loads(fallback)) if fallback else (),
            feedback,
            load_policy(policy),
            {**config, REACTIONS: True} if feedback else None,
        )


CACHE_SECONDS = 10.0
CACHE_SIZE = 10_000


class InstanceCache:
    """Instances that `find` read at most `CACHE_SECONDS` ago."""

    def __init__(self, find: Callable[[int], Awaitable[Instance | None]]) -> None:
        self._find = find
        self._read: dict[int, tuple[float, Instance | None]] = {}
        self._reading: dict[int, asyncio.Task[Instance | None]] = {}

    async def get(self, instance_id: int) -> Instance | None:
        """Raises `Unavailable` for an instance that cannot be decrypted."""
        read = self._read.get(instance_id)
        if read and time.monotonic() - read[0] < CACHE_SECONDS:
            return read[1]
        reading = self._reading.get(instance_id)
        if reading is None:
            reading = self._reading[instance_id] = asyncio.create_task(self._load(instance_id))
        return await asyncio.shield(reading)

    async def _load(self, instance_id: int) -> Instance | None:
        """Reads once for all that ask at the same time. What was dropped meanwhile is not remembered."""
        now, this = time.monotonic(), asyncio.current_task()
        try:
            instance = await self._find(instance_id)
            if instance is not None and instance.status == UNREADABLE:
                raise Unavailable(f"the instance {instance_id} waits: {UNDECRYPTED}")
            if self._reading.get(instance_id) is this:
                if len(self._read) >= CACHE_SIZE:
                    self._read.clear()
                self._read[instance_id] = (now, instance)
            return instance
        finally:
            if self._reading.get(instance_id) is this:
                del self._reading[instance_id]

    def drop(self, instance_id: int | None) -> None:
        for memory in (self._read, self._reading):
            if instance_id is None:
                memory.clear()
            else:
                memory.pop(instance_id, None)


KNOWN = "switchboard"

FINGERPRINTS = "SELECT substring({column} FOR 4), count(*) FROM {table} GROUP BY 1"
ENCRYPTED = (("channel_instance", "config"), ("agent", "definition"))
"""Tables with what the configuration key encrypts. A schema of an older version has no agents."""


class WrongKey(Exception):
    """The keys at hand do not open what is stored."""


def check_key(dsn: str, cipher: ConfigCipher) -> int:
    """The number of configurations that were encrypted with a key that is not at hand. Raises `WrongKey`.

    Of processes that start at once on a new database one leaves its value, and the others are held against it.
    """
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        unknown, known = 0, 0
        for fingerprint, count in _fingerprints(connection):
            if cipher.knows(fingerprint):
                known += count
            else:
                unknown += count
        if _stored(connection) is None and (known or not unknown):
            connection.execute(
                "INSERT INTO key_check VALUES (1, %s) ON CONFLICT (id) DO NOTHING", (cipher.encrypt(KNOWN),)
            )
        encrypted = _stored(connection)
    if encrypted is None:
        raise WrongKey("the stored configurations were encrypted with another key")
    try:
        cipher.decrypt(encrypted)
    except DecryptionError as error:
        raise WrongKey("the database was set up with another key") from error
    return unknown


def _fingerprints(connection: psycopg.Connection) -> Iterator[tuple[bytes, int]]:
    for table, column in ENCRYPTED:
        row = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
        if row and row[0]:
            query = sql.SQL(FINGERPRINTS).format(column=sql.Identifier(column), table=sql.Identifier(table))
            yield from connection.execute(query).fetchall()


def replace_key(dsn: str, cipher: ConfigCipher) -> None:
    """From now on processes need the first key of `cipher`."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=10) as connection:
        connection.execute(
            "INSERT INTO key_check VALUES (1, %s) ON CONFLICT (id) DO UPDATE SET encrypted = excluded.encrypted",
            (cipher.encrypt(KNOWN),),
        )


async def encrypt_anew(database: Database, cipher: ConfigCipher) -> tuple[int, Sequence[int], Sequence[int]]:
    """Encrypts with the newest key what an older one had encrypted: how many configurations, and the ids of instances
    and of agents whose configuration cannot be decrypted."""
    count, instances, agents = 0, list[int](), list[int]()
    for column, unreadable in ((channel_instance.c.config, instances), (agent.c.definition, agents)):
        id_column = column.table.c.id
        for row_id, stored in await database.fetch(select(id_column, column).order_by(id_column)):
            try:
                text = cipher.decrypt(stored)
            except DecryptionError:
                unreadable.append(row_id)
                continue
            if not cipher.is_current(stored):
                unchanged = update(column.table).where(id_column == row_id, column == stored)
                count += await database.execute(unchanged.values({column: cipher.encrypt(text)}))
    return count, instances, agents


def _stored(connection: psycopg.Connection) -> bytes | None:
    row = connection.execute("SELECT encrypted FROM key_check").fetchone()
    return bytes(row[0]) if row else None
