"""Three workers on one database: each message is answered once and in order, though one is killed or stopped."""

import base64
import os
import secrets
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.signals import CHANNEL
from apps.compose.container import Container
from apps.settings_loading import load
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from tests.support.database import opened
from tests.support.folders import an_open_folder
from tests.support.ports import free_port
from tests.support.postgres import fresh_database
from tests.support.receiver import Receiver
from tests.support.service import STOPPED_S, Service, resume, suspend
from tests.support.waiting import until

pytestmark = pytest.mark.processes


class Worker:
    """One worker, and the resource that only it asks: what that was asked, this worker took. Until `answers` is set
    the resource keeps its callers waiting."""

    def __init__(self, stack: ExitStack, folder: Path, settings: dict[str, str]) -> None:
        self.answers = threading.Event()
        self.answers.set()
        self._resource = stack.enter_context(Receiver(self._answer))
        stack.callback(self.answers.set)
        own = {**settings, "DOWNSTREAM_URL": self._resource.url, "METRICS_PORT": str(free_port())}
        self.service = stack.enter_context(Service(folder, "worker", own))
        self.id = 0

    def _answer(self, body: dict[str, str]) -> dict[str, str]:
        self.answers.wait(120)
        return {"text": body["text"]}

    @property
    def took(self) -> list[str]:
        return [body["text"] for body in list(self._resource.bodies)]


class Workers:
    """The workers by their rank, and what stores messages: it tells nobody, unless the test does."""

    def __init__(self, url: str, settings: dict[str, str], replies: Receiver) -> None:
        self.url = url
        self.every: list[Worker] = []
        self.replies = replies
        self._container = Container(settings=load(settings, env_file=None), dsn=url, solitary=False)
        self._instance = 0

    def add(self, worker: Worker) -> None:
        known = {each.id for each in self.every}
        [worker.id] = {number for (number,) in self.rows("SELECT worker_id FROM process")} - known
        self.every = sorted([*self.every, worker], key=lambda each: each.id)

    def rows(self, statement: str, *parameters: object) -> list[tuple[int, ...]]:
        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            cursor = connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    async def connect(self) -> None:
        """Makes the instance to which all messages come."""
        async with opened(self._container.database()):
            new = NewInstance("http-webhook", "hook", {}, "agent::any")
            self._instance = (await self._container.storage().instances.add("ann", new)).id

    async def store(self, texts: Sequence[tuple[str, str]]) -> None:
        """Messages as session and text, one after the other."""
        async with opened(Database(self.url)) as database:
            inbox = PostgresInbox(database, lambda: None)
            for session, text in texts:
                target = {"url": self.replies.url}
                await inbox.add(self._instance, [Event(text, session, Sender("x"), text, target)])

    def tell(self, *payloads: str) -> None:
        for payload in payloads:
            self.rows("SELECT pg_notify(%s, %s)", CHANNEL, payload)

    def turn_of(self, worker: Worker, kind: str = "in") -> str:
        """A notice that is the turn of this worker, where all see three."""
        return f"0:{kind}:{3000 + self.every.index(worker)}"

    def answered(self, texts: Sequence[tuple[str, str]], what: str) -> None:
        """Waits until all are answered: once, and each conversation in order."""
        until(lambda: self.are_answered(texts), what, seconds=120)
        assert {text: n for text, n in Counter(self._answers()).items() if n > 1} == {}
        for session in {session for session, _ in texts}:
            expected = [text for each, text in texts if each == session]
            assert [text for text in self._answers() if text in expected] == expected

    def are_answered(self, texts: Sequence[tuple[str, str]]) -> bool:
        return {text for _, text in texts} <= set(self._answers())

    def are_taken(self, worker: Worker, texts: Sequence[tuple[str, str]]) -> bool:
        return self.holds(worker, texts) or self.are_answered(texts)

    def holds(self, worker: Worker, texts: Sequence[tuple[str, str]]) -> bool:
        return any(worker in by for by in self.takers(texts).values())

    def _answers(self) -> list[str]:
        return [body["response"] for body in list(self.replies.bodies)]

    def takers(self, texts: Sequence[tuple[str, str]]) -> dict[str, list[Worker]]:
        return {text: [each for each in self.every for one in each.took if one == text] for _, text in texts}


