"""The steps of confirmations.feature. The chat is a Telegram group, which has buttons and several senders."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.routing.conversation import APOLOGY
from domain.routing.model import Confirmation, RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.telegram import Telegram
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("confirmations.feature")

SENDERS = {"ada": 5550001, "bob": 5550002}
GROUP, OTHER_GROUP = -1001, -1002
TOOL, PARAMETERS = "open_valve", {"pressure": "12 bar", "steps": [1, 2]}


@dataclass
class Chat:
    """The group, its bot, and the resource behind it."""

    world: World
    driver: PlatformDriver
    platform: Telegram
    resource: Resource
    instance_id: int = 0
    tool: str = TOOL
    always_asks: bool = False
    asks_next: str | None = None
    breaks_off: bool = False
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    expected: int = 1
    pressed: list[tuple[str, str]] = field(default_factory=list)

    def script(self, request: RunRequest) -> RunResult:
        if request.approval is not None:
            if self.breaks_off:
                raise DownstreamFailed("broke off", retryable=True)
            if self.asks_next:
                tool, self.asks_next = self.asks_next, None
                return RunResult("", confirmation=Confirmation(tool, {}))
            return RunResult(f"{request.approval.tool}: {request.approval.decision}")
        if request.text == "open the valve" and (self.always_asks or TOOL not in request.approved_tools):
            return RunResult("I would like to help.", confirmation=Confirmation(self.tool, PARAMETERS))
        return RunResult(f"heard {request.text}")

    def write(self, who: str, text: str, chat: int = GROUP) -> None:
        number = next(self.numbers)
        message = {**self._message(number, chat), "from": _user(who), "text": f"{text} @agent_bot"}
        message["entities"] = [{"type": "mention", "offset": len(text) + 1, "length": 10}]
        if text.startswith("/"):
            message["entities"].insert(0, {"type": "bot_command", "offset": 0, "length": len(text)})
        self._post({"update_id": number, "message": message})

    def press(self, who: str, label: str, question: int = -1) -> None:
        number = next(self.numbers)
        value = self.buttons(question)[label]
        self.pressed.append((who, str(number)))
        query = {"id": str(number), "from": _user(who), "chat_instance": "-1", "data": value}
        query["message"] = self._message(30, GROUP)
        self._post({"update_id": number, "callback_query": query})

    def _message(self, number: int, chat: int) -> dict[str, Any]:
        place = {"id": chat, "type": "group", "title": "Works"}
        return {"message_id": number, "date": 1780000000 + number, "chat": place, "text": "?"}

    def _post(self, update: dict[str, Any]) -> None:
        call = samples.posted(update)
        rest = Rest(self.world)
        reply = rest.call("bot-messenger", self.instance_id, call.body, call.headers, "webhook")
        assert reply.outcome == "done", reply

    @property
    def questions(self) -> list[dict[str, Any]]:
        return [each for each in self.platform.of("sendMessage") if "reply_markup" in each]

    def buttons(self, question: int = -1) -> dict[str, str]:
        markup = self.questions[question]["reply_markup"]
        rows = markup["inline_keyboard"] if isinstance(markup, dict) else []
        return {button["text"]: button["callback_data"] for row in rows for button in row}

    def wait_questions(self, number: int) -> None:
        """Until they have arrived, and that is on record."""
        assert self.driver.wait_until(lambda: len(self.questions) >= number), self.platform.calls
        self.world.settle()

    def next_request(self) -> RunRequest:
        """The resource's next call that a scenario has not looked at."""
        self.expected += 1
        return self.resource.wait_for(self.expected)[self.expected - 1]


def _user(who: str) -> dict[str, Any]:
    return {"id": SENDERS[who], "is_bot": False, "first_name": who.title()}


@pytest.fixture
def chat(world: World, platform_driver: PlatformDriver) -> Iterator[Chat]:
    platform = Telegram()
    platform_driver.show(platform)
    world.clock.stop()
    resource = Resource(world, lambda _: RunResult(""))
    made = Chat(world, platform_driver, platform, resource)
    resource.script = made.script
    body = {
        "channelId": "bot-messenger",
        "channelName": "Works",
        "config": dict(samples.CONFIG),
        "downStreamResourceId": "agent::works",
    }
    made.instance_id = Rest(world).create("ann", body).body["instanceId"]
    yield made
    assert platform.faults == []


