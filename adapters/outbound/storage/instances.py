"""Channel instances in PostgreSQL: configurations encrypted, hot reads from memory."""

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
from sqlalchemy import UpdateBase, bindparam, delete, false, func, insert, or_, select, update

from adapters.outbound.security.encryption import ConfigCipher, DecryptionError
from adapters.outbound.storage.codec import stored_event
from adapters.outbound.storage.events.health import LOG_SAVED
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.instance_cache import InstanceCache
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import channel_instance, event_log, inbox, outbox, queue
from domain.channels.messages import Event
from domain.instances.model import ACTIVE, UNREADABLE, Activity, Instance, InstanceChange, NewInstance
from domain.refusals import Conflict

log = logging.getLogger(__name__)

PAGE_ROWS = 500
MOST_UNANSWERED = 50

columns = channel_instance.c
INSTANCE = columns_of(
    channel_instance,
    "id user_id channel_id channel_name config resource_id created_at updated_at status trusted",
)
_FIND = select(*INSTANCE).where(columns.id == bindparam("instance_id"))
ACTIVE_INSTANCES = select(*INSTANCE).where(columns.status == ACTIVE).order_by(columns.id)


class PostgresInstances:
    """`InstanceStore` and `InstanceLookup` of `ports.instances`. `changed` is told the id of each instance that was
    changed or removed, after the commit."""

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
            func.sum(func.octet_length(columns.config)).over(order_by=columns.id).label("size"),
            func.row_number().over(order_by=columns.id).label("number"),
            func.count().over().label("total"),
        ).where(columns.user_id == user_id, columns.status == ACTIVE, columns.id > after)
        rest = following.subquery()
        page = select(rest).where(or_(rest.c.size <= most_bytes, rest.c.number == 1))
        rows = await self._database.fetch(page.order_by(rest.c.id).limit(PAGE_ROWS))
        instances = [self.read(*row[: len(INSTANCE)]) for row in rows]
        return instances, bool(rows) and rows[-1][-1] > len(rows)

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
            connects=connects,
        )
        instance = await self._saved(added)
        assert instance is not None
        self._notify(instance.id)
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
                updated_at=func.now(),
                connects=connects,
                trusted=false() if ends_trust else columns.trusted,
            ),
            instance_id,
        )
        self._notify(instance_id)
        return instance

    @retried
    async def _saved(self, statement: UpdateBase, changed: int | None = None) -> Instance | None:
        saved = {"instance": changed, "checks": list(Activity), "reason": None}
        try:
            async with self._database.transaction() as connection:
                if changed is not None:
                    await connection.execute(LOG_SAVED, saved)
                row = await (await connection.run(statement.returning(*INSTANCE))).fetchone()
                return self.read(*row) if row else None
        except psycopg.errors.UniqueViolation as error:
            raise Conflict("an instance of this channel with this channelName exists already") from error

    async def set_trusted(self, instance_id: int, *, trusted: bool) -> None:
        await self._database.execute(
            update(channel_instance).where(columns.id == instance_id).values(trusted=trusted)
        )
        self._notify(instance_id)

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
        self._notify(instance_id)

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
            told = delete(event_log).filter_by(instance_id=instance_id)
            await connection.run(told.where(event_log.c.session_key.is_not(None)))
        self._notify(instance_id)
        return [stored_event(event) for (event,) in unanswered]

    def _notify(self, instance_id: int) -> None:
        self.forget(instance_id)
        self._changed(instance_id)

    def read(self, id: int, user_id: str, channel_id: str, name: str, stored: bytes, *rest: Any) -> Instance:
        """One row that cannot be decrypted must not stand in the way of the others."""
        resource_id, created_at, updated_at, status, trusted = rest
        try:
            config = json.loads(self._cipher.decrypt(stored))
        except (DecryptionError, ValueError) as error:
            log.error("a configuration cannot be decrypted: %s", error, extra={"instance": id})
            config, status = {}, UNREADABLE if status == ACTIVE else status
        return Instance(
            id, user_id, channel_id, name, config, resource_id, created_at, updated_at, status, trusted
        )
