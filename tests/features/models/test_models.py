"""The steps of models.feature. The chat is one of Telegram; model and MCP server are stand-ins on the loopback
interface."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from aiohttp import web
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.conversation import APOLOGY
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.mcp_server import Workshop, mcp_serving_apart
from tests.support.model_server import Server, calling, messages_of, text, tools_of
from tests.support.platforms.telegram import Telegram
from tests.support.ports import free_port
from tests.support.servers import serving_apart

EDGE = samples.SETTING
ADA = 5550001
RULE = """
[[rule]]
match = "agent::{name}"
kind = "{kind}"
url = "{model}/v1"
model = "small"
stream = true

[[rule.mcp_server]]
name = "shop"
url = "{shop}"
confirm = ["ring"]

[[rule.mcp_server]]
name = "gone"
url = "{gone}"
"""
KINDS = {"chat completions": "chat-completions", "responses": "responses"}
TRY = "/api/agent/resources/try"
scenarios("models.feature")


@pytest.fixture(scope="module")
def model() -> Iterator[Server]:
    server = Server(tells_usage=True)
    with serving_apart(server.handle) as url:
        server.url = url
        yield server


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    with mcp_serving_apart(Workshop()) as workshop:
        yield workshop


@pytest.fixture(scope="module", autouse=True)
def rules(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model: Server,
    workshop: Workshop,
    platform_driver: PlatformDriver,
) -> None:
    gone = f"http://127.0.0.1:{free_port()}/mcp"
    texts = [
        RULE.format(name=kind, kind=kind, model=model.url, shop=workshop.url, gone=gone)
        for kind in KINDS.values()
    ]
    path = tmp_path_factory.mktemp("rules") / "resources.toml"
    path.write_text("".join(texts), "utf-8")
    request.module.SETTINGS = {**request.module.SETTINGS, "RESOURCES_FILE": str(path)}


class Chat:
    """Ada's chat with a bot, and what stands behind it."""

    def __init__(self, world: World, driver: PlatformDriver, model: Server, workshop: Workshop) -> None:
        self.world, self.driver, self.model, self.workshop = world, driver, model, workshop
        self.platform = Telegram()
        driver.show(self.platform)
        model.asked.clear()
        workshop.rung.clear()
        self.rest = Rest(world)
        self.numbers = count(1)
        self.resource = ""
        self.instance_id = 0
        self.trial: httpx.Response

    def open(self, kind: str) -> None:
        self.resource = f"agent::{kind}"
        body = {
            "channelId": "bot-messenger",
            "channelName": "Works",
            "config": dict(samples.CONFIG),
            "downStreamResourceId": self.resource,
        }
        self.instance_id = self.rest.create("ann", body).body["instanceId"]

    def write(self, words: str) -> None:
        number = next(self.numbers)
        self._post({"update_id": number, "message": {**self._message(number), "text": words}})

    def press(self, label: str) -> None:
        number = next(self.numbers)
        rows = self.questions[-1]["reply_markup"]["inline_keyboard"]
        value = next(button["callback_data"] for row in rows for button in row if button["text"] == label)
        query = {
            "id": str(number),
            "from": self._message(number)["from"],
            "chat_instance": "-1",
            "data": value,
        }
        query["message"] = self._message(30)
        self._post({"update_id": number, "callback_query": query})

    def _message(self, number: int) -> dict[str, Any]:
        ada = {"id": ADA, "is_bot": False, "first_name": "Ada"}
        chat = {"id": ADA, "type": "private", "first_name": "Ada"}
        return {"message_id": number, "date": 1780000000 + number, "chat": chat, "from": ada, "text": "?"}

    def _post(self, update: dict[str, Any]) -> None:
        call = samples.posted(update)
        reply = self.rest.call("bot-messenger", self.instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [sent for sent in self.platform.of("sendMessage") if "reply_markup" in sent]

    def shows(self, words: str) -> bool:
        sent = [*self.platform.of("sendMessage"), *self.platform.of("editMessageText")]
        return any(words in message["text"] for message in sent)


@pytest.fixture
def chat(world: World, platform_driver: PlatformDriver, model: Server, workshop: Workshop) -> Iterator[Chat]:
    chat = Chat(world, platform_driver, model, workshop)
    yield chat
    assert chat.platform.faults == []
    assert model.replies == []


@given(parsers.parse("ada writes to an agent on a model that speaks {protocol}"))
def opened(chat: Chat, protocol: str) -> None:
    chat.open(KINDS[protocol])


@given(parsers.re(r'the model answers "(?P<words>[^"]*)"'))
def answers(chat: Chat, words: str) -> None:
    chat.model.replies[:] = [text(words)]


@given(parsers.parse('the model answers "{first}" and then "{second}"'))
def answers_twice(chat: Chat, first: str, second: str) -> None:
    chat.model.replies[:] = [text(first), text(second)]


@given(parsers.parse('the server of the model refuses with "{code}" and "{words}"'))
def refuses(chat: Chat, code: str, words: str) -> None:
    error = {"code": code, "message": words}
    chat.model.replies[:] = [web.json_response({"error": error}, status=404)]


@given(parsers.parse('the model wants to ring the bell {times:d} times, and then answers "{words}"'))
@when(parsers.parse('the model wants to ring the bell {times:d} times, and then answers "{words}"'))
def wants_to_ring(chat: Chat, times: int, words: str) -> None:
    chat.model.replies[:] = [calling("shop__ring", arguments=f'{{"times": {times}}}'), text(words)]


@given(parsers.parse('the model wants to measure, and then answers "{words}"'))
def wants_to_measure(chat: Chat, words: str) -> None:
    chat.model.replies[:] = [calling("shop__measure", arguments="{}"), text(words)]


@when(parsers.parse('ada writes "{words}"'))
def writes(chat: Chat, words: str) -> None:
    chat.write(words)


@when(parsers.parse('ada presses "{label}"'))
def presses(chat: Chat, label: str) -> None:
    chat.press(label)


@when("the rules are read anew")
def read_anew(chat: Chat) -> None:
    async def read() -> None:
        assert chat.world.container.resources().rules.reload() is None

    chat.world.run(read())


@when(parsers.parse('ann tries the agent with "{words}"'))
def tries(chat: Chat, words: str) -> None:
    body = {"downStreamResourceId": chat.resource, "text": words, "ask": True}
    chat.trial = chat.rest.request("POST", TRY, "ann", json=body)


@when(parsers.parse('ada reads "{words}"'))
@then(parsers.parse('ada reads "{words}"'))
def reads(chat: Chat, words: str) -> None:
    assert chat.driver.wait_until(lambda: chat.shows(words)), chat.platform.calls
    chat.world.settle()


@then("ada reads that no answer could be got")
def reads_apology(chat: Chat) -> None:
    reads(chat, APOLOGY)


@then(parsers.parse('the health of the channel says "{words}"'))
def health_says(chat: Chat, words: str) -> None:
    assert words in str(chat.rest.health("ann", chat.instance_id).body)


@then(parsers.parse('ada is asked about the tool "{tool}"'))
def is_asked(chat: Chat, tool: str) -> None:
    assert chat.driver.wait_until(lambda: bool(chat.questions)), chat.platform.calls
    chat.world.settle()
    assert tool in chat.questions[-1]["text"].replace("\\", "")


@then("the bell has not rung")
def has_not_rung(chat: Chat) -> None:
    assert chat.workshop.rung == []


@then(parsers.parse("the bell rang once, {times:d} times in a row"))
def rang_once(chat: Chat, times: int) -> None:
    assert chat.workshop.rung == [times]


@then("the bell rang twice, without another question")
def rang_twice(chat: Chat) -> None:
    assert chat.workshop.rung == [3, 2]
    assert len(chat.questions) == 1


@then("ada was not asked")
def not_asked(chat: Chat) -> None:
    assert chat.questions == []


@then("the model was given what the tool answered")
def given_the_result(chat: Chat) -> None:
    assert chat.model.messages[-1]["content"] == "It rang 3 times."


@then(parsers.re(r'the model was given "(?P<words>[^"]*)"'))
def was_given(chat: Chat, words: str) -> None:
    assert chat.model.messages[-1]["content"] == words


@then(parsers.parse('the model was given "{first}", "{second}" and "{third}"'))
def was_given_all(chat: Chat, first: str, second: str, third: str) -> None:
    contents = [message["content"] for message in messages_of(chat.model.asked[-1])]
    assert contents == [first, second, third]


@then(parsers.parse('the model was offered tools of "{shop}", and none of "{gone}"'))
def was_offered(chat: Chat, shop: str, gone: str) -> None:
    servers = {tool["name"].partition("__")[0] for tool in tools_of(chat.model.asked[-1])}
    assert servers == {shop}
    assert gone not in servers


@then(parsers.parse('the trial tells "{words}", {read:d} tokens read and {written:d} written'))
def trial_tells(chat: Chat, words: str, read: int, written: int) -> None:
    answer = chat.trial.json()["answer"]
    assert (answer["text"], answer["error"]) == (words, "")
    assert answer["usage"] == {"inputTokens": read, "outputTokens": written}
