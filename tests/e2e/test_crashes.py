"""What was accepted is done, and what is told is what happened, whatever is killed whenever: messages, messages sent
first, streams of events and pushes to a subscription at once.
"""

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from adapters.outbound.storage.embedded import attach
from tests.e2e.test_kill import SENDERS, Load, all_answered
from tests.e2e.test_sends import Programs
from tests.support.event_log import check_stories
from tests.support.event_reader import EventReader
from tests.support.receiver import Receiver
from tests.support.service import STOPPED_S, Service
from tests.support.subscriber import Subscriber
from tests.support.waiting import until

pytestmark = pytest.mark.processes

ROUNDS = int(os.environ.get("KILL_ROUNDS", "3"))
MOST = 20
"""Messages of each kind after which a kill comes at the latest; it comes after some number of them."""
BESIDE = ("instance.health", "notification.created")
"""Kinds that follow from the way the messages take, and are no part of what is counted."""

UNSETTLED = """
SELECT (SELECT count(*) FROM inbox WHERE status = 0) + (SELECT count(*) FROM outbox WHERE status = 0)
    + (SELECT count(*) FROM event_log WHERE id IS NULL)
"""
HAPPENED = """
SELECT 'message.received', id FROM inbox
UNION ALL SELECT CASE status WHEN 1 THEN 'message.answered' ELSE 'message.failed' END, id FROM inbox
UNION ALL SELECT CASE status WHEN 1 THEN 'delivery.sent' ELSE 'delivery.dead' END, id FROM outbox
    WHERE inbox_id IS NOT NULL OR send_id IS NOT NULL
"""


