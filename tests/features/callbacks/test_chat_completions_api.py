"""The steps of chat_completions_api.feature; the judge is OpenAI's own client."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import httpx
import openai
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain import call_streams
from domain.channels.answers import Choice
from domain.channels.provenance import Usage
from domain.routing.model import ResultArtifact, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.listening import Listening
from tests.drivers.resource import Resource
from tests.drivers.streaming import PieceByPiece
from tests.drivers.ways import WORDS, Rest
from tests.drivers.world import PATIENCE, World
from tests.support.waiting import until

scenarios("chat_completions_api.feature")

SETTINGS = {"MAX_MESSAGE_FILE_MB": "1", "MAX_WEBHOOK_BODY_KB": "2048"}
TOO_LARGE = "Sorry, I could not read big.bin: a file may be 1 MB at most.\n\n"
KEY = "sk-0123456789abcdef"
PICTURE = "data:image/png;base64,iVBORw0KGgo="


class Program:
    """A program with OpenAI's clients; `seen` is what a stream has brought so far."""

    def __init__(self, url: str, rest: Rest, instance_id: int) -> None:
        self.rest, self.instance_id = rest, instance_id
        self.base = f"{url}/api/agent/channels/chat-completions-api/{instance_id}/v1"
        self.client = openai.OpenAI(base_url=self.base, api_key=KEY, timeout=PATIENCE)
        self.completions: list[Any] = []
        self.error: openai.APIError | None = None
        self.seen = ""
        self.usage: Any = None
        self.news = threading.Condition()
        self.reader: threading.Thread | None = None

    def ask(self, text: str, **options: Any) -> None:
        self.call([{"role": "user", "content": text}], **options)

    def call(self, messages: Any, **options: Any) -> None:
        try:
            made = self.client.chat.completions.create(model="any", messages=messages, **options)
            self.completions.append(made)
        except openai.APIError as error:
            self.error = error

    def follow(self, text: Any, **options: Any) -> None:
        self.reader = threading.Thread(target=self._read, args=(text,), kwargs=options, daemon=True)
        self.reader.start()

    def _read(self, text: Any, **options: Any) -> None:
        try:
            stream = self.client.chat.completions.create(
                model="any", messages=[{"role": "user", "content": text}], stream=True, **options
            )
            for chunk in stream:
                with self.news:
                    self.usage = chunk.usage or self.usage
                    self.seen += "".join(choice.delta.content or "" for choice in chunk.choices)
                    self.news.notify_all()
        except openai.APIError as error:
            self.error = error

    def end(self) -> str:
        assert self.reader
        self.reader.join(PATIENCE)
        assert not self.reader.is_alive()
        return self.seen

    @property
    def text(self) -> str:
        assert self.error is None, self.error
        content = self.completions[-1].choices[0].message.content
        assert isinstance(content, str)
        return content


@pytest.fixture
def served(world: World, rest: Rest) -> Iterator[Listening]:
    with Listening(world, rest) as listening:
        yield listening


def made(served: Listening, rest: Rest) -> Program:
    body = {
        "channelId": "chat-completions-api",
        "channelName": "Endpoint",
        "downStreamResourceId": "agent::clock",
        "config": {"apiKey": KEY, "modelName": "clock"},
    }
    return Program(served.url, rest, rest.create("ann", body).body["instanceId"])


@given(parsers.re('an endpoint whose resource answers "(?P<text>[^"]*)"'), target_fixture="program")
def answering(world: World, served: Listening, rest: Rest, text: str) -> Program:
    program = made(served, rest)
    program.resource = Resource(world, lambda _: RunResult(text))  # type: ignore[attr-defined]
    return program


@given(
    parsers.parse('an endpoint whose resource answers "{text}" and takes {read:d} and {written:d} tokens'),
    target_fixture="program",
)
def counting(world: World, served: Listening, rest: Rest, text: str, read: int, written: int) -> Program:
    Resource(world, lambda _: RunResult(text, usage=Usage(read, written)))
    return made(served, rest)


@given(
    parsers.parse('an endpoint whose resource answers "{text}" with the file "{name}"'),
    target_fixture="program",
)
def with_file(world: World, served: Listening, rest: Rest, text: str, name: str) -> Program:
    Resource(world, lambda _: RunResult(text, artifacts=(ResultArtifact(name, "text/plain", data=b"plan"),)))
    return made(served, rest)


@given(parsers.parse('an endpoint whose resource offers "{first}" and "{second}"'), target_fixture="program")
def offering(world: World, served: Listening, rest: Rest, first: str, second: str) -> Program:
    choices = (Choice(first, first.lower()), Choice(second, second.lower()))
    program = made(served, rest)
    program.resource = Resource(world, lambda _: RunResult("Which one?", choices=choices))  # type: ignore[attr-defined]
    return program


