"""Resources behind models, in both protocols, against real servers on the loopback interface."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.chat_model import ToolCall
from adapters.outbound.resources.model_runner import ModelRunner
from adapters.outbound.resources.model_settings import CHAT_COMPLETIONS, RESPONSES, ChatModel, ChatTool
from adapters.outbound.resources.model_tools import INTERRUPTED, REJECTED_BY_USER, UNDECIDED, RuleTools
from domain.routing.model import Approval, Confirmation, RunRequest, RunResult, Usage
from ports.resources import DownstreamFailed, Role, Turn
from tests.support.model_server import USAGE, Server, calling, messages_of, text, tools_of
from tests.support.ports import free_port
from tests.support.runs import A_FILE, Remembered, a_request
from tests.support.servers import raw_serving, serving
from tests.support.waiting import let_pass


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


@pytest.fixture(params=[CHAT_COMPLETIONS, RESPONSES], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The protocol of the models of a test."""
    protocol = str(request.param)
    monkeypatch.setattr(f"{__name__}.KIND", protocol)
    return protocol


KIND = ""


def model(base: str, **changes: Any) -> ChatModel:
    tools = (
        ChatTool("ring", f"{base}/tools/ring", "Rings the bell.", {"type": "object"}, token="t0ol"),
        ChatTool("look", f"{base}/tools/look", confirm=False),
    )
    whole = ChatModel(f"{base}/v1", "small", "Be short.", token="s3cret", tools=tools, kind=KIND)
    return replace(whole, **changes)


def again(request: RunRequest, number: int, **changes: Any) -> RunRequest:
    return replace(request, request_id=f"request-{number}", **changes)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_a_message_is_answered_by_the_model(http: AioHttp, streams: bool, kind: str) -> None:
    server = Server(text("It is noon. 🙂"))
    async with serving(server.handle) as base:
        runner = ModelRunner(http, Remembered(), model(base, stream=streams, temperature=0.5, max_tokens=99))
        result = await runner.run(a_request(files=(A_FILE,)))

    assert result == RunResult("It is noon. 🙂")
    assert server.headers[0]["Authorization"] == "Bearer s3cret"
    asked = server.asked[0]
    longest = {CHAT_COMPLETIONS: "max_tokens", RESPONSES: "max_output_tokens"}[kind]
    assert (asked["model"], asked["temperature"], asked[longest]) == ("small", 0.5, 99)
    assert asked.get("stream", False) is streams
    assert messages_of(asked) == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": f"How late is it?\n[file: a.png (image/png, 3 bytes): {A_FILE.url}]"},
    ]
    assert [tool["name"] for tool in tools_of(asked)] == ["ring", "look"]
    assert tools_of(asked)[0]["parameters"] == {"type": "object"}


async def test_the_answer_is_heard_of_as_it_is_made(http: AioHttp, streams: bool) -> None:
    heard: list[str] = []
    server = Server(text("noon"))
    async with serving(server.handle) as base:
        runner = ModelRunner(http, Remembered(), model(base, stream=streams))
        await runner.run(a_request(progress=lambda text: heard.append(text())))
    assert heard == (["n", "no", "noo", "noon"] if streams else ["noon"])


async def test_what_is_not_set_is_not_sent(http: AioHttp, kind: str) -> None:
    server = Server(text("a"))
    async with serving(server.handle) as base:
        plain = ChatModel(f"{base}/v1/", "small", kind=kind)
        await ModelRunner(http, Remembered(), plain).run(a_request())

    required = {CHAT_COMPLETIONS: {"messages"}, RESPONSES: {"input", "store"}}[kind]
    assert set(server.asked[0]) == {"model", *required}
    assert not server.asked[0].get("store")
    assert "Authorization" not in server.headers[0]


