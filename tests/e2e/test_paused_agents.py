"""A run of a LangGraph agent outlives the service that is killed: it is waited for again, and answered once."""

from pathlib import Path

import httpx
import pytest

from tests.support.langgraph import LangGraphServer, Step, tools
from tests.support.receiver import Receiver
from tests.support.servers import serving_apart
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

RULE = """
[[rule]]
match = "agent::graph"
kind = "langgraph"
url = "{url}"
assistant = "agent"
timeout = 300
"""


def step(said: object) -> Step:
    return Step("Let me see.", tools("open_valve")) if said == "open the valve" else Step(f"heard {said}")


@pytest.mark.parametrize(
    ("message", "answer"), [("hello", "heard hello"), ("open the valve", "Let me see.")], ids=["text", "tool"]
)
def test_a_kill_does_not_ask_the_agent_twice(open_folder: Path, message: str, answer: str) -> None:
    graph, rules = LangGraphServer(step), open_folder / "resources.toml"
    graph.is_held = True
    with Receiver() as receiver, serving_apart(graph.handle) as url:
        rules.write_text(RULE.format(url=url), "utf-8")
        settings = {"RESOURCES_FILE": str(rules), "OUTBOUND_ALLOW": "127.0.0.0/8"}
        with Service(open_folder / "data", settings=settings) as service:
            made = service.create_instance(
                channelId="http-webhook",
                channelName="graph",
                downStreamResourceId="agent::graph",
                config={"responseWebhookUrl": receiver.url},
            )
            address = f"{service.base}/api/agent/channels/http-webhook/{made['instanceId']}/webhook"
            body = {"message": message, "sessionId": "s1"}
            assert httpx.post(address, json=body, trust_env=False).status_code == 200
            until(lambda: bool(graph.told), "the run begins")

            service.kill_everything()
            service.start()
            until(lambda: bool(graph.joined), "the run is waited for again")
            service.kill_everything(database_first=True)
            service.start()
            until(lambda: len(graph.joined) > 1, "the run is waited for again")
            graph.release()
            until(lambda: bool(receiver.bodies), "the answer is delivered")
            assert service.stop() >= 0

    assert len(graph.begun) == 1
    assert [body["response"].startswith(answer) for body in receiver.bodies] == [True]
    assert graph.cancelled == []