@given("an endpoint whose resource fails", target_fixture="program")
def failing(world: World, served: Listening, rest: Rest) -> Program:
    def fail(_: RunRequest) -> RunResult:
        raise DownstreamFailed("it is broken", retryable=False)

    program = made(served, rest)
    program.resource = Resource(world, fail)  # type: ignore[attr-defined]
    return program


@given("an endpoint whose resource writes piece by piece", target_fixture="program")
def growing(world: World, served: Listening, rest: Rest) -> Program:
    program = made(served, rest)
    program.pieces = PieceByPiece(world)  # type: ignore[attr-defined]
    return program


@given(
    "an endpoint whose resource does not answer yet, and which takes 1 call at a time",
    target_fixture="program",
)
def busy(world: World, served: Listening, rest: Rest, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(call_streams, "MOST_OF_INSTANCE", 1)
    resource = Resource(world, lambda _: RunResult("Yes."))
    resource.hold = asyncio.Event()
    program = made(served, rest)
    program.resource = resource  # type: ignore[attr-defined]
    return program


@given(
    "an endpoint whose resource writes piece by piece, and which takes 1 call at a time",
    target_fixture="program",
)
def growing_alone(world: World, served: Listening, rest: Rest, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(call_streams, "MOST_OF_INSTANCE", 1)
    monkeypatch.setattr(call_streams, "LOOK_AGAIN", 0.1)
    return growing(world, served, rest)


@when(parsers.parse('a program asks "{text}" for a stream with an idempotency key'))
def asks_with_key(program: Program, text: str) -> None:
    message = {"role": "user", "content": text}
    program.stream = program.client.chat.completions.create(  # type: ignore[attr-defined]
        model="any", messages=[message], stream=True, extra_headers={"Idempotency-Key": "k-1"}
    )


@when(parsers.parse('the program leaves once it has seen "{text}"'))
def leaves(program: Program, text: str) -> None:
    stream = program.stream  # type: ignore[attr-defined]
    for chunk in stream:
        program.seen += chunk.choices[0].delta.content or ""
        if program.seen == text:
            break
    stream.close()


@then(parsers.parse('the program gets "{text}" with the same idempotency key'))
def gets_with_key(program: Program, text: str) -> None:
    """As soon as its first call is no longer counted."""

    def is_there() -> bool:
        program.error = None
        program.ask("How late is it?", extra_headers={"Idempotency-Key": "k-1"})
        return program.error is None

    until(is_there, "the answer is there")
    assert program.text == text


@when(parsers.re('a program asks "(?P<text>[^"]*)"'))
def asks(program: Program, text: str) -> None:
    program.ask(text)


@when(parsers.parse('a program asks "{text}" with the asynchronous client'))
def asks_async(program: Program, text: str) -> None:
    async def ask() -> Any:
        async with openai.AsyncOpenAI(base_url=program.base, api_key=KEY, timeout=PATIENCE) as client:
            return await client.chat.completions.create(
                model="any", messages=[{"role": "user", "content": text}]
            )

    program.completions.append(asyncio.run(ask()))


@when(parsers.parse('a program asks "{text}" in the conversation "{session}"'))
def asks_in(program: Program, text: str, session: str) -> None:
    program.ask(text, user=session)


@when(parsers.parse('a program asks "{text}" for a stream'))
def asks_for_stream(program: Program, text: str) -> None:
    program.follow(text)


@when(parsers.parse('a program asks "{text}" for a stream with usage'))
def asks_for_usage(program: Program, text: str) -> None:
    program.follow(text, stream_options={"include_usage": True})


@when(parsers.parse('the resource has written "{text}"'))
def has_written(program: Program, text: str) -> None:
    program.pieces.say(text)  # type: ignore[attr-defined]


@when(parsers.parse('the resource ends with "{text}"'))
def ends_with(program: Program, text: str) -> None:
    program.pieces.end(RunResult(text))  # type: ignore[attr-defined]


@when("ann deletes the instance")
def deletes(program: Program) -> None:
    assert program.rest.delete("ann", program.instance_id).outcome == "done"


@when("two programs ask at the same time", target_fixture="statuses")
def two_at_once(world: World, program: Program) -> list[int]:
    body = {"messages": [{"role": "user", "content": "a"}]}
    headers = {"authorization": f"Bearer {KEY}"}

    def post() -> int:
        url = f"{program.base}/chat/completions"
        return httpx.post(url, json=body, headers=headers, timeout=PATIENCE).status_code

    resource = program.resource  # type: ignore[attr-defined]
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(post), pool.submit(post)]
        next(as_completed(calls, PATIENCE))
        world.run(_release(resource.hold))
        return [call.result() for call in calls]


async def _release(hold: asyncio.Event) -> None:
    hold.set()


@when(parsers.re('a program asks "a" and "b" with the same (?P<where>.+)'))
def asks_twice(program: Program, where: str) -> None:
    options: dict[str, Any] = {
        "user": {"user": "u-1"},
        "metadata.session_id": {"metadata": {"session_id": "s-1"}},
        "header x-session-id": {"extra_headers": {"X-Session-Id": "h-1"}},
    }[where]
    program.ask("a", **options)
    program.ask("b", **options)


@when('a program asks "a" and "b"')
def asks_both(program: Program) -> None:
    program.ask("a")
    program.ask("b")


@when('a program asks "a" twice with the same idempotency key')
def asks_again(program: Program) -> None:
    for _ in range(2):
        program.ask("a", extra_headers={"Idempotency-Key": "k-1"})


@when(parsers.parse('a program asks "{text}" after these messages'))
def asks_after(program: Program, text: str, datatable: list[list[str]]) -> None:
    earlier = [{"role": role, "content": content} for role, content in datatable]
    program.call([*earlier, {"role": "user", "content": text}])


@when(parsers.parse('a program asks "{text}" after {count:d} messages'))
def asks_after_many(program: Program, text: str, count: int) -> None:
    earlier = [{"role": "user", "content": f"message {number}"} for number in range(count)]
    program.call([*earlier, {"role": "user", "content": text}])


@when("a program sends a file that is too large, for a stream")
def sends_large(program: Program) -> None:
    data = base64.b64encode(bytes(1_100_000)).decode()
    program.follow([{"type": "file", "file": {"filename": "big.bin", "file_data": data}}])


@when(parsers.parse('a program asks "{text}" with a picture as data'))
def asks_with_picture(program: Program, text: str) -> None:
    program.call([{"role": "user", "content": _with_picture(text, PICTURE)}])


@when(parsers.parse('a program asks "{text}" with a picture at "{url}"'))
def asks_with_address(program: Program, text: str, url: str) -> None:
    program.call([{"role": "user", "content": _with_picture(text, url)}])


def _with_picture(text: str, url: str) -> list[Any]:
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


@when("a program asks with a text of 900 KB")
def asks_long(program: Program) -> None:
    program.ask("word " * 180_000)


@when("a program asks for the models")
def asks_for_models(program: Program) -> None:
    program.completions.append(program.client.models.list())


USER = {"role": "user", "content": "Hello"}
CALLS: dict[str, dict[str, Any]] = {
    "another key": {"key": "sk-somebody-elses-key"},
    "tools": {"body": {"tools": [{"type": "function", "function": {"name": "f"}}]}},
    "two answers wanted": {"body": {"n": 2}},
    "an answer in JSON wanted": {"body": {"response_format": {"type": "json_object"}}},
    "no message": {"body": {"messages": []}},
    "an assistant's last message": {"body": {"messages": [USER, {"role": "assistant", "content": "Hi"}]}},
    "an empty message": {"body": {"messages": [{"role": "user", "content": " "}]}},
    "a file by its id": {
        "body": {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]}
    },
    "deep JSON": {"content": b'{"messages": ' + b"[" * 100_000},
    "a broken body": {"content": b'{"messages": \xff\xfe'},
    "a path that is unknown": {"path": "/embeddings"},
    "an unknown instance": {"instance": 999_999},
}


