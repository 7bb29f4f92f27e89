"""The steps of without_public_address.feature."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.channels.tests.support import call
from adapters.outbound.channels.workspace_chat.tests import samples as slack_samples
from domain.routing import bursts
from domain.routing.model import RunResult
from tests.drivers.resource import Resource
from tests.features.sockets.conftest import Behind
from tests.support.platforms.mattermost import CHANNEL as CHANNEL_ID
from tests.support.platforms.mattermost import TOKEN as MATTERMOST_TOKEN
from tests.support.platforms.mattermost import Mattermost
from tests.support.platforms.slack import APP_TOKEN, Slack
from tests.support.platforms.telegram import Telegram
from tests.support.platforms.websocket import Peers
from tests.support.waiting import until

SETTING = samples.SETTING
PUBLIC = {"AGENT_URL": "https://agents.example"}
CHANNEL = "bot-messenger"
BOB, DIRECT = "u1m5kfr9ty3bdjpac4n8hq2xw7", "d1m5kfr9ty3bdjpac4n8hq2xw7"
POLLED = {**samples.CONFIG, "connection": "polling"}

scenarios("without_public_address.feature")


@given("a service behind a router")
def behind_router(behind: Behind) -> None:
    behind.begin(Telegram(), SETTING)


@given("a service with a public address")
def public(behind: Behind) -> None:
    behind.begin(Telegram(), SETTING, **PUBLIC)


@given("a Telegram bot with a webhook elsewhere")
def set_elsewhere(behind: Behind) -> None:
    telegram(behind).webhook = {"url": "https://elsewhere.example/hook"}


@given("Ann's Telegram bot that is polled")
def polled_bot(behind: Behind) -> None:
    behind.create(CHANNEL, POLLED)
    behind.wait_live()


@given("Ann's Telegram bot, whose webhook Telegram refused")
def refused_bot(behind: Behind) -> None:
    connects(behind)
    behind.wait_live()


@when("Telegram takes the address after all")
def takes_address(behind: Behind) -> None:
    telegram(behind).takes_any_address = True


@when("the regular check of webhooks comes")
def check_comes(behind: Behind) -> None:
    registration = behind.world.container.channels().registration
    assert behind.id in behind.world.run(registration.to_be_checked())
    behind.world.run(registration.keep_registered(behind.id))


@then("Telegram calls the webhook at that address")
def calls_that_address(behind: Behind) -> None:
    address = f"http://localhost:3011/api/agent/channels/bot-messenger/{behind.id}/webhook"
    assert telegram(behind).webhook["url"] == address


@given("a second process")
def second_process(behind: Behind) -> None:
    behind.second_process()


@when("Ann connects her Telegram bot")
def connects(behind: Behind) -> None:
    behind.create(CHANNEL, samples.CONFIG)


@when("Ann connects her Telegram bot by polling")
def connects_by_polling(behind: Behind) -> None:
    behind.create(CHANNEL, POLLED)


@when("Ann takes back that it is to be polled")
def no_more_polling(behind: Behind) -> None:
    behind.created = behind.rest.update("ann", behind.id, {"config": samples.CONFIG}).body


@when("the process that polls dies")
def dies(behind: Behind) -> None:
    behind.kill_the_first()


@given("a service behind a router, and a Slack app in Socket Mode")
def slack_behind_router(behind: Behind) -> None:
    behind.begin(Slack(), slack_samples.SETTING, "/api")


@given("a service behind a router, and a Mattermost server")
def mattermost_behind_router(behind: Behind) -> None:
    behind.begin(Mattermost(int(time.time() * 1000)), "")


@given("a service with a public address, and a Mattermost server")
def mattermost_in_public(behind: Behind) -> None:
    platform = Mattermost(int(time.time() * 1000))
    platform.files["f1"] = ("engine.png", b"\x89PNG picture")
    behind.begin(platform, "", **PUBLIC)
    Resource(
        behind.world,
        lambda request: RunResult(f"{request.text} ({', '.join(file.name for file in request.files)})"),
    )


@given("Ann has connected it, with an outgoing webhook beside the connection")
def connected_both_ways(behind: Behind) -> None:
    config = {"SERVER_URL": behind.driver.url, "channelId": CHANNEL_ID, "token": MATTERMOST_TOKEN}
    behind.create(
        "community-chat", {**config, "connection": "socket", "webhookToken": "hook"}, "agent::lister"
    )
    behind.wait_live()


@when(
    parsers.re(
        r'Bob writes "(?P<text>.+)" with a file in a thread, which comes by (?P<first>webhook|connection) first'
    )
)
def writes_in_thread(behind: Behind, monkeypatch: pytest.MonkeyPatch, text: str, first: str) -> None:
    """An outgoing webhook tells neither the thread nor, here, the files
    (https://developers.mattermost.com/integrate/webhooks/outgoing/). A busy machine takes longer than the usual time
    to bring the second."""
    monkeypatch.setattr(bursts, "QUIET_SECONDS", bursts.LONGEST_SECONDS)
    platform = behind.driver.platform
    assert isinstance(platform, Mattermost)
    root = platform.record(BOB, "The boiler", CHANNEL_ID)
    post = platform.record(BOB, text, CHANNEL_ID, root_id=root["id"], file_ids=["f1"])
    ways = [lambda: by_webhook(behind, post), lambda: platform.tell(peers(behind).open[0], post)]
    for come in ways if first == "webhook" else reversed(ways):
        come()


def by_webhook(behind: Behind, post: Mapping[str, Any]) -> None:
    called = {"token": "hook", "channel_name": "a-channel", "user_name": "bob", "trigger_word": "@kitchen"}
    called |= {name: post[name] for name in ("channel_id", "user_id")}
    called |= {"post_id": post["id"], "text": post["message"], "file_ids": ""}
    posted = call(as_json=called)
    reply = behind.rest.call("community-chat", behind.id, posted.body, posted.headers, "webhook")
    assert reply.outcome == "done", reply.body


@then(parsers.parse('Bob reads "{text}" in the thread, and nothing else'))
def reads_in_thread(behind: Behind, text: str) -> None:
    platform = behind.driver.platform
    assert isinstance(platform, Mattermost)
    behind.driver.wait_until(lambda: bool(platform.posts))
    behind.world.settle()
    root = platform.history[0]["id"]
    assert [(post["message"], post["root_id"]) for post in platform.posts] == [(text, root)]


@when("Ann connects it")
def connects_it(behind: Behind) -> None:
    if isinstance(behind.driver.platform, Slack):
        behind.create("workspace-chat", {**slack_samples.CONFIG, "appToken": APP_TOKEN})
    else:
        config = {"SERVER_URL": behind.driver.url, "channelId": CHANNEL_ID, "token": MATTERMOST_TOKEN}
        behind.create("community-chat", {**config, "connection": "socket"})


@given("Ann has connected it")
def has_connected(behind: Behind) -> None:
    connects_it(behind)
    behind.wait_live()


@when("Ann removes the token of the app")
def removes_token(behind: Behind) -> None:
    behind.rest.update("ann", behind.id, {"config": slack_samples.CONFIG})


@when("Slack announces that it will close the connection")
def announces(behind: Behind) -> None:
    peers(behind).all[0].say({"type": "disconnect", "reason": "refresh_requested"})


@then("there is another connection before that")
def another_connection(behind: Behind) -> None:
    until(lambda: len(peers(behind).open) == 2, "the next connection is open")


@then("Slack was told that the message arrived")
def acknowledged(behind: Behind) -> None:
    until(lambda: peers(behind).all[0].log == [{"envelope_id": "env-5"}], "the acknowledgement")


@when(parsers.parse('Bob mentions it with "{text}" in a private channel'))
def mentions(behind: Behind, text: str) -> None:
    platform = behind.driver.platform
    assert isinstance(platform, Mattermost)
    platform.write(BOB, f"@kitchen {text}", "p4n8hq2xw7z1m5kfr9ty3bdjpa", "P")


@when(parsers.parse('the connection breaks while Bob writes "{text}"'))
def breaks(behind: Behind, text: str) -> None:
    platform = behind.driver.platform
    assert isinstance(platform, Mattermost)
    platform.record(BOB, text, DIRECT, "D")
    platform.sockets.all[0].say(1001)


@then(parsers.parse('its health says "{words}", and that all is well'))
def health_says(behind: Behind, words: str) -> None:
    health = behind.rest.health("ann", behind.id).body
    assert health["healthy"], health
    assert words in health["notes"][0]


@when(parsers.parse('Bob writes "{text}" to it'))
def writes(behind: Behind, text: str) -> None:
    behind.wait_live()
    platform = behind.driver.platform
    if isinstance(platform, Telegram):
        platform.write(update(text))
    elif isinstance(platform, Mattermost):
        platform.write(BOB, text, DIRECT, "D")
    else:
        payload = slack_samples.fixture("message_im")
        payload["event"]["text"] = text
        envelope = {"envelope_id": f"env-{len(text)}", "type": "events_api", "payload": payload}
        peers(behind).all[-1].say(envelope)


@when(parsers.parse('Telegram delivers "{text}" to the webhook and to the poll'))
def delivers_twice(behind: Behind, text: str) -> None:
    body = update(text)
    posted = samples.posted(body)
    reply = behind.rest.call(CHANNEL, behind.id, posted.body, posted.headers, "webhook")
    assert reply.outcome == "done", reply.body
    telegram(behind).write(body)


@then("she is told that no webhook is registered, that nothing went wrong, and that updates are fetched")
def told(behind: Behind) -> None:
    assert behind.created["webhookRegistered"] is False
    assert behind.created["webhookError"] is None
    assert "Updates are fetched from Telegram" in behind.created["message"]


@then("it becomes one of her live connections")
def becomes_live(behind: Behind) -> None:
    behind.wait_live()


@then("it ends to be one of her live connections")
def ends_to_be_live(behind: Behind) -> None:
    until(lambda: not behind.is_live(), "the connection is down")


@then("Telegram calls the webhook")
def calls_webhook(behind: Behind) -> None:
    assert behind.created["webhookRegistered"] is True
    address = f"https://agents.example/api/agent/channels/bot-messenger/{behind.id}/webhook"
    assert telegram(behind).webhook["url"] == address


@then("Telegram knows no webhook")
def knows_none(behind: Behind) -> None:
    assert telegram(behind).webhook == {"url": ""}


@then(parsers.re('Bob reads "(?P<text>[^"]+)"$'))
def reads(behind: Behind, text: str) -> None:
    assert behind.driver.wait_until(lambda: text in said(behind)), said(behind)


@then(parsers.parse('Bob reads "{first}" and "{second}", each once'))
def reads_once(behind: Behind, first: str, second: str) -> None:
    assert behind.driver.wait_until(lambda: second in said(behind)), telegram(behind).calls
    assert said(behind) == [first, second]


@then("its health says that updates are fetched, and that all is well")
def well(behind: Behind) -> None:
    health = behind.rest.health("ann", behind.id).body
    assert health["healthy"], health
    (note,) = health["notes"]
    assert "Updates are fetched from Telegram" in note


def telegram(behind: Behind) -> Telegram:
    platform = behind.driver.platform
    assert isinstance(platform, Telegram)
    return platform


def update(text: str) -> dict[str, Any]:
    """A new update: the numbers of updates grow."""
    body: dict[str, Any] = samples.fixture("message_text") | {"update_id": 1000 + len(text)}
    body["message"] = {**body["message"], "text": text}
    return body


def peers(behind: Behind) -> Peers:
    platform = behind.driver.platform
    assert isinstance(platform, Slack | Mattermost)
    return platform.sockets


def said(behind: Behind) -> list[str]:
    platform = behind.driver.platform
    if isinstance(platform, Slack):
        return [message["text"] for message in platform.messages]
    if isinstance(platform, Mattermost):
        return [post["message"] for post in platform.posts]
    return [message["text"] for message in telegram(behind).of("sendMessage")]
