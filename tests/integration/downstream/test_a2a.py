"""Agents of the A2A protocol, by the server of its own SDK on the loopback interface."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from a2a.types import Part, TaskState
from aiohttp import web
from google.protobuf.json_format import MessageToDict

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.a2a import bridge
from adapters.outbound.resources.a2a.runner import A2aRunner
from adapters.outbound.resources.a2a.target import A2aTarget
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.router import Retrying
from domain.channels.messages import ThreadMessage
from domain.routing.conversation import WITHDRAWN
from domain.routing.model import TAKES_LONGER, AgentTask, QuotedMessage, ResultArtifact, RunRequest, RunResult
from ports.resources import Downstream, DownstreamFailed
from tests.support.a2a_agent import HTTP_JSON, JSONRPC, A2aAgent, Script, Turn, answering, refused
from tests.support.ports import free_port
from tests.support.runs import A_FILE, States, Tasks, a_request
from tests.support.servers import Handler, serving
from tests.support.waiting import let_pass

SECOND = "3f2b8c1e-0000-4000-8000-000000000002"


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    """The policy is the strictest: the address of a rule is the operator's own and exempt."""
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


class Bot:
    """A runner before an agent, and what is kept between its messages."""

    def __init__(self, http: AioHttp, url: str, token: str | None = None, stream: bool | None = None) -> None:
        self.states, self.tasks = States(), Tasks()
        self.runner = A2aRunner(http, self.states, self.tasks, A2aTarget(url, stream, token))

    async def run(self, request: RunRequest | None = None, **changes: Any) -> RunResult:
        return await self.runner.run(request or a_request(**changes))

    @property
    def state(self) -> Any:
        return next(iter(self.states.saved.values()), {})


Serve = Callable[..., tuple[A2aAgent, Bot]]


@pytest.fixture
async def serve(http: AioHttp) -> AsyncIterator[Serve]:
    """Starts an agent with a script, and a bot before it."""
    ends = []

    def serve(script: Script, token: str | None = None, stream: bool | None = None, **options: Any) -> Any:
        running = A2aAgent(script, **options).serving()
        agent = running.__enter__()
        ends.append(running)
        return agent, Bot(http, agent.base, token, stream)

    yield serve
    await http.close()
    for end in ends:
        await asyncio.to_thread(end.__exit__, None, None, None)


