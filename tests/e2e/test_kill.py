"""An acknowledged message is answered, whatever is killed whenever."""

import itertools
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from tests.support.receiver import Receiver
from tests.support.service import STOPPED_S, Service, postmaster
from tests.support.waiting import until

pytestmark = pytest.mark.processes

SENDERS = 4
ENOUGH = 40
"""Messages that a round wants acknowledged before the kill."""
ROUNDS = int(os.environ.get("KILL_ROUNDS", "5"))
"""How often everything is killed; the bench of durability takes 20."""


class Load:
    """Senders that post one message after the other to a webhook; `acknowledged` are the texts it accepted,
    `refused` the other answers: status and whether it says when to try again.
    """

    def __init__(self, address: str) -> None:
        self.acknowledged: list[str] = []
        self.refused: set[tuple[int, bool]] = set()
        self._address = address
        self._numbers = itertools.count()
        self._stop = threading.Event()

    def _send(self, sender: int) -> None:
        with httpx.Client(timeout=5, trust_env=False) as client:
            while not self._stop.is_set():
                text = f"message {next(self._numbers)}"
                try:
                    answer = client.post(self._address, json={"message": text, "sessionId": f"s{sender}"})
                except httpx.TransportError:
                    self._stop.wait(0.02)
                    continue
                if answer.status_code == 200 and answer.json()["status"] == "accepted":
                    self.acknowledged.append(text)
                else:
                    self.refused.add((answer.status_code, "retry-after" in answer.headers))

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._send, args=(number,)) for number in range(SENDERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def echo_instance(service: Service, receiver: Receiver) -> str:
    """An http-webhook instance that echoes to the receiver; the address of its callback."""
    created = service.create_instance(
        channelId="http-webhook",
        channelName="load",
        downStreamResourceId="agent::echo",
        config={"responseWebhookUrl": receiver.url},
    )
    number = created["instanceId"]
    return f"{service.base}/api/agent/channels/http-webhook/{number}/webhook"


def all_answered(load: Load, receiver: Receiver) -> None:
    """Waits until every acknowledged message is answered; each conversation in order."""

    def missing() -> set[str]:
        return set(load.acknowledged) - {body["response"] for body in receiver.bodies}

    until(lambda: not missing(), "every acknowledged message is answered", seconds=180)
    acknowledged, violations = set(load.acknowledged), 0
    for sender in range(SENDERS):
        answers = [body["response"] for body in receiver.bodies if body["sessionId"] == f"s{sender}"]
        first_times = [int(text.split()[1]) for text in dict.fromkeys(answers) if text in acknowledged]
        violations += sum(later < earlier for earlier, later in pairwise(first_times))
    keys = Counter(receiver.keys)
    print(
        f"{len(acknowledged)} acknowledged, {len(missing())} lost, {violations} out of order,"
        f" {sum(keys.values()) - len(keys)} sent again with the key of the first time,"
        f" {len(keys) - len({body['response'] for body in receiver.bodies})} with another"
    )
    assert violations == 0, "a conversation is answered in order"


@pytest.mark.parametrize("rounds", [ROUNDS])
def test_killing_everything_again_and_again_loses_no_acknowledged_message(
    open_folder: Path, rounds: int
) -> None:
    with Receiver() as receiver, Service(open_folder / "data") as service:
        load = Load(echo_instance(service, receiver))
        with load.running():
            for number in range(rounds):
                if number:
                    service.start()
                goal = len(load.acknowledged) + ENOUGH
                until(lambda goal=goal: len(load.acknowledged) >= goal, "enough messages", seconds=120)
                service.kill_everything(database_first=bool(number % 2))
        service.start()
        all_answered(load, receiver)
        assert len(load.acknowledged) >= rounds * ENOUGH
        assert service.stop() < STOPPED_S


def test_killing_the_database_alone_is_mended_by_the_running_service(open_folder: Path) -> None:
    with Receiver() as receiver, Service(open_folder / "data") as service:
        load = Load(echo_instance(service, receiver))
        with load.running():
            for _ in range(2):
                goal = len(load.acknowledged) + ENOUGH
                until(lambda goal=goal: len(load.acknowledged) >= goal, "enough messages", seconds=120)
                os.kill(postmaster(service.data_dir), signal.SIGKILL)
            goal = len(load.acknowledged) + ENOUGH
            until(lambda: len(load.acknowledged) >= goal, "messages after the last kill", seconds=120)
        all_answered(load, receiver)
        assert load.refused <= {(503, True)}, "who is refused is told when to try again"
        assert service.process.poll() is None
