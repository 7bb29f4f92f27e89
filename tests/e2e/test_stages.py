"""The service is killed at each stage of a message's way, and started again.

The walk is done once; the tests look at what came of it. The table in docs/durability.md states the same.
"""

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
import pytest

from adapters.outbound.channels.bot_messenger.webhook import secret_of
from domain.confirmations.model import question, unclear
from tests.drivers.platform import PlatformDriver
from tests.support.armed_service import ArmedService
from tests.support.failpoints import ASK, BEGIN, CALL, DECIDE, DELIVERY, INBOX, MARK, OUTCOME, WORK, Stage
from tests.support.platforms.telegram import TOKEN, Telegram
from tests.support.postgres import fresh_database
from tests.support.receiver import Receiver
from tests.support.service import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.processes

DURABILITY = ROOT / "docs/durability.md"
HOOK, TELEGRAM = "http-webhook", "bot-messenger"


@dataclass(frozen=True, slots=True)
class Step:
    """A stage to be killed at. `name` is its row of the table in the documentation.

    `says` is what the fatal message says; where it decides about a tool, the question was asked beforehand.
    `waits`: the call waits for its answer.
    """

    name: str
    place: str
    after: bool
    channel: str = HOOK
    says: str = "hello"
    waits: bool = False


STEPS = [
    Step("before the message is committed", INBOX, after=False),
    Step("after the message is committed, before it is acknowledged", INBOX, after=True),
    Step("after its conversation is leased", WORK, after=False),
    Step("before the resource is called", CALL, after=False),
    Step("after the resource answered", CALL, after=True),
    Step("before the outcome is committed", OUTCOME, after=False),
    Step("after the outcome is committed", OUTCOME, after=True),
    Step("after the outcome is committed, while the call waits for it", OUTCOME, after=True, waits=True),
    Step("after the reply is leased", DELIVERY, after=False),
    Step("after the reply is leased", DELIVERY, after=False, channel=TELEGRAM),
    Step("after the platform took the reply, before that is marked", MARK, after=False),
    Step("after the platform took the reply, before that is marked", MARK, after=False, channel=TELEGRAM),
    Step("after the reply is marked", MARK, after=True),
    Step("after the reply is marked", MARK, after=True, channel=TELEGRAM),
    Step("after the question is on record", ASK, after=True, says="open"),
    Step("after the question's outcome is committed", OUTCOME, after=True, says="open"),
    Step("before the decision is on record", DECIDE, after=False, says="yes"),
    Step("after the decision is on record", DECIDE, after=True, says="yes"),
    Step("after the run of the tool is on record, before it runs", BEGIN, after=True, says="yes"),
    Step("after the tool ran", CALL, after=True, says="yes"),
    Step("after the tool's outcome is committed", OUTCOME, after=True, says="yes"),
]


@dataclass
class Walk:
    """What came of the steps. `sessions` are theirs, in order; `statuses` how the processes ended."""

    receiver: Receiver
    resource: Receiver
    platform: Telegram
    sessions: dict[Step, str] = field(default_factory=dict)
    statuses: dict[Step, int] = field(default_factory=dict)
    acknowledged: set[Step] = field(default_factory=set)
    acknowledged_at_first: frozenset[Step] = frozenset()

    def replies(self, step: Step) -> list[tuple[str | None, str]]:
        """What reached the platform in the step's session: idempotency keys and texts."""
        session = self.sessions[step]
        if step.channel == TELEGRAM:
            return [
                (None, c["text"]) for c in self.platform.of("sendMessage") if str(c["chat_id"]) == session
            ]
        return [
            (key, body["response"]) for key, body in self.receiver.received if body["sessionId"] == session
        ]

    def calls(self, step: Step) -> list[Any]:
        """What the resource was asked in the step's session."""
        return [body for body in self.resource.bodies if body["sessionId"] == self.sessions[step]]

    def runs(self, step: Step) -> int:
        """How often the tool was run."""
        return sum(bool(body.get("approval")) for body in self.calls(step))


def answer(body: Any) -> Any:
    """The resource: it asks before it opens anything."""
    if body.get("approval"):
        return {"text": f"it is open: {body['approval']['decision']}"}
    if body["text"] == "open":
        return {"text": "", "confirmation": {"tool": "open_valve", "parameters": {}}}
    return {"text": f"heard {body['text']}"}