async def becomes(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture(params=[JSONRPC, HTTP_JSON])
def binding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("streams", [True, False])
async def test_a_task_that_ends_is_the_answer(serve: Serve, binding: str, streams: bool) -> None:
    agent, bot = serve(answering("It is **noon**."), binding=binding, streams=streams, token="s3cret")
    runner: Downstream = bot.runner

    assert await runner.run(a_request()) == RunResult("It is **noon**.")
    assert [turn.text for turn in agent.turns] == ["How late is it?"]
    assert set(agent.tokens) == {"Bearer s3cret"}
    assert agent.turns[0].message.message_id == a_request().request_id


async def test_an_agent_may_reply_without_a_task(serve: Serve, binding: str) -> None:
    async def script(turn: Turn) -> None:
        await turn.reply(f"You said {turn.text}")

    agent, bot = serve(script, binding=binding)
    assert await bot.run() == RunResult("You said How late is it?")
    assert await bot.run(request_id=SECOND, text="Hm") == RunResult("You said Hm")
    first, second = agent.turns
    assert first.context_id == second.context_id


async def test_all_messages_of_a_conversation_are_one_context(serve: Serve) -> None:
    agent, bot = serve(answering("yes"))
    await bot.run()
    await bot.run(request_id=SECOND)
    await bot.run(request_id="another", session_id="4712")
    first, second, other = agent.turns
    assert first.context_id == second.context_id != other.context_id
    assert len({turn.task_id for turn in agent.turns}) == 3
    assert agent.cards == 1


async def test_the_request_goes_out_whole(serve: Serve) -> None:
    agent, bot = serve(answering("yes"))
    await bot.run(
        files=(A_FILE,),
        quoted=QuotedMessage("It is noon.", "Bob", (A_FILE,)),
        thread=(ThreadMessage("Who has\na clock?", "Eve", datetime(2026, 11, 20, 12, tzinfo=UTC)),),
        context={"language": "en", "group": {"id": "7"}},
    )
    message = agent.turns[0].message
    before, text, file = message.parts
    assert before.text.splitlines() == [
        "[Eve wrote at 2026-11-20T12:00:00.000Z:]",
        "> Who has",
        "> a clock?",
        "[the message replies to Bob:]",
        "> It is noon.",
        f"> a.png: {A_FILE.url}",
    ]
    assert text.text == "How late is it?"
    assert (file.url, file.filename, file.media_type) == (A_FILE.url, "a.png", "image/png")
    known = MessageToDict(message.metadata)["switchboard"]
    assert known["sender"]["displayName"] == "Ada"
    assert known["context"] == {"language": "en", "group": {"id": "7"}}
    assert known["quoted"]["author"] == "Bob"
    assert "text" not in known
    assert "files" not in known


async def test_a_reaction_is_told(serve: Serve) -> None:
    agent, bot = serve(answering("yes"))
    await bot.run(text="", reaction="👍")
    assert agent.turns[0].text == "👍"


async def artifacts(turn: Turn) -> None:
    await turn.begin()
    await turn.task.start_work(turn.says("Looking at the clock..."))
    await turn.task.add_artifact([Part(text="It is ")], artifact_id="a")
    await turn.task.add_artifact([Part(text="noon.")], artifact_id="a", append=True, last_chunk=True)
    await turn.wait()
    await turn.task.add_artifact(
        [Part(raw=b"PNG", filename="clock.png", media_type="image/png")], artifact_id="b"
    )
    await turn.task.add_artifact([Part(raw=b"!", filename="clock.png")], artifact_id="b", append=True)
    await turn.task.add_artifact(
        [Part(url="http://x.example/a.pdf", media_type="application/pdf")], name="report"
    )
    data = Part()
    data.data.struct_value.update({"hour": 12, "note": "```"})
    await turn.task.add_artifact([data])
    await turn.task.add_artifact([Part(text="a,b", filename="a.csv", media_type="text/csv")])
    await turn.task.complete(turn.says("That is all."))


@pytest.mark.parametrize("streams", [True, False])
async def test_artifacts_become_texts_and_files(serve: Serve, streams: bool) -> None:
    shown: list[Callable[[], str]] = []
    agent, bot = serve(artifacts, streams=streams)
    running = asyncio.create_task(bot.run(progress=shown.append))
    if streams:
        await becomes(lambda: bool(shown) and shown[-1]() == "It is noon.")
        assert "clock" in shown[0]() or shown[0]() == "It is noon."
    agent.let()
    result = await running

    data = json.dumps({"hour": 12, "note": "```"}, indent=2)
    assert result.text == f"It is noon.\n\n```json\n{data}\n```\n\nThat is all."
    assert result.artifacts == (
        ResultArtifact("clock.png", "image/png", data=b"PNG!"),
        ResultArtifact("report", "application/pdf", "http://x.example/a.pdf"),
        ResultArtifact("a.csv", "text/csv", data=b"a,b"),
    )


@pytest.mark.parametrize("streams", [True, False])
async def test_a_large_file_comes_whole(serve: Serve, binding: str, streams: bool) -> None:
    content = bytes(range(256)) * 8_000

    async def script(turn: Turn) -> None:
        await turn.begin()
        await turn.task.add_artifact([Part(raw=content, filename="a.bin")])
        await turn.task.complete()

    _, bot = serve(script, binding=binding, streams=streams)
    [file] = (await bot.run()).artifacts
    assert file.data == content


async def asking(turn: Turn) -> None:
    """Asks for a town, then answers."""
    if turn.is_new:
        await turn.begin()
        await turn.task.add_artifact([Part(text="A form", filename="form.txt")], artifact_id="form")
        await turn.task.requires_input(turn.says("In which town?"))
        return
    await turn.task.start_work()
    await turn.task.complete(turn.says(f"It is noon in {turn.text}."))


@pytest.mark.parametrize("streams", [True, False])
async def test_what_the_agent_needs_to_know_keeps_the_conversation_at_the_task(
    serve: Serve, binding: str, streams: bool
) -> None:
    agent, bot = serve(asking, binding=binding, streams=streams)
    first = await bot.run()
    assert first.text == "In which town?"
    assert [file.name for file in first.artifacts] == ["form.txt"]
    assert await bot.run(request_id=SECOND, text="Rome") == RunResult("It is noon in Rome.")
    assert await bot.run(request_id="third", text="And now?") == first
    tasks = [turn.task_id for turn in agent.turns]
    assert tasks[0] == tasks[1] != tasks[2]


@pytest.mark.parametrize("streams", [True, False])
async def test_agents_of_version_0_3_are_spoken_to(serve: Serve, binding: str, streams: bool) -> None:
    agent, bot = serve(asking, binding=binding, streams=streams, version="0.3.0")
    assert (await bot.run()).text.endswith("In which town?"), "a text has no file name in 0.3"
    assert await bot.run(request_id=SECOND, text="Rome") == RunResult("It is noon in Rome.")
    assert len({turn.task_id for turn in agent.turns}) == 1


async def test_a_task_that_the_agent_forgot_is_not_waited_for(serve: Serve) -> None:
    agent, bot = serve(asking)
    await bot.run()
    state = next(iter(bot.states.saved))
    bot.states.saved[state] = {**bot.state, "waiting_task_id": "gone"}
    assert (await bot.run(request_id=SECOND, text="Rome")).text == "In which town?"
    assert agent.turns[0].context_id == agent.turns[1].context_id


async def signing_in(turn: Turn) -> None:
    await turn.begin()
    await turn.task.requires_auth(turn.says("Open https://login.example"))
    await turn.wait()
    await turn.task.complete(turn.says("Thanks."))


async def test_a_needed_sign_in_is_told_and_its_result_comes_later(serve: Serve) -> None:
    agent, bot = serve(signing_in)
    result = await bot.run()
    assert "sign in" in result.text
    assert "Open https://login.example" in result.text
    (task,) = bot.tasks.open.values()
    assert await bot.runner.poll(task) is None
    agent.let()
    assert await polled(bot, task) == RunResult("Thanks.")


async def signing_in_then_chatting(turn: Turn) -> None:
    await (turn.reply("You said I did") if turn.text == "I did" else signing_in(turn))


async def signing_in_or_waiting(turn: Turn) -> None:
    if turn.is_new:
        await turn.begin()
        await turn.task.requires_auth(turn.says("Open https://login.example"))
    else:
        await turn.task.complete(turn.says("Welcome, guest."))


async def polled(bot: Bot, task: AgentTask) -> RunResult:
    async with asyncio.timeout(60):
        while (result := await bot.runner.poll(task)) is None:
            await asyncio.sleep(0.01)
    return result


def ending(state: int, text: str) -> Script:
    async def script(turn: Turn) -> None:
        await turn.begin()
        await turn.task.update_status(TaskState.Name(state), turn.says(text) if text else None)  # type: ignore[arg-type]

    return script


@pytest.mark.parametrize(
    ("state", "text", "reason"),
    [
        (TaskState.TASK_STATE_FAILED, "no clock", "the task failed: no clock"),
        (TaskState.TASK_STATE_FAILED, "", "the task failed"),
        (TaskState.TASK_STATE_CANCELED, "closing time", "the task was canceled by the agent: closing time"),
    ],
)
async def test_a_task_that_fails_is_told_in_the_words_of_the_agent(
    serve: Serve, state: int, text: str, reason: str
) -> None:
    _, bot = serve(ending(state, text))
    with pytest.raises(DownstreamFailed) as failed:
        await bot.run()
    assert str(failed.value) == reason
    assert not failed.value.retryable


async def test_the_reason_of_a_rejection_is_the_answer(serve: Serve) -> None:
    _, bot = serve(ending(TaskState.TASK_STATE_REJECTED, "I do not tell the time."))
    assert await bot.run() == RunResult("I do not tell the time.")


async def slow(turn: Turn) -> None:
    await turn.begin()
    await turn.task.start_work()
    await turn.wait()
    await turn.task.add_artifact([Part(raw=b"%PDF", filename="a.pdf", media_type="application/pdf")])
    await turn.task.complete(turn.says("Done."))


@pytest.mark.parametrize("streams", [True, False])
async def test_a_task_of_ten_minutes_outlives_the_message(serve: Serve, binding: str, streams: bool) -> None:
    agent, bot = serve(slow, binding=binding, streams=streams)
    running = asyncio.create_task(bot.run(timeout=600.0))
    await becomes(lambda: bool(bot.state.get("task_id")))
    let_pass(597)

    assert await running == RunResult(TAKES_LONGER)
    (task,) = bot.tasks.open.values()
    assert task.task_id == agent.turns[0].task_id
    assert await bot.runner.poll(task) is None
    agent.let()
    result = await polled(bot, task)
    assert result == RunResult("Done.", (ResultArtifact("a.pdf", "application/pdf", data=b"%PDF"),))
    assert len(agent.turns) == 1


async def test_a_task_that_nobody_can_be_told_of_fails(serve: Serve) -> None:
    _, bot = serve(slow)
    bot.tasks.refuses = True
    running = asyncio.create_task(bot.run(timeout=600.0))
    await becomes(lambda: bool(bot.state.get("task_id")))
    let_pass(597)
    with pytest.raises(DownstreamFailed, match="does not answer within 600 s"):
        await running


async def test_a_question_of_a_long_task_is_answered_by_the_next_message(serve: Serve) -> None:
    async def script(turn: Turn) -> None:
        if turn.is_new:
            await turn.begin()
            await turn.wait()
        await asking(turn)

    agent, bot = serve(script)
    running = asyncio.create_task(bot.run(timeout=600.0))
    await becomes(lambda: bool(bot.state.get("task_id")))
    let_pass(597)
    await running
    (task,) = bot.tasks.open.values()
    agent.let()
    assert (await polled(bot, task)).text == "In which town?"
    assert (await polled(bot, task)).artifacts, "until it is on record, the question is told as a whole"
    assert await bot.run(request_id=SECOND, text="Rome") == RunResult("It is noon in Rome.")


async def test_a_message_that_is_processed_again_begins_no_second_task(serve: Serve) -> None:
    agent, bot = serve(slow)
    running = asyncio.create_task(bot.run())
    await becomes(lambda: bool(bot.state.get("task_id")))
    running.cancel()
    await asyncio.wait([running])
    agent.let()

    assert (await bot.run()).text == "Done."
    assert len(agent.turns) == 1
    assert not agent.cancelled


async def test_a_result_that_was_sent_first_is_not_given_again(serve: Serve) -> None:
    agent, bot = serve(slow)
    agent.let()
    await bot.run()
    bot.tasks.finished.add(a_request().request_id)
    assert await bot.run() == RunResult("")
    assert len(agent.turns) == 1


async def test_a_result_is_left_to_who_polls_its_task(serve: Serve) -> None:
    """A worker that dies between the note of a long task and that of its message works on the message again."""
    agent, bot = serve(slow)
    running = asyncio.create_task(bot.run())
    await becomes(lambda: bool(bot.state.get("task_id")))
    let_pass(100)
    assert (await running).text == TAKES_LONGER
    [leased] = await bot.tasks.lease_due()
    agent.let()
    assert (await polled(bot, leased)).text == "Done."
    assert (await bot.run()).text == TAKES_LONGER
    assert await bot.tasks.renew(leased), "its result is sent by who polls it"
    assert len(agent.turns) == 1


async def test_a_result_that_comes_before_the_next_message_is_not_lost(serve: Serve) -> None:
    """The person signs in, and writes that before the task is polled again."""
    agent, bot = serve(signing_in_then_chatting)
    await bot.run()
    agent.let()
    [task] = await bot.tasks.lease_due()
    assert await polled(bot, task) == RunResult("Thanks.")
    assert await bot.run(request_id=SECOND, text="I did") == RunResult("You said I did")
    assert not await bot.tasks.renew(task), "it is polled again"
    assert bot.tasks.held[-1] == 0
    [task] = await bot.tasks.lease_due()
    assert await bot.runner.poll(task) == RunResult("Thanks.")
    assert await bot.tasks.renew(task)


async def test_a_task_that_a_message_continues_is_polled_no_more(serve: Serve) -> None:
    _, bot = serve(signing_in_or_waiting)
    await bot.run()
    [task] = await bot.tasks.lease_due()
    assert await bot.run(request_id=SECOND, text="as a guest") == RunResult("Welcome, guest.")
    assert await polled(bot, task) == RunResult("Welcome, guest.")
    assert not await bot.tasks.renew(task), "the message has got the result"
    assert not bot.tasks.open


async def test_a_withdrawn_message_cancels_its_task(serve: Serve) -> None:
    agent, bot = serve(slow)
    running = asyncio.create_task(bot.run())
    await becomes(lambda: bool(bot.state.get("task_id")))
    running.cancel(WITHDRAWN)
    await asyncio.wait([running])
    assert running.cancelled()
    await becomes(lambda: bool(agent.cancelled))
    assert agent.cancelled == [agent.turns[0].task_id]


async def test_pauses_that_the_agent_asks_for_are_kept(serve: Serve) -> None:
    agent, bot = serve(answering("noon"))
    agent.refuse = [refused(429, retry_after="7"), refused(503, retry_after="9")]
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    retrying = Retrying(bot.runner, sleep=sleep, now=lambda: 0.0, chance=lambda: 0.0)
    assert await retrying.run(a_request()) == RunResult("noon")
    assert waits == [7.0, 9.0]


async def test_an_agent_that_is_started_again_has_lost_its_tasks(http: AioHttp) -> None:
    port = free_port()
    bot = Bot(http, f"http://127.0.0.1:{port}")
    with A2aAgent(slow, port=port).serving():
        running = asyncio.create_task(bot.run())
        await becomes(lambda: bool(bot.state.get("task_id")))
        await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
    await http.close()
    with A2aAgent(slow, port=port).serving() as agent:
        with pytest.raises(DownstreamFailed, match="does not know the task"):
            await bot.run()
        assert not agent.turns
        agent.let()
        assert (await bot.run(request_id=SECOND)).text == "Done."
        await http.close()


# Hostile agents and cards

CARD = {
    "name": "x",
    "description": "x",
    "version": "1",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text"],
    "defaultOutputModes": ["text"],
    "skills": [],
}


def card(*addresses: str, binding: str = "JSONRPC") -> dict[str, Any]:
    interfaces = [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"} for url in addresses]
    return {**CARD, "supportedInterfaces": interfaces}


def speaking(body: bytes, kind: str = "text/event-stream", **changed: Any) -> Handler:
    """Answers each call with the same bytes, and with a card of its own."""

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            own = {**card(f"http://{request.host}/rpc"), **changed}
            return web.json_response(own)
        return web.Response(body=body, content_type=kind)

    return handler


def event(result: Any) -> bytes:
    return b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode() + b"\n\n"


def of_status(state: str, text: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if text:
        status["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}}


async def failure(http: AioHttp, handler: Handler) -> DownstreamFailed:
    async with serving(handler) as base:
        with pytest.raises(DownstreamFailed) as failed:
            await Bot(http, base, "s3cret").run(timeout=20.0)
        await http.close()
    assert "s3cret" not in str(failed.value)
    return failed.value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"data: {\n\n", "not JSON"),
        (b"data: \xff\n\n", "not JSON"),
        (b'data: {"result": "\xff"}\n\n', "not JSON"),
        (b'data: {"result": ' + b"[" * 100_000 + b"\n\n", "nested too deeply"),
        (b"data: []\n\n", "not a JSON object"),
        (b"data: 5\n\n", "not a JSON object"),
        (b"data: {}\n\n", "neither"),
        (b'data: {"result": 5}\n\n', "unusable"),
        (b'data: {"result": {"task": 5}}\n\n', "unusable"),
        (b'data: {"result": {"task": {"artifacts": {}}}}\n\n', "unusable"),
        (b'data: {"result": {"message": {"parts": [{"text": "\\ud800"}]}}}\n\n', "unusable"),
        (b'data: {"error": 5}\n\n', "error"),
        (b'data: {"error": {"code": "x", "message": {}}}\n\n', "error"),
        (b'data: {"error": {"code": -32603, "message": "no clock"}}\n\n', "no clock"),
        (b"", "ends before it says anything"),
        (event({}), "ends before it says anything"),
        (event({"task": {"id": "t" * 300, "contextId": "c"}}), "an id has over 256 characters"),
        (event(of_status("WORKING")) + event({"task": {"id": "u"}}), "tells of another task"),
        (event({"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a" * 300}}}), "an id has over"),
        (event({"message": {"parts": [{"text": ""}] * 30_000}}), "over 20000 values"),
        (event({"message": {"parts": [{"text": "x" * 1_000_001}]}}), "text has over"),
        (event({"message": {"parts": [{"url": "file:///etc/passwd"}]}}), "is not an http or https address"),
        (event({"message": {"parts": [{"raw": "eA==", "filename": "a\nb"}]}}), "is not the name of a file"),
        (event({"message": {"parts": [{"raw": "eA==", "filename": "a"}] * 21}}), "artifacts has over"),
        (b"data: " + b"x" * 1000, "ends before it says anything"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_failure(http: AioHttp, body: bytes, reason: str) -> None:
    assert reason in str(await failure(http, speaking(body)))


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b'{"result": 5}', b'{"result": {}}', b"\xff"]
)
async def test_a_whole_answer_that_cannot_be_used_is_a_failure(http: AioHttp, body: bytes) -> None:
    handler = speaking(body, "application/json", capabilities={"streaming": False})
    assert await failure(http, handler)