class TestHistory:
    async def test_a_session_is_remembered(self, http: AioHttp, streams: bool) -> None:
        server, history = Server(text("noon"), text("Ada")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base, stream=streams))
            await runner.run(again(a_request(text="I am Ada. How late is it?"), 1))
            await runner.run(again(a_request(text="Who am I?"), 2))

        assert [(message["role"], message["content"]) for message in server.messages[1:]] == [
            ("user", "I am Ada. How late is it?"),
            ("assistant", "noon"),
            ("user", "Who am I?"),
        ]

    @pytest.mark.parametrize("other", [{"session_id": "other"}, {"instance_id": 8}])
    async def test_sessions_do_not_hear_each_other(self, http: AioHttp, other: dict[str, Any]) -> None:
        server, history = Server(text("noon"), text("hello")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            await runner.run(again(a_request(), 2, **other))

        assert [message["role"] for message in server.messages] == ["system", "user"]

    async def test_it_is_bounded_by_tokens(self, http: AioHttp) -> None:
        history = Remembered()
        for number in range(50):
            turns = [Turn(Role.USER, f"question {number} " + "x" * 90), Turn(Role.ASSISTANT, "y" * 90)]
            await history.append(7, "4711", f"old-{number}", turns)
        server = Server(text("a"))
        async with serving(server.handle) as base:
            await ModelRunner(http, history, model(base, history_tokens=300)).run(a_request())

        remembered = server.messages[1:-1]
        assert remembered[0]["content"].startswith("question 46")
        assert remembered[-1]["content"] == "y" * 90

    async def test_a_run_that_is_repeated_is_remembered_once(self, http: AioHttp) -> None:
        server, history = Server(text("first"), text("second")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(a_request())
            await runner.run(a_request())

        assert [message["role"] for message in server.messages] == ["system", "user"]
        assert [turn.text for turn in await history.load(7, "4711", "next")] == ["How late is it?", "second"]

    async def test_a_failure_is_not_remembered(self, http: AioHttp) -> None:
        server, history = Server(web.Response(status=500)), Remembered()
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed):
                await ModelRunner(http, history, model(base)).run(a_request())

        assert history.entries == []


class TestTools:
    async def test_a_tool_that_needs_no_decision_is_run(self, http: AioHttp, streams: bool) -> None:
        server = Server(calling("look", content="Let me look."), text("It is noon."))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base, stream=streams))
            result = await runner.run(a_request())

        assert result == RunResult("Let me look.\n\nIt is noon.")
        assert server.tool_calls[0][:2] == ("/tools/look", {"times": 12})
        assert server.messages[-1] == {
            "role": "tool",
            "tool_call_id": "call_look",
            "content": "the bell rang",
        }

    async def test_a_tool_that_needs_a_decision_waits_for_it(self, http: AioHttp, streams: bool) -> None:
        server, history = Server(calling("ring")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base, stream=streams))
            result = await runner.run(a_request())

        assert result == RunResult("", confirmation=Confirmation("ring", {"times": 12}))
        assert server.tool_calls == []
        assert (await history.load(7, "4711", "next"))[-1].role is Role.TOOL_CALL

    @pytest.mark.parametrize("decision", ["approved", "approved_for_session"])
    async def test_after_approval_the_tool_is_run_and_its_result_goes_to_the_model(
        self, http: AioHttp, decision: str
    ) -> None:
        server, history = Server(calling("ring"), text("It rang.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(text="Ring!"), 1))
            approval = Approval("c1", "ring", decision)
            result = await runner.run(again(a_request(text="yes"), 2, approval=approval))

        assert result == RunResult("It rang.")
        assert [(path, parameters) for path, parameters, _ in server.tool_calls] == [
            ("/tools/ring", {"times": 12})
        ]
        assert server.tool_calls[0][2] is not None
        assert server.tool_calls[0][2].startswith("request-2-")
        assert [message["role"] for message in server.messages] == ["system", "user", "assistant", "tool"]
        assert server.messages[-1]["content"] == "the bell rang"
        assert "yes" not in str(server.messages)

    async def test_after_rejection_the_tool_is_not_run(self, http: AioHttp) -> None:
        server, history = Server(calling("ring"), text("As you wish.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            approval = Approval("c1", "ring", "rejected")
            result = await runner.run(again(a_request(text="no"), 2, approval=approval))

        assert result == RunResult("As you wish.")
        assert server.tool_calls == []
        assert server.messages[-1]["content"] == REJECTED_BY_USER

    async def test_the_call_that_was_approved_is_told_whatever_the_budget(self, http: AioHttp) -> None:
        server, history = Server(calling("ring"), text("It rang.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base, history_tokens=0))
            await runner.run(again(a_request(), 1))
            await runner.run(again(a_request(), 2, approval=Approval("c1", "ring", "approved")))

        assert [message["role"] for message in server.messages] == ["system", "assistant", "tool"]

    async def test_another_message_leaves_the_tool_unused(self, http: AioHttp) -> None:
        server, history = Server(calling("ring"), text("Fine.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            await runner.run(again(a_request(text="Never mind."), 2))

        assert server.tool_calls == []
        assert [message["content"] for message in server.messages[-2:]] == [UNDECIDED, "Never mind."]

    async def test_another_senders_message_in_between_does_not_lose_the_call(self, http: AioHttp) -> None:
        server, history = Server(calling("ring"), text("Hello Bob."), text("It rang.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            await runner.run(again(a_request(text="Hello, I am Bob."), 2))
            result = await runner.run(again(a_request(), 3, approval=Approval("c1", "ring", "approved")))

        assert result == RunResult("It rang.")
        assert [(path, parameters) for path, parameters, _ in server.tool_calls] == [
            ("/tools/ring", {"times": 12})
        ]
        call, answer = server.messages[-2:]
        assert call["tool_calls"][0]["id"] == answer["tool_call_id"] == "call_ring-again"
        assert answer["content"] == "the bell rang"

    async def test_a_failing_model_does_not_make_the_next_one_forget_that_a_tool_ran(
        self, http: AioHttp
    ) -> None:
        failing = web.Response(status=500)
        server, history = Server(calling("ring"), failing, text("It rang before.")), Remembered()
        async with serving(server.handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            with pytest.raises(DownstreamFailed, match="after a tool was run") as caught:
                await runner.run(again(a_request(), 2, approval=Approval("c1", "ring", "approved")))
            await runner.run(again(a_request(text="And?"), 3))

        assert caught.value.begun
        assert not caught.value.retryable
        told = [message["content"] for message in server.messages if message["role"] == "tool"]
        assert told == ["the bell rang"]

    async def test_a_tool_that_hangs_is_known_to_be_unclear(self, http: AioHttp) -> None:
        server, history = Server(calling("ring")), Remembered()
        hanging = asyncio.Event()

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.path.startswith("/tools/"):
                hanging.set()
                await asyncio.Event().wait()
            return await server.handle(request)

        async with serving(handle) as base:
            runner = ModelRunner(http, history, model(base))
            await runner.run(again(a_request(), 1))
            approved = again(a_request(), 2, approval=Approval("c1", "ring", "approved"))
            task = asyncio.create_task(runner.run(approved))
            await asyncio.wait_for(hanging.wait(), 30)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        last = (await history.load(7, "4711", "next"))[-1]
        assert (last.role, json.loads(last.text)["content"]) == (Role.TOOL_RESULT, INTERRUPTED)

    async def test_an_approval_without_its_call_is_told_in_words(self, http: AioHttp) -> None:
        server = Server(text("Which bell?"))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base))
            await runner.run(a_request(text="yes", approval=Approval("c1", "ring", "approved")))

        assert server.tool_calls == []
        assert server.messages[-1]["content"] == "yes\n[the user's decision on the tool ring: approved]"

    async def test_a_tool_approved_for_the_session_is_run_at_once(self, http: AioHttp) -> None:
        server = Server(calling("ring"), text("It rang."))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base))
            result = await runner.run(a_request(approved_tools=("ring",)))

        assert result == RunResult("It rang.")
        assert len(server.tool_calls) == 1

    async def test_of_several_calls_those_before_the_decision_are_run(self, http: AioHttp) -> None:
        server = Server(calling("look", "ring", "look"))
        async with serving(server.handle) as base:
            result = await ModelRunner(http, Remembered(), model(base)).run(a_request())

        assert result.confirmation == Confirmation("ring", {"times": 12})
        assert [path for path, *_ in server.tool_calls] == ["/tools/look"]

    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (calling("fly"), "There is no tool named fly."),
            (calling("look", arguments="[1]"), "The arguments are not a JSON object."),
            (calling("ring", arguments="{"), "The arguments are not a JSON object."),
        ],
    )
    async def test_a_call_that_cannot_be_run_is_told_to_the_model(
        self, http: AioHttp, call: dict[str, Any], told: str
    ) -> None:
        server = Server(call, text("Sorry."))
        async with serving(server.handle) as base:
            result = await ModelRunner(http, Remembered(), model(base)).run(a_request())

        assert result == RunResult("Sorry.")
        assert server.messages[-1]["content"] == told

    async def test_a_tool_that_fails_is_told_to_the_model(self, http: AioHttp) -> None:
        async def broken(_: web.Request) -> web.Response:
            return web.Response(status=500, text="out of order")

        server = Server(calling("look"), calling("gone"), text("Sorry."))
        gone = f"http://127.0.0.1:{free_port()}"
        async with serving(server.handle) as base, serving(broken) as tools:
            look = ChatTool("look", tools, confirm=False)
            spec = model(base, tools=(look, ChatTool("gone", gone, confirm=False)))
            await ModelRunner(http, Remembered(), spec).run(a_request())

        told = [message["content"] for message in server.messages if message["role"] == "tool"]
        assert told == ["The tool failed with status 500: out of order", "The tool could not be reached."]

    async def test_a_model_that_never_stops_asking_is_given_up(self, http: AioHttp) -> None:
        server = Server(*[calling("look")] * 20)
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="over 8 times") as caught:
                await ModelRunner(http, Remembered(), model(base)).run(a_request())

        assert not caught.value.retryable
        assert len(server.tool_calls) == 8

    async def test_a_failure_after_a_tool_was_run_is_not_tried_again(self, http: AioHttp) -> None:
        server = Server(calling("look"), web.Response(status=503))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="after a tool was run") as caught:
                await ModelRunner(http, Remembered(), model(base)).run(a_request())

        assert not caught.value.retryable


class TestFailures:
    @pytest.mark.parametrize(("status", "retryable"), [(400, False), (401, False), (429, True), (503, True)])
    async def test_a_status_decides_whether_another_try_helps(
        self, http: AioHttp, streams: bool, status: int, retryable: bool
    ) -> None:
        server = Server(web.Response(status=status, headers={"Retry-After": "9"}, text="secret"))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match=f"status {status}") as caught:
                await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

        assert caught.value.retryable is retryable
        assert caught.value.retry_after == (9.0 if retryable else None)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "<html>",
            "{}",
            '{"choices": [{"message": {"content": 7}}], "output": [{"type": "message", "content": 7}]}',
            "[" * 100_000,
            b'{"choices": "\xff"}',
        ],
    )
    async def test_an_unusable_answer_is_a_failure_for_good(self, http: AioHttp, body: str | bytes) -> None:
        server = Server(web.Response(body=body))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="unusable") as caught:
                await ModelRunner(http, Remembered(), model(base)).run(a_request())

        assert not caught.value.retryable

    async def test_a_stream_that_breaks_off_is_worth_another_try(self, http: AioHttp) -> None:
        delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "half"}
        events = [{"choices": [{"delta": {"content": "half"}}]}, delta]
        half = web.Response(text=f"data: {json.dumps(events[KIND == RESPONSES])}\n\n")
        server = Server(half)
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="broke off") as caught:
                await ModelRunner(http, Remembered(), model(base, stream=True)).run(a_request())

        assert caught.value.retryable

    @pytest.mark.parametrize("indent", [None, 2])
    async def test_a_server_that_does_not_stream_is_understood(
        self, http: AioHttp, indent: int | None
    ) -> None:
        parts = [{"type": "output_text", "text": "It is noon."}]
        output = {"status": "completed", "output": [{"type": "message", "content": parts}]}
        whole = {"choices": [{"message": text("It is noon."), "finish_reason": "stop"}], **output}
        server = Server(web.Response(text=json.dumps(whole, indent=indent), content_type="application/json"))
        async with serving(server.handle) as base:
            result = await ModelRunner(http, Remembered(), model(base, stream=True)).run(a_request())

        assert result.text == "It is noon."

    async def test_a_server_that_hangs_is_given_up(self, http: AioHttp, streams: bool) -> None:
        async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
            let_pass(60)
            await reader.read()

        async with raw_serving(hang) as base:
            with pytest.raises(DownstreamFailed, match="does not answer within"):
                await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request(timeout=60))

    async def test_a_history_that_is_away_is_not_hidden(self, http: AioHttp) -> None:
        class Away(Remembered):
            async def load(self, instance_id: int, session_id: str, request_id: str) -> Sequence[Turn]:
                raise ConnectionError("away")

        with pytest.raises(ConnectionError):
            await ModelRunner(http, Away(), model("http://127.0.0.1:9")).run(a_request())


