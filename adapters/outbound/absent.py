"""What an installation does without: ports that have nothing behind them."""

from __future__ import annotations

from collections.abc import Sequence

from domain.channels.messages import Artifact, Event
from domain.instances.model import Instance
from domain.routing.model import InputFile, ResultArtifact


class NoFiles:
    async def taken_in(self, instance: Instance, event: Event) -> Sequence[InputFile]:
        return ()

    async def given_out(self, artifacts: Sequence[ResultArtifact]) -> Sequence[Artifact]:
        return [Artifact(each.name, each.mime_type, each.url) for each in artifacts if each.url]