class Walker:
    """Sends each step's message into a service that dies over it."""

    def __init__(self, walk: Walk, service: ArmedService, database_url: str) -> None:
        self._walk = walk
        self._service = service
        self._database_url = database_url
        self._instances: dict[tuple[str, bool], int] = {}

    def prepare(self) -> None:
        """Makes the instances; asks the questions that later messages decide."""
        hook = {"responseWebhookUrl": self._walk.receiver.url}
        for channel, waits, config in (
            (HOOK, False, hook),
            (HOOK, True, {**hook, "syncResponse": True}),
            (TELEGRAM, False, {"botToken": TOKEN}),
        ):
            self._instances[channel, waits] = self._service.create_instance(
                channelId=channel,
                channelName=f"{channel} {waits}",
                config=config,
                downStreamResourceId="agent::valve",
            )["instanceId"]
        asked = [step for step in STEPS if step.says == "yes"]
        for step in asked:
            until(lambda step=step: self._accepted(step, "open"), "the question is taken")  # type: ignore[misc]
        until(lambda: all(self._walk.replies(step) for step in asked), "the questions are asked")
        self._service.terminate()

    def die(self, step: Step) -> None:
        """One process, armed for the step and killed by its message, once it has worked off what the one before
        left: else a reply to that would be on its way when it dies."""
        self._service.start(Stage(step.place, step.after, self._walk.sessions[step]))
        until(self._idle, "what was left over is worked off", seconds=120)
        until(
            lambda: self._accepted(step, step.says) or self._service.is_gone(), "it is taken, or dies over it"
        )
        self._walk.statuses[step] = self._service.ended()

    def recover(self) -> None:
        """A process that lives; what was not acknowledged is sent once more, as platforms do."""
        self._service.start()
        for step in STEPS:
            if step not in self._walk.acknowledged and not step.waits:
                until(lambda step=step: self._accepted(step, step.says), "it is taken")  # type: ignore[misc]
        self._execute(
            "UPDATE inbox SET await_until = now() - interval '1 minute' WHERE await_until IS NOT NULL"
        )
        until(self._settled, "everything is worked off and sent", seconds=120)
        assert self._service.terminate() == 0

    def _accepted(self, step: Step, text: str) -> bool:
        with contextlib.suppress(httpx.TransportError):
            if self._post(step, text).status_code == 200:
                self._walk.acknowledged |= {step} if text == step.says else set()
                return True
        return False

    def _post(self, step: Step, text: str) -> httpx.Response:
        session, instance = self._walk.sessions[step], self._instances[step.channel, step.waits]
        path = f"/api/agent/channels/{step.channel}/{instance}/webhook"
        if step.channel == HOOK:
            body = {"message": text, "sessionId": session}
            return self._service.post(path, body, **{"Idempotency-Key": f"{session} {text}"})
        who = {"id": 5550001, "is_bot": False, "first_name": "Ada"}
        chat = {"id": int(session), "type": "private"}
        message = {"message_id": 1, "date": 1780000000, "chat": chat, "from": who, "text": text}
        proof = {"X-Telegram-Bot-Api-Secret-Token": secret_of(TOKEN)}
        return self._service.post(path, {"update_id": int(session), "message": message}, **proof)

    def _idle(self) -> bool:
        rows = self._execute(
            "SELECT EXISTS (SELECT FROM inbox WHERE status = 0) OR EXISTS (SELECT FROM outbox WHERE status = 0)"
        )
        return not rows[0][0]

    def _settled(self) -> bool:
        rows = self._execute(
            "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM inbox WHERE status = 0 OR"
            " (result IS NOT NULL AND NOT taken)), (SELECT count(*) FROM outbox WHERE status <> 1)"
        )
        sent = len(STEPS) + sum(step.says == "yes" for step in STEPS)
        return rows[0] == (sent, 0, 0)

    def _execute(self, statement: str) -> list[Any]:
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def walk(postgres_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """All steps, one after the other."""
    driver, platform = PlatformDriver(), Telegram()
    driver.show(platform)
    with Receiver() as receiver, Receiver(answer) as resource, fresh_database(postgres_dsn) as url:
        walk = Walk(receiver, resource, platform)
        # So long that no address and no time holds one of them by chance.
        walk.sessions = {step: str(770_000_000_001 + number) for number, step in enumerate(STEPS)}
        settings = {"BOT_MESSENGER_API_URL": driver.url, "DOWNSTREAM_URL": resource.url}
        with ArmedService(tmp_path_factory.mktemp("stages"), url, **settings) as service:
            walker = Walker(walk, service, url)
            walker.prepare()
            for step in STEPS:
                walker.die(step)
            walk.acknowledged_at_first = frozenset(walk.acknowledged)
            walker.recover()
        yield walk
    driver.close()


def test_each_process_was_killed_at_its_stage(walk: Walk) -> None:
    assert walk.statuses == dict.fromkeys(STEPS, -signal.SIGKILL)
    early = {step for step in STEPS if step.place == INBOX or step.waits}
    assert walk.acknowledged_at_first.isdisjoint(early), "nothing is acknowledged before it is durable"
    assert walk.acknowledged == set(STEPS) - {step for step in STEPS if step.waits}


ANSWERS = {
    "hello": ["heard hello"],
    "open": [question("open_valve", {})],
    "yes": [question("open_valve", {}), "it is open: approved"],
}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.name} ({step.channel})")
def test_the_message_is_answered(walk: Walk, step: Step) -> None:
    expected = ANSWERS[step.says]
    if step.place == BEGIN or (step.place == CALL and step.says == "yes"):
        expected = [expected[0], unclear("open_valve")]
    texts = [text for _, text in walk.replies(step)]
    assert list(dict.fromkeys(texts)) == expected
    assert walk.platform.faults == []


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.name} ({step.channel})")
def test_no_reply_is_doubled_where_the_platform_has_a_key(walk: Walk, step: Step) -> None:
    replies = walk.replies(step)
    if step.channel == HOOK:
        assert len({key for key, _ in replies}) == len(ANSWERS[step.says])
    doubled = len(replies) - len(ANSWERS[step.says])
    assert doubled == (1 if step.place == MARK and not step.after else 0)


@pytest.mark.parametrize("step", [step for step in STEPS if step.says == "yes"], ids=lambda step: step.name)
def test_no_tool_runs_twice(walk: Walk, step: Step) -> None:
    assert walk.runs(step) == (0 if step.place == BEGIN else 1)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.name} ({step.channel})")
def test_the_documentation_states_what_came_of_it(walk: Walk, step: Step) -> None:
    lost = 0 if walk.replies(step) else 1
    calls = len(walk.calls(step)) - (step.says == "yes")  # less the call that asked the question
    doubled = len(walk.replies(step)) - len(ANSWERS[step.says])
    row = f"| {step.name} | `{step.channel}` | {lost} | {calls} | {doubled} |"
    assert row in DURABILITY.read_text("utf-8")
