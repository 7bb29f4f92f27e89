"""The system's clock jumps while the service works: what was accepted is answered once and in order all the same.

The clock is libfaketime's (Debian: libfaketime); without it the test is skipped.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
JUMPS = ("+1h", "-1h", "+1d", "-1d", "+0")
"""The clock's distance from the right time, step by step."""
ENOUGH = 6


class FakeClock:
    """The clock of the processes that get `settings`. The steady clock goes on evenly, as it does on a machine."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self.set("+0")
        self._file.chmod(0o644)

    def set(self, distance: str) -> None:
        self._file.write_text(f"{distance}\n")

    @property
    def settings(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


class Dialogue:
    """Posts messages to two conversations in turn, and gathers their answers."""

    def __init__(self, service: Service, receiver: Receiver) -> None:
        self._receiver = receiver
        self._numbers = itertools.count()
        created = service.create_instance(
            channelId="http-webhook",
            channelName="clock",
            downStreamResourceId="agent::echo",
            config={"responseWebhookUrl": receiver.url},
        )
        self._address = f"{service.base}/api/agent/channels/http-webhook/{created['instanceId']}/webhook"
        self.accepted: list[str] = []

    def say(self, count: int = ENOUGH) -> None:
        for number in itertools.islice(self._numbers, count):
            body = {"message": f"message {number}", "sessionId": f"s{number % 2}"}
            answer = httpx.post(self._address, json=body, trust_env=False, timeout=30)
            assert answer.status_code == 200, answer.text
            self.accepted.append(f"message {number}")

    def answers(self) -> list[str]:
        return [body["response"] for body in list(self._receiver.bodies)]

    def all_answered(self, when: str) -> None:
        until(
            lambda: set(self.accepted) <= set(self.answers()), f"answers with the clock at {when}", seconds=90
        )


def check(dialogue: Dialogue, receiver: Receiver) -> None:
    """A message that was under way when the clock jumped ahead may be sent again, with the key of the first time."""
    keys = Counter((key, body["response"]) for key, body in receiver.received)
    assert len(keys) == len(dialogue.accepted)
    assert sum(keys.values()) - len(keys) <= len(JUMPS) * 2
    for session in (0, 1):
        numbers = [int(text.split()[1]) for text in dict.fromkeys(dialogue.answers())]
        own = [number for number in numbers if number % 2 == session]
        assert own == sorted(own)


def walk(service: Service, clock: FakeClock, receiver: Receiver) -> None:
    dialogue = Dialogue(service, receiver)
    dialogue.say()
    for distance in JUMPS:
        dialogue.say()
        clock.set(distance)
        dialogue.say()
        dialogue.all_answered(distance)
        with service.client() as client:
            until(lambda client=client: client.get("/readyz").status_code == 200, f"ready at {distance}")
            assert client.get("/api/agent/channel-instances").status_code == 200
    check(dialogue, receiver)


needs_library = pytest.mark.skipif(
    LIBRARY is None, reason="libfaketime is not installed: apt-get install libfaketime"
)


@needs_library
def test_the_clock_of_service_and_embedded_database_jumps(open_folder: Path) -> None:
    clock = FakeClock(open_folder)
    with Receiver() as receiver, Service(open_folder / "data", settings=clock.settings) as service:
        walk(service, clock, receiver)


@needs_library
def test_the_clock_of_the_service_jumps_and_not_that_of_the_database(
    open_folder: Path, external_settings: dict[str, str]
) -> None:
    clock = FakeClock(open_folder)
    settings = {**external_settings, **clock.settings}
    with Receiver() as receiver, Service(open_folder / "data", settings=settings) as service:
        walk(service, clock, receiver)