async def test_line_separators_in_texts_do_not_end_events(http: AioHttp) -> None:
    text = "a\u2028b\u2029c\x85d"
    body = json.dumps({"jsonrpc": "2.0", "result": of_status("COMPLETED", text)}, ensure_ascii=False).encode()
    async with serving(speaking(b"data: " + body + b"\n\n")) as base:
        assert await Bot(http, base).run() == RunResult(text)
        await http.close()


async def test_an_event_may_have_several_lines(http: AioHttp) -> None:
    body = json.dumps({"jsonrpc": "2.0", "result": of_status("COMPLETED", "noon")}, indent=1).encode()
    lines = b"".join(b"data: " + line + b"\r\n" for line in body.splitlines())
    async with serving(speaking(b": hello\n" + lines + b"\r\n")) as base:
        assert await Bot(http, base).run() == RunResult("noon")
        await http.close()


async def test_an_endless_stream_ends_with_the_bytes_that_an_answer_may_have(
    http: AioHttp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge, "MAX_ANSWER_BYTES", 100_000)

    async def handler(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return web.json_response(card(f"http://{request.host}/rpc"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            await response.write(event({"message": {}})[:-2] + b" " * 1000 + b"\n")

    failed = await failure(http, handler)
    assert "100000 bytes" in str(failed)
    assert not failed.retryable, "it would be as large again"


async def test_a_huge_card_is_not_read(http: AioHttp) -> None:
    failed = await failure(http, speaking(b"", description="x" * 1_000_001))
    assert "1000000 bytes" in str(failed)


@pytest.mark.parametrize(
    "changed",
    [
        {"supportedInterfaces": []},
        {"supportedInterfaces": 5},
        {
            "supportedInterfaces": [
                {"url": "http://x.example", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
            ]
        },
        {
            "supportedInterfaces": [
                {"url": "file:///x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            ]
        },
        {
            "supportedInterfaces": [
                {"url": "http://[", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            ]
        },
        {"supportedInterfaces": [{"url": "x", "protocolBinding": "JSONRPC", "protocolVersion": "??"}]},
        {"supportedInterfaces": [{"url": ":::", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]},
        {"supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]},
        {"skills": 5},
        {"securitySchemes": {"a": 5}},
        {"capabilities": []},
    ],
)
async def test_a_card_that_cannot_be_used_is_a_failure(http: AioHttp, changed: dict[str, Any]) -> None:
    assert await failure(http, speaking(b"", **changed))


@pytest.mark.parametrize(("status", "retryable"), [(401, False), (404, False), (429, True), (503, True)])
@pytest.mark.parametrize("body", [{}, {"error": "no"}])
async def test_a_card_that_cannot_be_read_is_told(
    http: AioHttp, status: int, retryable: bool, body: dict[str, Any]
) -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    failed = await failure(http, handler)
    assert str(failed).startswith("the agent card cannot be read:")
    assert str(failed).endswith(f"status {status}")
    assert failed.retryable is retryable
    assert not failed.begun


async def test_a_card_may_not_lead_where_the_policy_forbids(http: AioHttp) -> None:
    called: list[str] = []

    async def inside(request: web.Request) -> web.StreamResponse:
        called.append(request.path)
        return web.Response()

    async with serving(inside) as elsewhere:
        failed = await failure(http, speaking(b"", **card(f"{elsewhere}/rpc")))
    assert "OUTBOUND_POLICY forbids" in str(failed)
    assert not failed.retryable
    assert not called


async def test_another_origin_gets_no_token(serve: Serve) -> None:
    agent, _ = serve(answering("noon"))

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response(card(f"{agent.base}/rpc"))

    http = AioHttp(AddressPolicy("open"))
    async with serving(handler) as base:
        assert await Bot(http, base, "s3cret").run() == RunResult("noon")
        await http.close()
    assert agent.tokens == [""]


async def test_the_address_may_be_that_of_the_card(serve: Serve, http: AioHttp) -> None:
    agent, _ = serve(answering("noon"))
    assert await Bot(http, f"{agent.base}/.well-known/agent-card.json").run() == RunResult("noon")


async def test_the_address_of_a_user_passes_the_policy(serve: Serve, http: AioHttp) -> None:
    agent, bot = serve(answering("noon"))
    runner = A2aRunner(UserAddresses(http), bot.states, bot.tasks, A2aTarget(agent.base))
    with pytest.raises(DownstreamFailed, match="OUTBOUND_POLICY forbids"):
        await runner.run(a_request())


async def test_no_secret_that_an_agent_says_goes_on_record(serve: Serve) -> None:
    _, bot = serve(ending(TaskState.TASK_STATE_FAILED, "not with s3cret"), token="s3cret")
    with pytest.raises(DownstreamFailed, match=r"not with \*\*\*$"):
        await bot.run()


@pytest.mark.parametrize(("status", "retryable"), [(401, False), (404, False), (500, True), (503, True)])
async def test_the_status_of_a_refusal_is_told(
    serve: Serve, binding: str, status: int, retryable: bool
) -> None:
    agent, bot = serve(answering("noon"), binding=binding)
    agent.refuse = [refused(status)]
    with pytest.raises(DownstreamFailed, match=f"status {status}$") as failed:
        await bot.run()
    assert failed.value.retryable is retryable