@given(parsers.parse('a resource that asks before it uses the tool "{tool}"'))
def asking_resource(chat: Chat, tool: str) -> None:
    chat.tool = tool


@given("the resource asks whatever is approved")
def asks_always(chat: Chat) -> None:
    chat.always_asks = True


@given(parsers.parse('the resource asks for "{tool}" after a decision'))
def asks_again(chat: Chat, tool: str) -> None:
    chat.asks_next = tool


@given("the resource breaks off after a decision")
def breaks_off(chat: Chat) -> None:
    chat.breaks_off = True


@then('"ada" is told that it is not clear whether the tool was used')
def told_unclear(chat: Chat) -> None:
    _told_in_chat(chat, "cannot tell whether it was carried out")


@then('"ada" is told that no answer could be got')
def told_sorry(chat: Chat) -> None:
    _told_in_chat(chat, APOLOGY)


def _told_in_chat(chat: Chat, words: str) -> None:
    texts = chat.platform.of
    assert chat.driver.wait_until(lambda: any(words in each["text"] for each in texts("sendMessage")))


@given(parsers.parse('"{who}" wrote "{text}"'))
def wrote(chat: Chat, who: str, text: str) -> None:
    before = len(chat.resource.requests)
    chat.write(who, text)
    chat.expected = len(chat.resource.wait_for(before + 1))


@given("the question has reached the chat")
def question_arrived(chat: Chat) -> None:
    chat.wait_questions(1)


@given("a second question has reached the chat")
def second_question(chat: Chat) -> None:
    chat.wait_questions(2)


@when(parsers.parse('"{who}" writes "{text}"'))
def writes(chat: Chat, who: str, text: str) -> None:
    chat.write(who, text)


@when(parsers.parse('"{who}" writes "{text}" in another chat'))
def writes_elsewhere(chat: Chat, who: str, text: str) -> None:
    chat.write(who, text, OTHER_GROUP)


@when(parsers.parse("{minutes:d} minutes and {seconds:d} seconds pass"))
def minutes_pass(world: World, minutes: int, seconds: int) -> None:
    world.clock.advance(timedelta(minutes=minutes, seconds=seconds))


@when(parsers.parse("{hours:d} hours pass"))
def hours_pass(world: World, hours: int) -> None:
    waiting = world.container.database().fetch
    until(lambda: not world.run(waiting("SELECT 1 FROM inbox WHERE status = 0")), "the inbox is worked off")
    world.clock.advance(timedelta(hours=hours))


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)"'))
def presses(chat: Chat, who: str, label: str) -> None:
    chat.press(who, label)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" of the first question'))
def presses_old(chat: Chat, who: str, label: str) -> None:
    chat.press(who, label, question=0)


@then(parsers.parse('the question holds "{one}" and "{two}" and "{three}"'))
def holds(chat: Chat, one: str, two: str, three: str) -> None:
    text = chat.questions[0]["text"]
    assert all(each in text for each in (one, two, three)), text


@then(parsers.parse('the buttons are "{one}", "{two}" and "{three}"'))
def buttons_are(chat: Chat, one: str, two: str, three: str) -> None:
    assert list(chat.buttons()) == [one, two, three]


@then("each button's value has at most 64 bytes")
def small_values(chat: Chat) -> None:
    values = list(chat.buttons().values())
    assert len(set(values)) == 3
    assert all(len(value.encode()) <= 64 for value in values)


@then(parsers.re(r'the resource is called again with the decision "(?P<decision>\w+)"'))
def called_again(chat: Chat, decision: str) -> None:
    _decided(chat, decision, TOOL)


@then(parsers.re(r'the resource is called again with the decision "(?P<decision>\w+)" on "(?P<tool>\w+)"'))
def called_again_on(chat: Chat, decision: str, tool: str) -> None:
    _decided(chat, decision, tool)


def _decided(chat: Chat, decision: str, tool: str) -> None:
    request = chat.next_request()
    while request.approval is None:
        request = chat.next_request()
    assert (request.approval.tool, request.approval.decision) == (tool, decision)


