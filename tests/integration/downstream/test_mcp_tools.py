"""Tools of MCP servers, against servers made with the SDK and against hostile ones, on the loopback interface."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources import mcp_tools
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.chat_model import ToolCall
from adapters.outbound.resources.mcp_tools import McpTools, tool_name, usable_schema
from adapters.outbound.resources.model_runner import ModelRunner
from adapters.outbound.resources.model_settings import ChatModel, ChatTool, McpServer
from adapters.outbound.resources.model_tools import INTERRUPTED, UNREACHABLE
from domain.routing.model import Approval, Confirmation, RunResult
from ports.resources import DownstreamFailed, Role
from tests.support.mcp_server import Workshop, mcp_serving
from tests.support.model_server import Server, calling, text, tools_of
from tests.support.ports import free_port
from tests.support.runs import Remembered, a_request
from tests.support.servers import serving


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


@pytest.fixture(params=[False, True], ids=["newest", "with handshakes"])
async def workshop(request: pytest.FixtureRequest) -> AsyncIterator[Workshop]:
    async with mcp_serving(Workshop(handshakes=request.param)) as workshop:
        yield workshop


def a_server(workshop: Workshop, **changes: Any) -> McpServer:
    return replace(McpServer("shop", workshop.url, token="s3cret"), **changes)


async def used(http: AioHttp, server: McpServer, name: str, seconds: float = 30, **parameters: Any) -> str:
    tools = await McpTools(http, [server]).all(60)
    call = ToolCall("call_1", name, json.dumps(parameters))
    return await tools[name].use(call, parameters, "request-1", seconds)


class TestListing:
    async def test_tools_have_the_name_of_their_server(self, http: AioHttp, workshop: Workshop) -> None:
        tools = await McpTools(http, [a_server(workshop)]).all(60)

        ring = tools["shop__ring"]
        assert ring.offer.description == "Rings the bell."
        assert ring.offer.parameters["properties"]["times"]["type"] == "integer"
        assert ring.confirm
        assert workshop.headers[0]["authorization"] == "Bearer s3cret"

    async def test_names_and_descriptions_are_bounded(self, http: AioHttp, workshop: Workshop) -> None:
        tools = await McpTools(http, [a_server(workshop)]).all(60)

        [name] = [name for name in tools if name.startswith("shop__look")]
        assert name == tool_name("shop", "look up/now")
        assert len(tools[name].offer.description) == mcp_tools.MAX_DESCRIPTION

    async def test_globs_choose_tools_and_those_that_need_a_decision(
        self, http: AioHttp, workshop: Workshop
    ) -> None:
        server = a_server(workshop, tools=("r*", "measure"), confirm=("r*",))
        tools = await McpTools(http, [server]).all(60)

        assert {name: tool.confirm for name, tool in tools.items()} == {
            "shop__ring": True,
            "shop__measure": False,
        }

    async def test_fixed_headers_are_sent(self, http: AioHttp, workshop: Workshop) -> None:
        await McpTools(http, [a_server(workshop, token=None, headers={"X-Api-Key": "k3y"})]).all(60)

        assert workshop.headers[0]["x-api-key"] == "k3y"
        assert "authorization" not in workshop.headers[0]

    async def test_a_list_is_used_again_for_a_while(
        self, http: AioHttp, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        servers = McpTools(http, [a_server(workshop)])
        assert await servers.all(60) == await servers.all(60)
        assert workshop.count("tools/list") == 1

        monkeypatch.setattr(mcp_tools, "FRESH_SECONDS", -1)
        aged = McpTools(http, [a_server(workshop)])
        await aged.all(60)
        await aged.all(60)
        assert workshop.count("tools/list") == 3


class TestUse:
    async def test_a_tool_answers(self, http: AioHttp, workshop: Workshop) -> None:
        assert await used(http, a_server(workshop), "shop__ring", times=3) == "It rang 3 times."
        assert workshop.rung == [3]

    async def test_structured_content_is_not_repeated(self, http: AioHttp, workshop: Workshop) -> None:
        assert json.loads(await used(http, a_server(workshop), "shop__measure")) == {"bar": 5}

    async def test_files_are_named_in_words(self, http: AioHttp, workshop: Workshop) -> None:
        assert (await used(http, a_server(workshop), "shop__show")).splitlines() == [
            "Here:",
            "[image: image/png, about 3 bytes, left out]",
            "[resource: plan, https://plans.example/1]",
            "A page.",
        ]

    async def test_an_error_is_told_in_words(self, http: AioHttp, workshop: Workshop) -> None:
        answer = await used(http, a_server(workshop), "shop__fail")
        assert answer.startswith("The tool failed: ")
        assert "broken" in answer

    async def test_bad_parameters_are_told_in_words(self, http: AioHttp, workshop: Workshop) -> None:
        answer = await used(http, a_server(workshop), "shop__ring", times="many")
        assert answer.startswith("The tool failed: ")
        assert workshop.rung == []

    async def test_long_answers_are_cut(self, http: AioHttp, workshop: Workshop) -> None:
        assert await used(http, a_server(workshop), tool_name("shop", "look up/now")) == "x" * 16_000

    async def test_an_answer_that_is_too_large_is_told(self, http: AioHttp, workshop: Workshop) -> None:
        assert await used(http, a_server(workshop), "shop__scan", seconds=600) == mcp_tools.TOO_LARGE

    async def test_an_error_of_the_server_is_told_whatever_its_code(self, http: AioHttp) -> None:
        error = {"code": -32000, "message": "The bell is broken."}
        async with serving(page([{"name": "ring", "inputSchema": {"type": "object"}}], error=error)) as base:
            answer = await used(http, McpServer("shop", base), "shop__ring")
        assert answer == "The tool failed: The bell is broken."

    async def test_a_tool_that_hangs_is_given_up(self, http: AioHttp, workshop: Workshop) -> None:
        assert await used(http, a_server(workshop), "shop__hang", seconds=1) == mcp_tools.UNCLEAR

    async def test_sessions_are_closed(self, http: AioHttp, workshop: Workshop) -> None:
        await used(http, a_server(workshop), "shop__ring", times=1)

        ends = workshop.requests.count(("DELETE", ""))
        assert ends == workshop.count("initialize") == (2 if workshop.handshakes else 0)

    async def test_sessions_of_cancelled_runs_are_closed(self, http: AioHttp, workshop: Workshop) -> None:
        task = asyncio.create_task(used(http, a_server(workshop), "shop__hang", seconds=60))
        await asyncio.wait_for(workshop.ringing.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert workshop.requests.count(("DELETE", "")) == workshop.count("initialize")


def model(base: str, *servers: McpServer, **changes: Any) -> ChatModel:
    return replace(ChatModel(f"{base}/v1", "small", mcp_servers=servers), **changes)


class TestAnswers:
    """A model with such tools."""

    async def test_a_tool_waits_for_a_decision_and_runs_once_after_it(
        self, http: AioHttp, workshop: Workshop
    ) -> None:
        server, history = Server(calling("shop__ring"), text("It rang.")), Remembered()
        async with serving(server.handle) as base:
            asked = await ModelRunner(http, history, model(base, a_server(workshop))).run(
                a_request(request_id="request-1")
            )
            assert asked == RunResult("", confirmation=Confirmation("shop__ring", {"times": 12}))
            assert workshop.rung == []
            approval = Approval("c1", "shop__ring", "approved")
            restarted = ModelRunner(http, history, model(base, a_server(workshop)))
            result = await restarted.run(a_request(request_id="request-2", approval=approval))

        assert result == RunResult("It rang.")
        assert workshop.rung == [12]
        assert server.messages[-1]["content"] == "It rang 12 times."

    async def test_a_rejected_tool_is_not_run(self, http: AioHttp, workshop: Workshop) -> None:
        server, history = Server(calling("shop__ring"), text("As you wish.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base, a_server(workshop)))
            await runner.run(a_request(request_id="request-1"))
            rejection = Approval("c1", "shop__ring", "rejected")
            await runner.run(a_request(request_id="request-2", approval=rejection))

        assert workshop.rung == []

    async def test_a_tool_approved_for_the_session_runs_at_once(
        self, http: AioHttp, workshop: Workshop
    ) -> None:
        server = Server(calling("shop__ring"), text("It rang."))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base, a_server(workshop)))
            result = await runner.run(a_request(approved_tools=("shop__ring",)))

        assert (result.text, workshop.rung) == ("It rang.", [12])

    async def test_a_failure_of_the_model_after_it_is_not_tried_again(
        self, http: AioHttp, workshop: Workshop
    ) -> None:
        server = Server(calling("shop__ring"), web.Response(status=503))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base, a_server(workshop, confirm=False)))
            with pytest.raises(DownstreamFailed, match="after a tool was run") as caught:
                await runner.run(a_request())

        assert not caught.value.retryable
        assert workshop.rung == [12]

    async def test_a_run_that_is_cancelled_leaves_the_outcome_unclear(
        self, http: AioHttp, workshop: Workshop
    ) -> None:
        server, history = Server(calling("shop__hang", arguments="{}")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base, a_server(workshop, confirm=False)))
            task = asyncio.create_task(runner.run(a_request()))
            await asyncio.wait_for(workshop.ringing.wait(), 30)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        last = (await history.load(7, "4711", "next"))[-1]
        assert (last.role, json.loads(last.text)["content"]) == (Role.TOOL_RESULT, INTERRUPTED)

    async def test_tools_of_the_rule_come_first(self, http: AioHttp, workshop: Workshop) -> None:
        server = Server(text("noon"))
        async with serving(server.handle) as base:
            own = (ChatTool("shop__ring", f"{base}/tools/ring", "The rule's own."),)
            await ModelRunner(http, Remembered(), model(base, a_server(workshop), tools=own)).run(a_request())

        described = {tool["name"]: tool["description"] for tool in tools_of(server.asked[0])}
        assert described["shop__ring"] == "The rule's own."
        assert "shop__measure" in described

    async def test_a_server_that_is_away_costs_its_tools(
        self, http: AioHttp, workshop: Workshop, caplog: pytest.LogCaptureFixture
    ) -> None:
        away = McpServer("gone", f"http://127.0.0.1:{free_port()}/mcp?key=s3cret")
        server = Server(calling("gone__ring"), text("noon"))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base, away, a_server(workshop)))
            result = await runner.run(a_request())

        assert result.text == "noon"
        assert server.messages[-1]["content"] == UNREACHABLE
        names = [tool["name"] for tool in tools_of(server.asked[0])]
        assert "shop__ring" in names
        assert not any(name.startswith("gone") for name in names)
        assert "the MCP server gone at http://127.0.0.1" in caplog.text
        assert "s3cret" not in caplog.text


def answering(*answers: web.Response | bytes, status: int = 200) -> Any:
    """A server that answers whatever it is asked with the same body."""

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=answers[0], content_type="application/json")

    return handle


async def hang(request: web.Request) -> web.StreamResponse:
    await asyncio.Event().wait()
    raise AssertionError


async def trickle(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    while True:
        await response.write(b": still here\n\n" * 100)
        await asyncio.sleep(0.01)


def page(tools: list[dict[str, Any]], cursor: str | None = None, error: dict[str, Any] | None = None) -> Any:
    """A server of an older version of the protocol with one page of tools, which may point to itself, and which all
    end with the `error`."""

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else {}
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            },
            "tools/list": {"tools": tools, **({"nextCursor": cursor} if cursor else {})},
        }
        if "id" not in body:
            return web.Response(status=202)
        if body["method"] == "tools/call":
            return web.json_response({"jsonrpc": "2.0", "id": body["id"], "error": error})
        if (result := results.get(body["method"])) is None:
            return web.Response(status=404)
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": result})

    return handle


class TestHostileServers:
    @pytest.mark.parametrize(
        "handler",
        [
            answering(b"<html>"),
            answering(b"\xff\xfe"),
            answering(b"[" * 1_000_000),
            answering(b'"' + b"x" * 3_000_000 + b'"'),
            answering(b'{"jsonrpc": "2.0", "id": 7, "result": {}}'),
            answering(b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}'),
            answering(b"", status=401),
            answering(b"x" * 1_000_000, status=500),
            page([{"name": "a"}]),
            hang,
            trickle,
        ],
    )
    async def test_a_server_that_answers_rubbish_costs_its_tools(
        self, http: AioHttp, handler: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(mcp_tools, "LIST_SECONDS", 1.0)
        async with serving(handler) as base:
            servers = McpTools(http, [McpServer("evil", base)])
            assert await asyncio.wait_for(servers.all(60), 30) == {}
            assert servers.is_away("evil__ring")

    async def test_a_server_that_is_away_is_left_alone_for_a_while(self, http: AioHttp) -> None:
        asked = []

        async def refuse(request: web.Request) -> web.StreamResponse:
            asked.append(request.path)
            return web.Response(status=500)

        async with serving(refuse) as base:
            servers = McpTools(http, [McpServer("evil", base)])
            await servers.all(60)
            count = len(asked)
            await servers.all(60)
        assert len(asked) == count > 0

    async def test_what_is_too_large_is_left_out(
        self, http: AioHttp, caplog: pytest.LogCaptureFixture
    ) -> None:
        nested: dict[str, Any] = {}
        for _ in range(80):
            nested = {"properties": nested}
        tools = [
            {"name": "long", "inputSchema": {"type": "object", "description": "x" * 30_000}},
            {"name": "deep", "inputSchema": {"type": "object", "properties": nested}},
            {"name": "n" * 300, "inputSchema": {"type": "object"}},
            {"name": "fine", "inputSchema": {"type": "object"}},
        ]
        async with serving(page(tools)) as base:
            assert [*await McpTools(http, [McpServer("evil", base)]).all(60)] == ["evil__fine"]
        assert "long, deep" in caplog.text

    async def test_a_model_gets_128_tools_at_most(
        self, http: AioHttp, caplog: pytest.LogCaptureFixture
    ) -> None:
        tools = [{"name": f"tool-{number}", "inputSchema": {"type": "object"}} for number in range(100)]
        with caplog.at_level(logging.WARNING):
            async with serving(page(tools)) as one, serving(page(tools)) as other:
                servers = McpTools(http, [McpServer("one", one), McpServer("other", other)])
                offered = await servers.all(60)
        assert len(offered) == 128
        assert "other__tool-28" in caplog.text

    async def test_a_list_of_the_largest_size_does_not_hold_up_the_loop(self, http: AioHttp) -> None:
        schema = {"type": "object", "properties": {f"p{number}": {} for number in range(1_000)}}
        tools = [{"name": f"tool-{number}", "inputSchema": schema} for number in range(80)]
        assert 900_000 < len(json.dumps(tools)) < 1_000_000
        longest = 0.0

        async def watch() -> None:
            nonlocal longest
            while True:
                begun = time.thread_time()
                await asyncio.sleep(0)
                longest = max(longest, time.thread_time() - begun)

        async with serving(page(tools, cursor="again")) as base:
            servers = McpTools(http, [McpServer("evil", base)])
            await servers.all(60)  # imports the SDK
            watching = asyncio.create_task(watch())
            aged = McpTools(http, [McpServer("evil", base)])
            await aged.all(60)
            watching.cancel()
        assert longest < 1.0

    async def test_pages_without_end_are_bounded(self, http: AioHttp) -> None:
        endless = page([{"name": "a", "inputSchema": {"type": "object"}}], cursor="again")
        async with serving(endless) as base:
            assert [*await McpTools(http, [McpServer("evil", base)]).all(60)] == ["evil__a"]


class TestAddressPolicy:
    async def test_no_host_is_contacted_before_the_check(self, http: AioHttp, workshop: Workshop) -> None:
        servers = McpTools(UserAddresses(http), [a_server(workshop)])

        assert await servers.all(60) == {}
        assert workshop.requests == []

    async def test_redirects_are_checked_too(self, workshop: Workshop) -> None:
        """Only redirects within the same origin are followed at all."""

        async def redirect(request: web.Request) -> web.StreamResponse:
            raise web.HTTPTemporaryRedirect(workshop.url)

        http = AioHttp(AddressPolicy("open"))
        async with serving(redirect) as base:
            assert await McpTools(http, [McpServer("evil", base)]).all(60) == {}
        await http.close()
        assert workshop.requests == []


class TestNames:
    @pytest.mark.parametrize(
        ("tool", "name"),
        [
            ("ring", "shop__ring"),
            ("a_b-C9", "shop__a_b-C9"),
            ("x" * 58, "shop__" + "x" * 58),
        ],
    )
    def test_usable_names_stay(self, tool: str, name: str) -> None:
        assert tool_name("shop", tool) == name

    def test_other_names_are_cleaned_and_kept_apart(self) -> None:
        names = [tool_name("shop", tool) for tool in ("a b", "a/b", "a.b", "ä b", "x" * 100, "x" * 101, "")]

        assert len(set(names)) == len(names)
        assert all(len(name) <= 64 and name.replace("-", "_").isidentifier() for name in names)

    def test_a_schema_is_an_object_with_properties(self) -> None:
        assert usable_schema({"$schema": "x", "properties": 7, "required": []}) == {
            "type": "object",
            "properties": {},
            "required": [],
        }
