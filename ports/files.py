"""Files of messages, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from domain.channels.messages import Artifact, Event
from domain.instances.model import Instance
from domain.routing.model import InputFile, ResultArtifact


class MessageFiles(Protocol):
    async def taken_in(self, instance: Instance, event: Event) -> Sequence[InputFile]:
        """The event's attachments, fetched with the platform's credentials, as signed expiring addresses.

        What cannot be fetched is left out and noted in the instance's health.
        """
        ...

    async def given_out(self, artifacts: Sequence[ResultArtifact]) -> Sequence[Artifact]:
        """A result's artifacts, each with an address that can be fetched; bytes are stored first."""
        ...
