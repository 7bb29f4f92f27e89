"""The steps of config_checks.feature; the chat server is a stand-in on loopback."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.instances.checks import TRIES
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, WORDS, Reply, Rest
from tests.support.platforms.mattermost import CHANNEL, TOKEN, Mattermost

WORKER = False
scenarios("config_checks.feature")

FORMS = "/api/agent/channel-forms"
CHAT = "community-chat"
MAILBOX = {
    "smtpHost": "mail.example.com",
    "smtpPort": 587,
    "imapHost": "mail.example.com",
    "imapPort": 993,
    "username": "u",
    "password": "p",
    "fromEmail": "u@example.com",
}


@pytest.fixture(scope="module")
def driver() -> Iterator[PlatformDriver]:
    made = PlatformDriver()
    yield made
    made.close()


class Scene:
    def __init__(self, rest: Rest, driver: PlatformDriver) -> None:
        self.rest = rest
        self.server = Mattermost()
        driver.show(self.server)
        self.config: dict[str, Any] = {"SERVER_URL": driver.url, "channelId": CHANNEL, "token": TOKEN}
        self.bot = 0

    def ask(self, path: str, user: str = "ann", **body: Any) -> Reply:
        response = self.rest.request("POST", path, user, json=body)
        word = "too often" if response.status_code == 429 else WORDS[response.status_code]
        return Reply(word, response.json(), response.headers)

    def check_new(self, channel_id: str, config: dict[str, Any], **more: Any) -> Reply:
        return self.ask(f"{FORMS}/{channel_id}/check", config=config, **more)

    def try_new(self, user: str = "ann", **changes: Any) -> Reply:
        config = {name: value for name, value in {**self.config, **changes}.items() if value is not None}
        return self.ask(f"{FORMS}/{CHAT}/check-credentials", user, config=config)

    def of_bot(self, path: str, user: str = "ann", **body: Any) -> Reply:
        return self.ask(f"{INSTANCES}/{self.bot}/{path}", user, **body)

    @property
    def without_token(self) -> dict[str, Any]:
        return {name: value for name, value in self.config.items() if name != "token"}


@pytest.fixture
def scene(rest: Rest, driver: PlatformDriver) -> Scene:
    return Scene(rest, driver)


@given("ann's bot on a chat server")
def a_bot(scene: Scene) -> None:
    body = {"channelId": CHAT, "channelName": "bot", "config": scene.config}
    scene.bot = scene.rest.create("ann", body).body["instanceId"]


@given("ann's bot on a chat server that refused it")
def a_refused_bot(scene: Scene) -> None:
    scene.server.member = False
    a_bot(scene)
    scene.server.member = True


@given("the chat server fails")
def failing(scene: Scene) -> None:
    scene.server.next_reply(503, {"message": "maintenance"})


@when("ann checks a new mailbox with a port as text and a sender that is no address", target_fixture="reply")
def faulty_mailbox(scene: Scene) -> Reply:
    return scene.check_new("email", {**MAILBOX, "smtpPort": "587", "fromEmail": "nobody"})


@when(parsers.parse('ann checks a new mailbox without a name, bound to "{resource}"'), target_fixture="reply")
def nameless_mailbox(scene: Scene, resource: str) -> Reply:
    return scene.check_new("email", MAILBOX, channelName=" ", downStreamResourceId=resource)


@when("ann checks a new mailbox", target_fixture="reply")
def mailbox(scene: Scene) -> Reply:
    return scene.check_new("email", MAILBOX, channelName="Mail", downStreamResourceId="agent::echo")


@when(parsers.parse('ann checks an instance of the channel "{channel_id}"'), target_fixture="reply")
def unknown_channel(scene: Scene, channel_id: str) -> Reply:
    return scene.check_new(channel_id, {})


@when(parsers.parse("{user} checks a change of it without the token"), target_fixture="reply")
def change(scene: Scene, user: str) -> Reply:
    return scene.of_bot("check", user, config=scene.without_token)


@when("ann checks a change of it that takes the token away", target_fixture="reply")
def change_without(scene: Scene) -> Reply:
    return scene.of_bot("check", config={**scene.config, "token": None})


@when("ann checks the credentials of a new bot", target_fixture="reply")
def new_bot(scene: Scene) -> Reply:
    return scene.try_new()


@when("ann checks the credentials of a new bot with a wrong token", target_fixture="reply")
def wrong_token(scene: Scene) -> Reply:
    return scene.try_new(token="wrong")


@when("ann checks the credentials of a new bot without a token", target_fixture="reply")
def no_token(scene: Scene) -> Reply:
    return scene.try_new(token=None)


@when(
    "ann checks the credentials of a new bot at the metadata service of the machine", target_fixture="reply"
)
def metadata_service(scene: Scene) -> Reply:
    return scene.try_new(SERVER_URL="http://169.254.169.254")


@when("a user checks the credentials of a new bot too often", target_fixture="reply")
def too_often(scene: Scene) -> Reply:
    user = f"eve-{uuid4()}"
    tries = [scene.try_new(user) for _ in range(TRIES + 1)]
    assert {each.outcome for each in tries[:-1]} == {"done"}
    return tries[-1]


@when("ann checks the credentials of a change of it without the token", target_fixture="reply")
def changed_bot(scene: Scene) -> Reply:
    return scene.of_bot("check-credentials", config=scene.without_token)


@when(parsers.parse("{user} checks its credentials"), target_fixture="reply")
def stored(scene: Scene, user: str) -> Reply:
    return scene.of_bot("check-credentials", user)


@when("ann checks the credentials of a schedule", target_fixture="reply")
def schedule(scene: Scene) -> Reply:
    config = {"cronSchedule": "0 9 * * 1", "message": "hello"}
    return scene.ask(f"{FORMS}/cron/check-credentials", config=config)


@when(parsers.parse('ann looks at the form of "{channel_id}"'), target_fixture="reply")
def the_form(scene: Scene, channel_id: str) -> Reply:
    return Reply("done", scene.rest.request("GET", f"{FORMS}/{channel_id}", "ann").json())


@then(parsers.parse('the answer is "{outcome}"'))
def the_answer(reply: Reply, outcome: str) -> None:
    assert reply.outcome == outcome, reply.body


@then(parsers.re(r"the faults are at (?P<names>.*)"))
def faults_at(reply: Reply, names: str) -> None:
    assert [fault["field"] for fault in reply.body["faults"]] == _names(names)
    assert all(fault["message"] for fault in reply.body["faults"])


@then("there are no faults")
def no_faults(reply: Reply) -> None:
    assert reply.body == {"faults": []}


@then("ann has no instances")
def no_instances(rest: Rest) -> None:
    assert rest.instances("ann").body == []


@then(parsers.parse('the credentials are "{state}" with "{words}"'))
def credentials_with(reply: Reply, state: str, words: str) -> None:
    assert reply.body["state"] == state, reply.body
    assert words in reply.body["message"]


@then(parsers.parse('the credentials are "{state}"'))
def credentials(reply: Reply, state: str) -> None:
    assert reply.body["state"] == state, reply.body


@then("it says what to do")
def what_to_do(reply: Reply) -> None:
    assert "again" in reply.body["action"]


@then("the bot is healthy")
def healthy(scene: Scene, rest: Rest) -> None:
    warnings = rest.health("ann", scene.bot).body["warnings"]
    assert not any("did not work" in warning for warning in warnings)


@then("the chat server was not called")
def not_called(scene: Scene) -> None:
    assert scene.server.seen == []


@then(parsers.re(r"its secrets are (?P<names>.*)"))
def secrets(reply: Reply, names: str) -> None:
    assert [field["name"] for field in reply.body["fields"] if field["secret"]] == _names(names)


@then(parsers.re(r"its first fields are (?P<names>.*)"))
def first_fields(reply: Reply, names: str) -> None:
    assert [field["name"] for field in reply.body["fields"] if field["basic"]] == _names(names)


@then("it works without a public address")
def without_address(reply: Reply) -> None:
    assert reply.body["withoutPublicAddress"]


def _names(words: str) -> list[str]:
    return [name.strip().strip('"') for name in words.replace(" and ", ", ").split(", ")]
