"""Checks of configurations of instances, before and after they are saved."""

from collections.abc import Sequence
from typing import Protocol

from domain.access.model import Caller
from domain.instances.model import ConfigDraft, CredentialsCheck
from domain.refusals import Fault


class ConfigChecks(Protocol):
    """Each method raises `NotFound` (an unknown channel or instance), `Forbidden` (another user's instance)."""

    async def faults(self, caller: Caller, draft: ConfigDraft) -> Sequence[Fault]:
        """What saving would refuse, per field. Saves nothing, and asks no platform."""
        ...

    async def credentials(self, caller: Caller, draft: ConfigDraft) -> CredentialsCheck:
        """What the platform says of the credentials. Raises `Invalid` (with the faults of the configuration),
        `Conflict` (the stored configuration cannot be decrypted), `TooMany`."""
        ...