class TestErrorsInTheServersWords:
    @pytest.mark.parametrize(
        ("error", "said"),
        [
            ({"code": "model_not_found", "message": "No model small."}, "model_not_found: No model small."),
            ({"type": "invalid_request_error", "message": "No.", "code": None}, "invalid_request_error: No."),
            ({"message": "key s3cret\n is\0 wrong"}, "key *** is wrong"),
            ("the model is not there", "the model is not there"),
            ({"message": "x" * 10_000}, "x" * 297 + "..."),
        ],
    )
    async def test_a_refusal(self, http: AioHttp, streams: bool, error: Any, said: str) -> None:
        server = Server(web.json_response({"error": error}, status=400))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed) as caught:
                await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

        assert str(caught.value) == f"the resource answers with status 400: {said}"

    @pytest.mark.parametrize("error", [{"message": 7}, 7, [], {"message": {"a": 1}}, {}])
    async def test_words_that_are_none(self, http: AioHttp, streams: bool, error: Any) -> None:
        server = Server(web.json_response({"error": error}, status=400))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="status 400"):
                await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

    @pytest.mark.parametrize(
        ("code", "retryable"),
        [("server_error", True), ("rate_limit_exceeded", True), ("invalid_prompt", False)],
    )
    async def test_an_error_inside_an_answer(
        self, http: AioHttp, streams: bool, code: str, retryable: bool
    ) -> None:
        event = {"type": "error", "error": {"code": code, "message": "key s3cret is wrong"}}
        answer = f"data: {json.dumps(event)}\n\n" if streams else json.dumps(event)
        server = Server(web.Response(text=answer))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed) as caught:
                await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

        assert str(caught.value) == f"the server reports an error: {code}: key *** is wrong"
        assert caught.value.retryable is retryable