class Scene:
    """A service with an instance whose resource repeats what it hears, one whose platform refuses everything, and
    those who listen."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.resource = stack.enter_context(Receiver(lambda body: {"text": body["text"]}))
        self.platform = stack.enter_context(Receiver())
        self.refusing = stack.enter_context(Receiver(status=403))
        self.subscriber = stack.enter_context(Subscriber())
        settings = {"DOWNSTREAM_URL": self.resource.url, "OUTBOUND_ALLOW": "127.0.0.0/8"}
        self.service = stack.enter_context(Service(folder / "data", settings=settings))
        with self.service.client() as client:
            answer = client.post("/api/agent/event-subscriptions", json={"url": self.subscriber.url})
        assert answer.status_code == 201, answer.text
        self.subscriber.secret = answer.json()["secret"]
        talking = self._instance("talking", self.platform)
        refused = self._instance("refused", self.refusing)
        self.reader = EventReader(self.service.base, self.service.key).start()
        self.load = Load(f"{self.service.base}/api/agent/channels/http-webhook/{talking}/webhook")
        sessions = [{"sessionId": f"s{number}"} for number in range(SENDERS)]
        self._begin_sessions(talking)
        self.sends = Programs(self.service, talking, sessions, "news", 2)
        self.refused = Programs(self.service, refused, [{"to": self.refusing.url}], "refused", 1)

    def _instance(self, name: str, platform: Receiver) -> int:
        created = self.service.create_instance(
            channelId="http-webhook",
            channelName=name,
            downStreamResourceId="agent::helper",
            config={"responseWebhookUrl": platform.url},
        )
        return int(created["instanceId"])

    def _begin_sessions(self, instance: int) -> None:
        address = f"{self.service.base}/api/agent/channels/http-webhook/{instance}/webhook"
        for number in range(SENDERS):
            body = {"message": f"begin {number}", "sessionId": f"s{number}"}
            assert httpx.post(address, json=body, trust_env=False).status_code == 200

    def kill_in_the_midst(self, rounds: int) -> None:
        """Ends with a service that runs, and with nobody who sends."""
        with self.load.running(), self.sends.running(), self.refused.running():
            for number in range(rounds):
                counts = [self.load.acknowledged, self.sends.accepted]
                goals = [len(count) + random.randint(1, MOST) for count in counts]
                until(
                    lambda counts=counts, goals=goals: all(
                        len(count) >= goal for count, goal in zip(counts, goals, strict=True)
                    ),
                    "messages of each kind are accepted",
                    seconds=120,
                )
                self.service.kill_everything(database_first=bool(number % 2))
                self.service.start()

    def rows(self, query: str) -> list[Any]:
        dsn = attach(self.service.data_dir)
        assert dsn is not None
        with psycopg.connect(dsn) as connection:
            return connection.execute(query).fetchall()

    def settle(self) -> None:
        """Until all is worked off, and everybody was told of it."""
        until(lambda: self.rows(UNSETTLED) == [(0,)], "all is worked off", seconds=180)
        recorded = {id for (id,) in self.rows("SELECT id FROM event_log WHERE kind <> 'reset'")}
        for who, told in (("reader", self.read_ids), ("subscriber", self.pushed_ids)):
            until(lambda told=told: recorded <= set(told()), f"the {who} is told of everything", seconds=120)

    def read_ids(self) -> list[int]:
        return [event["id"] for event in list(self.reader.events)]

    def pushed_ids(self) -> list[int]:
        return [event["id"] for _, event in list(self.subscriber.received)]


def what(event: Mapping[str, Any]) -> tuple[str, int]:
    """The kind, and the row that it is about."""
    data = event["data"]
    row = data["deliveryId"] if event["kind"].startswith("delivery.") else data["messageId"].partition("-")[2]
    return event["kind"], int(row)


def check_deliveries(scene: Scene, events: Sequence[Mapping[str, Any]]) -> None:
    """In each conversation, deliveries are told once each, in the order in which the platform took them, for the last
    time where it took one again. That is not the order of their numbers: an answer and a message that was sent first
    at the same time get theirs before their transactions are committed, and go out after that."""
    texts = {event["data"]["messageId"]: event["data"]["text"] for event in events if "text" in event["data"]}
    texts |= {message: text for text, message in scene.sends.accepted.items()}
    taken = {
        (body["sessionId"], body["response"]): position
        for position, (_, body) in enumerate(list(scene.platform.received))
    }
    told: dict[str, list[int]] = {}
    for event in events:
        if event["kind"] == "delivery.sent":
            place = taken[event["sessionId"], texts[event["data"]["messageId"]]]
            told.setdefault(event["sessionId"], []).append(place)
    assert len(told) == SENDERS
    for session, places in told.items():
        assert places == sorted(set(places)), f"the deliveries of {session} are told in order"


def check_told(scene: Scene, told: Sequence[Mapping[str, Any]]) -> None:
    """Of events in the order in which somebody was told of them: what happened, all of that, and nothing else."""
    events = [event for event in told if event["kind"] not in BESIDE]
    assert Counter(map(what, events)) == Counter(scene.rows(HAPPENED))
    check_deliveries(scene, events)
    answers = [event for event in events if not event["data"]["messageId"].startswith("send-")]
    ordered = sorted(answers, key=lambda event: int(event["id"]))
    check_stories(ordered, scene.load.acknowledged)


def check_conversations(events: Sequence[Mapping[str, Any]]) -> None:
    """The ids of each conversation only grow."""
    latest: dict[tuple[object, object], int] = {}
    for event in events:
        conversation = (event.get("instanceId"), event.get("sessionId"))
        assert event["id"] > latest.get(conversation, 0), f"{event} comes too late"
        latest[conversation] = event["id"]


def check_sent(scene: Scene) -> None:
    """What was accepted reached its platform, again under the same key alone: platforms know it by that."""
    for accepted, platform in (
        (scene.load.acknowledged, scene.platform),
        (scene.sends.accepted, scene.platform),
        (scene.refused.accepted, scene.refusing),
    ):
        came = {(body["response"], key) for key, body in list(platform.received)}
        keys = Counter(text for text, _ in came)
        assert [text for text in accepted if keys[text] != 1] == []
    for programs in (scene.sends, scene.refused):
        assert programs.faults == []
        assert len(set(programs.accepted.values())) == len(programs.accepted)


@pytest.mark.parametrize("rounds", [ROUNDS])
def test_killing_everything_loses_nothing_and_tells_of_what_happened_alone(
    open_folder: Path, rounds: int
) -> None:
    with ExitStack() as stack:
        scene = Scene(stack, open_folder)
        scene.kill_in_the_midst(rounds)
        all_answered(scene.load, scene.platform)
        scene.settle()
        scene.reader.stop()
        check_sent(scene)
        assert scene.reader.resets == 0
        assert scene.read_ids() == sorted(set(scene.read_ids())), "ids only grow"
        check_told(scene, scene.reader.events)
        once = list(dict(scene.subscriber.received).values())
        check_conversations(once)
        check_told(scene, once)
        refused = {
            event["kind"]
            for event in once
            if event["data"].get("messageId") in scene.refused.accepted.values()
        }
        assert refused == {"delivery.dead"}
        print(
            f"{len(scene.sends.accepted)} sent first, {len(scene.refused.accepted)} refused,"
            f" {len(once)} events, {len(scene.subscriber.received) - len(once)} pushed again"
        )
        assert scene.service.stop() < STOPPED_S
