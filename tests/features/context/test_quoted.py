"""The steps of quoted.feature, groups.feature and platform.feature."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.channels.answers import Choice
from domain.channels.messages import RawCall
from domain.routing.model import QuotedMessage, RunRequest, RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.context.chats import PICTURE, PLATFORMS, ChatPlatform, Original
from tests.support.waiting import until

scenarios("quoted.feature", "groups.feature", "platform.feature")


ANN = Caller("ann")


class Scene:
    """A bot on a platform, and the resource behind it."""

    def __init__(self, world: World, chat: ChatPlatform) -> None:
        self.world, self.chat = world, chat
        self.resource = Resource(world, lambda request: RunResult(f"heard {request.text}"))
        self._rest = Rest(world)
        self._instance_id = self._written = 0

    def create(self, **settings: Any) -> None:
        body = {
            "channelId": self.chat.channel_id,
            "channelName": "Bot",
            "config": {**self.chat.config, **settings},
            "downStreamResourceId": "agent::helper",
        }
        self._instance_id = self._rest.create("ann", body).body["instanceId"]

    def write(self, who: str, text: str, original: Original | None = None) -> None:
        self.post(self.chat.post(who, text, original, self.world.clock.now()))

    def post(self, call: RawCall) -> None:
        reply = self._rest.call(
            self.chat.channel_id, self._instance_id, call.body, call.headers, call.callback
        )
        assert reply.outcome == "done", reply
        self._written += 1

    @property
    def asked(self) -> RunRequest:
        """The last of the messages that were written."""
        return self.resource.wait_for(self._written)[self._written - 1]

    def wait_answered(self) -> None:
        fetch = self.world.container.database().fetch

        def is_sent() -> bool:
            return bool(self.world.run(fetch("SELECT 1 FROM outbox WHERE status = 1 AND ref IS NOT NULL")))

        until(is_sent, "the answer is sent")

    def unanswered(self) -> list[tuple[int, str, str]]:
        """Id, text and reason of what is listed."""
        operations = self.world.container.use_cases().operations
        page = self.world.run(operations.unanswered(ANN, self._instance_id, 10, 0))
        return [(message.id, message.text, message.reason) for message in page.items]

    def release(self) -> None:
        until(lambda: bool(self.unanswered()), "the message is listed")
        [(id, _, _)] = self.unanswered()
        operations = self.world.container.use_cases().operations
        self.world.run(operations.release(ANN, self._instance_id, id))

    @property
    def quoted(self) -> QuotedMessage:
        assert self.asked.quoted is not None
        return self.asked.quoted

    def content(self, url: str) -> bytes:
        """What stands behind a signed address."""
        shared = self.world.container.files().shared

        async def read() -> bytes:
            return b"".join([piece async for piece in (await shared.open(url.split("/")[-2])).content])

        return self.world.run(read())


@pytest.fixture
def on(make_world: Callable[..., World], request: pytest.FixtureRequest) -> Callable[[str], Scene]:
    """Makes the service and the platform of that name."""

    def scene(name: str) -> Scene:
        chat = PLATFORMS[name]()
        driver = PlatformDriver()
        request.addfinalizer(driver.close)
        driver.show(chat.platform)
        settings = {chat.setting: driver.url + chat.api, "AGENT_URL": "https://agents.example"}
        return Scene(make_world(**settings), chat)

    return scene


SETTINGS_OF: dict[str, dict[str, Any]] = {
    "": {},
    " that requires a mention": {"requireMention": True},
    " that requires no mention": {"requireMention": False},
    " that may answer in another group alone": {"allowedChannels": "another"},
    " that serves verified users alone": {"accessMode": "allowlist"},
}


@given(
    parsers.re(rf"a bot on (?P<platform>\w+)(?P<settings>{'|'.join(SETTINGS_OF)})$"), target_fixture="scene"
)
def a_bot(on: Callable[[str], Scene], platform: str, settings: str) -> Scene:
    scene = on(platform)
    scene.create(**SETTINGS_OF[settings])
    return scene


@when(parsers.parse('{who} writes "{text}" in the group'))
def writes_in_group(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.chat.in_group(who, text, mention=False, at=scene.world.clock.now()))


@when(parsers.parse('{who} mentions the bot in the group with "{text}"'))
def mentions_in_group(scene: Scene, who: str, text: str) -> None:
    scene.post(scene.chat.in_group(who, text, mention=True, at=scene.world.clock.now()))


@then("nobody is asked")
def nobody_asked(scene: Scene) -> None:
    fetch = scene.world.container.database().fetch
    assert scene.world.run(fetch("SELECT count(*) FROM inbox")) == [(0,)]
    assert scene.resource.requests == []


@then(parsers.parse('"{text}" is listed as not answered, because of "{reason}"'))
def listed(scene: Scene, text: str, reason: str) -> None:
    until(lambda: bool(scene.unanswered()), "the message is listed")
    assert [each[1:] for each in scene.unanswered()] == [(text, reason)]


@when("the message is released")
def released(scene: Scene) -> None:
    scene.release()


@then("nothing is listed as not answered")
def nothing_listed(scene: Scene) -> None:
    assert scene.unanswered() == []


@then("it is counted as of a group that is not allowed")
def counted(scene: Scene) -> None:
    labels = {"channel": scene.chat.channel_id, "kind": "ignored:channel"}
    registry = scene.world.container.foundation().meter.registry
    assert registry.get_sample_value("switchboard_received_total", labels) == 1


@when(parsers.parse('{who} answers "{text}" to a message of {author} that says "{original}"'))
def answers(scene: Scene, who: str, text: str, author: str, original: str) -> None:
    scene.write(who, text, Original(author, original))


@when(
    parsers.parse('{who} answers "{text}" to the words "{marked}" of a message of Bob that says "{original}"')
)
def answers_words(scene: Scene, who: str, text: str, marked: str, original: str) -> None:
    scene.write(who, text, Original("Bob", original, marked))


@when(parsers.parse('{who} answers "{text}" to a picture of Bob'))
def answers_picture(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text, Original("Bob", picture=True))


@when(parsers.parse('{who} answers "{text}" to a picture of Bob that the platform has lost'))
def answers_lost_picture(scene: Scene, who: str, text: str) -> None:
    scene.chat.lose_files()
    scene.write(who, text, Original("Bob", picture=True))


@given(parsers.parse('Ada asked "{text}", and it answered'))
def asked_before(scene: Scene, text: str) -> None:
    scene.write("Ada", text)
    scene.wait_answered()


@when(parsers.re(r'Ada answers "(?P<text>[^"]*)" to (?P<which>that answer|her own message)$'))
def answers_stored(scene: Scene, text: str, which: str) -> None:
    scene.write("Ada", text, Original("the bot" if which == "that answer" else "Ada"))


@when(parsers.parse('{who} writes "{text}"'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@then(parsers.parse('the resource is asked "{text}"'))
def asked(scene: Scene, text: str) -> None:
    assert scene.asked.text == text


@then(parsers.re(r'it is told that (the )?(?P<author>\w+) wrote "(?P<text>.*)"'))
def told(scene: Scene, author: str, text: str) -> None:
    assert scene.quoted == QuotedMessage(text, author)


@when(parsers.re(r"Ada sends (?P<message>an? .+)"))
def sends(scene: Scene, message: str) -> None:
    scene.post(scene.chat.special(message, scene.world.clock.now()))


@given(parsers.parse('a bot on {platform} that offers "{first}" and "{second}"'), target_fixture="scene")
def offers(on: Callable[[str], Scene], platform: str, first: str, second: str) -> Scene:
    scene = on(platform)
    scene.resource.script = lambda request: RunResult("", choices=(Choice(first, ""), Choice(second, "")))
    scene.create()
    return scene


@when(parsers.parse('Ada presses "{label}"'))
def presses(scene: Scene, label: str) -> None:
    scene.post(scene.chat.press(label))


@then(parsers.parse('the resource is told the {key} "{value}"'))
def told_more(scene: Scene, key: str, value: str) -> None:
    assert scene.asked.context[key] == value


@then(parsers.parse('the resource is told the {key} with the {field} "{value}"'))
def told_object(scene: Scene, key: str, field: str, value: str) -> None:
    told = scene.asked.context[key]
    assert isinstance(told, dict)
    assert told[field] == value


@then("the resource is told nothing more of it")
def told_nothing_more(scene: Scene) -> None:
    assert scene.asked.context == {}


@then("it gets the picture of Bob beside the message")
def gets_picture(scene: Scene) -> None:
    assert scene.asked.files == ()
    assert scene.quoted.author == "Bob"
    assert [scene.content(file.url) for file in scene.quoted.files] == [PICTURE]


@then("it is told of a message of Bob without files")
def without_files(scene: Scene) -> None:
    assert scene.quoted == QuotedMessage("", "Bob")


@then("it is told of no earlier message")
def nothing_quoted(scene: Scene) -> None:
    assert scene.asked.quoted is None
    assert scene.asked.thread == ()
