"""A worker ends between two edits of an unfinished answer: the next one goes on with the same message."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.system.encryption import new_key
from apps.processes.components import WorkerComponent
from domain.routing.model import RunResult
from tests.drivers.groups import GROUPS
from tests.drivers.platform import PlatformDriver
from tests.drivers.streaming import PLATFORMS, PieceByPiece, hurry
from tests.drivers.ways import Rest
from tests.drivers.world import World

LONG = "A first sentence " + "word " * 9000


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlatformDriver]:
    hurry(monkeypatch)
    driver = PlatformDriver()
    yield driver
    driver.close()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_answer_takes_the_place_of_what_a_dead_worker_showed(
    database_url: str, tmp_path: Path, driver: PlatformDriver, platform: str
) -> None:
    of_group, standin = GROUPS[platform]
    shows: Any = standin()
    driver.show(shows)
    group = of_group(shows)
    settings = dict.fromkeys(group.settings, driver.url + group.api)
    settings["CONFIG_ENCRYPTION_KEY"] = new_key()
    first = World(database_url, tmp_path, **settings)
    first.start()
    resource = PieceByPiece(first)
    rest = Rest(first)
    body = {
        "channelId": group.channel_id,
        "channelName": "Bot",
        "config": group.configured(),
        "downStreamResourceId": "agent::slow",
    }
    instance_id = rest.create("ann", body).body["instanceId"]
    call = group.write("ada", "hello", first.clock.now())
    rest.call(group.channel_id, instance_id, call.body, call.headers, call.callback)
    for text in ("A first", "A first sentence"):
        resource.say(text)
        assert driver.wait_until(lambda text=text: list(shows.visible().values()) == [f"{text} …"]), (
            shows.visible()
        )
    first.stop()

    second = World(database_url, tmp_path, **settings)
    second.start(worker=False)
    again = PieceByPiece(second)
    worker = WorkerComponent(second.container)
    second.run(worker.start())
    working = second.begin(worker.run())
    try:
        again.say("A first sentence")
        again.end(RunResult(LONG))
        assert driver.wait_until(lambda: " ".join(shows.visible().values()).split() == LONG.split())
        assert next(iter(shows.visible().values())).startswith("A first sentence word")
        assert shows.faults == []
    finally:
        second.run(worker.stop())
        working.cancel()
        second.stop()