@then("that is the second request of the same message, also after a crash")
def same_after_a_crash(chat: Chat) -> None:
    asked, approved = chat.resource.requests[-2:]
    assert approved.request_id == f"{asked.request_id}-2"


@then(parsers.parse('it is handed the text "{text}"'))
def handed_original(chat: Chat, text: str) -> None:
    assert chat.resource.requests[-1].text == text


@then(parsers.re(r'(the resource|then it) is handed "(?P<text>.*)" as a message'))
def handed(chat: Chat, text: str) -> None:
    request = chat.next_request()
    assert (request.text, request.approval) == (text, None)


@then(parsers.parse('when "{who}" writes "{text}" that is a message too'))
def message_too(chat: Chat, who: str, text: str) -> None:
    chat.write(who, text)
    handed(chat, text)


@then(
    parsers.re(
        r'when "(?P<who>\w+)" (?P<does>writes|presses) "(?P<text>\w+)" the resource is called again with the'
        r' decision "(?P<decision>\w+)"'
    )
)
def still_decides(chat: Chat, who: str, does: str, text: str, decision: str) -> None:
    chat.write(who, text) if does == "writes" else chat.press(who, text)
    _decided(chat, decision, TOOL)


@then(parsers.parse('the resource is told that "{tool}" is approved'))
def told_approved(chat: Chat, tool: str) -> None:
    while (request := chat.next_request()).approval is not None or request.text == "still there?":
        pass
    assert request.approved_tools == (tool,)


@then("the resource is told that no tool is approved")
def told_nothing(chat: Chat) -> None:
    assert chat.next_request().approved_tools == ()


@then("nobody is asked a second time")
def asked_once(chat: Chat) -> None:
    chat.write("ada", "the end")
    said = chat.platform.of
    chat.driver.wait_until(lambda: any("heard the end" in each["text"] for each in said("sendMessage")))
    assert len(chat.questions) == 1


@then("the question loses its buttons")
def loses_buttons(chat: Chat) -> None:
    edits = chat.platform.of
    assert chat.driver.wait_until(lambda: bool(edits("editMessageText"))), chat.platform.calls
    asked = next(number for number, (_, sent) in enumerate(chat.platform.calls, 1) if "reply_markup" in sent)
    (edit,) = edits("editMessageText")
    assert (edit["chat_id"], edit["message_id"]) == (GROUP, 500 + asked)
    assert edit["reply_markup"] == {"inline_keyboard": []}


@then("the question keeps its buttons")
def keeps_buttons(chat: Chat) -> None:
    chat.write("bob", "the end")
    said = chat.platform.of
    assert chat.driver.wait_until(
        lambda: any("heard the end" in each["text"] for each in said("sendMessage"))
    )
    assert said("editMessageText") + said("editMessageReplyMarkup") == []


@then(parsers.parse('the platform is told "{words}"'))
def told(chat: Chat, words: str) -> None:
    def answers() -> list[str]:
        return [each.get("text", "") for each in chat.platform.of("answerCallbackQuery")]

    assert chat.driver.wait_until(lambda: words in answers()), answers()


@then(parsers.parse('the platform is told "{words}" twice'))
def told_twice(chat: Chat, words: str) -> None:
    answers = chat.platform.of
    told_so = {"text": words}.items()
    assert chat.driver.wait_until(
        lambda: len([each for each in answers("answerCallbackQuery") if told_so <= each.items()]) == 2
    )


@when(parsers.parse('the platform tells "{who}" "{words}"'))
def told_whom(chat: Chat, who: str, words: str) -> None:
    presses = [each for each in chat.pressed if each[0] == who]
    answers = chat.platform.of
    expected = {"callback_query_id": presses[-1][1], "text": words}
    assert chat.driver.wait_until(lambda: expected in answers("answerCallbackQuery"))


@then(parsers.re(r"the resource was called (?P<times>once|twice) in all"))
def called_in_all(chat: Chat, times: str) -> None:
    chat.write("ada", "the end")
    chat.driver.wait_until(
        lambda: any("heard the end" in each["text"] for each in chat.platform.of("sendMessage"))
    )
    assert len(chat.resource.requests) == {"once": 1, "twice": 2}[times] + 1
