"""The steps of agent_protocol.feature; the judge is the client of the A2A SDK."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import httpx
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseDict
from pytest_bdd import given, parsers, scenarios, then, when

from domain.channels.answers import Choice
from domain.routing.model import Confirmation, ResultArtifact, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.listening import Listening
from tests.drivers.resource import RenderedText, Resource
from tests.drivers.streaming import PieceByPiece
from tests.drivers.ways import Rest
from tests.drivers.world import PATIENCE, World
from tests.support.waiting import until

scenarios("agent_protocol.feature")

KEY = "sk-0123456789abcdef"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
T = TypeVar("T")


class Agent:
    """Another agent with the SDK's client, whose calls run in a loop of their own. It keeps what came last: the state
    of the task, the texts of its artifacts, its files, and the words of its status."""

    def __init__(self, url: str, rest: Rest, instance_id: int) -> None:
        self.base = f"{url}/api/agent/channels/agent-protocol/{instance_id}"
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self.tasks: list[str] = []
        self.state, self.words, self.text, self.context = "", "", "", ""
        self.files: list[str] = []
        self.error = ""
        self.news = threading.Condition()
        self.resource: Any = None
        self.reading: Any = None
        self.count = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _client(self, http: httpx.AsyncClient, *, streaming: bool) -> Any:
        """The card names the public address, for which the test's port stands in."""
        card = await A2ACardResolver(http, self.base).get_agent_card()
        [interface] = card.supported_interfaces
        interface.url = self.base + interface.url.partition(self.base.partition("/api/")[2])[2]
        return ClientFactory(ClientConfig(streaming=streaming, httpx_client=http)).create(card)

    def _http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE)

    async def send(self, message: dict[str, Any], *, streaming: bool = False, at_once: bool = False) -> None:
        self.count += 1
        whole = {"messageId": f"m-{self.count}", "role": "ROLE_USER", **message}
        asked = {"message": whole, "configuration": {"returnImmediately": at_once}}
        async with self._http() as http:
            client = await self._client(http, streaming=streaming)
            async for event in client.send_message(ParseDict(asked, pb.SendMessageRequest())):
                self.take(event)

    async def call(self, method: str, request: Any, *, streams: bool = False) -> Any:
        async with self._http() as http:
            client = await self._client(http, streaming=True)
            if not streams:
                return await getattr(client, method)(request)
            async for event in client.subscribe(request):
                self.take(event)
            return None

    def attempt(self, work: Coroutine[Any, Any, T]) -> T | None:
        try:
            return self.run(work)
        except (A2AError, A2AClientError) as error:
            self.error = str(error)
            return None

    def follow(self, work: Coroutine[Any, Any, None]) -> None:
        self.reading = asyncio.run_coroutine_threadsafe(work, self._loop)

    def ask(self, text: str, **options: Any) -> None:
        self.run(self.send({"parts": [{"text": text}]}, **options))

    def take(self, event: Any) -> None:
        with self.news:
            match event.WhichOneof("payload"):
                case "task":
                    self.take_task(event.task)
                case "artifact_update":
                    update = event.artifact_update
                    if not update.append and update.artifact.artifact_id == "answer":
                        self.text = ""
                    self._take_artifact(update.artifact)
                case "status_update":
                    self._take_status(event.status_update.status)
            self.news.notify_all()

    def take_task(self, task: Any) -> None:
        self.tasks.append(task.id)
        self.context = task.context_id
        self.text, self.files = "", []
        self._take_status(task.status)
        for artifact in task.artifacts:
            self._take_artifact(artifact)

    def _take_artifact(self, artifact: Any) -> None:
        for part in artifact.parts:
            if part.url:
                self.files.append(part.filename)
            self.text += part.text

    def _take_status(self, status: Any) -> None:
        name = pb.TaskState.Name(status.state)
        self.state = name.removeprefix("TASK_STATE_").lower().replace("_", " ")
        self.words = "".join(part.text for part in status.message.parts)

    def end(self) -> None:
        if self.reading is not None:
            self.reading.result(PATIENCE)
            self.reading = None

    def look(self) -> None:
        self.take_task(self.run(self.call("get_task", pb.GetTaskRequest(id=self.tasks[-1]))))


