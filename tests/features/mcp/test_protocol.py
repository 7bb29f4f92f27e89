"""The edges of the protocol, over HTTP: what is no message, whose it is, and what does not leak."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from domain.access.model import Caller
from domain.knowledge.bases import BasesService
from domain.knowledge.model import NewBase
from tests.drivers.mcp import McpClient, McpWorld
from tests.drivers.world import SERVICE_KEY

DOCS = Path(__file__).parents[3] / "docs" / "mcp.md"
JSON = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_knowledge_bases", "arguments": {}},
}


@pytest.fixture(params=["url", "remote_url"], ids=["with a database", "without a database"])
def http(request: pytest.FixtureRequest, world: McpWorld) -> Iterator[httpx.Client]:
    """Raw HTTP with ann's key, to each gateway in turn."""
    headers = {**JSON, "authorization": f"Bearer {world.key_of('ann')}"}
    with httpx.Client(
        base_url=getattr(world, request.param), headers=headers, trust_env=False, verify=False, timeout=60
    ) as made:
        yield made


def post(http: httpx.Client, message: object = LIST, **headers: str) -> httpx.Response:
    return http.post("/mcp", json=message, headers=headers)


def error_of(response: httpx.Response, status: int) -> tuple[int, str]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["message"]


def test_who_has_no_key_is_told_which_kind_to_send(http: httpx.Client) -> None:
    for key in ("", "Bearer", "Bearer sb_unknown", "Basic c2JfdW5rbm93"):
        response = post(http, authorization=key)

        assert (response.status_code, response.json()) == (401, {"error": "Unauthorized"})
        assert response.headers["www-authenticate"] == "Bearer"


def test_there_are_no_sessions_and_no_streams(http: httpx.Client) -> None:
    for method in ("GET", "DELETE", "PUT"):
        response = http.request(method, "/mcp", headers={"mcp-session-id": "4711"})

        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
        assert method in response.json()["error"]


def test_pages_of_other_sites_are_refused(http: httpx.Client) -> None:
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        response = post(http, origin=origin)

        assert response.status_code == 403
        assert "Origin" in response.json()["error"]
    assert post(http, origin=str(http.base_url).rstrip("/")).status_code == 200
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    response = http.request("OPTIONS", "/mcp", headers=asked)

    assert response.status_code in (401, 403)
    assert "access-control-allow-origin" not in response.headers


def test_another_content_type_is_refused(http: httpx.Client) -> None:
    response = http.post("/mcp", content=json.dumps(LIST), headers={"content-type": "text/plain"})

    assert response.status_code == 415
    assert "application/json" in response.json()["error"]


def test_what_is_not_json_is_a_parse_error(http: httpx.Client) -> None:
    for body in (b"", b"{", b"\xff\xfe{", b'{"a": ' * 70, b"[" * 100_000, b"1" * 5000):
        code, message = error_of(http.post("/mcp", content=body), 400)

        assert code == -32700
        assert message.startswith("the body ")


NO_MESSAGES = (
    [LIST],
    [],
    "tools/list",
    {},
    {**LIST, "jsonrpc": "1.0"},
    {**LIST, "id": None},
    {**LIST, "id": True},
    {**LIST, "id": {}},
    {**LIST, "method": 7},
    {**LIST, "params": [1]},
    {"jsonrpc": "2.0", "id": 1},
)


def test_what_is_no_single_message_is_refused(http: httpx.Client) -> None:
    for message in NO_MESSAGES:
        code, text = error_of(post(http, message), 400)

        assert code == -32600, message
        assert "one JSON-RPC message" in text


def test_a_large_body_is_refused(http: httpx.Client) -> None:
    message = {**CALL, "params": {"name": "x" * 10 * 2**20}}

    assert post(http, message).status_code == 413


def test_a_notification_is_taken_without_an_answer(http: httpx.Client) -> None:
    response = post(http, {"jsonrpc": "2.0", "method": "notifications/initialized"})

    assert (response.status_code, response.content) == (202, b"")


def test_an_unknown_method_is_an_error_of_the_protocol(http: httpx.Client) -> None:
    for method in ("prompts/list", "logging/setLevel", "no/such", "subscriptions/listen"):
        response = post(http, {**LIST, "method": method, "params": {"level": "debug"}})

        assert (response.json()["error"]["code"], response.json()["id"]) == (-32601, 1)


def test_a_version_that_nobody_knows_is_refused(http: httpx.Client) -> None:
    _, message = error_of(post(http, LIST, **{"mcp-protocol-version": "1999-12-31"}), 400)

    assert "version" in message.lower()


