"""Agents written with the SDK, asked as its users ask theirs in tests."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from switchboard_sdk import (
    Agent,
    Answer,
    Button,
    Card,
    CardField,
    Choice,
    Confirmation,
    Contact,
    Field,
    File,
    Form,
    Location,
    Message,
    TryLater,
    Usage,
)
from switchboard_sdk._runs import Runs
from switchboard_sdk.messages import read_message
from switchboard_sdk.testing import AgentTest

from adapters.outbound.resources.messages import request_json, result_of
from domain.channels.rich import FieldType
from domain.routing.model import Confirmation as AskedConfirmation
from domain.routing.model import Usage as ReadUsage
from tests.support.runs import a_request


def agent_of(handler: Any, **options: Any) -> Agent:
    agent = Agent(token=None, **options)
    agent.message(handler)
    return agent


async def post(agent: Agent, body: Any = None, **options: Any) -> httpx.Response:
    transport = httpx.ASGITransport(agent)
    async with httpx.AsyncClient(transport=transport, base_url="http://agent") as client:
        return await client.post("/run", json=body or request_json(a_request()), **options)


def test_pieces_that_are_yielded_are_streamed_and_joined() -> None:
    async def answer(message: Message) -> AsyncIterator[str]:
        for word in message.text.split():
            yield word + " "
            await asyncio.sleep(0.01)

    with AgentTest(agent_of(answer)) as conversation:
        reply = conversation.ask("one two three")

    assert reply.text == "one two three "
    assert "".join(reply.pieces) in reply.text
    assert reply.pieces[0] == "one "


async def returning(message: Message) -> str:
    return f"async {message.text}"


def blocking(message: Message) -> str:
    assert threading.current_thread() is not threading.main_thread()
    return f"blocking {message.text}"


def blocking_pieces(message: Message) -> Iterator[str]:
    yield "blocking "
    yield message.text


@pytest.mark.parametrize("handler", [returning, blocking, blocking_pieces])
async def test_a_handler_may_be_any_kind_of_function(handler: Any) -> None:
    reply = await AgentTest(agent_of(handler)).ask_async("hello")
    assert reply.text == f"{handler.__name__.replace('returning', 'async').replace('_pieces', '')} hello"


class Assistant:
    """Handlers that are no functions with `async`, but return what such a function returns."""

    async def __call__(self, message: Message) -> str:
        return f"object {message.text}"


async def pieces(message: Message) -> AsyncIterator[str]:
    yield "object "
    yield message.text


def decorated(handler: Any) -> Any:
    @functools.wraps(handler)
    def wrapper(message: Message) -> Any:
        return handler(message)

    return wrapper


HANDLERS = [Assistant(), decorated(Assistant()), decorated(pieces), functools.partial(pieces)]


@pytest.mark.parametrize("handler", HANDLERS)
async def test_what_a_handler_returns_decides_how_it_is_read(handler: Any) -> None:
    reply = await AgentTest(agent_of(handler)).ask_async("hello")
    assert reply.text == "object hello"


async def test_a_handler_that_stops_an_iteration_has_failed() -> None:
    def first_of_none(message: Message) -> str:
        return next(iter([]))

    reply = await AgentTest(agent_of(first_of_none, timeout=20)).ask_async("hello")
    assert reply.json == {"error": "the agent failed"}


async def test_an_agent_without_text_answers_nothing() -> None:
    async def nothing(message: Message) -> None:
        return None

    response = await post(agent_of(nothing))
    assert (response.status_code, response.content) == (204, b"")


async def test_each_part_of_an_answer_is_read_by_switchboard() -> None:
    async def everything(message: Message) -> AsyncIterator[Any]:
        yield "See: "
        yield File("note.txt", b"hi")
        yield File("clock.png", url="https://example.org/clock.png")
        yield [Choice("Small", "size-s"), Choice("Large")]
        yield Button("Open", "https://example.org")
        yield Card("Engine", "It **runs**.", fields=[CardField("Price", "20 EUR")])
        yield Location(0.0, 9.5, name="Gulf")
        yield Contact("Ada", phones=["+49 30 1"])
        yield Form(
            "Order",
            [
                Field("size", "Size", "choice", required=True, options=[Choice("Small", "s")]),
                Field("count", "How many", "number", min=0, max=9),
                Field("gift", "A gift?", "boolean", default=False),
            ],
            name="order",
        )
        yield Usage(812, 64)
        yield Answer("all of it.", labels=["vip"], remove_labels=["new"], assign="", close=True)

    value = (await AgentTest(agent_of(everything)).ask_async("show")).json
    result = result_of(value)

    assert result.text == "See: all of it."
    assert [(artifact.name, artifact.mime_type, artifact.data) for artifact in result.artifacts] == [
        ("note.txt", "text/plain", b"hi"),
        ("clock.png", "image/png", None),
    ]
    assert [(choice.label, choice.value) for choice in result.choices] == [("Small", "size-s"), ("Large", "")]
    assert result.usage == ReadUsage(812, 64)
    assert result.rich is not None
    assert result.rich.location is not None
    assert result.rich.form is not None
    assert (result.rich.buttons[0].url, result.rich.cards[0].fields[0].value) == (
        "https://example.org",
        "20 EUR",
    )
    assert (result.rich.location.latitude, result.rich.location.name) == (0.0, "Gulf")
    assert [field.type for field in result.rich.form.fields] == [
        FieldType.CHOICE,
        FieldType.NUMBER,
        FieldType.BOOLEAN,
    ]
    assert (result.rich.form.fields[1].min, result.rich.form.fields[2].default) == (0, False)
    assert result.change is not None
    assert (result.change.assign, result.change.add_labels, result.change.close) == ("", ("vip",), True)


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_a_tool_is_used_only_after_a_person_approved_it(decision: Any) -> None:
    used = []

    async def answer(message: Message) -> str | Confirmation:
        if message.rejects("delete_notes"):
            return "Then they stay."
        if not message.allows("delete_notes"):
            return Confirmation("delete_notes", {"olderThanDays": 30})
        used.append(message.text)
        return "Deleted."

    with AgentTest(agent_of(answer)) as conversation:
        asked = conversation.ask("delete the notes")
        assert result_of(asked.json).confirmation == AskedConfirmation("delete_notes", {"olderThanDays": 30})
        assert used == []
        decided = conversation.decide(decision)

    assert decided.text == ("Deleted." if decision == "approved" else "Then they stay.")
    assert used == (["delete the notes"] if decision == "approved" else [])


def test_a_tool_that_is_approved_for_the_session_is_not_asked_for_again() -> None:
    async def answer(message: Message) -> str | Confirmation:
        return "Sent." if message.allows("send_mail") else Confirmation("send_mail")

    with AgentTest(agent_of(answer)) as conversation:
        conversation.ask("send it")
        assert conversation.decide("approved_for_session").text == "Sent."
        assert conversation.ask("send another").text == "Sent."
        with pytest.raises(ValueError, match="no decision"):
            conversation.decide("approved")


def test_the_values_of_a_form_come_back() -> None:
    async def answer(message: Message) -> str | Form:
        if message.form is None:
            return Form("Order", [Field("size", "Size")], name="order")
        return f"{message.form.name}: {message.form.values['size']}"

    with AgentTest(agent_of(answer)) as conversation:
        assert conversation.ask("order").json["form"]["title"] == "Order"
        assert conversation.fill_in({"size": "s"}, "order").text == "order: s"


async def test_a_form_is_filled_in_from_a_coroutine() -> None:
    def answer(message: Message) -> str:
        return str(message.form and message.form.values)

    reply = await AgentTest(agent_of(answer)).fill_in_async({"count": 3}, "order")
    assert reply.text == "{'count': 3}"


async def test_a_request_that_comes_again_gets_the_same_answer() -> None:
    runs = 0  # of the handler
    release = asyncio.Event()

    async def slow(message: Message) -> str:
        nonlocal runs
        runs += 1
        await release.wait()
        return f"run {runs}"

    agent = agent_of(slow)
    first, second = asyncio.create_task(post(agent)), asyncio.create_task(post(agent))
    await asyncio.sleep(0)
    release.set()
    answers = [(await first).json(), (await second).json(), (await post(agent)).json()]

    assert answers == [{"text": "run 1"}] * 3
    other = request_json(a_request(request_id="another"))
    assert (await post(agent, other)).json() == {"text": "run 2"}


async def test_a_run_that_failed_is_tried_again() -> None:
    outcomes = [RuntimeError("s3cret"), TryLater(7)]

    async def failing(message: Message) -> str:
        if outcomes:
            raise outcomes.pop(0)
        return "at last"

    agent = agent_of(failing)
    failed = await post(agent)
    assert (failed.status_code, failed.json()) == (500, {"error": "the agent failed"})
    later = await post(agent)
    assert (later.status_code, later.headers["retry-after"]) == (503, "7")
    assert (await post(agent)).json() == {"text": "at last"}


async def test_what_is_no_answer_is_a_failure() -> None:
    async def wrong(message: Message) -> Any:
        return {"text": "a dictionary"}

    async def unserialisable(message: Message) -> Any:
        return Confirmation("ring", {"when": object()})

    for handler in (wrong, unserialisable):
        assert (await post(agent_of(handler))).status_code == 500


async def test_a_stream_that_fails_has_no_last_event() -> None:
    async def failing(message: Message) -> AsyncIterator[str]:
        yield "half"
        await asyncio.sleep(0.01)
        raise RuntimeError("s3cret")

    response = await post(agent_of(failing), headers={"Accept": "text/event-stream"})
    assert response.text == 'data: {"textDelta":"half"}\n\n: the agent failed\n\n'


async def test_a_caller_that_reads_no_events_gets_one_object() -> None:
    async def answer(message: Message) -> AsyncIterator[str]:
        yield "a"
        await asyncio.sleep(0.01)
        yield "b"

    response = await post(agent_of(answer), headers={"Accept": "application/json"})
    assert response.json() == {"text": "ab"}


async def test_a_handler_that_takes_too_long_is_ended() -> None:
    ended = asyncio.Event()

    async def endless(message: Message) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    assert (await post(agent_of(endless, timeout=0.05))).status_code == 500
    assert ended.is_set()


async def test_more_runs_than_allowed_are_told_to_come_later() -> None:
    release = asyncio.Event()

    async def slow(message: Message) -> str:
        await release.wait()
        return "done"

    agent = agent_of(slow, max_runs=1)
    first = asyncio.create_task(post(agent))
    await asyncio.sleep(0.01)
    refused = await post(agent, request_json(a_request(request_id="another")))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    release.set()
    assert (await first).json() == {"text": "done"}


async def test_the_memory_of_answers_is_bounded() -> None:
    async def answer(message: Message) -> str:
        return message.text

    runs = Runs(most=10, most_remembered=2, most_remembered_size=100)

    async def remembered_after(name: str, text: str) -> list[str]:
        message = read_message(request_json(a_request(request_id=name, text=text)))
        task = runs.start(answer, message, 60).task
        assert task is not None
        await task
        return [name for name in "abcd" if runs.find(name)]

    assert await remembered_after("a", "short") == ["a"]
    assert await remembered_after("b", "short") == ["a", "b"]
    assert await remembered_after("c", "short") == ["b", "c"]
    assert await remembered_after("d", "x" * 80) == ["d"]


def test_an_agent_has_one_handler_and_a_token_that_is_not_empty() -> None:
    agent = agent_of(returning)
    with pytest.raises(ValueError, match="already"):
        agent.message(returning)
    with pytest.raises(ValueError, match="token is empty"):
        Agent(token="")
    with pytest.raises(ValueError, match="either data or url"):
        File("a.txt")
