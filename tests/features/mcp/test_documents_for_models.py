"""The steps of documents.feature."""

import json
from typing import Any

from mcp import Client
from mcp_types import Resource, TextResourceContents
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.mcp import McpClient
from tests.drivers.ways import Rest
from tests.features.mcp.conftest import Scene, answer_of, text_of, uploads

scenarios("documents.feature")


def paragraphs(number: int) -> str:
    return "\n\n".join(
        f"Valve {each} is opened before valve {each + 1}, and closed behind it. ü" for each in range(number)
    )


@given(parsers.parse('ann has uploaded "{name}" with {number:d} paragraphs'))
def uploads_many(rest: Rest, scene: Scene, name: str, number: int) -> None:
    uploads(rest, scene, name, paragraphs(number))


@when("ann's model lists the knowledge bases")
def lists(client: McpClient, scene: Scene) -> None:
    scene.answer = client.call("ann", "list_knowledge_bases")


@then(parsers.parse('it sees "{name}" about "{description}", which it may "{permission}"'))
def sees(scene: Scene, name: str, description: str, permission: str) -> None:
    [base] = scene.value["knowledgeBases"]
    assert (base["name"], base["description"], base["permission"]) == (name, description, permission)
    assert (base["id"], scene.value["next"]) == (scene.bases[0], None)


@when(parsers.re(r"ann's model searches (?P<name>\"[^\"]+\"|its number) for \"(?P<query>[^\"]+)\""))
def searches(client: McpClient, scene: Scene, name: str, query: str) -> None:
    base: object = scene.bases[0] if name == "its number" else name.strip('"')
    scene.answer = client.call("ann", "search_knowledge", knowledgeBase=base, query=query)


@then(parsers.parse('the best passage says "{text}"'))
def best(scene: Scene, text: str) -> None:
    assert scene.value["knowledgeBaseId"] == scene.bases[0]
    found = scene.value["results"][0]
    assert (found["text"], found["fileId"]) == (text, scene.files.hash)
    assert 0 < found["similarity"] <= 1
    assert "/api/agent/files/" in found["url"]
    assert found["sourceUrl"] is None


@then(parsers.parse('the model can read that passage and the file "{name}" around it'))
def reads(client: McpClient, scene: Scene, name: str) -> None:
    found = scene.value["results"][0]
    passage = answer_of(client, "ann", "read_chunk", chunkId=found["chunkId"])
    assert (passage["text"], passage["fileId"]) == (found["text"], found["fileId"])
    assert (passage["metadata"]["start"], passage["metadata"]["end"]) == (0, len(found["text"]))
    file = answer_of(client, "ann", "read_file", fileId=found["fileId"])
    assert (file["fileName"], file["text"]) == (name, found["text"])
    assert (file["remaining"], file["next"]) == (0, None)


@when(parsers.parse("ann's model reads the file {size:d} characters at a time"))
def reads_pieces(client: McpClient, scene: Scene, size: int) -> None:
    offset = 0
    while offset is not None:
        file = scene.files.hash
        scene.pieces.append(answer_of(client, "ann", "read_file", fileId=file, limit=size, offset=offset))
        offset = scene.pieces[-1]["next"]


@then("the pieces together are the whole text")
def whole(scene: Scene) -> None:
    assert len(scene.pieces) > 1
    assert "".join(piece["text"] for piece in scene.pieces) == scene.files.content.decode()


@then("each piece says how much is left")
def left(scene: Scene) -> None:
    length = len(scene.files.content.decode())
    for piece in scene.pieces:
        assert piece["remaining"] == length - piece["offset"] - len(piece["text"])
        assert piece["length"] == length


@then("the model is told both numbers")
def both(scene: Scene) -> None:
    assert all(str(base) in text_of(scene.answer) for base in scene.bases)


@when(parsers.parse("ann's model lists the knowledge bases {size:d} at a time"))
def lists_pages(client: McpClient, scene: Scene, size: int) -> None:
    cursor: str | None = None
    while not scene.pages or cursor:
        found = answer_of(client, "ann", "list_knowledge_bases", limit=size, cursor=cursor)
        scene.pages.append([base["id"] for base in found["knowledgeBases"]])
        cursor = found["next"]


@when("ann's client lists the resources page by page")
def resource_pages(client: McpClient, scene: Scene) -> None:
    async def listed(connected: Client) -> list[list[Resource]]:
        pages = [await connected.list_resources()]
        while pages[-1].next_cursor:
            pages.append(await connected.list_resources(cursor=pages[-1].next_cursor))
        return [list(page.resources) for page in pages]

    pages = client.asked("ann", listed)
    scene.pages = [[int(resource.uri.rpartition("/")[2]) for resource in page] for page in pages]


@then(parsers.re(r"it sees (?P<number>\d+) (?P<what>\w+) in (?P<pages>\d+) pages"))
def in_pages(scene: Scene, number: str, pages: str) -> None:
    assert len(scene.pages) == int(pages)
    assert [base for page in scene.pages for base in page] == scene.bases
    assert len(scene.bases) == int(number)


@when("ann's client lists the resources", target_fixture="resources")
def lists_resources(client: McpClient) -> list[Resource]:
    return list(client.asked("ann", lambda connected: connected.list_resources()).resources)


def contents(client: McpClient, uri: str) -> list[TextResourceContents]:
    found = client.asked("ann", lambda connected: connected.read_resource(uri)).contents
    return [content for content in found if isinstance(content, TextResourceContents)]


@then(parsers.parse('the resource "{name}" says "{description}" and names the file "{file}"'))
def says(
    client: McpClient, scene: Scene, resources: list[Resource], name: str, description: str, file: str
) -> None:
    [resource] = resources
    assert (resource.title, resource.description) == (name, description)
    [content] = contents(client, resource.uri)
    value: dict[str, Any] = json.loads(content.text)
    assert (value["name"], value["description"], value["next"]) == (name, description, None)
    [listed] = value["files"]
    assert (listed["fileName"], listed["fileId"], listed["status"]) == (file, scene.files.hash, "ready")


@then(parsers.parse('the file\'s own resource reads "{text}"'))
def file_reads(client: McpClient, scene: Scene, text: str) -> None:
    [content] = contents(client, f"switchboard://files/{scene.files.hash}")
    assert content.text == text


@when("ann's client reads the file's resource to its end")
def reads_resource(client: McpClient, scene: Scene) -> None:
    uri = f"switchboard://files/{scene.files.hash}"
    while uri:
        found = contents(client, uri)
        scene.pieces.append({"text": found[0].text})
        uri = found[1].uri if len(found) > 1 else ""
        assert not uri or uri in found[1].text


@then("ann's model is told what is wrong with these calls:")
def told(client: McpClient, datatable: list[list[str]]) -> None:
    for what, tool, arguments, complaint in datatable[1:]:
        pairs = (pair.split(" ") for pair in arguments.split(", "))
        given = {
            name: int(value) if value.lstrip("-").isdigit() else value.strip("-") for name, value in pairs
        }
        answer = client.call("ann", tool, **given)
        assert answer.is_error, what
        assert complaint in text_of(answer), what
