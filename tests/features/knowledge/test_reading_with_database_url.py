"""The steps of reading_with_database_url.feature: every read of the OpenAPI document, and the tools of MCP."""

import re
from typing import Any

from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene
from tests.drivers.ways import Rest

SETTINGS = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/not_this_one"}
"""The service is given its database apart; what follows from the setting alone is tried here."""
scenarios("reading_with_database_url.feature")

QUERY, QUESTION = {"query": "pump"}, {"question": "pump"}
DOCUMENTED: dict[tuple[str, str], Any] = {
    ("GET", "/{id}/files"): None,
    ("GET", "/file/{hash}"): None,
    ("GET", "/download/{hash}"): None,
    ("GET", "/chunks/{hash}"): None,
    ("GET", "/chunk/{chunk}"): None,
    ("POST", "/{id}/search"): QUERY,
}
OTHERS: dict[tuple[str, str], Any] = {
    ("GET", "/{id}/file-states"): None,
    ("GET", "/{id}/files/{hash}"): None,
    ("GET", "/{id}/files/{hash}/text"): None,
    ("GET", "/file/{hash}/text"): None,
    ("GET", "/{id}/sources"): None,
    ("GET", "/{id}/sources/{source}/pages"): None,
    ("POST", "/{id}/search/explain"): QUERY,
    ("POST", "/{id}/ask"): QUESTION,
}
NOT_INSIDE = {"", "/{}", "/{}/permissions", "/upload-rules"}
"""What the base itself is, and what holds for all."""
TOOLS = {"search_knowledge": ("POST", "/{id}/search"), "read_chunk": ("GET", "/chunk/{chunk}")}
OTHER_TOOLS = {"read_file": ("GET", "/file/{hash}/text")}
MCP = {"accept": "application/json, text/event-stream"}


def named(rest: Rest, scene: Scene) -> dict[str, str]:
    """What the parameters of paths are here. The source is one that nobody has."""
    chunks = rest.request("GET", f"{KB}/chunks/{scene.hash}", "ann").json()["chunks"]
    return {"id": str(scene.base), "hash": scene.hash, "chunk": chunks[0]["chunkId"], "source": "4711"}


def refused(rest: Rest, scene: Scene, reads: dict[tuple[str, str], Any]) -> set[tuple[str, str]]:
    """The reads that bob gets nothing by."""
    names = named(rest, scene)
    statuses = {}
    for (method, path), body in reads.items():
        options = {} if body is None else {"json": body}
        answer = rest.request(method, KB + path.format(**names), "bob", **options)
        statuses[method, path] = answer.status_code
    gone = {read for read, status in statuses.items() if status == 404 and "{source}" not in read[1]}
    assert set(statuses.values()) <= {200, 403, 404}, statuses
    return gone | {read for read, status in statuses.items() if status == 403}


@when(parsers.parse("ann gives bob {permission}"))
def _(rest: Rest, scene: Scene, permission: str) -> None:
    body = {"userId": "bob", "permission_level": int(permission == "READ")}
    assert rest.request("PUT", f"{KB}/{scene.base}/permissions", "ann", json=body).status_code == 204


@then("bob reads what the interface documents")
def _(rest: Rest, scene: Scene) -> None:
    assert refused(rest, scene, DOCUMENTED) == set()


@then("bob reads nothing else")
def _(rest: Rest, scene: Scene) -> None:
    assert refused(rest, scene, OTHERS) == set(OTHERS)


@then("bob reads everything else too")
def _(rest: Rest, scene: Scene) -> None:
    assert refused(rest, scene, OTHERS) == set()


@then("a model that asks in bob's name gets the same")
def _(rest: Rest, scene: Scene) -> None:
    names = named(rest, scene)
    arguments = {
        "search_knowledge": {"knowledgeBase": names["id"], **QUERY},
        "read_chunk": {"chunkId": names["chunk"]},
        "read_file": {"fileId": names["hash"]},
    }
    over_rest = refused(rest, scene, {**DOCUMENTED, **OTHERS})
    for tool, read in {**TOOLS, **OTHER_TOOLS}.items():
        call = {"name": tool, "arguments": arguments[tool]}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        result = rest.request("POST", "/mcp", "bob", json=message, headers=MCP).json()["result"]
        assert result.get("isError", False) == (read in over_rest), (tool, result)
    uri = f"switchboard://files/{names['hash']}"
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    answer = rest.request("POST", "/mcp", "bob", json=message, headers=MCP).json()
    assert ("error" in answer) == (("GET", "/file/{hash}/text") in over_rest), answer


@then("each read of a base that the description lists is one of these")
def _(rest: Rest) -> None:
    described = set()
    for path, methods in rest.request("GET", "/openapi.json").json()["paths"].items():
        if path.startswith(KB):
            reads = [method for method in methods if method == "get" or re.search("search|ask|explain", path)]
            described |= {(method.upper(), re.sub(r"{\w+}", "{}", path.removeprefix(KB))) for method in reads}
    tried = {(method, re.sub(r"{\w+}", "{}", path)) for method, path in [*DOCUMENTED, *OTHERS]}
    assert {read for read in described - tried if read[1] not in NOT_INSIDE} == set()
    assert tried <= described
