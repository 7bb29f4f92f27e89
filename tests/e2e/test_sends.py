"""A message that was accepted to be sent first is sent, and sent once, whatever is killed whenever."""

import contextlib
import itertools
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.support.armed_service import ArmedService
from tests.support.failpoints import OUTCOME, SEND, Stage
from tests.support.postgres import fresh_database
from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

PROGRAMS = 4
ENOUGH = 25
ROUNDS = 3


class Programs:
    """Programs that send one message after the other, each under a key, and ask again until it is accepted. `places`
    say where to, in turn; `name` begins each text."""

    def __init__(
        self,
        service: Service,
        instance_id: int,
        places: Sequence[Mapping[str, str]],
        name: str = "message",
        count: int = PROGRAMS,
    ) -> None:
        self.accepted: dict[str, str] = {}
        self.faults: list[str] = []
        self._path = f"{service.base}/api/agent/channel-instances/{instance_id}/messages"
        self._headers = {"Authorization": f"Bearer {service.key}"}
        self._places = places
        self._name = name
        self._count = count
        self._numbers = itertools.count()
        self._stop = threading.Event()

    def _work(self) -> None:
        with httpx.Client(timeout=10, trust_env=False, headers=self._headers) as client:
            while not self._stop.is_set():
                number = next(self._numbers)
                place = self._places[number % len(self._places)]
                self._send(client, {**place, "text": f"{self._name} {number}"})

    def _send(self, client: httpx.Client, body: Mapping[str, str]) -> None:
        """Asks once more after it was accepted, as a program does that got no answer."""
        text, answers = body["text"], list[str]()
        while len(answers) < 2:
            try:
                answer = client.post(
                    self._path,
                    json={**body, "takeOver": False},  # the resource goes on answering
                    headers={"Idempotency-Key": text.replace(" ", "-")},
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
        threads = [threading.Thread(target=self._work) for _ in range(self._count)]
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
        programs = Programs(service, created["instanceId"], [{"to": receiver.url}])
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


@dataclass(frozen=True, slots=True)
class Step:
    """A stage to be killed at, over a message that a program sends or over the answer to a firing."""

    name: str
    place: str
    after: bool
    fires: bool = False


STEPS = [
    Step("before the message is committed", SEND, after=False),
    Step("after the message is committed, before it is accepted", SEND, after=True),
    Step("before the answer to a firing is sent on", SEND, after=False, fires=True),
    Step("after the answer to a firing is sent on", SEND, after=True, fires=True),
    Step("before the outcome of the firing is committed", OUTCOME, after=False, fires=True),
    Step("after the outcome of the firing is committed", OUTCOME, after=True, fires=True),
]


class Stages:
    """A service that dies over messages, and the address to which they are sent."""

    def __init__(self, service: ArmedService, receiver: Receiver) -> None:
        self.service = service
        self.receiver = receiver
        self.statuses: list[int] = []
        self.hook = service.create_instance(channelId="http-webhook", channelName="Hook", config={})[
            "instanceId"
        ]
        firing = {"cronSchedule": "0 0 1 1 *", "message": "x", "deliverInstanceId": self.hook}
        self.schedule = service.create_instance(
            channelId="cron",
            channelName="Summary",
            config={**firing, "deliverTo": receiver.url},
            downStreamResourceId="agent::echo",
        )["instanceId"]
        service.terminate()

    def ask(self, step: Step, text: str) -> bool:
        """Whether the message, or the firing, was accepted."""
        with contextlib.suppress(httpx.TransportError):
            if step.fires:
                path = f"/api/agent/channels/cron/{self.schedule}/manual_trigger"
                return self.service.post(path, {"message": text}).status_code == 202
            path = f"/api/agent/channel-instances/{self.hook}/messages"
            headers = {"Authorization": f"Bearer {self.service.key}", "Idempotency-Key": text}
            body = {"to": self.receiver.url, "text": text}
            return self.service.post(path, body, **headers).status_code == 202
        return False

    def die(self, step: Step, text: str) -> bool:
        """Whether it was accepted nevertheless."""
        self.service.start(Stage(step.place, step.after, text))
        accepted = self.ask(step, text)
        self.statuses.append(self.service.ended())
        return accepted

    def keys(self, text: str) -> set[str | None]:
        """The idempotency keys under which the text arrived."""
        return {key for key, body in list(self.receiver.received) if body["response"] == text}


def test_a_message_is_sent_once_at_whatever_stage_the_service_is_killed(
    postgres_dsn: str, tmp_path: Path
) -> None:
    texts = {step: f"text-{number}-of-the-walk" for number, step in enumerate(STEPS, start=7001)}
    with Receiver() as receiver, fresh_database(postgres_dsn) as url:
        with ArmedService(tmp_path, url) as service:
            stages = Stages(service, receiver)
            left = [step for step in STEPS if not stages.die(step, texts[step])]
            assert stages.statuses == [-signal.SIGKILL] * len(STEPS)
            service.start()
            for step in left:
                assert stages.ask(step, texts[step])
            until(lambda: all(stages.keys(text) for text in texts.values()), "all are sent", seconds=120)
            assert service.terminate() == 0
        with psycopg.connect(url) as connection:
            [(sends, open_rows)] = connection.execute(
                "SELECT (SELECT count(*) FROM send), (SELECT count(*) FROM outbox WHERE status <> 1)"
            ).fetchall()
    assert {text: len(stages.keys(text)) for text in texts.values()} == dict.fromkeys(texts.values(), 1)
    assert (sends, open_rows) == (len(STEPS), 0)
