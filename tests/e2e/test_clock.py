"""The system's clock jumps while the service works: what was accepted is answered once and in order all the same.

The clock is libfaketime's (Debian: libfaketime); without it the test is skipped.
"""

import itertools
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psycopg
import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres
from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
JUMPS = (
    ("+1h", "+1h"),
    ("-1h", "-1h"),
    ("+1d", "+1d"),
    ("-1d", "-1d"),
    ("+1h", "-1h"),
    ("-1d", "+1d"),
    ("+0", "-1h"),
    ("+0", "+0"),
)
"""The distances from the right time of the service's clock and of the database's, step by step."""
ENOUGH = 6


class FakeClock:
    """The clock of the processes that get `settings`. The steady clock goes on evenly, as it does on a machine."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.set("+0")
        self._file.chmod(0o644)

    def set(self, distance: str) -> None:
        self.distance = distance
        self._file.write_text(f"{distance}\n")

    def is_shown_by(self, time: datetime) -> bool:
        number, unit = self.distance[1:].rstrip("hd"), self.distance[-1]
        hours = int(self.distance[0] + number) * {"h": 1, "d": 24}.get(unit, 0)
        return abs(datetime.now(UTC) + timedelta(hours=hours) - time) < timedelta(minutes=10)

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


def walk(service: Service, own: FakeClock, of_database: FakeClock, receiver: Receiver) -> None:
    dialogue = Dialogue(service, receiver)
    dialogue.say()
    for distances in JUMPS:
        dialogue.say()
        for clock, distance in zip((own, of_database), distances, strict=True):
            clock.set(distance)
        dialogue.say()
        dialogue.all_answered(" and ".join(distances))
        with service.client() as client:
            until(lambda client=client: client.get("/readyz").status_code == 200, f"ready at {distances}")
            shown = client.get("/api/agent/channels/status").json()["timestamp"]
        assert own.is_shown_by(datetime.fromisoformat(shown))
        with psycopg.connect(service.settings["DATABASE_URL"]) as database:
            [(now,)] = database.execute("SELECT now()").fetchall()
        assert of_database.is_shown_by(now)
    check(dialogue, receiver)


@pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed: apt-get install libfaketime")
def test_clocks_of_service_and_database_jump_together_and_apart(
    open_folder: Path, external_settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, of_database = FakeClock(open_folder / "own"), FakeClock(open_folder / "of-database")
    with ExitStack() as stack:
        with monkeypatch.context() as patched:
            for name, value in of_database.settings.items():
                patched.setenv(name, value)
            dsn = stack.enter_context(EmbeddedPostgres(open_folder / "apart", fast_and_unsafe=True))
        settings = {**external_settings, **own.settings, "DATABASE_URL": dsn}
        receiver = stack.enter_context(Receiver())
        service = stack.enter_context(Service(open_folder / "data", settings=settings))
        walk(service, own, of_database, receiver)
