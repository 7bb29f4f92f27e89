"""The steps of chats.feature."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.mcp import McpClient, McpWorld
from tests.drivers.receiver import Receiver
from tests.drivers.ways import Rest
from tests.features.mcp.conftest import SECRET, Scene, answer_of, create, text_of, writes

scenarios("chats.feature")


@pytest.fixture
def receiver(world: McpWorld) -> Iterator[Receiver]:
    """A server at the address that ann's channel sends to."""
    made = Receiver(world)
    yield made
    made.close()


@pytest.fixture
def sender(world: McpWorld) -> McpClient:
    """A client of the gateway whose clients may send."""
    return McpClient(world, world.url, "auto")


@when("ann's model lists the channels")
def lists(client: McpClient, scene: Scene) -> None:
    scene.answer = client.call("ann", "list_channels")


@then(parsers.parse('it sees the channel "{name}", which is healthy'))
def healthy(scene: Scene, name: str) -> None:
    [channel] = scene.value["channels"]
    assert (channel["instanceId"], channel["channelName"]) == (scene.channel, name)
    assert (channel["channelId"], channel["healthy"], channel["lastError"]) == ("http-webhook", True, None)


@then("it sees nothing of the configuration")
def nothing_secret(scene: Scene) -> None:
    assert SECRET not in text_of(scene.answer)
    assert "config" not in text_of(scene.answer).lower()


@given(parsers.parse('"{who}" has written {number:d} messages'))
def writes_many(rest: Rest, scene: Scene, who: str, number: int) -> None:
    for each in range(number):
        writes(rest, scene, who, f"message {each}")


@given(parsers.parse('"{who}" has written a message of {length:d} letters'))
def writes_long(rest: Rest, scene: Scene, who: str, length: int) -> None:
    writes(rest, scene, who, "x" * length)


@when("ann's model lists the conversations")
def lists_conversations(client: McpClient, scene: Scene) -> None:
    scene.answer = client.call("ann", "list_conversations")


@when(parsers.parse('ann\'s model lists the conversations that mention "{text}"'))
def lists_mentioning(client: McpClient, scene: Scene, text: str) -> None:
    scene.answer = client.call("ann", "list_conversations", query=text, instanceIds=[scene.channel])


@then(parsers.parse('it sees those of "{who}"'))
def sees(scene: Scene, who: str) -> None:
    assert [found["sessionId"] for found in scene.value["conversations"]] == who.split(", ")
    assert all(found["handler"] == "resource" for found in scene.value["conversations"])


@when(parsers.parse('ann\'s model reads the conversation of "{who}"'))
def reads(client: McpClient, scene: Scene, who: str) -> None:
    scene.answer = client.call("ann", "read_conversation", instanceId=scene.channel, sessionId=who)


@when(parsers.parse('ann\'s model reads the conversation of "{who}" {size:d} at a time'))
def reads_pages(client: McpClient, scene: Scene, who: str, size: int) -> None:
    cursor: str | None = None
    while not scene.pages or cursor:
        page = {"instanceId": scene.channel, "sessionId": who, "limit": size, "cursor": cursor}
        found = answer_of(client, "ann", "read_conversation", **page, latestFirst=False)
        scene.pages.append([message["text"] for message in found["messages"]])
        cursor = found["next"]