@pytest.fixture
def workers(postgres_dsn: str, redis_url: str) -> Iterator[Workers]:
    settings = {
        "INTERNAL_SERVICE_KEY": secrets.token_urlsafe(32),
        "CONFIG_ENCRYPTION_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        "OUTBOUND_ALLOW": "127.0.0.0/8",
        "REDIS_URL": redis_url,
    }
    with (
        an_open_folder() as folder,
        fresh_database(postgres_dsn) as url,
        Receiver() as replies,
        ExitStack() as stack,
    ):
        made = Workers(url, {**settings, "DATA_DIR": str(folder)}, replies)
        for number in range(3):
            made.add(Worker(stack, folder / f"worker-{number}", {**settings, "DATABASE_URL": url}))
        yield made


def talk(name: str, conversations: int, each: int) -> list[tuple[str, str]]:
    return [(f"{name} {c}", f"{name} {c} {n}") for n in range(each) for c in range(conversations)]


async def test_each_message_is_answered_once_whichever_worker_is_killed_or_stopped(workers: Workers) -> None:
    silent, killed, last = workers.every

    await workers.connect()
    many = [*talk("many", 30, 3), *talk("one", 1, 20)]
    await workers.store(many)
    workers.tell(*(workers.turn_of(each) for each in workers.every))
    workers.answered(many, "many conversations and a long one")
    assert [text for text, by in workers.takers(many).items() if len(by) != 1] == []

    for notice in ((), ("0:in",), ("0:in:all",)):
        told = talk(f"told {notice}", 3, 2)
        await workers.store(told)
        workers.tell(*notice)
        workers.answered(told, f"messages of which the workers are told {notice}")

    held = await hold(workers, silent)
    suspended = suspend(lambda: [silent.service.process.pid])
    await others_take(workers, silent, "while one is suspended")
    # Its lease ends, as it would half a minute later.
    workers.rows("UPDATE queue SET due_at = now() WHERE owner = %s", silent.id)
    workers.answered(held, "what the suspended one held")
    resume(suspended)
    silent.answers.set()
    await returns(workers, silent)
    workers.answered(held, "what it held is not answered again")

    held = await hold(workers, killed)
    os.kill(killed.service.process.pid, signal.SIGKILL)
    await others_take(workers, killed, "after one was killed")
    workers.answered(held, "what the killed one held")

    assert silent.service.stop() < STOPPED_S
    await others_take(workers, silent, "after one stopped")
    assert {text: n for text, n in Counter(last.took).items() if n > 1} == {}


async def hold(workers: Workers, worker: Worker) -> list[tuple[str, str]]:
    """A message that this worker holds, as its resource does not answer: it is repeated until that one takes it."""
    worker.answers.clear()
    number = 0
    while True:
        held = talk(f"held by {worker.id} {number}", 1, 2)
        await workers.store(held)
        workers.tell(workers.turn_of(worker))
        # Another one may take the first message, and this worker the second.
        until(partial(workers.are_taken, worker, held), "the worker holds one, or others answered both")
        if workers.holds(worker, held):
            return held
        number += 1


async def others_take(workers: Workers, worker: Worker, when: str) -> None:
    """Messages whose notices are the turn of a worker that does not look are answered by the others."""
    before = len(worker.took)
    told = talk(when, 5, 2)
    await workers.store(told)
    workers.tell(workers.turn_of(worker), workers.turn_of(worker, "out"))
    workers.answered(told, when)
    assert len(worker.took) == before
    assert all(len(by) == 1 for by in workers.takers(told).values())


async def returns(workers: Workers, worker: Worker) -> None:
    """Waits until it takes a message again."""
    before, number = len(worker.took), 0
    while len(worker.took) == before:
        told = talk(f"returned {number}", 1, 1)
        await workers.store(told)
        workers.tell(workers.turn_of(worker))
        workers.answered(told, "messages after it goes on")
        number += 1
        assert number < 500, "it never takes one again"
