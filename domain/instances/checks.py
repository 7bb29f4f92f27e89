"""Checks configurations of instances: what saving would refuse, and what the platform says of the credentials."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.conversations.forwarding import DestinationService
from domain.instances.health import UNDECRYPTED
from domain.instances.lookup import named_channel, permitted_instance
from domain.instances.model import UNREADABLE, ConfigDraft, CredentialsCheck, CredentialsState, Instance
from domain.instances.registration import RegistrationService
from domain.instances.validation import advice, faults_of, with_stored_secrets
from domain.refusals import Conflict, Fault, Invalid, TooMany
from ports.capabilities import PlatformError
from ports.channels import AnyChannel, Channels
from ports.instances import InstanceStore
from ports.system import Clock

CHECK_SECONDS = 30.0
"""What a platform gets for a configuration that is not saved."""
TRIES = 20
TRIES_WITHIN = timedelta(minutes=5)
"""So many checks of credentials in so long a time are made for one user, in each process."""


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A draft with the channel that it is for, what is stored filled in, and whose instance it is or would be."""

    channel: AnyChannel
    config: Mapping[str, object]
    owner: str
    instance: Instance | None


@dataclass(eq=False)
class ConfigCheckService:
    """Each method raises `NotFound` (an unknown channel or instance), `Forbidden` (another user's instance)."""

    store: InstanceStore
    channels: Channels
    registration: RegistrationService
    destinations: DestinationService
    clock: Clock
    _tries: dict[str, deque[datetime]] = field(default_factory=dict)

    @needs(Scope.INSTANCES_WRITE)
    async def faults(self, caller: Caller, draft: ConfigDraft) -> Sequence[Fault]:
        """What saving would refuse, per field. Saves nothing, and asks no platform."""
        return await self._faults(await self._resolved(caller, draft), draft)

    @needs(Scope.INSTANCES_WRITE)
    async def credentials(self, caller: Caller, draft: ConfigDraft) -> CredentialsCheck:
        """What the platform says of the credentials. Raises `Invalid` (with the faults of the configuration),
        `Conflict` (the stored configuration cannot be decrypted), `TooMany`."""
        resolved = await self._resolved(caller, draft)
        if draft.config is None and resolved.instance and resolved.instance.status == UNREADABLE:
            raise Conflict(UNDECRYPTED)
        if faults := await self._faults(resolved, draft):
            raise Invalid.of(faults)
        channel = resolved.channel
        if channel.probe is None and channel.registrar is None:
            return CredentialsCheck(
                CredentialsState.NOTHING_TO_CHECK,
                f"{channel.definition.name} signs in nowhere, so there are no credentials to check.",
                "Follow the set-up steps, and send a first message.",
            )
        self._count(caller)
        try:
            account = await self._ask(resolved, saved=draft.config is None)
        except TimeoutError:
            return _away(f"There was no answer within {CHECK_SECONDS:g} seconds.", answered=False)
        except PlatformError as error:
            if not error.transient:
                message = str(error)
                action = (
                    "Compare each field with what the platform shows, correct it, and check again."
                    f" Where to find the values: {channel.definition.setup.docs_url}"
                )
                return CredentialsCheck(CredentialsState.REFUSED, message, action)
            return _away(str(error), answered=error.answered)
        accepted = f"{channel.definition.name} accepts the credentials."
        return CredentialsCheck(CredentialsState.ACCEPTED, f"{accepted} {account}." if account else accepted)

    async def _resolved(self, caller: Caller, draft: ConfigDraft) -> _Resolved:
        if draft.instance_id is None:
            return _Resolved(
                named_channel(self.channels, draft.channel_id), draft.config or {}, caller.user, None
            )
        instance = await permitted_instance(self.store, caller, draft.instance_id, InstanceLevel.MANAGE)
        channel, stored = named_channel(self.channels, instance.channel_id), instance.config
        config = (
            stored if draft.config is None else with_stored_secrets(channel.definition, draft.config, stored)
        )
        return _Resolved(channel, config, instance.user_id, instance)

    async def _faults(self, resolved: _Resolved, draft: ConfigDraft) -> Sequence[Fault]:
        channel, config = resolved.channel, resolved.config
        if faults := faults_of(channel.definition, draft.channel_name, config, draft.resource_id):
            return faults
        try:
            await self.destinations.check_config(resolved.owner, channel, config)
        except Invalid as invalid:
            return invalid.faults
        return ()

    async def _ask(self, resolved: _Resolved, *, saved: bool) -> str | None:
        """A sentence on what is there. Raises `PlatformError`, `TimeoutError`. What is found of a saved
        configuration is recorded."""
        incomplete = advice(resolved.channel.definition, resolved.config)
        if saved and resolved.instance and not incomplete:
            return await self.registration.check_again(resolved.instance, resolved.channel)
        if probe := resolved.channel.probe:
            async with asyncio.timeout(CHECK_SECONDS):
                return await probe.probe(resolved.channel.config.load(resolved.config))
        return None

    def _count(self, caller: Caller) -> None:
        """Raises `TooMany`."""
        now = self.clock.now()
        for user in [user for user, tries in self._tries.items() if tries[-1] <= now - TRIES_WITHIN]:
            del self._tries[user]
        tries = self._tries.setdefault(caller.user_id, deque(maxlen=TRIES))
        if len(tries) == TRIES and tries[0] > now - TRIES_WITHIN:
            wait = (tries[0] + TRIES_WITHIN - now).total_seconds()
            raise TooMany("credentials were checked too often; try again in some minutes", wait)
        tries.append(now)


UNREACHED = (
    "Check the addresses in the form, and that this server reaches the platform (firewall, proxy, DNS);"
    " then try again in a minute."
)
HAS_FAULT = (
    "The platform was reached and has a fault, or was asked too often. Leave the fields as they are, and check again"
    " in some minutes."
)


def _away(message: str, *, answered: bool) -> CredentialsCheck:
    return CredentialsCheck(CredentialsState.UNREACHABLE, message, HAS_FAULT if answered else UNREACHED)