class Held(Resource):
    """Answers once it is let; `stopped` where it is cancelled before."""

    def __init__(self, world: World, script: RenderedText) -> None:
        super().__init__(world, script)
        self.hold = asyncio.Event()
        self.stopped = threading.Event()

    async def run(self, request: RunRequest) -> RunResult:
        try:
            return await super().run(request)
        except asyncio.CancelledError:
            self.stopped.set()
            raise


@pytest.fixture
def served(world: World, rest: Rest) -> Iterator[Listening]:
    with Listening(world, rest) as listening:
        yield listening


@pytest.fixture
def agent(served: Listening, rest: Rest) -> Agent:
    body = {
        "channelId": "agent-protocol",
        "channelName": "Agent",
        "downStreamResourceId": "agent::clock",
        "config": {"apiKey": KEY, "agentName": "Clock", "skills": "Time: tells how late it is\nDate"},
    }
    return Agent(served.url, rest, rest.create("ann", body).body["instanceId"])


@given(parsers.re('an agent whose resource answers "(?P<text>[^"]*)"'))
def answering(world: World, agent: Agent, text: str) -> None:
    agent.resource = Resource(world, lambda _: RunResult(text))


@given(parsers.parse('an agent whose resource answers "{text}" with the file "{name}"'))
def with_file(world: World, agent: Agent, text: str, name: str) -> None:
    Resource(world, lambda _: RunResult(text, artifacts=(ResultArtifact(name, "text/plain", data=b"plan"),)))


@given("an agent whose resource writes piece by piece")
def growing(world: World, agent: Agent) -> None:
    agent.resource = PieceByPiece(world)


@given("an agent whose resource fails")
def failing(world: World, agent: Agent) -> None:
    def fail(_: RunRequest) -> RunResult:
        raise DownstreamFailed("it is broken", retryable=False)

    agent.resource = Resource(world, fail)


@given("an agent whose resource does not answer yet")
def waiting(world: World, agent: Agent) -> None:
    agent.resource = Held(world, lambda _: RunResult("It is noon."))


@given(parsers.parse('an agent whose resource offers "{first}" and "{second}"'))
def offering(world: World, agent: Agent, first: str, second: str) -> None:
    choices = (Choice(first, first.lower()), Choice(second, second.lower()))
    agent.resource = Resource(world, lambda _: RunResult("Which one?", choices=choices))


@given("an agent whose resource asks to use a tool")
def asking(world: World, agent: Agent) -> None:
    def script(request: RunRequest) -> RunResult:
        if request.approval:
            return RunResult("Done.")
        return RunResult("", confirmation=Confirmation("mail", {"to": "ann"}))

    agent.resource = Resource(world, script)


@then('its card names "Clock" with the skills "Time" and "Date", streaming, and a Bearer token')
def card(agent: Agent) -> None:
    body = httpx.get(f"{agent.base}/.well-known/agent-card.json", timeout=PATIENCE).json()
    made = ParseDict(body, pb.AgentCard())
    assert (made.name, [skill.name for skill in made.skills]) == ("Clock", ["Time", "Date"])
    assert made.capabilities.streaming
    assert not made.capabilities.push_notifications
    assert made.security_schemes["bearer"].http_auth_security_scheme.scheme == "Bearer"
    assert made.supported_interfaces[0].url.endswith("/rpc")
    assert KEY not in json.dumps(body)


@when(parsers.re('another agent asks "(?P<text>[^"]*)"'))
def asks(agent: Agent, text: str) -> None:
    agent.ask(text)


@when(parsers.parse('another agent asks "{text}" for a stream'))
def asks_for_stream(agent: Agent, text: str) -> None:
    agent.follow(agent.send({"parts": [{"text": text}]}, streaming=True))


@when(parsers.parse('another agent asks "{text}" without waiting'))
def asks_at_once(agent: Agent, text: str) -> None:
    agent.ask(text, at_once=True)


@when("another agent sends a text, data and a file")
def sends_parts(agent: Agent) -> None:
    parts = [
        {"text": "Look"},
        {"data": {"a": 1}},
        {"raw": "aGVsbG8=", "filename": "a.txt", "mediaType": "text/plain"},
    ]
    agent.run(agent.send({"parts": parts}))


@when("another agent sends the same message twice")
def sends_twice(agent: Agent) -> None:
    for _ in range(2):
        agent.run(agent.send({"messageId": "same", "parts": [{"text": "a"}]}))


