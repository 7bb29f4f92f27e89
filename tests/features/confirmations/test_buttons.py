"""The steps of buttons.feature."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group, Slack
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World

scenarios("buttons.feature")

PARAMETERS: dict[str, Any] = {"pressure": "12 bar", "steps": [1, 2]}
LONG = {"first": "x" * 500, **{f"p{number}": "y" * 500 for number in range(25)}}


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


class Scene:
    """A group, its bot, and the resource behind it."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world = world
        self.driver = driver
        self.resource = Resource(world, self.script)
        self.names: dict[str, str] = {}
        self.parameters = PARAMETERS
        self.instance_id = self.other_id = 0
        self.calls = 0
        self.asked: list[tuple[str, bool]] = []

    def open(self, platform: str) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.group.names |= self.names
        self.instance_id = self.create()

    def create(self, name: str = "Works") -> int:
        body = {
            "channelId": self.group.channel_id,
            "channelName": name,
            "config": self.group.configured(),
            "downStreamResourceId": "agent::works",
        }
        made = Rest(self.world).create("ann", body)
        assert made.outcome == "created", made.body
        return int(made.body["instanceId"])

    def script(self, request: RunRequest) -> RunResult:
        if request.approval is not None:
            return RunResult(f"{request.approval.tool}: {request.approval.decision}")
        if "valve" in request.text:
            return RunResult(
                "I would like to help.", confirmation=Confirmation("open_valve", self.parameters)
            )
        return RunResult(f"heard {request.text}")

    def post(self, call: Any, instance_id: int = 0) -> None:
        rest, at = Rest(self.world), instance_id or self.instance_id
        reply = rest.call(self.group.channel_id, at, call.body, call.headers, call.callback)
        assert reply.outcome == "done", reply

    def write(self, who: str, text: str) -> None:
        """Writes, and waits until the resource has it and the conversation is worked off."""
        before = len(self.resource.requests)
        self.post(self.group.write(who, text, self.world.clock.now()))
        self.calls = len(self.resource.wait_for(before + 1))
        self.world.settle()

    def press(self, who: str, label: str, number: int = -1, instance_id: int = 0) -> None:
        asked = self.group.questions()
        position = number % len(asked)
        call = self.group.press(who, position, asked[position][label], self.world.clock.now())
        self.post(call, instance_id)

    def ask(self, who: str, number: int) -> None:
        self.write(who, "open the valve")
        assert self.driver.wait_until(lambda: len(self.group.questions()) == number), (
            self.driver.platform.seen
        )
        self.world.settle()
        self.asked.append(self.group.shown(number - 1))

    def reads(self, number: int, words: list[str], *, buttons: bool) -> bool:
        text, has_buttons = self.group.shown(number)
        return has_buttons is buttons and all(each in text.replace("\\", "") for each in words)


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    made = Scene(world, platform_driver)
    yield made
    assert platform_driver.platform.faults == []


@given(parsers.parse('"{who}" is called "{name}"'))
def is_called(scene: Scene, who: str, name: str) -> None:
    scene.names[who] = name


@given(parsers.re(r'"(?P<who>\w+)" was asked on (?P<platform>\w+) about the tool "open_valve"'))
def was_asked(scene: Scene, who: str, platform: str) -> None:
    scene.open(platform)
    scene.ask(who, 1)


@given(
    parsers.re(
        r'"(?P<who>\w+)" was asked on (?P<platform>\w+) about the tool "open_valve" with very long parameters'
    )
)
def was_asked_at_length(scene: Scene, who: str, platform: str) -> None:
    scene.parameters = LONG
    was_asked(scene, who, platform)


@given(parsers.parse('"{who}" was asked about the tool "open_valve" again'))
@when(parsers.parse('"{who}" is asked about the tool "open_valve" in the same conversation'))
def asked_again(scene: Scene, who: str) -> None:
    scene.ask(who, 2)


@given(parsers.parse('"{who}" was asked by a slash command on Slack about the tool "open_valve"'))
def was_asked_by_command(scene: Scene, who: str) -> None:
    scene.open("Slack")
    assert isinstance(scene.group, Slack)
    scene.group.by_command = True
    scene.ask(who, 1)


@given(parsers.parse('a client of "{who}" whose presses name another message'))
def names_another_message(scene: Scene, who: str) -> None:
    scene.group.named = "999"


@given("another instance of the same bot")
def another_instance(scene: Scene) -> None:
    scene.other_id = scene.create("Yard")


@given("a thread below the question")
def thread_below(scene: Scene) -> None:
    scene.group.in_thread = True


