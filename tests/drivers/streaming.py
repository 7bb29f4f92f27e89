"""A resource that gives its answer in pieces, and what a platform was told to show of it."""

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger import delivery as telegram
from adapters.outbound.channels.community_chat import delivery as mattermost
from adapters.outbound.channels.enterprise_chat import delivery as teams
from adapters.outbound.channels.gaming_chat import delivery as discord
from adapters.outbound.channels.workspace_chat import delivery as slack
from domain.routing.model import RunRequest, RunResult
from tests.drivers.world import PATIENCE, World
from tests.support.platforms.standin import Reply, Seen, StandIn

PLATFORMS = ("Slack", "Telegram", "Discord", "Teams", "Mattermost")
PAUSES = (
    (telegram, "CHAT_SECONDS"),
    (telegram, "GROUP_SECONDS"),
    (mattermost, "DRAFT_SECONDS"),
    (teams, "DRAFT_SECONDS"),
    (discord, "DRAFT_SECONDS"),
    (slack, "DRAFT_SECONDS"),
)


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Edits come as soon as the limits of the platforms allow them."""
    for module, name in PAUSES:
        patch.setattr(module, name, 0.02)


class PieceByPiece:
    """Tells of its answer what a test says, and ends when that says so."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked = threading.Event()
        world.container.resources().router.default = self

    async def run(self, request: RunRequest) -> RunResult:
        self._progress = request.progress
        self._result: asyncio.Future[RunResult] = asyncio.get_running_loop().create_future()
        self._asked.set()
        return await self._result

    def say(self, text: str) -> None:
        """`text` is the whole answer so far."""
        assert self._asked.wait(PATIENCE)
        self._world.run(self._say(text))

    async def _say(self, text: str) -> None:
        assert self._progress
        self._progress(lambda: text)

    def end(self, result: RunResult) -> None:
        assert self._asked.wait(PATIENCE)
        self._world.run(self._end(result))

    async def _end(self, result: RunResult) -> None:
        self._result.set_result(result)


@dataclass(frozen=True)
class Shown:
    """A message that was sent or changed, and when."""

    text: str
    is_edit: bool
    at: float


class Watch:
    """Notes what a platform is told to show; refuses the next `refusals` edits with a pause of `pause` seconds."""

    def __init__(self, platform: StandIn) -> None:
        self.shown: list[Shown] = []
        self.refused: list[float] = []
        self.refusals = 0
        self.pause = 2
        self._answer = platform.answer
        platform.answer = self._watched  # type: ignore[method-assign]

    def _watched(self, seen: Seen) -> Reply:
        text, is_edit = _text(seen), _is_edit(seen)
        if is_edit and self.refusals:
            self.refusals -= 1
            self.refused.append(time.monotonic())
            parameters = {"retry_after": self.pause}
            return Reply(
                429, parameters | {"parameters": parameters}, headers={"retry-after": f"{self.pause}"}
            )
        if text:
            self.shown.append(Shown(text, is_edit, time.monotonic()))
        return self._answer(seen)


def _is_edit(seen: Seen) -> bool:
    return seen.method in ("PUT", "PATCH") or seen.path.endswith(("/chat.update", "/editMessageText"))


def _text(seen: Seen) -> str:
    kind = seen.headers.get("content-type", "")
    if not kind.startswith("application/json") or not seen.body:
        return ""
    body: dict[str, Any] = seen.json
    return str(body.get("text") or body.get("content") or body.get("message") or "")
