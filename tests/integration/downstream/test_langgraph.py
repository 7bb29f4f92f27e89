"""Resources behind a LangGraph server: exchanges recorded of a real one, and what no real one shows on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources import langgraph_runner, langgraph_server
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.langgraph_breakpoints import ANOTHER_REJECTED, GO_ON
from adapters.outbound.resources.langgraph_runner import LangGraphRunner
from adapters.outbound.resources.langgraph_server import LangGraphAgent
from adapters.outbound.resources.model_tools import REJECTED_BY_USER
from adapters.outbound.resources.router import Retrying
from domain.channels.answers import Choice
from domain.routing.model import Approval, Confirmation, InputFile, ResultArtifact, RunRequest, RunResult
from ports.http import AddressRefused
from ports.resources import DownstreamFailed
from tests.support.langgraph import LangGraphServer, Recording, Step, tools
from tests.support.ports import free_port
from tests.support.runs import A_FILE, States, a_request
from tests.support.servers import raw_serving, serving

Handler = Callable[[web.Request], Any]


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


def approval(tool: str, decision: str = "approved") -> Approval:
    return Approval("c", tool, decision)


def numbered(*requests: RunRequest) -> Sequence[RunRequest]:
    return [replace(request, request_id=f"request-{at}") for at, request in enumerate(requests, start=1)]


async def played(
    http: AioHttp, name: str, assistant: str, *requests: RunRequest, **changes: Any
) -> list[RunResult]:
    """What comes of requests to the recorded server, one after the other."""
    recording, states = Recording(name), States()
    async with serving(recording.handle) as base:
        agent = LangGraphAgent(base, assistant, **changes)
        results = [await LangGraphRunner(http, states, agent).run(request) for request in requests]
    assert recording.faults == []
    assert recording.left == []
    assert len(recording.threads) == 1
    return results


class TestRecorded:
    async def test_a_message_is_answered(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="hello you"))
        assert await played(http, "answer_whole", "agent", *requests) == [
            RunResult("You said: hello you (message 1)")
        ]

    async def test_the_answer_is_heard_of_as_it_is_made(self, http: AioHttp) -> None:
        heard: list[str] = []
        requests = numbered(a_request(text="hello you", progress=lambda text: heard.append(text())))
        (result,) = await played(http, "answer", "agent", *requests, stream=True)
        assert result.text == "You said: hello you (message 1)"
        assert heard[:2] == ["You ", "You said: "]
        assert heard[-1].strip() == result.text

    async def test_a_tool_is_approved(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="ring"), a_request(text="ring", approval=approval("ring")))
        assert await played(http, "tool", "agent", *requests, stream=True) == [
            RunResult("Let me ring.", confirmation=Confirmation("ring", {"times": 3})),
            RunResult("The tool said: rang 3"),
        ]

    async def test_tools_are_decided_one_after_the_other(self, http: AioHttp) -> None:
        message = a_request(text="two bells")
        rejected = approval("send", "rejected")
        requests = numbered(
            message, replace(message, approval=approval("ring")), replace(message, approval=rejected)
        )
        assert await played(http, "two_tools", "agent", *requests) == [
            RunResult("Ringing twice.", confirmation=Confirmation("ring", {"times": 1})),
            RunResult("", confirmation=Confirmation("send", {"to": "ada"})),
            RunResult("The tool said: rang 1"),
        ]

    async def test_another_message_rejects_a_tool_and_reaches_the_agent(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="ring"), a_request(text="What is for lunch?"))
        _, result = await played(http, "undecided", "agent", *requests)
        assert result.confirmation is None
        assert result.text.endswith(
            "The user did not decide on this tool. It was not run. They wrote instead: What is for lunch?"
        )

    async def test_the_older_form_of_a_question_about_a_tool(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="old"), a_request(text="old", approval=approval("ring")))
        assert await played(http, "older_form", "asking", *requests) == [
            RunResult("old", confirmation=Confirmation("ring", {"times": 2})),
            RunResult("Got: [{'type': 'accept', 'args': None}]"),
        ]

    async def test_a_choice_is_offered(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="size"), a_request(text="Large", choice=True))
        assert await played(http, "choice", "asking", *requests) == [
            RunResult("Which size?", choices=(Choice("Small", "Small"), Choice("Large", "Large"))),
            RunResult("Got: Large"),
        ]

    async def test_a_question_is_answered_by_the_next_message(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="x"), a_request(text="Ada"))
        results = await played(http, "question", "asking", *requests)
        assert results == [RunResult("What is your name?"), RunResult("Got: Ada")]

    async def test_questions_of_parallel_steps_come_one_after_the_other(self, http: AioHttp) -> None:
        requests = numbered(a_request(text="x"), a_request(text="one"), a_request(text="two"))
        results = await played(http, "parallel", "parallel", *requests)
        assert [result.text for result in results] == ["A?", "A=one\n\nB?", "B=two"]

    async def test_files_of_an_answer(self, http: AioHttp) -> None:
        (result,) = await played(http, "files", "pictures", *numbered(a_request(text="x")))
        assert result == RunResult(
            "See:",
            (
                ResultArtifact("image-1.png", "image/png", data=b"hi"),
                ResultArtifact("image-2.png", "image/png", "https://x.example/a.png"),
            ),
        )

    @pytest.mark.parametrize(
        ("name", "assistant", "text", "reason"),
        [
            ("failed", "agent", "fail", "the run failed: ValueError: the model is broken"),
            ("unknown", "nope", "x", "status 422: Invalid assistant: 'nope'"),
        ],
    )
    async def test_failures_are_told_in_the_words_of_the_server(
        self, http: AioHttp, name: str, assistant: str, text: str, reason: str
    ) -> None:
        with pytest.raises(DownstreamFailed, match=reason) as failed:
            await played(http, name, assistant, *numbered(a_request(text=text)))
        assert not failed.value.retryable

    async def test_a_repeated_request_waits_for_its_run(self, http: AioHttp) -> None:
        (request,) = numbered(a_request(text="hello you"))
        first, again = await played(http, "repeated", "agent", request, request)
        assert first == again == RunResult("You said: hello you (message 1)")


@asynccontextmanager
async def scene(
    http: AioHttp, graph: Callable[[Any], Step] | None = None, **changes: Any
) -> AsyncIterator[tuple[LangGraphServer, LangGraphRunner]]:
    server = LangGraphServer(graph or (lambda said: Step(f"heard {said}")))
    async with serving(server.handle) as base:
        yield server, LangGraphRunner(http, States(), LangGraphAgent(base, "agent", **changes))


def asking(interrupt: Any) -> Callable[[Any], Step]:
    """A graph that asks where a message comes, and repeats what resumes it."""
    return lambda said: Step("One moment.", interrupt) if said == "go" else Step(json.dumps(said))


class TestRequests:
    @pytest.mark.parametrize(
        ("bearer", "header"),
        [(False, ("x-api-key", "s3cret")), (True, ("Authorization", "Bearer s3cret"))],
    )
    async def test_the_token(self, http: AioHttp, bearer: bool, header: tuple[str, str]) -> None:
        async with scene(http, token="s3cret", bearer=bearer) as (server, runner):
            await runner.run(a_request())
        assert all(headers.get(header[0]) == header[1] for headers in server.headers)
        other = {"x-api-key": "Authorization", "Authorization": "x-api-key"}[header[0]]
        assert not any(other in headers for headers in server.headers)
        assert "s3cret" not in repr(runner)

    async def test_pictures_go_as_content_blocks_where_the_rule_says_so(self, http: AioHttp) -> None:
        line = f"How late is it?\n[file: a.png (image/png, 3 bytes): {A_FILE.url}]"
        request = a_request(
            files=(A_FILE, InputFile("a.pdf", "application/pdf", 1, "http://127.0.0.1/a.pdf"))
        )
        async with scene(http, images=True) as (server, runner):
            await runner.run(request)
        text, *pictures = server.bodies[0]["input"]["messages"][0]["content"]
        assert text["text"].startswith(line)
        assert pictures == [{"type": "image_url", "image_url": {"url": A_FILE.url}}]
        async with scene(http) as (server, runner):
            await runner.run(request)
        assert server.bodies[0]["input"]["messages"][0]["content"].startswith(line)

    async def test_the_graph_learns_of_the_sender_and_the_context(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            await runner.run(a_request(context={"language": "de"}))
        described = server.bodies[0]["config"]["configurable"]["switchboard"]
        assert described["sender"]["externalId"] == "4711"
        assert described["context"] == {"language": "de"}
        assert "text" not in described

    @pytest.mark.parametrize("other", [{"session_id": "other"}, {"instance_id": 8}])
    async def test_conversations_have_threads_of_their_own(
        self, http: AioHttp, other: dict[str, Any]
    ) -> None:
        async with scene(http) as (server, runner):
            await runner.run(a_request(request_id="1"))
            await runner.run(a_request(request_id="2"))
            await runner.run(a_request(request_id="3", **other))
        assert [len(messages) for messages in server.messages.values()] == [4, 2]

    async def test_an_address_of_a_user_obeys_the_policy(self, http: AioHttp) -> None:
        async with scene(http) as (_, runner):
            with pytest.raises(DownstreamFailed) as failed:
                await replace(runner, http=UserAddresses(runner.http)).run(a_request())
        assert isinstance(failed.value.__cause__, AddressRefused)
        assert not failed.value.begun


class TestQuestions:
    async def test_a_rejected_tool(self, http: AioHttp) -> None:
        async with scene(http, asking(tools("ring"))) as (_, runner):
            first, second = numbered(a_request(text="go"), a_request(text="go"))
            assert (await runner.run(first)).confirmation == Confirmation("ring", {})
            result = await runner.run(replace(second, approval=approval("ring", "rejected")))
        assert json.loads(result.text) == {
            "decisions": [
                {"type": "reject", "message": "The user rejected the use of this tool. It was not run."}
            ]
        }

    async def test_tools_are_not_used_where_one_of_them_was_not_decided(self, http: AioHttp) -> None:
        async with scene(http, asking(tools("ring", "send"))) as (server, runner):
            first, second, third = numbered(*[a_request(text="go")] * 3)
            await runner.run(first)
            await runner.run(replace(second, approval=approval("ring")))
            await runner.run(replace(third, text="Wait"))
        (resumed,) = server.begun[1:]
        assert [decision["type"] for decision in resumed["decisions"]] == ["reject", "reject"]
        assert resumed["decisions"][0]["message"].endswith("They wrote instead: Wait")

    async def test_two_uses_of_the_same_tool_are_decided_each(self, http: AioHttp) -> None:
        async with scene(http, asking(tools("ring", "ring"))) as (server, runner):
            first, second, third = numbered(*[a_request(text="go")] * 3)
            await runner.run(first)
            decided = replace(second, approval=approval("ring", "rejected"))
            assert await runner.run(decided) == await runner.run(decided)
            await runner.run(replace(third, approval=approval("ring")))
        assert [decision["type"] for decision in server.begun[1]["decisions"]] == ["reject", "approve"]

    async def test_a_decision_on_a_tool_that_is_not_asked_for_is_told(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            await runner.run(a_request(approval=approval("ring")))
        assert server.begun == ["How late is it?\n[the user's decision on the tool ring: approved]"]

    async def test_a_question_that_somebody_answered_at_the_server_is_not_answered_again(
        self, http: AioHttp
    ) -> None:
        async with scene(http, asking("Which?")) as (server, runner):
            first, second = numbered(a_request(text="go"), a_request(text="hello"))
            await runner.run(first)
            (thread,) = server.steps
            server.steps[thread] = Step()
            await runner.run(second)
        assert server.bodies[1].get("command") is None

    async def test_a_question_that_fails_whatever_is_answered_is_asked_once(self, http: AioHttp) -> None:
        def graph(said: Any) -> Step:
            return (
                Step(interrupt="Which?") if said == "go" else Step(error="bad") if said == "A" else Step("ok")
            )

        async with scene(http, graph) as (_, runner):
            first, second, third = numbered(a_request(text="go"), a_request(text="A"), a_request(text="hi"))
            await runner.run(first)
            with pytest.raises(DownstreamFailed, match="ValueError: bad"):
                await runner.run(second)
            assert (await runner.run(third)).text == "ok"

    @pytest.mark.parametrize(
        ("interrupt", "text", "choices"),
        [
            ("Which?", "Which?", ()),
            ({"message": "Which?", "options": [{"label": "A", "value": "a"}]}, "Which?", (Choice("A", "a"),)),
            ({"question": "Which?", "options": ["A", "A"]}, "Which?\n\n- A\n- A", ()),
            ({"question": "Which?", "options": "ABC"}, "Which?", ()),
            ({"a": [1]}, '```json\n{\n  "a": [\n    1\n  ]\n}\n```', ()),
            (7, "```json\n7\n```", ()),
        ],
    )
    async def test_other_questions(
        self, http: AioHttp, interrupt: Any, text: str, choices: tuple[Choice, ...]
    ) -> None:
        async with scene(http, asking(interrupt)) as (_, runner):
            assert await runner.run(a_request(text="go")) == RunResult(
                f"One moment.\n\n{text}", choices=choices
            )

    @pytest.mark.parametrize(
        "interrupt",
        [
            {"action_requests": []},
            {"action_requests": [7]},
            {"action_requests": [{"name": ""}]},
            {"action_requests": [{"name": "ring", "args": [1]}]},
            {"action_requests": [{"name": "ring"}] * 21},
            [{"action_request": {}}],
            {"action_request": "ring"},
        ],
    )
    async def test_questions_that_cannot_be_asked(self, http: AioHttp, interrupt: Any) -> None:
        async with scene(http, asking(interrupt)) as (_, runner):
            with pytest.raises(DownstreamFailed, match="unusable") as failed:
                await runner.run(a_request(text="go"))
        assert not failed.value.retryable


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def begun(server: LangGraphServer, count: int = 1) -> None:
    """Until so many runs have begun, and their beginning is told."""
    await until(lambda: len(server.told) == count)


def ringing(said: Any) -> Step:
    """A graph that stops before its step `tools`."""
    if said == "ring twice":
        calls = [{"name": "ring", "args": {"number": number}, "id": f"c{number}"} for number in (1, 2)]
        return Step("One moment.", calls=calls, next="tools")
    return Step(f"heard {said}" if said else "Rang.")


class TestBreakpoints:
    """As the real server shows them: the run ends, and its thread has a next step and no interrupt."""

    async def test_tools_before_which_a_graph_stops_are_decided(self, http: AioHttp) -> None:
        async with scene(http, ringing) as (server, runner):
            asked, again, rang = [
                await runner.run(request)
                for request in numbered(
                    a_request(text="ring twice"),
                    a_request(approval=approval("ring")),
                    a_request(approval=approval("ring")),
                )
            ]
        assert asked == RunResult("One moment.", confirmation=Confirmation("ring", {"number": 1}))
        assert again == RunResult("", confirmation=Confirmation("ring", {"number": 2}))
        assert rang == RunResult("Rang.")
        assert server.bodies[-1]["input"] is None

    async def test_one_rejection_keeps_all_from_running(self, http: AioHttp) -> None:
        async with scene(http, ringing) as (server, runner):
            for request in numbered(
                a_request(text="ring twice"),
                a_request(approval=approval("ring")),
                a_request(approval=approval("ring", "rejected")),
            ):
                result = await runner.run(request)
        assert result == RunResult(f"heard {REJECTED_BY_USER}")
        told = [
            (message["tool_call_id"], message["content"])
            for message in server.bodies[-1]["input"]["messages"]
        ]
        assert told == [("c1", ANOTHER_REJECTED), ("c2", REJECTED_BY_USER)]

    async def test_another_message_reaches_the_agent_after_its_tools(self, http: AioHttp) -> None:
        async with scene(http, ringing) as (server, runner):
            for request in numbered(a_request(text="ring twice"), a_request(text="Who is there?")):
                result = await runner.run(request)
        assert result == RunResult("heard Who is there?")
        kinds = [message["type"] for message in server.bodies[-1]["input"]["messages"]]
        assert kinds == ["tool", "tool", "human"]

    @pytest.mark.parametrize(("text", "answer"), [("go on", "Rang."), ("stop", "heard stop")])
    async def test_another_step_goes_on_when_the_sender_says_so(
        self, http: AioHttp, text: str, answer: str
    ) -> None:
        def graph(said: Any) -> Step:
            return Step("The plan.", next="do") if said == "go" else ringing(said)

        async with scene(http, graph) as (_, runner):
            asked, result = [
                await runner.run(request) for request in numbered(a_request(text="go"), a_request(text=text))
            ]
        assert asked.text == "The plan.\n\nThe agent waits before its next step: do. Shall it go on?"
        assert asked.choices == (GO_ON,)
        assert result == RunResult(answer)

    async def test_a_repeated_request_is_asked_again_and_not_run_again(self, http: AioHttp) -> None:
        async with scene(http, ringing) as (server, runner):
            request = a_request(text="ring twice")
            assert await runner.run(request) == await runner.run(request)
        assert len(server.begun) == 1

    async def test_tool_calls_that_cannot_be_read(self, http: AioHttp) -> None:
        async with scene(http, lambda _: Step("Hm.", calls=[{"name": "ring"}], next="tools")) as (_, runner):
            with pytest.raises(DownstreamFailed, match="a tool call of the thread has no id"):
                await runner.run(a_request())


class TestInterruptions:
    async def test_a_run_that_nobody_waits_for_is_cancelled(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            server.is_held = True
            running = asyncio.create_task(runner.run(a_request()))
            await begun(server)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert server.cancelled == [server.runs[0].id]

    async def test_a_run_that_was_cancelled_is_done_again_once(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            server.is_held = True
            for count in (1, 2):
                running = asyncio.create_task(runner.run(a_request()))
                await begun(server, count)
                running.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await running
            with pytest.raises(DownstreamFailed, match="stopped before its end") as failed:
                await runner.run(a_request())
        assert not failed.value.retryable
        assert len(server.begun) == 2

    async def test_a_repeated_request_waits_for_the_run_under_way(self, http: AioHttp) -> None:
        async with scene(http) as (server, runner):
            server.is_held = True
            lost = asyncio.create_task(runner.run(a_request()))
            await begun(server)
            again = asyncio.create_task(runner.run(a_request()))
            await until(lambda: server.joined)
            server.release()
            assert (await again).text == (await lost).text == "heard How late is it?"
        assert len(server.begun) == 1

    async def test_a_repeated_request_tells_of_the_failure_of_its_run(self, http: AioHttp) -> None:
        async with scene(http, lambda said: Step(error="bad")) as (server, runner):
            for _ in range(2):
                with pytest.raises(DownstreamFailed, match="the run failed: ValueError: bad"):
                    await runner.run(a_request())
        assert len(server.begun) == 1

    async def test_tools_approved_for_the_session_are_not_used_twice_after_a_crash(
        self, http: AioHttp
    ) -> None:
        def graph(said: Any) -> Step:
            return Step("One moment.", tools("ring")) if said == "go" else Step("Rang.")

        async with scene(http, graph) as (server, runner):
            request = a_request(text="go", request_id="r", approved_tools=("ring",))
            further = replace(request, request_id="r-2", approval=approval("ring", "approved_for_session"))
            await runner.run(request)
            await runner.run(further)
            assert await runner.run(request) == RunResult("One moment.\n\nRang.")
        assert len(server.begun) == 2

    async def test_a_connection_that_breaks_is_taken_up_again(self, http: AioHttp) -> None:
        server, broken = LangGraphServer(lambda said: Step(f"heard {said}")), list[asyncio.Task[Any]]()

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.method == "POST" and not broken:
                server.is_held = True
                task = asyncio.create_task(server.handle(request))
                await begun(server)
                broken.append(task)
                assert request.transport
                request.transport.abort()
                server.release()
                return web.Response()
            return await server.handle(request)

        async with serving(handle) as base:
            runner = LangGraphRunner(http, States(), LangGraphAgent(base, "agent"))
            retrying = Retrying(
                runner, sleep=asyncio.sleep, now=asyncio.get_running_loop().time, chance=lambda: 0
            )
            result = await retrying.run(a_request())
            await asyncio.gather(*broken, return_exceptions=True)
        assert result.text == "heard How late is it?"
        assert len(server.begun) == 1


async def failing(http: AioHttp, handler: Handler, **changes: Any) -> DownstreamFailed:
    async with serving(handler) as base:
        runner = LangGraphRunner(http, States(), LangGraphAgent(base, "agent", stream=True))
        with pytest.raises(DownstreamFailed) as failed:
            await runner.run(a_request(**changes))
    return failed.value


class TestServersThatMisbehave:
    @pytest.mark.parametrize(
        ("status", "retryable", "begun"),
        [(429, True, False), (503, True, False), (500, True, True), (409, False, False)],
    )
    async def test_statuses(self, http: AioHttp, status: int, retryable: bool, begun: bool) -> None:
        async def handler(_: web.Request) -> web.Response:
            return web.json_response({"detail": "not now"}, status=status, headers={"Retry-After": "7"})

        failed = await failing(http, handler)
        assert (failed.retryable, failed.begun) == (retryable, begun)
        assert failed.retry_after == (7 if retryable else None)
        assert str(failed) == f"the resource answers with status {status}: not now"

    async def test_a_refused_connection(self, http: AioHttp) -> None:
        agent = LangGraphAgent(f"http://127.0.0.1:{free_port()}", "agent")
        with pytest.raises(DownstreamFailed) as failed:
            await LangGraphRunner(http, States(), agent).run(a_request())
        assert failed.value.retryable
        assert not failed.value.begun

    @pytest.mark.parametrize(
        "stream",
        [
            b"event: messages\ndata: {\n\n",
            b"event: messages\ndata: " + b"[" * 100_000 + b"\n\n",
            b'event: messages\ndata: [{"type": "ai", "content": "\xff"}]\n\n',
            b"event: messages\ndata: " + b"x" * (langgraph_runner.MAX_EVENT + 1) + b"\n\n",
            b"event: messages\n"
            + b"\n".join(
                b'data: [{"type": "ai", "content": "' + b"x" * 300_000 + b'"}]\n\nevent: messages'
                for _ in range(4)
            ),
        ],
        ids=["no JSON", "deep", "no UTF-8", "long line", "long text"],
    )
    async def test_streams_that_cannot_be_read_end_and_their_run_is_cancelled(
        self, http: AioHttp, stream: bytes
    ) -> None:
        paths: list[str] = []
        run = "00000000-0000-4000-8000-000000000001"

        async def handler(request: web.Request) -> web.Response:
            paths.append(request.path)
            headers = {"Content-Location": f"/threads/t/runs/{run}"}
            return web.Response(body=stream, content_type="text/event-stream", headers=headers)

        failed = await failing(http, handler)
        assert not failed.retryable
        assert "unusable" in str(failed)
        assert paths[-1].endswith(f"/runs/{run}/cancel")

    async def test_events_of_other_kinds_and_shapes_are_ignored(self, http: AioHttp) -> None:
        heard: list[str] = []
        events = [
            ("messages", []),
            ("messages", {"type": "ai", "content": "a"}),
            ("messages", [{"type": "tool", "content": "a"}, {}]),
            ("messages", [{"type": "ai", "content": [{"type": "thinking", "thinking": "a"}, 7]}, {}]),
            ("messages", [{"type": "ai", "id": "1", "content": [{"type": "text", "text": "one"}]}, {}]),
            ("custom", {"error": "of the graph's own"}),
            ("messages|sub", [{"type": "ai", "content": "a"}]),
            ("messages", [{"type": "ai", "id": "2", "content": "two"}, {}]),
        ]
        body = ": hello\n\n" + "".join(
            f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events
        )
        state = {"values": {"messages": [{"type": "ai", "content": "two"}]}, "next": []}

        async def handler(request: web.Request) -> web.Response:
            if request.path.endswith("/state"):
                return web.json_response(state)
            return web.Response(text=body, content_type="text/event-stream")

        async with serving(handler) as base:
            runner = LangGraphRunner(http, States(), LangGraphAgent(base, "agent", stream=True))
            result = await runner.run(a_request(progress=lambda text: heard.append(text())))
        assert heard == ["one", "one\n\ntwo"]
        assert result == RunResult("two")

    async def test_an_endless_stream_is_cut_off(self, http: AioHttp, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(langgraph_server, "MAX_STREAM_BYTES", 5_000_000)

        async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            while True:
                writer.write(b"event: custom\ndata: " + b"x" * 1_000_000 + b"\n\n")
                await writer.drain()

        async with raw_serving(endless) as base:
            runner = LangGraphRunner(http, States(), LangGraphAgent(base, "agent"))
            with pytest.raises(DownstreamFailed, match="5000000"):
                await runner.run(a_request())

    @pytest.mark.parametrize(
        ("state", "reason"),
        [
            ([], "not an object"),
            ({}, "no list of messages"),
            ({"values": {"messages": "x"}}, "no list of messages"),
            ({"values": {"messages": [7]}}, "no list of messages"),
            ({"interrupts": [{}]}, "no id"),
            ({"next": ["x"], "tasks": [{"error": "KeyError('a')"}]}, "the run failed: KeyError"),
            ({"next": ["x"], "tasks": 7}, "stopped before its end"),
            ({"values": {"messages": [{"type": "ai", "content": [{"type": "image"}]}]}}, "content block 1"),
            (
                {"values": {"messages": [{"type": "ai", "content": "x" * 1_000_001}]}},
                "over 1000000 characters",
            ),
        ],
    )
    async def test_states_that_cannot_be_used(self, http: AioHttp, state: Any, reason: str) -> None:
        async def handler(request: web.Request) -> web.Response:
            if request.path.endswith("/state"):
                return web.json_response(state)
            return web.Response(text="", content_type="text/event-stream")

        assert reason in str(await failing(http, handler))

    async def test_a_thread_that_is_gone(self, http: AioHttp) -> None:
        async def handler(request: web.Request) -> web.Response:
            if request.path.endswith("/state"):
                return web.json_response({"detail": "Thread not found"}, status=404)
            return web.Response(text="", content_type="text/event-stream")

        assert "the thread of the conversation is gone" in str(await failing(http, handler))

    @pytest.mark.parametrize(
        "runs", [{}, [7], [{"run_id": "../x", "metadata": {"switchboard_request": "r"}}]]
    )
    async def test_lists_of_runs_that_cannot_be_used(self, http: AioHttp, runs: Any) -> None:
        async def handler(request: web.Request) -> web.Response:
            if request.method == "GET":
                return web.json_response(runs)
            return web.Response(status=503)

        async with serving(handler) as base:
            runner = LangGraphRunner(http, States(), LangGraphAgent(base, "agent"))
            with pytest.raises(DownstreamFailed, match="503"):
                await runner.run(a_request(request_id="r"))
            with pytest.raises(DownstreamFailed, match="unusable"):
                await runner.run(a_request(request_id="r"))