@when("another agent sends two messages with the same id")
def sends_two(agent: Agent) -> None:
    for text in "ab":
        agent.run(agent.send({"messageId": "same", "parts": [{"text": text}]}))


@when('another agent asks "a" and "b" in one context')
def asks_in_context(agent: Agent) -> None:
    for text in "ab":
        agent.run(agent.send({"contextId": "c-1", "parts": [{"text": text}]}))


@when(parsers.parse('the other agent answers "{text}" to the task'))
def answers(agent: Agent, text: str) -> None:
    agent.end()
    task = {"taskId": agent.tasks[-1], "contextId": agent.context}
    agent.run(agent.send({**task, "parts": [{"text": text}]}))


@when(parsers.parse('the other agent tries to write "{text}" to the task'))
def tries(agent: Agent, text: str) -> None:
    task = {"taskId": agent.tasks[-1], "contextId": agent.context}
    agent.attempt(agent.send({**task, "parts": [{"text": text}]}))


@when(parsers.parse('the other agent answers "{text}" to the task twice'))
def answers_twice(agent: Agent, text: str) -> None:
    task = {"taskId": agent.tasks[-1], "contextId": agent.context, "messageId": "same"}
    for _ in range(2):
        agent.run(agent.send({**task, "parts": [{"text": text}]}))


@when("it subscribes to the task")
def subscribes(agent: Agent) -> None:
    agent.follow(agent.call("", pb.SubscribeToTaskRequest(id=agent.tasks[-1]), streams=True))


@when("the other agent cancels the task")
def cancels(agent: Agent) -> None:
    task = agent.attempt(agent.call("cancel_task", pb.CancelTaskRequest(id=agent.tasks[-1])))
    if task is not None and agent.reading is None:
        agent.take_task(task)


@when(parsers.parse("the other agent does this with an unknown task: {what}"))
def does(agent: Agent, what: str) -> None:
    calls = {
        "looking": lambda: agent.call("get_task", pb.GetTaskRequest(id=UNKNOWN)),
        "cancelling": lambda: agent.call("cancel_task", pb.CancelTaskRequest(id=UNKNOWN)),
        "subscribing": lambda: agent.call("", pb.SubscribeToTaskRequest(id=UNKNOWN), streams=True),
        "continuing": lambda: agent.send({"taskId": UNKNOWN, "contextId": "c", "parts": [{"text": "a"}]}),
    }
    agent.attempt(calls[what]())


@when("the resource has been asked")
def has_been_asked(agent: Agent) -> None:
    agent.resource.wait_for(1)


@when("the resource answers")
def resource_answers(world: World, agent: Agent) -> None:
    async def release() -> None:
        agent.resource.hold.set()

    agent.resource.wait_for(1)
    world.run(release())


@when(parsers.parse('the resource has written "{text}"'))
def has_written(agent: Agent, text: str) -> None:
    agent.resource.say(text)


@when(parsers.parse('the resource ends with "{text}"'))
def ends_with(agent: Agent, text: str) -> None:
    agent.resource.end(RunResult(text))


@then(parsers.parse('the other agent sees "{text}" before the task is done'))
def sees(agent: Agent, text: str) -> None:
    with agent.news:
        assert agent.news.wait_for(lambda: agent.text == text, PATIENCE), agent.text
    assert agent.state == "working"


@then(parsers.re('the task is "(?P<state>[^"]*)"'))
def task_is(agent: Agent, state: str) -> None:
    agent.end()
    assert agent.state == state


@then(parsers.parse('the stream ends with the state "{state}"'))
def stream_ends(agent: Agent, state: str) -> None:
    agent.end()
    assert agent.state == state


@then(parsers.parse('the task is "{state}" with the text "{text}"'))
def task_has(agent: Agent, state: str, text: str) -> None:
    agent.end()
    assert (agent.state, agent.text) == (state, text)


@then(parsers.parse('the task is "{state}" with the words "{words}"'))
def task_says(agent: Agent, state: str, words: str) -> None:
    agent.end()
    assert (agent.state, agent.words) == (state, words.replace("\\n", "\n"))