@given(parsers.re(r'"(?P<who>\w+)" approved it by (?P<way>a press|a reply)'))
def approved_it(scene: Scene, who: str, way: str) -> None:
    if way == "a press":
        scene.press(who, "Approve")
    else:
        scene.post(scene.group.write(who, "yes", scene.world.clock.now()))
    decided(scene, "approved")
    scene.world.settle()
    if scene.group.channel_id != "business-messaging":
        assert scene.driver.wait_until(lambda: scene.reads(0, ["Approved"], buttons=False)), (
            scene.group.shown(0)
        )


@given(parsers.parse('"{who}" wrote "{text}"'))
def wrote(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@given(parsers.parse("{number:d} {unit} have passed"))
def have_passed(scene: Scene, number: int, unit: str) -> None:
    for _ in range(number):
        scene.world.clock.advance(timedelta(**{unit: 1}))
        scene.world.run(scene.world.container.work().approvals.expire())


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>\w+)"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.group.write(who, text, scene.world.clock.now()))


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)"'))
def presses(scene: Scene, who: str, label: str) -> None:
    scene.press(who, label)


@when(parsers.parse('"{who}" sends the button value "{value}"'))
def sends_value(scene: Scene, who: str, value: str) -> None:
    scene.post(scene.group.press(who, 0, value, scene.world.clock.now()))
    scene.world.settle()


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" of the first question'))
def presses_first(scene: Scene, who: str, label: str) -> None:
    scene.press(who, label, 0)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)", and the press reaches the other instance'))
def presses_elsewhere(scene: Scene, who: str, label: str) -> None:
    scene.press(who, label, instance_id=scene.other_id)


@then(parsers.parse('"{who}" is told "{words}"'))
def is_told(scene: Scene, who: str, words: str) -> None:
    assert scene.driver.wait_until(lambda: words in scene.group.told(who)), scene.driver.platform.seen


@then("the question reads as it was asked, with its buttons")
def unchanged(scene: Scene) -> None:
    scene.world.settle()
    assert scene.group.shown(0) == scene.asked[0]
    assert scene.asked[0][1]


@then(
    parsers.re(
        r'the (first )?question reads "(?P<one>[^"]+)" and "(?P<two>[^"]+)" and "(?P<three>[^"]+)"'
        r' and "(?P<four>[^"]+)", without buttons'
    )
)
def question_reads(scene: Scene, one: str, two: str, three: str, four: str) -> None:
    words = [one, two, three, four]
    assert scene.driver.wait_until(lambda: scene.reads(0, words, buttons=False)), scene.group.shown(0)


@then("the question reads the day and the time of the decision, in UTC")
def question_reads_time(scene: Scene) -> None:
    now = scene.world.clock.now()
    shown = scene.group.shown(0)[0].replace("\\", "")
    assert f"{now.day} {now:%B %Y, %H:%M} UTC" in shown, shown


@then("no other message is changed")
def only_question_changed(scene: Scene) -> None:
    scene.world.settle()
    assert len(scene.group.changed()) == 1
    assert scene.group.named not in scene.group.changed()


@then(parsers.parse('the question does not read "{words}"'))
def question_lacks(scene: Scene, words: str) -> None:
    assert words not in scene.group.shown(0)[0]


@then("the name stands there without markup")
def name_without_markup(scene: Scene) -> None:
    """As code, or escaped where a card has no code."""
    first = scene.group.shown(0)[0].splitlines()[0]
    if r"\*A\* " in first:
        return
    code = "<code>" if "<code>" in first else "`"
    assert code in first[: first.index("A*")], first


@then(parsers.parse('nothing on the platform reads "{words}"'))
def nothing_reads(scene: Scene, words: str) -> None:
    scene.write("ada", "the end")
    assert not [each for each in scene.driver.platform.seen if words.encode() in each.body]


@then(parsers.parse('the platform reads "{words}"'))
def platform_reads(scene: Scene, words: str) -> None:
    seen = scene.driver.platform.seen
    assert scene.driver.wait_until(lambda: any(words.encode() in each.body for each in seen)), seen


@then(parsers.parse('the resource is called once more, with the decision "{decision}"'))
def decided(scene: Scene, decision: str) -> None:
    request = scene.resource.wait_for(scene.calls + 1)[scene.calls]
    assert request.approval is not None, request
    assert request.approval.decision == decision
    scene.calls += 1


@then("the resource is not called again")
def not_called(scene: Scene) -> None:
    before = scene.calls
    scene.world.settle()
    requests = [each for each in scene.resource.requests[before:] if each.text != "the end"]
    assert requests == []
