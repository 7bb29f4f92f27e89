"""Steps that the features of messages that answer none share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pytest_bdd import given, parsers, then, when

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from adapters.outbound.channels.business_messaging.tests import samples as whatsapp
from adapters.outbound.channels.gaming_chat.tests import samples as discord
from adapters.outbound.channels.sms_provider.channel import BASE as SMS_BASE
from adapters.outbound.channels.workspace_chat.tests import samples as slack_samples
from domain.routing import indicators as typing_indicator
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.slack import Slack
from tests.support.platforms.standin import StandIn
from tests.support.waiting import until

ROOM, DIRECT = "C0ROOM", "D0ADA"

TEAMS_SETTINGS = (
    "ENTERPRISE_CHAT_LOGIN_URL",
    "ENTERPRISE_CHAT_OPENID_URL",
    "ENTERPRISE_CHAT_SERVICE_URL",
)


@dataclass
class Sending:
    """The instance under test, its platform, and what was sent."""

    world: World
    rest: Rest
    driver: PlatformDriver
    id: int = 0
    replies: list[Reply] = field(default_factory=list)

    def create(
        self, channel_id: str, config: Mapping[str, Any], name: str = "Bot", resource: str = "agent::echo"
    ) -> int:
        body = {
            "channelId": channel_id,
            "channelName": name,
            "config": dict(config),
            "downStreamResourceId": resource,
        }
        reply = self.rest.create("ann", body)
        assert reply.outcome == "created", reply
        return int(reply.body["instanceId"])

    def show(self, platform: StandIn) -> StandIn:
        self.driver.show(platform)
        return platform

    def send(self, user: str = "ann", key: str | None = None, **body: Any) -> Reply:
        self.replies.append(self.rest.send(user, self.id, body, key))
        return self.replies[-1]

    def count(self, table: str, condition: str = "true") -> int:
        query = f"SELECT count(*) FROM {table} WHERE {condition}"
        rows: int = self.world.run(self.world.container.database().fetch_value(query))
        return rows

    @property
    def last(self) -> Reply:
        return self.replies[-1]

    def status(self, message_id: str | None = None) -> dict[str, Any]:
        """The message that was accepted last, or another."""
        reply = self.rest.message("ann", self.id, message_id or self.last.body["messageId"])
        assert reply.outcome == "done", reply
        return dict(reply.body)


@pytest.fixture(scope="module")
def edge(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """The HTTP edge of all platforms."""
    driver = PlatformDriver()
    settings = {
        slack_samples.SETTING: f"{driver.url}/api",
        telegram.SETTING: driver.url,
        SMS_BASE.setting: driver.url,
        whatsapp.SETTING: driver.url,
        discord.SETTING: f"{driver.url}/api/v10",
        **dict.fromkeys(TEAMS_SETTINGS, driver.url),
    }
    request.module.SETTINGS = {**settings, **getattr(request.module, "MORE_SETTINGS", {})}
    with pytest.MonkeyPatch.context() as patch:
        # On a slow machine the sign of one scenario would reach the platform of the next.
        patch.setattr(typing_indicator, "SHOWN_AFTER_SECONDS", 3600.0)
        yield driver
    driver.close()


@pytest.fixture
def sending(edge: PlatformDriver, rest: Rest, world: World) -> Iterator[Sending]:
    scene = Sending(world, rest, edge)
    yield scene
    assert scene.driver.platform.faults == []


@pytest.fixture
def slack(sending: Sending) -> Slack:
    platform = Slack()
    sending.show(platform)
    sending.id = sending.create("workspace-chat", slack_samples.CONFIG)
    return platform


@given("ada has written to the bot")
@when("ada writes to the bot")
def written(sending: Sending, slack: Slack) -> None:
    call = slack_samples.recorded("message_im", sending.world.clock.now())
    before = len(slack.messages)
    reply = sending.rest.call("workspace-chat", sending.id, call.body, call.headers, "webhook")
    assert reply.outcome == "done", reply
    assert sending.driver.wait_until(lambda: len(slack.messages) > before)
    slack.messages.clear()


@given("the bot has the channel as its default")
def with_default(sending: Sending, slack: Slack) -> None:
    config = {**slack_samples.CONFIG, "defaultChannel": ROOM}
    assert sending.rest.update("ann", sending.id, {"config": config}).outcome == "done"


@then("the message is accepted")
def accepted(sending: Sending) -> None:
    assert sending.last.outcome == "accepted", sending.last
    assert set(sending.last.body) == {"success", "messageId", "sessionId", "status"}
    assert sending.last.body["status"] == "queued"


@then(parsers.parse('the message is "{status}"'))
def has_status(sending: Sending, status: str) -> None:
    until(lambda: sending.status()["status"] == status, f"the message is {status}")


@then(parsers.parse('the request is "{outcome}"'))
def request_is(sending: Sending, outcome: str) -> None:
    assert sending.last.outcome == outcome, sending.last
