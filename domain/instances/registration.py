"""Registers webhooks at platforms, and checks credentials."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from domain.channels.messages import Config
from domain.channels.typed import ChannelConfig
from domain.instances.health import connection_note
from domain.instances.model import ACTIVE, UNREADABLE, Instance
from domain.instances.validation import advice
from ports.capabilities import PlatformError, Registrar
from ports.channels import AnyChannel, Channels
from ports.instances import HealthRecord, HealthStore, InstanceStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Connected:
    """How a saved instance is connected: whether a required webhook is registered (None where none is required),
    what the platform refused, and sentences on the connection that is kept instead of a webhook and on what is
    there."""

    registered: bool | None
    error: str | None
    note: str


@dataclass(eq=False)
class RegistrationService:
    """`callback_address` is what the platforms call, without a final slash."""

    store: InstanceStore
    channels: Channels
    health: HealthStore
    callback_address: str

    async def wants_connection(self, channel: AnyChannel, config: Config, instance_id: int | None) -> bool:
        """Return True if the configuration, which is not saved yet, needs a connection."""
        if channel.connector is None:
            return False
        record = await self.health.find(instance_id) if instance_id is not None else HealthRecord()
        return channel.connector.wants(channel.config.load(config), record.registration)

    async def connect(self, instance: Instance, channel: AnyChannel) -> Connected:
        """Registers the webhook, or checks the credentials of a saved instance."""
        registered, refused, account = await self._check(instance, channel, register=True)
        record = await self.health.find(instance.id) if channel.connector else HealthRecord()
        note = ". ".join(filter(None, [connection_note(instance, channel, record), account]))
        error = str(refused) if refused else None
        return Connected(registered if _must_register(channel) else None, error, note)

    async def keep_registered(self, instance_id: int) -> None:
        """Registers the webhook again where the platform calls another address, and checks a configuration again
        that did not work: the cause may have been removed at the platform."""
        instance = await self.store.find(instance_id)
        channel = self.channels.find(instance.channel_id) if instance else None
        if instance is not None and channel is not None and instance.status == ACTIVE:
            await self._check(instance, channel, register=False)

    async def check_again(self, instance: Instance, channel: AnyChannel) -> str | None:
        """Does the same for a saved instance. A sentence on what is there. Raises `PlatformError` for what the
        platform says against it."""
        _, refused, account = await self._check(instance, channel, register=False)
        if refused:
            raise refused
        return account

    async def to_be_checked(self) -> Sequence[int]:
        """The instances with a registered webhook, and those whose configuration did not work."""
        ids = [channel.definition.id for channel in self.channels.all() if channel.registrar]
        registered = {instance.id for instance in await self.store.of_channels(ids)}
        return sorted(registered.union(await self.health.tried_in_vain()))

    async def replaced(self, existing: Instance, instance: Instance, channel: AnyChannel) -> None:
        """Removes the webhook of the former configuration, where the new one does not take it over."""
        if channel.registrar is None or existing.status == UNREADABLE:
            return
        load = channel.config.load
        if channel.registrar.supersedes(load(existing.config), load(instance.config)):
            await self.unregister(existing, channel)

    async def unregister(self, instance: Instance, channel: AnyChannel) -> None:
        """Removes the webhook of an instance; a refusal of the platform is logged."""
        if channel.registrar is None or instance.status == UNREADABLE:
            return
        record = await self.health.find(instance.id)
        try:
            await channel.registrar.unregister(channel.config.load(instance.config), record.registration)
        except PlatformError as error:
            log.warning("the platform did not remove the webhook: %s", error, extra={"instance": instance.id})
        if record.registration:
            await self.health.registration(instance.id, {})

    async def _check(
        self, instance: Instance, channel: AnyChannel, *, register: bool
    ) -> tuple[bool, PlatformError | None, str | None]:
        """Returns whether the webhook is registered, the platform's error, and a sentence on the bot's account, to
        be recorded."""
        registered: bool = False
        error: PlatformError | None = None
        account: str | None = None
        config = channel.config.load(instance.config)
        try:
            if registrar := channel.registrar:
                address = self._webhook_address(instance)
                registered = not register and await registrar.registered(config, address)
                if not registered:
                    registered = await self._register(instance, channel, registrar, config)
            # A required registration checks the credentials too; an incomplete configuration needs no check.
            if (
                channel.probe
                and not _must_register(channel)
                and not advice(channel.definition, instance.config)
            ):
                account = await channel.probe.probe(config)
        except PlatformError as refused:
            registered, error = False, refused
        if channel.registrar or channel.probe:
            await self.health.webhook(instance.id, registered, str(error) if error else None, account)
        return registered, error, account

    async def _register(
        self,
        instance: Instance,
        channel: AnyChannel,
        registrar: Registrar[ChannelConfig],
        config: ChannelConfig,
    ) -> bool:
        """Return True if the platform now calls the webhook and no connection is needed. Raises `PlatformError`."""
        former = (await self.health.find(instance.id)).registration
        registration = await registrar.register(config, self._webhook_address(instance), former)
        if registration != former:
            await self.health.registration(instance.id, registration)
        if channel.connector is None:
            return True
        connects = channel.connector.wants(config, registration)
        await self.store.set_connects(instance.id, connects)
        return not connects

    def _webhook_address(self, instance: Instance) -> str:
        return self.callback_address + instance.webhook_path


def _must_register(channel: AnyChannel) -> bool:
    return channel.registrar is not None and channel.definition.setup.webhook_required