@when(parsers.re("a program calls with (?P<what>.+)"), target_fixture="refused")
def calls_with(program: Program, what: str) -> httpx.Response:
    how = CALLS[what]
    base = program.base
    if "instance" in how:
        base = base.replace(f"/{program.instance_id}/", f"/{how['instance']}/")
    content = how.get("content") or json.dumps({"messages": [USER], **how.get("body", {})}).encode()
    headers = {"authorization": f"Bearer {how.get('key', KEY)}", "content-type": "application/json"}
    url = base + how.get("path", "/chat/completions")
    return httpx.post(url, content=content, headers=headers, timeout=PATIENCE)


@then(parsers.parse('the call is "{outcome}", as the protocol says it, with the text "{text}"'))
def told_of(refused: httpx.Response, outcome: str, text: str) -> None:
    assert WORDS[refused.status_code] == outcome, refused.text
    error = refused.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert text in error["message"]


@then("nothing is stored")
def nothing_stored(world: World) -> None:
    assert world.run(world.container.database().fetch("SELECT 1 FROM inbox")) == []


@then(parsers.re('the resource is asked "(?P<text>[^"]*)"'))
def asked(program: Program, text: str) -> None:
    assert program.resource.wait_for(1)[-1].text == text  # type: ignore[attr-defined]


