"""What an installation does without: ports that have nothing behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.channels.messages import Artifact, Event
from domain.instances.model import Instance
from domain.refusals import NotBuilt
from domain.routing.model import InputFile, ResultArtifact
from ports.people import Asker, Decision, Prompt


class NoApprovals:
    async def decide(self, asker: Asker, text: str, choice: str | None) -> Decision | None:
        return None

    async def ask(self, asker: Asker, tool: str, parameters: Mapping[str, Any]) -> Prompt:
        raise NotBuilt("confirmations")

    async def approved_tools(self, asker: Asker) -> Sequence[str]:
        return ()


class NoFiles:
    async def taken_in(self, instance: Instance, event: Event) -> Sequence[InputFile]:
        return ()

    async def given_out(self, artifacts: Sequence[ResultArtifact]) -> Sequence[Artifact]:
        return [Artifact(each.name, each.mime_type, each.url) for each in artifacts if each.url]
