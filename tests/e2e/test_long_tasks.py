"""A task of an A2A agent outlives the service that is killed: it is asked for again, and answered once."""

from pathlib import Path

import httpx
import pytest

from tests.support.a2a_agent import A2aAgent, Turn
from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

RULE = """
[[rule]]
match = "agent::clerk"
kind = "a2a"
url = "{url}"
timeout = {seconds}
"""


async def work(turn: Turn) -> None:
    await turn.begin()
    await turn.wait()
    await turn.task.complete(turn.says("Done."))


def test_a_kill_begins_no_second_task(open_folder: Path) -> None:
    rules = open_folder / "resources.toml"
    with Receiver() as receiver, A2aAgent(work, streams=False).serving() as agent:
        rules.write_text(RULE.format(url=agent.base, seconds=300), "utf-8")
        with Service(open_folder / "data", settings=settings(rules)) as service:
            write(service, receiver)
            until(lambda: "GetTask" in agent.methods, "the task is known")
            for first in (False, True):
                count = agent.methods.count("GetTask")
                service.kill_everything(database_first=first)
                service.start()
                until(
                    lambda before=count: agent.methods.count("GetTask") > before + 1, "it is asked for again"
                )
            agent.let()
            until(lambda: bool(receiver.bodies), "the answer is delivered")
            assert service.stop() >= 0

    assert len(agent.turns) == 1
    assert [body["response"] for body in receiver.bodies] == ["Done."]
    assert agent.cancelled == []


def test_the_result_of_a_long_task_is_sent_once_after_a_kill(open_folder: Path) -> None:
    rules = open_folder / "resources.toml"
    with Receiver() as receiver, A2aAgent(work).serving() as agent:
        rules.write_text(RULE.format(url=agent.base, seconds=10), "utf-8")
        with Service(open_folder / "data", settings=settings(rules)) as service:
            instance = write(service, receiver)
            until(lambda: bool(receiver.bodies), "the sender is told that it takes longer")
            # A delivery that is not on record yet would be sent again.
            until(lambda: pending(service, instance) == 0, "that is on record")
            service.kill_everything()
            agent.let()
            service.start()
            until(lambda: len(receiver.bodies) > 1, "the result is delivered")
            service.kill_everything(database_first=True)
            service.start()
            assert service.stop() >= 0

    assert len(agent.turns) == 1
    told, *results = [body["response"] for body in receiver.bodies]
    assert told.startswith("This takes longer")
    assert set(results) == {"Done."}


def settings(rules: Path) -> dict[str, str]:
    return {"RESOURCES_FILE": str(rules), "OUTBOUND_ALLOW": "127.0.0.0/8"}


def pending(service: Service, instance: int) -> int:
    with service.client() as client:
        health = client.get(f"/api/agent/channel-instances/{instance}/health")
    return int(health.json()["queue"]["pending"])


def write(service: Service, receiver: Receiver) -> int:
    made = service.create_instance(
        channelId="http-webhook",
        channelName="clerk",
        downStreamResourceId="agent::clerk",
        config={"responseWebhookUrl": receiver.url},
    )
    address = f"{service.base}/api/agent/channels/http-webhook/{made['instanceId']}/webhook"
    body = {"message": "write the report", "sessionId": "s1"}
    assert httpx.post(address, json=body, trust_env=False).status_code == 200
    return int(made["instanceId"])
