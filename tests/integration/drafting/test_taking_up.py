"""A worker ends while an answer is shown in Slack: the next one goes on with the same message."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.workspace_chat import streaming
from adapters.outbound.channels.workspace_chat.tests import samples
from adapters.outbound.security.encryption import new_key
from apps.components import WorkerComponent
from domain.routing.model import RunRequest, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import UseCases
from tests.drivers.world import PATIENCE, World
from tests.support.platforms.slack import Slack

LONG = "A first sentence " + "word " * 1500


class Streaming:
    """Tells of an answer; then fails as its worker does, or ends."""

    def __init__(self, world: World, *, ends: bool) -> None:
        self._ends = ends
        self.told = threading.Event()
        world.container.resources().router.default = self

    async def run(self, request: RunRequest) -> RunResult:
        assert request.progress
        request.progress(lambda: "A first")
        self.told.set()
        if not self._ends:
            await asyncio.Event().wait()
        return RunResult(LONG)


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlatformDriver]:
    monkeypatch.setattr(streaming, "DRAFT_SECONDS", 0.02)
    driver = PlatformDriver()
    yield driver
    driver.close()


def test_the_answer_takes_the_place_of_what_a_dead_worker_showed(
    database_url: str, tmp_path: Path, platform: PlatformDriver
) -> None:
    slack = Slack()
    platform.show(slack)
    settings: dict[str, Any] = {
        samples.SETTING: platform.url + "/api",
        "CONFIG_ENCRYPTION_KEY": new_key(),
    }
    first = World(database_url, tmp_path, **settings)
    first.start()
    resource = Streaming(first, ends=False)
    way = UseCases(first)
    body = {
        "channelId": "workspace-chat",
        "channelName": "Bot",
        "config": samples.CONFIG,
        "downStreamResourceId": "agent::slow",
    }
    instance_id = way.create("ann", body).body["instanceId"]
    call = samples.recorded("message_im", first.clock.now())
    way.call("workspace-chat", instance_id, call.body, call.headers, call.callback)
    assert resource.told.wait(PATIENCE)
    assert platform.wait_until(lambda: len(slack.messages) == 1)
    first.stop()

    second = World(database_url, tmp_path, **settings)
    second.start(worker=False)
    Streaming(second, ends=True)
    worker = WorkerComponent(second.container)
    second.run(worker.start())
    working = second.begin(worker.run())
    try:
        assert platform.wait_until(lambda: len(slack.messages) == 2), slack.messages
        begins, rest = slack.messages
        assert begins["text"].startswith("A first sentence word")
        assert f"{begins['text']} {rest['text']}".split() == LONG.split()
        assert slack.faults == []
    finally:
        second.run(worker.stop())
        working.cancel()
        second.stop()
