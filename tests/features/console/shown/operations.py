"""The overview, problems and the doctor, with messages that were given up and a channel that fails."""

import json
from itertools import count
from typing import Any

from adapters.outbound.channels.http_webhook.tests import samples
from domain.access.model import Caller, Role
from domain.instances.model import Activity, NewInstance
from domain.monitoring.model import DeadLetterId
from tests.drivers.served import ServedWorld
from tests.support.figures import count_all

STRANGE = '<script>alert("x")</script> مرحبا ' + "a long word" * 30
QUESTION = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, error, answer, received_at, finished_at)
SELECT %(instance)s, %(session)s, %(key)s, %(event)s, %(status)s, %(error)s, %(answer)s, now(), now()
RETURNING id
"""
PART = """
INSERT INTO outbox (
    instance_id, session_key, inbox_id, message, target, key, status, attempts, last_error, finished_at
)
VALUES (%(instance)s, %(session)s, %(inbox)s, %(message)s, '{}', %(key)s, %(status)s, 3, %(error)s, now())
"""
NUMBERS = count(1)
DONE, FAILED = 1, 2
SENT, DEAD = 1, 2
ADMIN = Caller("admin", Role.ADMIN)


def channel(world: ServedWorld, user: str = "admin", name: str = "Support") -> int:
    config = {"responseWebhookUrl": samples.ADDRESS, "webhookSecret": samples.SECRET}
    new = NewInstance("http-webhook", name, config, "agent::echo")
    saved = world.run(world.container.use_cases().instances.create(Caller(user), new))
    return saved.instance_id


def execute(world: ServedWorld, statement: str, **values: Any) -> Any:
    return world.run(world.container.database().fetch_one(statement, values))


def question(world: ServedWorld, instance: int, text: str, error: str | None = None, answer: str = "") -> int:
    """A message of a sender: not answered because of `error`, or answered."""
    event = {"session": "room", "sender": "ada", "text": text, "target": {}, "request": "r-1"}
    content = {"text": answer, "files": [], "choices": [], "author": "resource"}
    values = {
        "instance": instance,
        "session": "room",
        "key": f"question-{next(NUMBERS)}",
        "event": json.dumps(event, separators=(",", ":")),
        "status": FAILED if error else DONE,
        "error": error,
        "answer": json.dumps(content) if answer else None,
    }
    return int(execute(world, QUESTION, **values)[0])


def answer(world: ServedWorld, instance: int, text: str, error: str | None = None) -> int:
    """A message with its answer: not delivered because of `error`, or sent. The number of the message."""
    inbox_id = question(world, instance, "How are you?", answer=text)
    values = {
        "instance": instance,
        "session": "room",
        "inbox": inbox_id,
        "message": json.dumps({"text": text, "blocks": [{"type": "section"}]}),
        "key": f"answer-{next(NUMBERS)}",
        "status": DEAD if error else SENT,
        "error": error,
    }
    execute(world, PART, **values)
    return inbox_id


def fail(world: ServedWorld, instance: int, error: str) -> None:
    world.run(world.container.storage().health.failed(instance, Activity.SENDING, error))


def outage(world: ServedWorld) -> tuple[int, int]:
    """A channel that fails, with what was given up, and one that works; their ids."""
    broken, working = channel(world), channel(world, name="Sales <b>& more</b>")
    for _ in range(3):
        answer(world, working, "All is well")
    question(world, broken, STRANGE, error=f"the resource said: {STRANGE}")
    answer(world, broken, STRANGE, error="HTTP 404: the channel was not found")
    fail(world, broken, "HTTP 404: the channel was not found")
    count_all(world)
    return broken, working


def pages(world: ServedWorld) -> list[str]:
    broken, _ = outage(world)
    letters = world.run(
        world.container.use_cases().monitoring.dead_letters.list(ADMIN, None, None, 50, None)
    ).items
    ids = [DeadLetterId(broken, letter.message.id).message_id for letter in letters]
    return [
        "/console?period=day",
        "/console/problems",
        *(f"/console/problems/{broken}/{id}" for id in ids),
        "/console/problems/channels",
        "/console/doctor",
    ]
