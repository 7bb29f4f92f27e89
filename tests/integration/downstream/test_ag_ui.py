"""Resources behind an AG-UI endpoint: a server that writes events with the protocol's package, and hostile ones."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from ag_ui.core import (
    BaseEvent,
    CustomEvent,
    MessagesSnapshotEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageStartEvent,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    TextMessageChunkEvent,
    TextMessageContentEvent,
    TextMessageStartEvent,
    TokenUsage,
    ToolCallChunkEvent,
    ToolCallResultEvent,
)
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources import ag_ui_runner, ag_ui_state
from adapters.outbound.resources.ag_ui_agent import AgUiAgent
from adapters.outbound.resources.ag_ui_runner import AgUiRunner, kept
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.model_tools import REJECTED_BY_USER, UNDECIDED
from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.resource_states import MAX_STATE
from domain.channels.answers import Choice
from domain.routing.model import Approval, Confirmation, InputFile, RunRequest, RunResult, Usage
from ports.http import AddressRefused
from ports.resources import DownstreamFailed
from tests.support.ag_ui import Agent, AgUiServer, call, interrupt, said, text, waiting
from tests.support.langgraph import tools
from tests.support.ports import free_port
from tests.support.runs import A_FILE, States, a_request
from tests.support.servers import raw_serving, serving

APPROVAL = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}
SIZES = {"type": "object", "properties": {"size": {"type": "string", "enum": ["Small", "Large"]}}}


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


def repeating(run: Any) -> Iterable[BaseEvent]:
    yield from text(f"heard {said(run)}", f"answer-{run.run_id}")


@asynccontextmanager
async def scene(
    http: AioHttp, agent: Agent = repeating, **changes: Any
) -> AsyncIterator[tuple[AgUiServer, AgUiRunner]]:
    server = AgUiServer(agent)
    async with serving(server.handle) as base:
        yield server, AgUiRunner(http, States(), AgUiAgent(f"{base}/agent", **changes))


def numbered(*requests: RunRequest) -> Sequence[RunRequest]:
    return [replace(request, request_id=f"request-{at}") for at, request in enumerate(requests, start=1)]


def approval(tool: str, decision: str = "approved") -> Approval:
    return Approval("c1", tool, decision)


class TestMessages:
    async def test_a_message_is_answered(self, http: AioHttp) -> None:
        heard: list[str] = []
        async with scene(http, token="s3cret") as (server, runner):
            result = await runner.run(a_request(progress=lambda text: heard.append(text())))
        assert result == RunResult("heard How late is it?")
        assert heard[-1] == result.text
        assert server.headers[0]["Authorization"] == "Bearer s3cret"
        assert "s3cret" not in repr(runner)
        (run,) = server.runs
        assert (run.run_id, run.protocol_version, run.tools, run.resume) == (
            a_request().request_id,
            "1.0",
            [],
            None,
        )
        assert run.forwarded_props["switchboard"]["sender"]["externalId"] == "4711"

    async def test_the_conversation_goes_along_with_each_message(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            for request in numbered(a_request(text="one"), a_request(text="two")):
                await runner.run(request)
        first, second = server.runs
        assert first.thread_id == second.thread_id
        assert [(message.id, message.role, message.content) for message in second.messages] == [
            ("request-1", "user", "one"),
            ("answer-request-1", "assistant", "heard one"),
            ("request-2", "user", "two"),
        ]

    @pytest.mark.parametrize("other", [{"session_id": "other"}, {"instance_id": 8}])
    async def test_conversations_do_not_hear_each_other(self, http: AioHttp, other: dict[str, Any]) -> None:
        async with scene(http) as (server, runner):
            await runner.run(a_request())
            await runner.run(a_request(request_id="2", **other))
        first, second = server.runs
        assert first.thread_id != second.thread_id
        assert len(second.messages) == 1

    async def test_a_repeated_message_takes_its_own_place(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            await runner.run(a_request())
            await runner.run(a_request())
        assert server.runs[0].messages == server.runs[1].messages

    async def test_tool_calls_of_the_agent_are_remembered_and_not_shown(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            yield from text("Let me look.", "m1")
            yield from call("look", '{"at": 1}', parent="m1")
            yield ToolCallResultEvent(message_id="t1", tool_call_id="c1", content="noon")
            yield from text("It is noon.", "m2")

        async with scene(http, agent) as (server, runner):
            result = await runner.run(a_request(request_id="1"))
            await runner.run(a_request(request_id="2"))
        assert result.text == "Let me look.\n\nIt is noon."
        _, first, tool, second, _ = server.runs[1].messages
        assert first.tool_calls[0].function.arguments == '{"at": 1}'
        assert (tool.role, tool.tool_call_id, tool.content) == ("tool", "c1", "noon")
        assert second.content == "It is noon."

    async def test_chunks_stand_for_starts_and_contents(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            yield TextMessageChunkEvent(message_id="m1", role="assistant", delta="It is ")
            yield TextMessageChunkEvent(delta="noon.")
            yield ToolCallChunkEvent(tool_call_id="c1", tool_call_name="ring", delta='{"times"')
            yield ToolCallChunkEvent(delta=": 3}")
            yield waiting(run, interrupt(tool_call_id="c1"))

        async with scene(http, agent) as (_, runner):
            result = await runner.run(a_request())
        assert result == RunResult("It is noon.", confirmation=Confirmation("ring", {"times": 3}))

    async def test_thoughts_other_agents_and_other_events_are_not_shown(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            yield ReasoningMessageStartEvent(message_id="r1")
            yield ReasoningMessageContentEvent(message_id="r1", delta="hm")
            yield TextMessageStartEvent(message_id="s1", role="assistant", subagent_run_id="s")
            yield TextMessageContentEvent(message_id="s1", delta="inside", subagent_run_id="s")
            yield TextMessageStartEvent(message_id="u1", role="user")
            yield TextMessageContentEvent(message_id="u1", delta="as you said")
            yield CustomEvent(name="x", value={"text": "y"})
            yield from text("Noon.")

        async with scene(http, agent) as (_, runner):
            assert (await runner.run(a_request())).text == "Noon."

    async def test_an_agent_that_does_not_stream(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            answer = {"id": f"a-{run.run_id}", "role": "assistant", "content": f"heard {said(run)}"}
            yield MessagesSnapshotEvent.model_validate({"messages": [*run.messages, answer]})

        async with scene(http, agent) as (server, runner):
            for request in numbered(a_request(text="one"), a_request(text="two")):
                result = await runner.run(request)
        assert result.text == "heard two"
        assert [message.content for message in server.runs[1].messages] == ["one", "heard one", "two"]

    async def test_the_result_of_a_run_without_texts(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            usage = [TokenUsage(input_tokens=3, output_tokens=2), TokenUsage(input_tokens=1, output_tokens=1)]
            yield RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id, result="noon", usage=usage)

        async with scene(http, agent) as (_, runner):
            assert await runner.run(a_request()) == RunResult("noon", usage=Usage(4, 3))

    async def test_pictures_go_as_parts_where_the_rule_says_so_and_are_not_kept(self, http: AioHttp) -> None:
        request = a_request(
            files=(A_FILE, InputFile("a.pdf", "application/pdf", 1, "http://127.0.0.1/a.pdf"))
        )
        async with scene(http, images=True) as (server, runner):
            await runner.run(request)
            await runner.run(a_request(request_id="2"))
        words, picture = server.runs[0].messages[0].content
        assert words.text.startswith(f"How late is it?\n[file: a.png (image/png, 3 bytes): {A_FILE.url}]")
        assert (picture.type, picture.source.value) == ("image", A_FILE.url)
        assert server.runs[1].messages[0].content == words.text


def patch(operations: list[Any]) -> BaseEvent:
    return StateDeltaEvent.model_validate({"delta": operations})


class TestState:
    async def test_snapshots_and_patches_are_sent_back(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            if not run.state:
                yield StateSnapshotEvent(snapshot={"count": 1, "seen": []})
            yield patch([{"op": "add", "path": "/seen/-", "value": run.run_id}])
            yield from text("ok", f"a-{run.run_id}")

        async with scene(http, agent) as (server, runner):
            for request in numbered(*[a_request()] * 3):
                await runner.run(request)
        assert [run.state for run in server.runs] == [
            {},
            {"count": 1, "seen": ["request-1"]},
            {"count": 1, "seen": ["request-1", "request-2"]},
        ]

    @pytest.mark.parametrize(
        "patches",
        [
            [[{"op": "remove", "path": "/nothing"}]],
            [
                [{"op": "add", "path": "/list", "value": [1]}],
                *[[{"op": "copy", "from": "", "path": "/list/-"}]] * 60,
            ],
            [[{"op": "replace", "path": "/a", "value": at}] * 1000 for at in range(11)],
            [[{"op": "test", "path": "/a", "value": 7}]],
        ],
        ids=["no such place", "doubling", "endless", "test"],
    )
    async def test_patches_that_cannot_be_applied_leave_the_state_of_before(
        self, http: AioHttp, patches: list[Any]
    ) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            if not run.state:
                yield StateSnapshotEvent(snapshot={"a": 1})
            elif run.run_id == "request-2":
                yield patch([{"op": "replace", "path": "/a", "value": 2}])
                yield from map(patch, patches)
            yield from text("ok", f"a-{run.run_id}")

        async with scene(http, agent) as (server, runner):
            for request in numbered(*[a_request()] * 3):
                assert (await runner.run(request)).text == "ok"
        assert server.runs[2].state == {"a": 1}

    @pytest.mark.parametrize(
        "state", [{"a": "x" * (ag_ui_state.MAX_STATE + 1)}, {"a": "\ud800"}], ids=["long", "surrogate"]
    )
    async def test_states_that_cannot_be_kept_are_left_out(self, http: AioHttp, state: Any) -> None:
        async def handler(request: web.Request) -> web.Response:
            runs.append(await request.json())
            events = [{"type": "STATE_SNAPSHOT", "snapshot": state}, finished()]
            return web.Response(body=streamed(*events), content_type="text/event-stream")

        runs: list[Any] = []
        async with serving(handler) as base:
            runner = AgUiRunner(http, States(), AgUiAgent(base))
            for request in numbered(a_request(), a_request()):
                await runner.run(request)
        assert runs[1]["state"] == {}

    def test_long_conversations_are_cut_at_a_message_of_the_user(self) -> None:
        def turn(number: int) -> list[dict[str, Any]]:
            return [
                {
                    "id": f"u{number}",
                    "role": "user",
                    "content": [{"type": "text", "text": "ä" * 9000}, {"type": "image"}],
                },
                {"id": f"a{number}", "role": "assistant", "content": "b" * 9000},
                {"id": f"x{number}", "role": "activity", "content": {}},
            ]

        messages = kept([message for number in range(9) for message in turn(number)])
        assert [message["id"] for message in messages] == ["u7", "a7", "u8", "a8"]
        assert messages[0]["content"] == "ä" * ag_ui_runner.MAX_CONTENT
        assert len(dump(messages)) < MAX_STATE


def asking(*interrupts: Any) -> Agent:
    """An agent that asks once, and tells with what it was resumed."""

    def agent(run: Any) -> Iterable[BaseEvent]:
        if run.resume is None:
            yield from text("One moment.", "m1")
            for number in range(1, 4):
                yield from call("ring", f'{{"times": {number}}}', f"c{number}", "m1")
            yield waiting(run, *interrupts)
        else:
            answers = [entry.model_dump(by_alias=True) for entry in run.resume]
            yield from text(json.dumps(answers), f"a-{run.run_id}", 10_000)

    return agent


class TestInterrupts:
    @pytest.mark.parametrize(
        ("schema", "decision", "payload"),
        [
            (APPROVAL, "approved", {"approved": True}),
            (APPROVAL, "rejected", {"approved": False}),
            (None, "approved_for_session", {"approved": True}),
            ({"type": "boolean"}, "approved", True),
            ({"type": "object", "properties": {"ok": {"type": "boolean"}}}, "approved", {"ok": True}),
        ],
    )
    async def test_a_tool_is_decided(self, http: AioHttp, schema: Any, decision: str, payload: Any) -> None:
        agent = asking(interrupt(tool_call_id="c1", message="Ring?", response_schema=schema))
        async with scene(http, agent) as (server, runner):
            first, second = numbered(a_request(), a_request())
            result = await runner.run(first)
            assert result == RunResult("One moment.", confirmation=Confirmation("ring", {"times": 1}))
            answer = await runner.run(replace(second, approval=approval("ring", decision)))
        assert json.loads(answer.text) == [{"interruptId": "i1", "status": "resolved", "payload": payload}]
        assert [message.id for message in server.runs[1].messages] == ["request-1", "m1"]

    async def test_all_interrupts_are_answered_together(self, http: AioHttp) -> None:
        questions = [
            interrupt("i1", tool_call_id="c1"),
            interrupt("i2", tool_call_id="c2"),
            interrupt("i3", "input_required", message="Which size?", response_schema=SIZES),
        ]
        async with scene(http, asking(*questions)) as (server, runner):
            requests = numbered(*[a_request()] * 4)
            await runner.run(requests[0])
            second = replace(requests[1], approval=approval("ring"))
            for _ in range(2):  # tried twice
                assert (await runner.run(second)).confirmation == Confirmation("ring", {"times": 2})
            result = await runner.run(replace(requests[2], approval=approval("ring", "rejected")))
            assert result == RunResult(
                "Which size?", choices=(Choice("Small", "Small"), Choice("Large", "Large"))
            )
            answer = await runner.run(replace(requests[3], text="Large"))
        assert len(server.runs) == 2
        assert [entry["payload"] for entry in json.loads(answer.text)] == [
            {"approved": True},
            {"approved": False},
            {"size": "Large"},
        ]

    async def test_another_message_cancels_all_and_reaches_the_agent(self, http: AioHttp) -> None:
        questions = interrupt("i1", tool_call_id="c1"), interrupt("i2", tool_call_id="c2")
        async with scene(http, asking(*questions)) as (server, runner):
            first, second, third = numbered(a_request(), a_request(), a_request(text="Wait"))
            await runner.run(first)
            await runner.run(replace(second, approval=approval("ring")))
            await runner.run(third)
        assert [(entry.status, entry.payload) for entry in server.runs[1].resume] == [("cancelled", None)] * 2
        assert said(server.runs[1]) == "Wait"

    @pytest.mark.parametrize(
        ("schema", "text", "payload"),
        [
            (None, "Ada", "Ada"),
            ({"type": "string"}, "7", "7"),
            ({"type": "integer"}, "7", 7),
            ({"type": "integer"}, "seven", "seven"),
            ({"type": "object", "properties": {"age": {"type": "integer"}}}, "7", {"age": "7"}),
            ({"type": "object", "properties": {"a": {}, "name": {"type": "string"}}}, "Ada", {"name": "Ada"}),
            ({"type": "object", "properties": {"a": {}}}, '{"a": 1}', {"a": 1}),
            ({"properties": 7, "enum": 7}, "Ada", "Ada"),
        ],
    )
    async def test_a_question_is_answered_by_the_next_message(
        self, http: AioHttp, schema: Any, text: str, payload: Any
    ) -> None:
        question = interrupt("i1", "input_required", message="Who?", response_schema=schema)
        async with scene(http, asking(question)) as (_, runner):
            first, second = numbered(a_request(), a_request(text=text))
            assert await runner.run(first) == RunResult("One moment.\n\nWho?")
            answer = await runner.run(second)
        assert json.loads(answer.text)[0]["payload"] == payload

    @pytest.mark.parametrize(
        ("text", "entry"),
        [
            ("Yes", {"status": "resolved", "payload": True}),
            ("no", {"status": "resolved", "payload": False}),
            ("perhaps", {"status": "cancelled"}),
        ],
    )
    async def test_a_confirmation_that_is_about_no_tool(self, http: AioHttp, text: str, entry: Any) -> None:
        async with scene(http, asking(interrupt("i1", "confirmation", message="Sure?"))) as (_, runner):
            first, second = numbered(a_request(), a_request(text=text))
            result = await runner.run(first)
            assert result.choices == (Choice("Yes", "yes"), Choice("No", "no"))
            answer = await runner.run(second)
        assert json.loads(answer.text) == [{"interruptId": "i1", **entry}]

    async def test_an_interrupt_that_has_expired_is_not_answered(self, http: AioHttp) -> None:
        question = interrupt("i1", "input_required", expires_at="2026-01-01T00:00:00Z")
        async with scene(http, asking(question)) as (server, runner):
            first, second = numbered(a_request(), a_request(text="Ada"))
            assert (
                await runner.run(first)
            ).text == "One moment.\n\nThe agent asks for an answer: input_required"
            server.open.clear()
            await runner.run(second)
        assert server.runs[1].resume is None
        assert said(server.runs[1]) == "Ada"

    async def test_answers_that_the_agent_does_not_take_are_cancelled_then_forgotten(
        self, http: AioHttp
    ) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            if run.resume is not None:
                yield RunErrorEvent(message="no such interrupt")
            elif said(run) == "go":
                yield waiting(run, interrupt("i1", "input_required"))
            else:
                yield from text("ok")

        async with scene(http, agent) as (server, runner):
            first, *others, last = numbered(*[a_request(text=text) for text in ("go", "A", "B", "C")])
            await runner.run(first)
            for request in others:
                with pytest.raises(DownstreamFailed, match="the run failed"):
                    await runner.run(request)
            assert (await runner.run(last)).text == "ok"
        statuses = [[entry.status for entry in run.resume or ()] for run in server.runs]
        assert statuses == [[], ["resolved"], ["cancelled"], []]

    @pytest.mark.parametrize("beside", [(), ("langgraph:interrupt",)])
    @pytest.mark.parametrize(
        ("value", "asked", "answers", "resume"),
        [
            ("Which town?", RunResult("Which town?"), [{"text": "Rome"}], "Rome"),
            (
                json.dumps({"question": "Which?", "options": [{"label": "Rome (IT)", "value": "rome"}]}),
                RunResult("Which?", choices=(Choice("Rome (IT)", "rome"),)),
                [{"text": "rome"}],
                "rome",
            ),
            (
                json.dumps(tools("ring", number=1)),
                RunResult("", confirmation=Confirmation("ring", {"number": 1})),
                [{"approval": approval("ring")}],
                {"decisions": [{"type": "approve"}]},
            ),
            (
                json.dumps(tools("ring", "mail")),
                RunResult("", confirmation=Confirmation("ring", {})),
                [{"approval": approval("ring")}, {"approval": approval("mail", "rejected")}],
                {"decisions": [{"type": "approve"}, {"type": "reject", "message": REJECTED_BY_USER}]},
            ),
            (
                json.dumps(tools("ring")),
                RunResult("", confirmation=Confirmation("ring", {})),
                [{"text": "No"}],
                {"decisions": [{"type": "reject", "message": f"{UNDECIDED} They wrote instead: No"}]},
            ),
        ],
        ids=["a text", "choices", "a tool", "two tools", "something else"],
    )
    async def test_interrupts_as_custom_events(
        self, http: AioHttp, value: str, asked: RunResult, answers: Any, resume: Any, beside: Any
    ) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            if "command" in run.forwarded_props:
                yield from text("Thanks.")
                return
            yield CustomEvent(name="on_interrupt", value=value)
            if beside:
                yield waiting(run, *(interrupt(reason=reason) for reason in beside))

        async with scene(http, agent) as (server, runner):
            assert await runner.run(a_request(text="go")) == asked
            server.open = set()
            for number, answer in enumerate(answers, start=2):
                result = await runner.run(a_request(request_id=f"request-{number}", **answer))
            assert result == RunResult("Thanks.")
            assert server.runs[-1].forwarded_props["command"] == {"resume": resume}
            assert not server.runs[-1].resume
            await runner.run(a_request(request_id="last", text="go"))
            assert "command" not in server.runs[-1].forwarded_props

    async def test_more_interrupts_than_can_be_asked(self, http: AioHttp) -> None:
        questions = [interrupt(f"i{number}", "input_required") for number in range(21)]
        async with scene(http, asking(*questions)) as (_, runner):
            with pytest.raises(DownstreamFailed, match="over 20 interrupts"):
                await runner.run(a_request())

    async def test_options_that_cannot_be_buttons_are_listed(self, http: AioHttp) -> None:
        schema = {"type": "string", "enum": ["A", "A"]}
        question = interrupt("i1", "input_required", message="Which?", response_schema=schema)
        async with scene(http, asking(question)) as (_, runner):
            assert await runner.run(a_request()) == RunResult("One moment.\n\nWhich?\n\n- A\n- A")


def streamed(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def finished() -> dict[str, Any]:
    return {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


async def failing(http: AioHttp, handler: Any) -> DownstreamFailed:
    async with serving(handler) as base:
        with pytest.raises(DownstreamFailed) as failed:
            await AgUiRunner(http, States(), AgUiAgent(base, token="s3cret")).run(a_request())
    return failed.value


class TestFailures:
    async def test_an_error_is_told_in_the_words_of_the_agent(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            yield from text("One moment.")
            yield RunErrorEvent(message="s3cret is\nnot valid", code="401")

        async with scene(http, agent, token="s3cret") as (_, runner):
            with pytest.raises(DownstreamFailed) as failed:
                await runner.run(a_request())
        assert str(failed.value) == "the run failed: 401: *** is not valid"
        assert not failed.value.retryable

    async def test_a_run_that_the_agent_stopped(self, http: AioHttp) -> None:
        def agent(run: Any) -> Iterable[BaseEvent]:
            outcome = RunFinishedCancelledOutcome()
            yield RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id, outcome=outcome)

        async with scene(http, agent) as (_, runner):
            with pytest.raises(DownstreamFailed, match="stopped the run"):
                await runner.run(a_request())

    @pytest.mark.parametrize(
        ("status", "retryable", "begun"),
        [(429, True, False), (503, True, False), (500, False, True), (422, False, False)],
    )
    async def test_statuses(self, http: AioHttp, status: int, retryable: bool, begun: bool) -> None:
        async def handler(_: web.Request) -> web.Response:
            return web.json_response({"detail": "not now"}, status=status, headers={"Retry-After": "7"})

        failed = await failing(http, handler)
        assert (failed.retryable, failed.begun) == (retryable, begun)
        assert str(failed) == f"the resource answers with status {status}: not now"
        assert failed.retry_after == (7 if status >= 429 else None)

    async def test_a_refused_connection(self, http: AioHttp) -> None:
        with pytest.raises(DownstreamFailed) as failed:
            await AgUiRunner(http, States(), AgUiAgent(f"http://127.0.0.1:{free_port()}")).run(a_request())
        assert failed.value.retryable
        assert not failed.value.begun

    async def test_an_address_of_a_user_obeys_the_policy(self, http: AioHttp) -> None:
        async with scene(http) as (_, runner):
            with pytest.raises(DownstreamFailed) as failed:
                await replace(runner, http=UserAddresses(runner.http)).run(a_request())
        assert isinstance(failed.value.__cause__, AddressRefused)

    @pytest.mark.parametrize(
        ("stream", "reason"),
        [
            (b"", "broke off"),
            (streamed({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}), "broke off"),
            (b"data: {\n\n", "not JSON"),
            (b'data: "\xff"\n\n', "not JSON"),
            (b"data: " + b"[" * 100_000 + b"\n\n", "not JSON"),
            (b"data: []\n\n", "has no type"),
            (b"data: " + b"x" * (ag_ui_runner.MAX_EVENT + 1) + b"\n\n", "too long"),
            (
                streamed({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "a"}),
                "before its TEXT_MESSAGE_START",
            ),
            (
                streamed({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "a"}),
                "before its TOOL_CALL_START",
            ),
            (streamed({"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "delta": "a"}), "no toolCallName"),
            (streamed({"type": "TEXT_MESSAGE_START"}), "messageId of an event TEXT_MESSAGE_START"),
            (streamed({"type": "STATE_DELTA", "delta": [{"op": "x"}]}), "delta.0 of an event STATE_DELTA"),
            (
                streamed({**finished(), "outcome": {"type": "interrupt", "interrupts": []}}),
                "of an event RUN_FINISHED",
            ),
            (
                streamed(
                    {"type": "TEXT_MESSAGE_START", "messageId": "m"},
                    *[{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "x" * 300_000}] * 4,
                ),
                "over 1000000 characters",
            ),
        ],
    )
    async def test_streams_that_cannot_be_used(self, http: AioHttp, stream: bytes, reason: str) -> None:
        async def handler(_: web.Request) -> web.Response:
            return web.Response(body=stream, content_type="text/event-stream")

        failed = await failing(http, handler)
        assert reason in str(failed)
        assert not failed.retryable

    async def test_an_endless_stream_is_cut_off(self, http: AioHttp) -> None:
        async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            while True:
                writer.write(streamed({"type": "RAW", "event": "x" * 1_000_000}))
                await writer.drain()

        async with raw_serving(endless) as base:
            with pytest.raises(DownstreamFailed, match="40000000") as failed:
                await AgUiRunner(http, States(), AgUiAgent(base)).run(a_request())
        assert not failed.value.retryable

    async def test_nothing_after_the_end_of_the_run_is_waited_for(self, http: AioHttp) -> None:
        async def handler(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            await response.write(streamed(finished(), {"type": "RUN_ERROR", "message": "late"}))
            await asyncio.sleep(3600)
            return response

        async with serving(handler) as base:
            assert await AgUiRunner(http, States(), AgUiAgent(base)).run(a_request()) == RunResult("")