@then(parsers.parse('the task is "{state}" with words'))
def task_tells(agent: Agent, state: str) -> None:
    agent.end()
    assert agent.state == state
    assert agent.words


@then(parsers.parse('the task becomes "{state}" when it is looked at'))
def becomes(agent: Agent, state: str) -> None:
    def is_so() -> bool:
        agent.look()
        return agent.state == state

    until(is_so, f"the task is {state}")


@then("the task is still the same one")
def same_one(agent: Agent) -> None:
    assert len(set(agent.tasks)) == 1


@then(parsers.parse('it has the file "{name}"'))
def has_file(agent: Agent, name: str) -> None:
    assert agent.files == [name]


@then("both get the same task")
def same_task(agent: Agent) -> None:
    assert len(agent.tasks) == 2
    assert len(set(agent.tasks)) == 1


@then("they get two tasks")
def two_tasks(agent: Agent) -> None:
    assert len(set(agent.tasks)) == 2


@then("both messages are of one conversation")
def one_conversation(agent: Agent) -> None:
    assert [request.session_id for request in agent.resource.wait_for(2)] == ["c-1", "c-1"]


@then("the resource is stopped")
def stopped(agent: Agent) -> None:
    assert agent.resource.stopped.wait(PATIENCE)


@then(parsers.re('the resource is asked "(?P<text>[^"]*)"'))
def asked(agent: Agent, text: str) -> None:
    assert agent.resource.wait_for(1)[-1].text == text


@then(parsers.parse('the resource is asked "{text}" as a choice'))
def asked_choice(agent: Agent, text: str) -> None:
    request = agent.resource.wait_for(2)[-1]
    assert (request.text, request.choice) == (text, True)


@then("the resource was asked once")
def asked_once(agent: Agent) -> None:
    assert len(agent.resource.requests) == 1


@then("the resource gets the text with the data, and the file")
def gets_parts(agent: Agent) -> None:
    [request] = agent.resource.wait_for(1)
    assert request.text.startswith("Look\n\n```json\n")
    assert '"a": 1' in request.text
    assert [(file.name, file.mime_type) for file in request.files] == [("a.txt", "text/plain")]


@then(parsers.re('it is told "(?P<text>[^"]*)"'))
def told(agent: Agent, text: str) -> None:
    assert text in agent.error


MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}


def _request(method: str = "SendMessage", **message: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": {**MESSAGE, **message}}}
    return json.dumps(body).encode()


CALLS: dict[str, Any] = {
    "another key": {"key": "sk-somebody-elses-key"},
    "an unknown method": {"content": _request("Dance")},
    "a list of tasks": {"content": _request("ListTasks")},
    "push notifications": {"content": _request("CreateTaskPushNotificationConfig")},
    "another version": {"version": "0.3"},
    "no parts": {"content": _request(parts=[])},
    "no id": {"content": _request(messageId="")},
    "a part of nothing": {"content": _request(parts=[{"metadata": {}}])},
    "a strange task": {"content": _request(taskId="../1")},
    "no task": {"content": b'{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {}}'},
    "a batch": {"content": b"[%s]" % _request()},
    "a broken body": {"content": b'{"jsonrpc": \xff'},
    "deep JSON": {"content": b'{"jsonrpc": "2.0", "params": ' + b"[" * 100_000},
}


@when(parsers.re("another agent calls with (?P<what>.+)"), target_fixture="refused")
def calls_with(agent: Agent, what: str) -> Any:
    how = CALLS[what]
    headers = {
        "authorization": f"Bearer {how.get('key', KEY)}",
        "content-type": "application/json",
        "a2a-version": how.get("version", "1.0"),
    }
    content = how.get("content") or _request()
    return httpx.post(f"{agent.base}/rpc", content=content, headers=headers, timeout=PATIENCE).json()


@then(parsers.parse('it is told "{text}" with the code {code:d}'))
def told_code(refused: Any, text: str, code: int) -> None:
    assert refused["jsonrpc"] == "2.0"
    assert (refused["error"]["code"], text in refused["error"]["message"]) == (code, True), refused


@then("nothing is stored")
def nothing_stored(world: World) -> None:
    assert world.run(world.container.database().fetch("SELECT 1 FROM inbox")) == []


@then("the resource is asked twice")
def asked_twice(agent: Agent) -> None:
    assert len(agent.resource.requests) == 2