class TestUsage:
    async def test_that_of_all_replies_is_added_up(self, http: AioHttp, streams: bool) -> None:
        server = Server(calling("look"), text("It is noon."), tells_usage=True)
        async with serving(server.handle) as base:
            result = await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

        assert result == RunResult("It is noon.", usage=Usage(2 * USAGE[0], 2 * USAGE[1]))

    async def test_that_of_a_question_about_a_tool_counts(self, http: AioHttp, streams: bool) -> None:
        server = Server(calling("ring"), tells_usage=True)
        async with serving(server.handle) as base:
            result = await ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())

        assert result.confirmation
        assert result.usage == Usage(*USAGE)

    @pytest.mark.parametrize("status", [400, 422])
    async def test_a_server_that_refuses_to_tell_it_is_asked_again_without_it(
        self, http: AioHttp, kind: str, status: int
    ) -> None:
        if kind == RESPONSES:
            pytest.skip("streams of this protocol tell it always")
        refusal = {"error": {"message": "Unrecognized request argument supplied: stream_options"}}
        server = Server(web.json_response(refusal, status=status), text("noon"), text("one"))
        async with serving(server.handle) as base:
            runner = ModelRunner(http, Remembered(), model(base, stream=True))
            results = [await runner.run(a_request()), await runner.run(a_request())]

        assert [result.text for result in results] == ["noon", "one"]
        assert ["stream_options" in asked for asked in server.asked] == [True, False, False]

    async def test_another_refusal_is_none_of_that(self, http: AioHttp) -> None:
        server = Server(web.json_response({"error": {"message": "no such model"}}, status=400))
        async with serving(server.handle) as base:
            with pytest.raises(DownstreamFailed, match="no such model"):
                await ModelRunner(http, Remembered(), model(base, stream=True)).run(a_request())

        assert len(server.asked) == 1


