"""The steps of choices.feature."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.channels.answers import Choice
from domain.routing.conversation import ProcessingFailed
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World

scenarios("choices.feature")

LONG_VALUE = "x" * 2000
FORGED = "choice:out-999999:0:0123456789abcdef"


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


class Scene:
    """A conversation, its bot, and the resource behind it."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world = world
        self.driver = driver
        self.question = "Which one?"
        self.choices: tuple[Choice, ...] = ()
        self.fails = False
        self.resource = Resource(world, self.script)
        self.instance_id = 0

    def script(self, request: RunRequest) -> RunResult:
        if request.text == "open the valve":
            return RunResult("", confirmation=Confirmation("open_valve", {}))
        if self.fails:
            raise ProcessingFailed("Sorry.", "the resource is down")
        if request.text in ("a shirt", "a coat"):
            return RunResult(self.question, choices=self.choices)
        return RunResult(f"heard {request.text[:20]}")

    def open(self, platform: str, *, direct: bool = False) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.group.direct = direct
        self.instance_id = self.create("Works")

    def create(self, name: str) -> int:
        body = {
            "channelId": self.group.channel_id,
            "channelName": name,
            "config": self.group.configured(),
            "downStreamResourceId": "agent::works",
        }
        made = Rest(self.world).create("ann", body)
        assert made.outcome == "created", made.body
        return int(made.body["instanceId"])

    def post(self, *calls: Any, instance_id: int = 0) -> None:
        rest, at = Rest(self.world), instance_id or self.instance_id
        for call in calls:
            reply = rest.call(self.group.channel_id, at, call.body, call.headers, call.callback)
            assert reply.outcome == "done", reply
        self.world.settle()

    def write(self, who: str, text: str) -> None:
        self.post(self.group.write(who, text, self.world.clock.now()))

    def press(self, who: str, value: str, number: int = -1, instance_id: int = 0, at_once: int = 1) -> None:
        position = number % len(self.group.questions())
        calls = [self.group.press(who, position, value, self.world.clock.now()) for _ in range(at_once)]
        self.post(*calls, instance_id=instance_id)

    def buttons(self, number: int = -1) -> dict[str, str]:
        return self.group.questions()[number]

    def erase(self, session_id: str) -> None:
        conversations = self.world.container.use_cases().conversations
        self.world.run(conversations.erase(Caller("ann"), self.instance_id, session_id))


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    made = Scene(world, platform_driver)
    yield made
    assert platform_driver.platform.faults == []


@given(
    parsers.re(
        r'a resource that offers "(?P<one>[^"]+)" for "(?P<first>[^"]+)" and "(?P<two>[^"]+)" for "(?P<second>[^"]+)"'
    )
)
def offers_two(scene: Scene, one: str, first: str, two: str, second: str) -> None:
    scene.choices = (Choice(one, first), Choice(two, second))


@given(parsers.re(r'a resource that offers "(?P<label>[^"]+)" for "(?P<value>[^"]+)"'))
def offers_one(scene: Scene, label: str, value: str) -> None:
    scene.choices = (Choice(label, value),)


@given('a resource that offers "Small" for a value of 2000 characters')
def offers_long_value(scene: Scene) -> None:
    scene.choices = (Choice("Small", LONG_VALUE),)


@given('a resource that offers "Small" for "size-s" with an answer of several messages')
def offers_below_long_text(scene: Scene) -> None:
    scene.question = "word " * 2000
    scene.choices = (Choice("Small", "size-s"),)


@given("a resource that offers 10 choices")
def offers_ten(scene: Scene) -> None:
    scene.choices = tuple(Choice(f"Choice {number}", f"value {number}") for number in range(1, 11))


@given(parsers.re(r'a conversation of "(?P<who>\w+)" on (?P<platform>\w+)'))
def conversation(scene: Scene, who: str, platform: str) -> None:
    scene.open(platform)
    scene.write(who, "hello")


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" on (?P<platform>\w+)'))
def writes_on(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform)
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" to the bot alone on (?P<platform>\w+)'))
def writes_alone(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform, direct=True)
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" is asked about the tool "open_valve"'))
def asked_about_tool(scene: Scene, who: str) -> None:
    scene.write(who, "open the valve")


@when(parsers.re(r'the conversation of "(?P<who>\w+)" is erased'))
def erased(scene: Scene, who: str) -> None:
    session_id = scene.resource.requests[0].session_id
    scene.erase(session_id)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" twice, (?P<when>at once|after a while)'))
def presses_twice(scene: Scene, who: str, label: str, when: str) -> None:
    value = scene.buttons()[label]
    if when == "at once":
        scene.press(who, value, at_once=2)
    else:
        scene.press(who, value)
        scene.press(who, value)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)", and the resource fails'))
def presses_in_vain(scene: Scene, who: str, label: str) -> None:
    scene.fails = True
    scene.press(who, scene.buttons()[label])
    scene.fails = False


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)"$'))
def presses(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons()[label])