@then(parsers.parse("it sees {number:d} messages in {pages:d} pages"))
def in_pages(scene: Scene, number: int, pages: int) -> None:
    texts = [text for page in scene.pages for text in page]
    assert (len(texts), len(scene.pages)) == (number, pages)
    assert texts[::2] == [f"message {each}" for each in range(number // 2)]


@then(parsers.parse('the newest message says what "{text}" was answered with'))
def newest(scene: Scene, text: str) -> None:
    message = scene.value["messages"][0]
    assert (message["direction"], message["author"]) == ("out", "resource")
    assert text in message["text"]


@then(parsers.parse('the oldest message says "{text}"'))
def oldest(scene: Scene, text: str) -> None:
    message = scene.value["messages"][-1]
    assert (message["direction"], message["text"], message["status"]) == ("in", text, "done")


@then(parsers.parse("no message has more than {length:d} letters"))
def cut(scene: Scene, length: int) -> None:
    texts = [message["text"] for message in scene.value["messages"]]
    assert max(map(len, texts)) == length
    assert texts[-1].endswith("x…")


@when("ann's client lists the tools of a gateway where sending is off", target_fixture="silent")
def silent(world: McpWorld, client: McpClient) -> McpClient:
    return McpClient(world, world.remote_url, "auto")


@then("there is no tool to send with")
def no_tool(silent: McpClient) -> None:
    async def names(connected: Client) -> list[str]:
        return [tool.name for tool in (await connected.list_tools()).tools]

    assert "list_channels" in silent.asked("ann", names)
    assert "send_message" not in silent.asked("ann", names)


@then("sending is refused there with a hint at the setting")
def refused(silent: McpClient, scene: Scene) -> None:
    with pytest.raises(MCPError, match="MCP_SEND"):
        silent.call("ann", "send_message", instanceId=scene.channel, text="x")


@then("nothing is sent")
def nothing_sent(rest: Rest, scene: Scene) -> None:
    path = f"/api/agent/conversations?instanceId={scene.channel}"
    assert rest.request("GET", path, "ann").json()["conversations"] == []


@when(parsers.parse('ann\'s model sends "{text}" through "{name}"'))
def sends(sender: McpClient, rest: Rest, scene: Scene, receiver: Receiver, text: str, name: str) -> None:
    send(sender, rest, scene, receiver, text=text)


@when(parsers.parse('ann\'s model sends "{text}" through "{name}" with the key "{key}"'))
def sends_with_key(
    sender: McpClient, rest: Rest, scene: Scene, receiver: Receiver, text: str, name: str, key: str
) -> None:
    send(sender, rest, scene, receiver, text=text, idempotencyKey=key)


@when(parsers.parse('ann\'s model sends nothing through "{name}"'))
def sends_nothing(sender: McpClient, scene: Scene, name: str) -> None:
    scene.answer = sender.call("ann", "send_message", instanceId=scene.channel, to="x")


def send(sender: McpClient, rest: Rest, scene: Scene, receiver: Receiver, **message: str) -> None:
    if not scene.pages:
        create(rest, scene, "Answers", {"responseWebhookUrl": receiver.url})
    scene.answer = sender.call("ann", "send_message", instanceId=scene.channel, **message)
    scene.pages.append([scene.value["messageId"]])
    assert scene.value["status"] == "queued"


@then("the message arrives once")
def arrives(receiver: Receiver, scene: Scene) -> None:
    deliveries = receiver.wait_for(1)
    assert [delivery.json["response"] for delivery in deliveries] == ["Your parcel is here."]
    assert len({message for [message] in scene.pages}) == 1


@when("ann has written twice in a conversation over REST", target_fixture="place")
def has_written(rest: Rest, scene: Scene, receiver: Receiver) -> dict[str, Any]:
    """The first message opens the conversation, the second one takes it over."""
    opened = rest.send("ann", scene.channel, {"to": receiver.url, "text": "Hello"})
    place = {"sessionId": opened.body["sessionId"]}
    assert rest.send("ann", scene.channel, {**place, "text": "On its way"}).outcome == "accepted"
    return {"instanceId": scene.channel, **place}


@then("the admin's model that answers there is told that ann has the conversation")
def is_refused(sender: McpClient, place: dict[str, Any]) -> None:
    refused = sender.call("admin", "send_message", **place, text="Me too")
    assert refused.is_error
    assert text_of(refused).startswith("ann has this conversation until ")


@then("the admin's model takes it over, closes it, and adds a note that ann's model reads")
def works_together(sender: McpClient, client: McpClient, place: dict[str, Any]) -> None:
    answer_of(sender, "admin", "send_message", **place, text="Here it is", takeOver=True)
    answer_of(sender, "admin", "change_conversation", **place, state="closed", labels=["parcel"])
    note = answer_of(sender, "admin", "add_note", **place, text="@ann it was lost")
    assert (note["direction"], note["userId"], note["mentions"]) == ("note", "admin", ["user:ann"])
    read = answer_of(client, "ann", "read_conversation", **place)["messages"]
    assert [message["text"] for message in read if message["direction"] == "note"] == ["@ann it was lost"]
    [closed] = answer_of(client, "ann", "list_conversations", state="closed")["conversations"]
    assert (closed["assignee"], closed["labels"]) == ("user:admin", ["parcel"])
    assert answer_of(client, "ann", "list_snippets")["snippets"] == []