def test_malformed_parameters_are_an_error_of_the_protocol(http: httpx.Client) -> None:
    for params in ({}, {"name": 7}, {"name": "read_file", "arguments": []}):
        assert post(http, {**CALL, "params": params}).json()["error"]["code"] == -32602


def test_an_id_of_a_session_makes_nobody_somebody_else(http: httpx.Client, world: McpWorld) -> None:
    use_cases = world.container.use_cases()
    world.run(use_cases.bases.create(Caller("bob"), NewBase("Plans of bob")))
    opened = post(http, CALL, authorization=f"Bearer {world.key_of('bob')}")
    assert "Plans of bob" in opened.text
    assert "mcp-session-id" not in opened.headers

    assert "Plans of bob" not in post(http, CALL, **{"mcp-session-id": "bob"}).text


def test_a_slash_at_the_end_means_nothing(http: httpx.Client) -> None:
    assert http.post("/mcp/", json=LIST).status_code == 200


def test_a_service_acts_for_the_user_that_it_names(http: httpx.Client, world: McpWorld) -> None:
    world.run(world.container.use_cases().bases.create(Caller("bob"), NewBase("Plans of bob")))
    service = {"authorization": f"Bearer {SERVICE_KEY}"}

    assert "Plans of bob" in post(http, CALL, **service, **{"x-user-id": "bob"}).text
    assert "Plans of bob" not in post(http, CALL, **service, **{"x-user-id": "ann"}).text
    alone = post(http, {**CALL, "params": {"name": "list_channels"}}, **service).json()["result"]
    assert not alone["isError"]


def test_what_goes_wrong_inside_stays_inside(world: McpWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(self: BasesService, caller: Caller) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(BasesService, "list", fail)
    with httpx.Client(base_url=world.url, headers=JSON, trust_env=False, verify=False) as http:
        for message in (CALL, {**LIST, "method": "resources/list"}):
            response = post(http, message, authorization=f"Bearer {world.key_of('ann')}")

            assert response.json()["error"] == {"code": -32603, "message": "Internal server error"}
            assert "hunter2" not in response.text


@pytest.mark.parametrize("address", ["url", "remote_url"])
def test_many_users_at_once_each_see_their_own(world: McpWorld, address: str) -> None:
    users = [f"user-{number}" for number in range(12)]
    bases = world.container.use_cases().bases
    for user in users:
        world.run(bases.create(Caller(user), NewBase(f"Plans of {user}")))
    keys = [world.key_of(user) for user in users]

    async def ask_all() -> list[httpx.Response]:
        async with httpx.AsyncClient(
            base_url=getattr(world, address), headers=JSON, trust_env=False, verify=False, timeout=60
        ) as http:
            asked = [
                http.post("/mcp", json=CALL, headers={"authorization": f"Bearer {key}"}) for key in keys * 3
            ]
            return await asyncio.gather(*asked)

    answers = world.run(ask_all())

    found = [answer.json()["result"]["structuredContent"]["knowledgeBases"] for answer in answers]
    assert [[base["name"] for base in each] for each in found] == [[f"Plans of {user}"] for user in users * 3]


NOTES = {"title", "description", "default", "examples", "format", "$defs", "deprecated", "discriminator"}
"""Keywords of JSON Schema and OpenAPI that no validator looks at."""


def keywords(schema: Any) -> set[str]:
    """The keywords of a schema and of those in it; names of properties and definitions are none."""
    if isinstance(schema, list):
        return set().union(*map(keywords, schema))
    if not isinstance(schema, dict):
        return set()
    inner = (
        part.values() if name in ("properties", "$defs") else [part]
        for name, part in schema.items()
        if name not in ("default", "examples", "enum", "const")
    )
    return schema.keys() | set().union(*(keywords(part) for parts in inner for part in parts))


def test_each_tool_says_what_it_takes_gives_and_changes(world: McpWorld) -> None:
    async def listed(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    tools = McpClient(world, world.url, "auto").asked("ann", listed)

    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == [
        "send_message",
        "change_conversation",
        "add_note",
        "decide_approval",
    ]
    for tool in tools:
        assert tool.title
        assert 80 < len(tool.description) < 500, tool.name
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert "Untitled" not in str(tool.input_schema)
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert keywords(schema) <= Draft202012Validator.VALIDATORS.keys() | NOTES, tool.name


def test_the_program_of_the_docs_runs(
    world: McpWorld, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(world.container.use_cases().bases.create(Caller("ann"), NewBase("Handbook")))
    monkeypatch.setenv("SWITCHBOARD_URL", world.url)
    monkeypatch.setenv("SWITCHBOARD_KEY", world.key_of("ann"))
    [program] = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)

    exec(compile(program, str(DOCS), "exec"), {})

    assert "search_knowledge - Search a knowledge base" in capsys.readouterr().out
