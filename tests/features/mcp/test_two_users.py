"""The steps of two_users.feature."""

import json
from collections.abc import Callable

import pytest
from mcp import Client, MCPError
from mcp_types import TextResourceContents
from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB
from tests.drivers.mcp import McpClient, McpWorld
from tests.drivers.ways import Rest
from tests.features.mcp.conftest import Scene, answer_of, text_of

scenarios("two_users.feature")

OF_ANN = ("Handbook", "How we work", "pump", "Shop", "parcel", "ada")
EMPTY = ("knowledgeBases", "channels", "conversations", "resources")


@pytest.fixture
def asks(client: McpClient, world: McpWorld, rest: Rest, scene: Scene) -> Callable[[str, str], str]:
    """What the model of a user is told when it asks for one of ann's things."""
    base, file = scene.bases[0], scene.files.hash
    chunks = rest.request("GET", f"{KB}/chunks/{file}", "ann").json()["chunks"]
    of_channel = {"instanceId": scene.channel}
    tools: dict[str, tuple[str, dict[str, object]]] = {
        "list of bases": ("list_knowledge_bases", {}),
        "base by its name": ("search_knowledge", {"knowledgeBase": "Handbook", "query": "pump"}),
        "base by its number": ("search_knowledge", {"knowledgeBase": base, "query": "pump"}),
        "passage": ("read_chunk", {"chunkId": chunks[0]["chunkId"]}),
        "file": ("read_file", {"fileId": file}),
        "channels": ("list_channels", {}),
        "conversations": ("list_conversations", {}),
        "conversations of her channel": ("list_conversations", {"instanceIds": [scene.channel]}),
        "conversation": ("read_conversation", {**of_channel, "sessionId": "ada"}),
        "channel to send through": ("send_message", {**of_channel, "to": "ada", "text": "Hello"}),
    }
    resources = {
        "base as a resource": f"switchboard://knowledge-bases/{base}",
        "file as a resource": f"switchboard://files/{file}",
    }

    async def resource_texts(connected: Client, what: str) -> str:
        if what == "list of resources":
            found = (await connected.list_resources()).resources
            return json.dumps({"resources": [resource.title for resource in found]})
        contents = (await connected.read_resource(resources[what])).contents
        return "".join(content.text for content in contents if isinstance(content, TextResourceContents))

    def ask(user: str, what: str) -> str:
        if what not in tools:
            return client.asked(user, lambda connected: resource_texts(connected, what))
        sending = what == "channel to send through"
        reached = McpClient(world, world.url, "legacy") if sending else client
        tool, arguments = tools[what]
        return text_of(reached.call(user, tool, **arguments))

    return ask


NOT_READ = "channel to send through"


@then("bob's model gets these answers, and nothing of ann's:", target_fixture="table")
def bob_asks(asks: Callable[[str, str], str], datatable: list[list[str]]) -> list[str]:
    for what, expected in datatable[1:]:
        try:
            told = asks("bob", what)
        except MCPError as error:
            told = error.message
        if expected == "empty":
            value = json.loads(told)
            assert [value[name] for name in EMPTY if name in value] == [[]], what
        else:
            assert expected in told, (what, told)
        assert not [word for word in OF_ANN if word in told], what
    return [what for what, _ in datatable[1:]]


@then("ann's own model gets an answer to each of these")
def ann_gets(asks: Callable[[str, str], str], table: list[str]) -> None:
    for what in table:
        if what != NOT_READ:
            told = asks("ann", what)
            assert any(word in told for word in OF_ANN), what


@when("ann lets bob read the base")
def lets_read(rest: Rest, scene: Scene) -> None:
    body = {"userId": "bob", "permission_level": 1}
    path = f"{KB}/{scene.bases[0]}/permissions"
    assert rest.request("PUT", path, "ann", json=body).status_code == 204


@then("bob's model finds the passage, reads the file and sees the base as a resource")
def bob_finds(asks: Callable[[str, str], str]) -> None:
    for what in ("base by its name", "passage", "file", "file as a resource"):
        assert "The cooling pump is serviced in March." in asks("bob", what)
    assert "Handbook" in asks("bob", "list of resources")


@then(parsers.parse('bob\'s model sees that it may only "{permission}"'))
def may_only(client: McpClient, permission: str) -> None:
    [base] = answer_of(client, "bob", "list_knowledge_bases")["knowledgeBases"]
    assert base["permission"] == permission


@when("ann's key is revoked while her client is connected", target_fixture="outcome")
def revoked(client: McpClient, world: McpWorld) -> list[str]:
    token = world.key_of("ann")
    outcome: list[str] = []

    async def listed_twice(connected: Client) -> None:
        outcome.append((await connected.list_tools()).tools[0].name)
        key = await world.container.access().find_key(token)
        assert key is not None
        await world.container.access().revoke_key(key.id)
        try:
            await connected.call_tool("list_channels", {})
        except MCPError as error:
            outcome.append(error.message)

    client.with_key(token, listed_twice)
    return outcome


@then("the connected client gets nothing more")
def gets_nothing(outcome: list[str]) -> None:
    assert outcome == ["list_knowledge_bases", "Server returned an error response"]
