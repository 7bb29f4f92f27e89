"""A message that was accepted to be sent first is sent, and sent once, whatever is killed whenever."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

PROGRAMS = 4
ENOUGH = 25
ROUNDS = 3


class Programs:
    """Programs that send one message after the other, each under a key, and ask again until it is accepted."""

    def __init__(self, service: Service, instance_id: int, to: str) -> None:
        self.accepted: dict[str, str] = {}
        self.faults: list[str] = []
        self._path = f"{service.base}/api/agent/channel-instances/{instance_id}/messages"
        self._headers = {"Authorization": f"Bearer {service.key}"}
        self._to = to
        self._numbers = itertools.count()
        self._stop = threading.Event()

    def _work(self) -> None:
        with httpx.Client(timeout=10, trust_env=False, headers=self._headers) as client:
            while not self._stop.is_set():
                self._send(client, f"message {next(self._numbers)}")

    def _send(self, client: httpx.Client, text: str) -> None:
        """Asks once more after it was accepted, as a program does that got no answer."""
        answers: list[str] = []
        while len(answers) < 2:
            try:
                body = {"to": self._to, "text": text}
                answer = client.post(
                    self._path, json=body, headers={"Idempotency-Key": text.replace(" ", "-")}
                )
            except httpx.TransportError:
                if self._stop.wait(0.02) and not answers:
                    return
                continue
            if answer.status_code == 202:
                answers.append(answer.json()["messageId"])
                self.accepted[text] = answers[0]
            elif answer.status_code != 503:
                self.faults.append(f"{answer.status_code} {answer.text}")
                return
        if len(set(answers)) > 1:
            self.faults.append(f"{text} was accepted as {answers}")

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._work) for _ in range(PROGRAMS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def test_killing_everything_loses_no_accepted_message_and_sends_none_twice(open_folder: Path) -> None:
    with Receiver() as receiver, Service(open_folder / "data") as service:
        created = service.create_instance(channelId="http-webhook", channelName="sends", config={})
        programs = Programs(service, created["instanceId"], receiver.url)
        with programs.running():
            for number in range(ROUNDS):
                goal = len(programs.accepted) + ENOUGH
                until(lambda goal=goal: len(programs.accepted) >= goal, "enough messages", seconds=120)
                service.kill_everything(database_first=bool(number % 2))
                service.start()
        texts = set(programs.accepted)
        until(lambda: texts <= {body["response"] for body in receiver.bodies}, "all are sent", seconds=180)
        assert programs.faults == []
        sent = {(body["response"], key) for key, body in list(receiver.received)}
        assert len(sent) == len({text for text, _ in sent}), "no message is made twice"
        assert len(set(programs.accepted.values())) == len(texts)