@when(parsers.re(r'"(?P<who>\w+)" presses the button that begins with "(?P<beginning>[^"]+)"'))
def presses_cut(scene: Scene, who: str, beginning: str) -> None:
    [value] = [value for label, value in scene.buttons().items() if label.startswith(beginning)]
    scene.press(who, value)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" of the first message'))
def presses_first(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons(0)[label], 0)


@when(parsers.re(r'"(?P<who>\w+)" presses a button that was never offered'))
def presses_forged(scene: Scene, who: str) -> None:
    scene.press(who, FORGED)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)", and the press reaches another instance'))
def presses_elsewhere(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons()[label], instance_id=scene.create("Yard"))


@given(parsers.re(r'a conversation of "(?P<who>\w+)" in the same place'))
def conversation_too(scene: Scene, who: str) -> None:
    scene.write(who, "hello")


@when(
    parsers.re(
        r'"(?P<text>[^"]+)" is sent to (it|"ada") first with the choices "(?P<one>[^"]+)" for "(?P<first>[^"]+)"'
        r' and "(?P<two>[^"]+)" for "(?P<second>[^"]+)"'
    )
)
def sent_first(scene: Scene, text: str, one: str, first: str, two: str, second: str) -> None:
    choices = [{"label": one, "value": first}, {"label": two, "value": second}]
    to = {"sessionId": scene.resource.requests[0].session_id, "takeOver": False}
    body = {**to, "text": text, "choices": choices}
    reply = Rest(scene.world).send("ann", scene.instance_id, body, None)
    assert reply.outcome == "accepted", reply
    scene.world.settle()


@then(parsers.re(r'the message has the buttons "(?P<one>[^"]+)" and "(?P<two>[^"]+)"'))
def has_buttons(scene: Scene, one: str, two: str) -> None:
    assert list(scene.buttons()) == [one, two]


@then(parsers.re(r'the message reads "(?P<one>[^"]+)" and "(?P<two>[^"]+)", without buttons'))
def reads_without_buttons(scene: Scene, one: str, two: str) -> None:
    def is_so() -> bool:
        text, has_buttons = scene.group.shown(0)
        return not has_buttons and one in text.replace("\\", "") and two in text

    assert scene.driver.wait_until(is_so), scene.group.shown(0)


@then("the message keeps its buttons")
def keeps_buttons(scene: Scene) -> None:
    assert scene.group.shown(0)[1]


@then(parsers.re(r'the resource gets "(?P<text>[^"]+)" as a choice of "(?P<who>\w+)"$'))
def gets_choice(scene: Scene, text: str, who: str) -> None:
    request = scene.resource.requests[-1]
    assert (request.text, request.choice) == (text, True)
    assert request.sender.external_id == sender_id(scene, who)


@then(parsers.re(r'the resource gets "(?P<text>[^"]+)" as a choice of "(?P<who>\w+)", (?P<count>once|again)'))
def gets_choices(scene: Scene, text: str, who: str, count: str) -> None:
    picked = [request for request in scene.resource.requests if request.choice]
    assert [request.text for request in picked] == [text] * {"once": 1, "again": 2}[count]
    assert {request.sender.external_id for request in picked} == {sender_id(scene, who)}


@then(parsers.re(r'the resource gets the value of 2000 characters as a choice of "(?P<who>\w+)"'))
def gets_long(scene: Scene, who: str) -> None:
    gets_choice(scene, LONG_VALUE, who)


@then(parsers.re(r'the resource gets "(?P<text>[^"]+)" as a message of "(?P<who>\w+)"'))
def gets_message(scene: Scene, text: str, who: str) -> None:
    request = scene.resource.requests[-1]
    assert (request.text, request.choice) == (text, False)
    assert request.sender.external_id == sender_id(scene, who)


@then(parsers.parse('"{who}" is told "{words}"'))
def is_told(scene: Scene, who: str, words: str) -> None:
    assert scene.driver.wait_until(lambda: any(words in each for each in scene.group.told(who))), (
        scene.driver.platform.seen
    )


@then(parsers.re(r'"(?P<who>\w+)" reads "(?P<one>[^"]+)", "(?P<two>[^"]+)" and "(?P<three>[^"]+)"'))
def reads(scene: Scene, who: str, one: str, two: str, three: str) -> None:
    assert all(words in scene.group.told(who)[-1] for words in (one, two, three))


@then("the resource is not called again")
def not_called(scene: Scene) -> None:
    assert [request.text for request in scene.resource.requests] == ["a shirt"]


def sender_id(scene: Scene, who: str) -> str:
    """The id of a person; where a platform has conversations with one person alone, whoever wrote."""
    users: dict[str, Any] = getattr(scene.group, "users", {})
    return str(users.get(who, scene.resource.requests[0].sender.external_id))
