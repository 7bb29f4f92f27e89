"""Two workers keep one connection for each instance; when a worker is killed, the other one connects and reads on."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger.tests import samples as telegram_calls
from adapters.outbound.channels.workspace_chat.tests import samples as slack_calls
from tests.drivers.platform import PlatformDriver
from tests.e2e.apart import Apart
from tests.support.platforms.mattermost import CHANNEL, Mattermost
from tests.support.platforms.mattermost import TOKEN as MATTERMOST_TOKEN
from tests.support.platforms.slack import APP_TOKEN, Slack
from tests.support.platforms.standin import StandIn
from tests.support.platforms.telegram import Telegram
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

ANN, DIRECT = "u1m5kfr9ty3bdjpac4n8hq2xw7", "d1m5kfr9ty3bdjpac4n8hq2xw7"


class Platforms:
    """Telegram, Slack and Mattermost: what people write there, and what they read."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.telegram, self.slack = Telegram(), Slack()
        self.mattermost = Mattermost(int(time.time() * 1000))
        self.instances: list[int] = []
        self.drivers = [self._served(each, stack) for each in (self.telegram, self.slack, self.mattermost)]

    @staticmethod
    def _served(platform: StandIn, stack: contextlib.ExitStack) -> PlatformDriver:
        driver = PlatformDriver()
        stack.callback(driver.close)
        driver.show(platform)
        return driver

    @property
    def settings(self) -> dict[str, str]:
        telegram, slack, _ = self.drivers
        return {"BOT_MESSENGER_API_URL": telegram.url, "WORKSPACE_CHAT_API_URL": f"{slack.url}/api"}

    def connect(self, gateway: Service) -> None:
        mattermost = {"SERVER_URL": self.drivers[2].url, "channelId": CHANNEL, "token": MATTERMOST_TOKEN}
        for channel_id, config in (
            ("bot-messenger", telegram_calls.CONFIG),
            ("workspace-chat", {**slack_calls.CONFIG, "appToken": APP_TOKEN}),
            ("community-chat", {**mattermost, "connection": "socket"}),
        ):
            created = gateway.create_instance(
                channelId=channel_id, channelName="Bot", config=config, downStreamResourceId="agent::echo"
            )
            self.instances.append(created["instanceId"])

    def write(self, number: int) -> None:
        """The same text on each; on Slack over the latest connection, as one envelope."""
        self.telegram.write(_update(number))
        self.mattermost.write(ANN, f"number {number}", DIRECT, "D")
        self.slack.sockets.all[-1].say(_envelope(number))

    def have_answered(self, number: int) -> bool:
        return all(f"number {number}" in texts for texts in self.read())

    def read(self) -> tuple[list[str], list[str], list[str]]:
        return (
            [message["text"] for message in self.telegram.of("sendMessage")],
            [message["text"] for message in self.slack.messages],
            [post["message"] for post in self.mattermost.posts],
        )


def _update(number: int) -> dict[str, Any]:
    body: dict[str, Any] = telegram_calls.fixture("message_text") | {"update_id": number}
    body["message"] = {**body["message"], "message_id": number, "text": f"number {number}"}
    return body


def _envelope(number: int) -> dict[str, Any]:
    payload = slack_calls.fixture("message_im")
    payload["event"] |= {"text": f"number {number}", "ts": f"1800000000.{number:06d}"}
    return {"envelope_id": f"env-{number}", "type": "events_api", "payload": payload}


@pytest.fixture
def platforms() -> Iterator[Platforms]:
    with contextlib.ExitStack() as stack:
        yield Platforms(stack)


def test_a_killed_workers_connections_are_taken_over_and_nothing_is_lost(
    open_folder: Path, external_settings: dict[str, str], platforms: Platforms
) -> None:
    settings = {**external_settings, **platforms.settings, "PLATFORM_LIMITS": "answers"}
    with Apart(open_folder, settings) as apart, apart.gateway.client() as client:

        def connected() -> int:
            answer = client.get("/api/agent/channels/status")
            assert answer.status_code == 200, answer.text
            return len(answer.json()["connectedChannels"])

        def pending(instance_id: int) -> int:
            answer = client.get(f"/api/agent/channel-instances/{instance_id}/health")
            return int(answer.json()["queue"]["pending"])

        platforms.connect(apart.gateway)
        until(lambda: connected() == 3, "three connections")
        platforms.write(1)
        until(lambda: platforms.have_answered(1), "answers to the first messages")
        with Service(
            open_folder / "second", "worker", {**apart.worker.settings, "METRICS_PORT": ""}
        ) as second:
            platforms.write(2)
            until(lambda: platforms.have_answered(2), "answers while both workers run")
            until(lambda: not any(map(pending, platforms.instances)), "they are on record as sent")
            assert platforms.telegram.conflicts == 0
            taken = len(platforms.slack.sockets.all)
            killed = time.monotonic()
            apart.worker.kill_everything()
            platforms.telegram.write(_update(3))
            platforms.mattermost.write(ANN, "number 3", DIRECT, "D")
            until(lambda: len(platforms.slack.sockets.all) > taken, "the second worker connects to Slack")
            platforms.slack.sockets.all[-1].say({**_envelope(3), "retry_attempt": 1})
            until(lambda: platforms.have_answered(3), "answers to what was written meanwhile")
            print(f"answered {time.monotonic() - killed:.1f} s after the kill")
            assert connected() == 3
            assert second.process.poll() is None
    assert platforms.read() == ([f"number {number}" for number in (1, 2, 3)],) * 3, "each once, in order"
    assert [platforms.slack.sockets.most_open, platforms.mattermost.sockets.most_open] == [1, 1]
    for driver in platforms.drivers:
        assert driver.platform.faults == []


KILLS = 3
UPDATES = 6


def test_no_update_is_lost_when_everything_is_killed(open_folder: Path, platforms: Platforms) -> None:
    """Each round kills at another moment: once the first of new updates was fetched, stored or answered."""
    telegram = platforms.telegram
    numbers = iter(range(1, 1000))
    written: list[int] = []
    with Service(open_folder / "data", "up", platforms.settings) as service:
        service.create_instance(
            channelId="bot-messenger",
            channelName="Bot",
            config=telegram_calls.CONFIG,
            downStreamResourceId="agent::echo",
        )
        for round_number in range(KILLS):
            new = [next(numbers) for _ in range(UPDATES)]
            written += new
            fetched = len(telegram.of("getUpdates"))
            for number in new:
                telegram.write(_update(number))
            until(lambda before=fetched: len(telegram.of("getUpdates")) > before, "updates are fetched")
            if round_number:
                until(lambda first=new[0]: f"number {first}" in platforms.read()[0], "the first answer")
            service.kill_everything()
            service.start()
        wanted = {f"number {number}" for number in written}
        until(lambda: wanted <= set(platforms.read()[0]), "all are answered")
    texts = platforms.read()[0]
    assert set(texts) == wanted
    assert len(texts) - len(wanted) <= KILLS, "one message that was on its way may come again with each kill"