class TestAddressPolicy:
    async def test_addresses_of_users_obey_it(self, http: AioHttp, streams: bool) -> None:
        server = Server(text("noon"))
        async with serving(server.handle) as base:
            runner = ModelRunner(UserAddresses(http), Remembered(), model(base, stream=streams))
            with pytest.raises(DownstreamFailed, match="address policy"):
                await runner.run(a_request())

        assert server.asked == []

    async def test_addresses_of_tools_too(self, http: AioHttp) -> None:
        server = Server(text("noon"))
        async with serving(server.handle) as base:
            tools = RuleTools(UserAddresses(http), (ChatTool("look", f"{base}/tools/look"),)).all()
            answer = await tools["look"].use(ToolCall("1", "look", "{}"), {}, "request-1", 5)

        assert (answer, server.tool_calls) == ("The tool could not be reached.", [])


class TestHostileServers:
    @pytest.mark.parametrize("length", [1_000_000, 1_000_001])
    async def test_texts_are_bounded(self, http: AioHttp, streams: bool, kind: str, length: int) -> None:
        delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "x" * (length // 2)}
        last = {"type": "response.completed", "response": {"status": "completed", "output": []}}
        chunk = {"choices": [{"delta": {"content": "x" * (length // 2)}}]}
        rest = "x" * (length % 2)
        events: list[Any] = [delta, delta, {**delta, "delta": rest}, last]
        if kind == CHAT_COMPLETIONS:
            events = [chunk, chunk, {"choices": [{"delta": {"content": rest}, "finish_reason": "stop"}]}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        if not streams:
            parts = [{"type": "output_text", "text": "x" * length}]
            message = {"type": "message", "content": parts}
            body = json.dumps({"choices": [{"message": text("x" * length)}], "output": [message]})
        async with serving(Server(web.Response(text=body)).handle) as base:
            answering = ModelRunner(http, Remembered(), model(base, stream=streams)).run(a_request())
            if length > 1_000_000:
                with pytest.raises(DownstreamFailed, match="text has over 1000000 characters"):
                    await answering
            else:
                assert len((await answering).text) == length

    async def test_a_stream_without_end_is_given_up(self, http: AioHttp, kind: str) -> None:
        delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "x" * 10_000}
        chunk = {"choices": [{"delta": {"content": "x" * 10_000}}]}
        event = f"data: {json.dumps(chunk if kind == CHAT_COMPLETIONS else delta)}\n\n".encode()

        async def endless(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            while True:
                await response.write(event)

        async with serving(endless) as base:
            with pytest.raises(DownstreamFailed, match="text has over"):
                await ModelRunner(http, Remembered(), model(base, stream=True)).run(a_request())