@then(parsers.parse('the resource is asked "{text}" as a choice'))
def asked_choice(program: Program, text: str) -> None:
    request = program.resource.wait_for(2)[-1]  # type: ignore[attr-defined]
    assert (request.text, request.choice) == (text, True)


@then("the resource was asked once")
def asked_once(program: Program) -> None:
    assert len(program.resource.requests) == 1  # type: ignore[attr-defined]


@then(parsers.re('the program gets "(?P<text>[^"]*)"'))
def gets(program: Program, text: str) -> None:
    assert program.text == text
    completion = program.completions[-1]
    assert (completion.object, completion.model) == ("chat.completion", "clock")
    assert completion.id.startswith("chatcmpl-")
    assert completion.choices[0].finish_reason == "stop"


@then(parsers.parse('the program gets a text that begins with "{text}"'))
def begins(program: Program, text: str) -> None:
    assert program.text.startswith(text)


@then(parsers.parse('the program gets a text that ends with "{text}"'))
def ends(program: Program, text: str) -> None:
    assert program.text.endswith(text.replace("\\n", "\n"))


@then(parsers.parse('it ends with a link to "{name}"'))
def links(program: Program, name: str) -> None:
    last = program.text.splitlines()[-1]
    url = last.partition("](")[2].rstrip(")")
    assert url.endswith(name)
    assert "/api/agent/files/" in url


@then(parsers.parse("the program is told of {count:d} tokens"))
def told_tokens(program: Program, count: int) -> None:
    if program.reader:
        program.end()
    usage = program.usage or program.completions[-1].usage
    assert usage.total_tokens == count


@then(parsers.parse('the program is told that it "{outcome}"'))
def told_error(program: Program, outcome: str) -> None:
    assert isinstance(program.error, openai.APIStatusError)
    assert WORDS[program.error.status_code] == outcome


@then(parsers.parse('the program sees "{text}" before the answer is done'))
def sees(program: Program, text: str) -> None:
    with program.news:
        assert program.news.wait_for(lambda: program.seen == text, PATIENCE), program.seen


@then(parsers.parse('the program sees "{text}" after the notice about the file, before the answer is done'))
def sees_after(program: Program, text: str) -> None:
    sees(program, TOO_LARGE + text)


@then(parsers.parse('the program has seen the notice about the file, and "{text}"'))
def has_seen_after(program: Program, text: str) -> None:
    has_seen(program, TOO_LARGE + text)


@then(parsers.parse('the program has seen "{text}"'))
def has_seen(program: Program, text: str) -> None:
    assert program.end() == text.replace("\\n", "\n")
    assert program.error is None


@then("the stream ends with an error")
def ends_with_error(program: Program) -> None:
    program.end()
    assert isinstance(program.error, openai.APIError)


@then("one of them is told to come again later")
def one_refused(statuses: list[int]) -> None:
    assert sorted(statuses) == [200, 429]


@then("both messages are of one conversation")
def one_conversation(program: Program) -> None:
    first, second = program.resource.wait_for(2)  # type: ignore[attr-defined]
    assert first.session_id == second.session_id


@then("they are of two conversations")
def two_conversations(program: Program) -> None:
    first, second = program.resource.wait_for(2)  # type: ignore[attr-defined]
    assert first.session_id != second.session_id


@then("the resource gets them as what was said before")
def said_before(program: Program, world: World) -> None:
    [request] = program.resource.wait_for(1)  # type: ignore[attr-defined]
    assert request.text == "And tomorrow?"
    assert [(said.author, said.text) for said in request.thread] == [
        ("system", "Be brief."),
        ("user", "Will it rain today?"),
        ("assistant", "No."),
    ]


@then(parsers.parse("the resource gets the {count:d} latest as what was said before"))
def latest(program: Program, count: int) -> None:
    [request] = program.resource.wait_for(1)  # type: ignore[attr-defined]
    assert [said.text for said in request.thread] == [f"message {n}" for n in range(10_000 - count, 10_000)]


@then("both calls get the same answer")
def same_answer(program: Program) -> None:
    first, second = program.completions
    assert (first.id, first.choices) == (second.id, second.choices)


@then(parsers.parse('the resource gets a file of the type "{kind}"'))
def gets_file(program: Program, kind: str) -> None:
    [request] = program.resource.wait_for(1)  # type: ignore[attr-defined]
    assert [file.mime_type for file in request.files] == [kind]


@then("the resource gets no file")
def gets_no_file(program: Program) -> None:
    [request] = program.resource.wait_for(1)  # type: ignore[attr-defined]
    assert request.files == ()


@then(parsers.parse('it sees the model "{name}" alone'))
def sees_model(program: Program, name: str) -> None:
    assert [model.id for model in program.completions[-1].data] == [name]
