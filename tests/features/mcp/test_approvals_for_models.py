"""The steps of approvals.feature."""

import json
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import CallToolResult
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.mcp import McpClient, McpWorld
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.features.mcp.conftest import Scene, answer_of, text_of

scenarios("approvals.feature")


@pytest.fixture
def decider(world: McpWorld) -> McpClient:
    """A client of the gateway whose clients may send."""
    return McpClient(world, world.url, "auto")


def _answer(request: RunRequest) -> RunResult:
    if request.approval is not None:
        return RunResult("Done.")
    return RunResult("", confirmation=Confirmation("refund", {"order": 4711}))


@given('a webhook of ann\'s about whose tool "refund" bob decides')
def webhook(world: McpWorld, rest: Rest, scene: Scene) -> None:
    Resource(world, _answer)
    for user in ("bob", "dora"):
        assert rest.request("GET", "/api/agent/me", user).is_success
    body: dict[str, Any] = {
        "channelId": "http-webhook",
        "channelName": "Shop",
        "config": {"syncResponse": True},
    }
    body |= {"downStreamResourceId": "agent::shop", "approvalPolicy": [{"tool": "refund", "by": "user:bob"}]}
    reply = rest.create("ann", body)
    assert reply.outcome == "created", reply
    scene.channel = int(reply.body["instanceId"])


@given("a customer has asked for money back")
def asked(rest: Rest, scene: Scene) -> None:
    body = json.dumps({"message": "money back", "sessionId": "customer"}).encode()
    reply = rest.call("http-webhook", scene.channel, body, {}, "webhook")
    assert "needs an approval" in json.dumps(reply.body)


def approvals(client: McpClient, user: str, **arguments: Any) -> list[dict[str, Any]]:
    return list(answer_of(client, user, "list_approvals", **arguments)["approvals"])


@when(parsers.parse("{user}'s client lists the approvals"), target_fixture="listed")
def lists(client: McpClient, user: str) -> list[dict[str, Any]]:
    return approvals(client, user)


@then('it sees that "refund" waits, with its parameters and what the customer wrote')
def sees(listed: list[dict[str, Any]]) -> None:
    [approval] = listed
    assert (approval["tool"], approval["parameters"]) == ("refund", {"order": 4711})
    assert (approval["state"], approval["text"]) == ("waiting", "money back")


@then("it sees none")
def sees_none(listed: list[dict[str, Any]]) -> None:
    assert listed == []


def decide(client: McpClient, user: str, **arguments: Any) -> CallToolResult:
    [approval] = approvals(client, "admin", state=None)
    return client.call(user, "decide_approval", approvalId=approval["id"], **arguments)


@when(parsers.parse('{user}\'s client approves it, because "{reason}"'))
def approves(decider: McpClient, scene: Scene, user: str, reason: str) -> None:
    scene.answer = decide(decider, user, decision="approved", reason=reason)


@when("the admin's client rejects it")
def rejects(decider: McpClient, scene: Scene) -> None:
    scene.answer = decide(decider, "admin", decision="rejected")


@then('it is told that bob approved "refund", because "The parcel came back."')
def told(scene: Scene) -> None:
    value = scene.value
    assert (value["tool"], value["state"], value["decidedBy"]) == ("refund", "approved", "bob")
    assert value["reason"] == "The parcel came back."


@then("bob's client lists none that waits, and one for all states")
def lists_states(client: McpClient) -> None:
    assert approvals(client, "bob") == []
    assert len(approvals(client, "bob", state=None)) == 1


@then(parsers.parse('it is refused: "{words}"'))
def refused(scene: Scene, words: str) -> None:
    assert scene.answer.is_error
    assert words in text_of(scene.answer)


@then("bob's client on a gateway where sending is off cannot decide")
def cannot(world: McpWorld, decider: McpClient) -> None:
    [approval] = approvals(decider, "bob")
    silent = McpClient(world, world.remote_url, "auto")
    with pytest.raises(MCPError):
        silent.call("bob", "decide_approval", approvalId=approval["id"], decision="approved")
    assert len(approvals(decider, "bob")) == 1
