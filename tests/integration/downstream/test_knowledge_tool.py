"""A model that searches knowledge bases beside its other tools, against a real server on the loopback interface."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.knowledge_tool import (
    GONE,
    MOST_PASSAGES,
    MOST_SEARCHES,
    NO_MORE,
    NOTHING,
    Knowledge,
    WithSources,
)
from adapters.outbound.resources.model_runner import MAX_ROUNDS, ModelRunner
from adapters.outbound.resources.model_settings import ChatModel, ChatTool
from domain.knowledge.model import SearchResult
from domain.routing.model import Approval, Confirmation, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.support.model_server import Server, calling, text
from tests.support.runs import Knowledge as Bases
from tests.support.runs import Remembered, a_request
from tests.support.servers import serving


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


def a_result(name: str, similarity: float = 0.5) -> SearchResult:
    said = f"The {name} needs a pressure of 5 bar."
    return SearchResult(f"chunk-{name}", said, "f" * 64, '{"page": 3}', similarity, f"{name}.pdf")


def searching(query: str = "pressure", base: object = None) -> dict[str, Any]:
    arguments = {"query": query} if base is None else {"query": query, "base": base}
    return calling("search_knowledge", arguments=json.dumps(arguments))


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {**one, "tool_calls": [*one["tool_calls"], *other["tool_calls"]]}


class Conversation:
    """Runs messages of one session through a rule that searches bases."""

    def __init__(self, http: AioHttp, bases: Bases, **rule: Any) -> None:
        self.http, self.bases, self.rule = http, bases, {"knowledge": tuple(bases.bases), **rule}
        self.history = Remembered()
        self.count = 0

    def runner(self, url: str) -> WithSources:
        tools = (ChatTool("ring", f"{url}/tools/ring"), ChatTool("look", f"{url}/tools/look", confirm=False))
        model = replace(ChatModel(f"{url}/v1", "small", tools=tools), **self.rule)
        return WithSources(ModelRunner(self.http, self.history, model, Knowledge(self.bases)))

    async def write(self, server: Server, message: str = "How much?", **changes: Any) -> RunResult:
        self.count += 1
        request: RunRequest = a_request(request_id=f"request-{self.count}", text=message, **changes)
        async with serving(server.handle) as url:
            return await self.runner(url).run(request)


def found(server: Server) -> list[list[tuple[int, str]]]:
    """Numbers and files of what the model was given, for each of its searches."""
    told = [message["content"] for message in server.messages if message["role"] == "tool"]
    whole = [json.loads(each)["passages"] for each in told if each.startswith('{"note"')]
    return [[(passage["number"], passage["file"]) for passage in passages] for passages in whole]


def told(server: Server) -> list[str]:
    return [message["content"] for message in server.messages if message["role"] == "tool"]


@pytest.fixture
def conversation(http: AioHttp) -> Conversation:
    return Conversation(http, Bases({3: [a_result("pump")]}))


async def test_passages_tell_file_and_place(conversation: Conversation) -> None:
    server = Server(searching(), text("5 bar [1]."))
    result = await conversation.write(server)

    assert result.text == "5 bar [1].\n\nSources: [1] pump.pdf, page 3"
    [citation] = result.citations
    assert (citation.chunk_id, citation.page, citation.quote) == (
        "chunk-pump",
        3,
        "The pump needs a pressure of 5 bar.",
    )
    [passage] = json.loads(told(server)[0])["passages"]
    assert passage == {
        "number": 1,
        "file": "pump.pdf",
        "place": "page 3",
        "text": "The pump needs a pressure of 5 bar.",
    }


async def test_a_rule_without_bases_is_as_ever(http: AioHttp) -> None:
    conversation = Conversation(http, Bases(), knowledge=())
    server = Server(text("5 bar [1].\n\nSources: [1] my memory"))
    result = await conversation.write(server)

    assert result == RunResult("5 bar [1].\n\nSources: [1] my memory")
    assert [tool["function"]["name"] for tool in server.asked[0]["tools"]] == ["ring", "look"]
    assert server.messages[0]["role"] == "user"


async def test_a_base_in_the_id_of_the_resource_is_searched(http: AioHttp) -> None:
    conversation = Conversation(http, Bases({12: [a_result("pump")]}), knowledge=())
    result = await conversation.write(Server(searching(), text("5 bar [1].")), resource="agent::kb-12")
    assert result.text == "5 bar [1].\n\nSources: [1] pump.pdf, page 3"


async def test_a_tool_of_the_rule_with_the_same_name_comes_first(http: AioHttp) -> None:
    tools = (ChatTool("search_knowledge", "http://127.0.0.1:9", confirm=False),)
    conversation = Conversation(http, Bases({3: [a_result("pump")]}), tools=tools)
    server = Server(text("5 bar [1]."))
    assert (await conversation.write(server)).text == "5 bar [1]."
    assert len(server.asked[0]["tools"]) == 1


class TestSeveralBases:
    @pytest.fixture
    def conversation(self, http: AioHttp) -> Conversation:
        results = {3: [a_result("pump", 0.4)], 4: [a_result("tank", 0.9), a_result("valve", 0.3)]}
        return Conversation(http, Bases(results), knowledge=(3, 4, 5))

    async def test_the_model_may_name_one(self, conversation: Conversation) -> None:
        server = Server(searching(base=4), searching(base="3"), searching(), text("[2] [1]"))
        await conversation.write(server)

        base = server.asked[0]["tools"][-1]["function"]["parameters"]["properties"]["base"]
        assert base["enum"] == [3, 4]
        assert "Base 3" in base["description"]
        assert found(server) == [
            [(1, "tank.pdf"), (2, "valve.pdf")],
            [(3, "pump.pdf")],
            [(1, "tank.pdf"), (3, "pump.pdf"), (2, "valve.pdf")],
        ]

    @pytest.mark.parametrize("base", [5, 99, "x", "", [3], True, -3, 3.5, 10**30])
    async def test_one_that_is_not_there(self, conversation: Conversation, base: object) -> None:
        server = Server(searching(base=base), text("Sorry."))
        assert (await conversation.write(server)).text == "Sorry."
        assert told(server) == ["There is no such base here. There are: 3, 4."]
        assert conversation.bases.queries == []

    async def test_only_the_best_are_given(self, conversation: Conversation) -> None:
        conversation.bases.bases[3] = [a_result(f"pump-{at}", 0.5) for at in range(20)]
        server = Server(searching(), text("Fine."))
        await conversation.write(server)
        [passages] = found(server)
        assert (len(passages), passages[0]) == (MOST_PASSAGES, (1, "tank.pdf"))


async def test_where_no_base_may_be_read_nothing_is_found(http: AioHttp) -> None:
    conversation = Conversation(http, Bases(), knowledge=(3,))
    server = Server(searching(), text("Nothing was found [1]."))
    assert (await conversation.write(server)).text == "Nothing was found."
    assert told(server) == [NOTHING]


async def test_searches_are_bounded_and_the_last_answer_has_no_tools(conversation: Conversation) -> None:
    rounds = [searching()] * (MAX_ROUNDS - 1)
    server = Server(*rounds, text("5 bar [1]."))
    result = await conversation.write(server)

    assert result.text == "5 bar [1].\n\nSources: [1] pump.pdf, page 3"
    assert len(conversation.bases.queries) == MOST_SEARCHES
    assert told(server)[MOST_SEARCHES:] == [NO_MORE] * (MAX_ROUNDS - 1 - MOST_SEARCHES)
    assert [asked.get("tool_choice") for asked in server.asked] == [None] * (MAX_ROUNDS - 1) + ["none"]


async def test_a_base_that_is_away_is_worth_another_try(conversation: Conversation) -> None:
    conversation.bases.away = True
    with pytest.raises(DownstreamFailed, match="the database is away") as caught:
        await conversation.write(Server(searching()))
    assert caught.value.retryable


async def test_a_failure_after_a_search_is_worth_another_try(conversation: Conversation) -> None:
    unusable = web.json_response({"choices": [{"message": {"role": "assistant", "content": 7}}]})
    with pytest.raises(DownstreamFailed, match="unusable") as caught:
        await conversation.write(Server(searching(), unusable))
    assert not caught.value.begun


async def test_what_is_shown_while_it_is_made_gives_way_to_what_was_checked(http: AioHttp) -> None:
    heard: list[str] = []
    conversation = Conversation(http, Bases({3: [a_result("pump")]}), stream=True)
    server = Server(searching(), text("5 bar [1][9]."))
    result = await conversation.write(server, progress=lambda text: heard.append(text()))

    assert heard[0] == "5"
    assert heard[-2:] == ["5 bar [1][9].", "5 bar [1]."]
    assert result.text == "5 bar [1].\n\nSources: [1] pump.pdf, page 3"


class TestConfirmations:
    async def test_a_search_needs_no_decision_and_its_passages_outlive_one(
        self, conversation: Conversation
    ) -> None:
        server = Server(
            searching(), calling("ring", content="5 bar [1], so I ring."), text("It rang, as [1] says.")
        )
        asked = await conversation.write(server)
        assert asked.text == "5 bar [1], so I ring.\n\nSources: [1] pump.pdf, page 3"
        assert asked.confirmation == Confirmation("ring", {"times": 12})

        approved = await conversation.write(server, approval=Approval("c1", "ring", "approved"))
        assert approved.text == "It rang, as [1] says.\n\nSources: [1] pump.pdf, page 3"
        assert found(server) == [[(1, "pump.pdf")]]

    async def test_numbers_go_on_after_the_decision(self, conversation: Conversation) -> None:
        server = Server(searching(), calling("ring"), searching(), text("[2] and [1]."))
        await conversation.write(server)
        conversation.bases.bases[3] = [a_result("tank"), a_result("pump")]
        result = await conversation.write(server, approval=Approval("c1", "ring", "rejected"))

        assert found(server) == [[(1, "pump.pdf")], [(2, "tank.pdf"), (1, "pump.pdf")]]
        assert result.text.endswith("Sources: [1] pump.pdf, page 3; [2] tank.pdf, page 3")

    async def test_what_may_not_be_read_any_more_is_not_told_again(self, conversation: Conversation) -> None:
        server = Server(searching(), calling("ring"), text("5 bar [1]."))
        await conversation.write(server)
        conversation.bases.bases.clear()
        result = await conversation.write(server, approval=Approval("c1", "ring", "approved"))

        assert result.text == "5 bar."
        assert told(server)[0] == GONE

    async def test_searches_and_other_tools_in_one_reply(self, conversation: Conversation) -> None:
        server = Server(both(searching(), calling("look")), text("5 bar [1]."))
        assert "Sources:" in (await conversation.write(server)).text
        assert told(server)[1] == "the bell rang"


class TestLaterMessages:
    async def test_passages_and_their_numbers_are_of_one_answer(self, conversation: Conversation) -> None:
        server = Server(searching(), text("5 bar [1]."), text("As I said, 5 bar [1]."))
        await conversation.write(server)
        result = await conversation.write(server, "Really?")

        assert result.text == "As I said, 5 bar."
        assert told(server) == [GONE]
        assert [message["content"] for message in server.messages if message["role"] == "assistant"] == [
            None,
            "5 bar.",
        ]

    async def test_a_new_search_counts_from_one(self, conversation: Conversation) -> None:
        server = Server(searching(), text("5 bar [1]."), searching(), text("Tank: 5 bar [1]."))
        await conversation.write(server)
        conversation.bases.bases[3] = [a_result("tank")]
        assert (await conversation.write(server, "And the tank?")).text == (
            "Tank: 5 bar [1].\n\nSources: [1] tank.pdf, page 3"
        )
