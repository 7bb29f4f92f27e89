"""Where updates come from: the webhook, or a poll against a Bot API server, from where the last one ended."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.bot_messenger import channel as polling
from adapters.outbound.channels.bot_messenger.channel import build
from adapters.outbound.channels.bot_messenger.webhook import secret_of
from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.listening import Listener
from adapters.outbound.channels.tests.support import NOW, SetClock, client, dependencies
from domain.channels.messages import SessionRename
from domain.refusals import Unavailable
from ports.capabilities import PlatformError
from tests.support.platforms.telegram import TOKEN, Telegram, refusal

from .samples import CONFIG, SETTING, fixture, update
from .test_webhook import received

ADDRESS = "https://agents.example/api/agent/channels/bot-messenger/7/webhook"
POLLED = {**CONFIG, "connection": "polling"}
BOT = TOKEN.partition(":")[0]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconnecting, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(reconnecting, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(polling, "SETTLING", 0.001)


@pytest.fixture
async def server() -> AsyncIterator[Telegram]:
    async with Telegram.run() as platform:
        yield platform


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def listener(server: Telegram, clock: SetClock) -> AsyncIterator[Listener]:
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: server.url}, clock=clock)))
        made = Listener(channel, POLLED)
        yield made
        await made.stop()


def written(number: int) -> dict[str, Any]:
    body: dict[str, Any] = fixture("message_text") | {"update_id": number}
    body["message"] = {**body["message"], "text": f"number {number}"}
    return body


async def test_registers_with_the_secret_and_the_updates(listener: Listener, server: Telegram) -> None:
    channel = listener.channel
    assert not await channel.registered(CONFIG, ADDRESS)
    assert await channel.register(CONFIG, ADDRESS, {}) == {}
    assert server.webhook == {
        "url": ADDRESS,
        "secret_token": secret_of(TOKEN),
        "allowed_updates": ["message", "edited_message", "callback_query"],
    }
    assert await channel.registered(CONFIG, ADDRESS)
    assert not await channel.registered(CONFIG, ADDRESS + "2")
    server.webhook["allowed_updates"] = ["message"]
    assert not await channel.registered(CONFIG, ADDRESS)
    await channel.unregister(CONFIG, {})
    assert server.webhook == {"url": ""}


async def test_another_bot_leaves_a_webhook_behind(listener: Listener) -> None:
    assert listener.channel.supersedes(CONFIG, {**CONFIG, "botToken": "8:another"})
    assert not listener.channel.supersedes(CONFIG, {**CONFIG, "parseMode": "Markdown"})


async def test_polling_removes_the_webhook_and_registers_none(listener: Listener, server: Telegram) -> None:
    await listener.channel.register(CONFIG, ADDRESS, {})
    kept = await listener.channel.register(POLLED, ADDRESS, {})
    assert server.webhook == {"url": ""}
    assert not await listener.channel.registered(POLLED, ADDRESS)
    assert listener.channel.wants(POLLED, kept)
    assert "getUpdates" in listener.channel.note(POLLED, kept)


async def test_an_address_that_telegram_refuses_is_polled_and_the_reason_told(listener: Listener) -> None:
    kept = await listener.channel.register(CONFIG, "http://agents.example/webhook", {})
    assert listener.channel.wants(CONFIG, kept)
    assert "HTTPS URL must be provided" in listener.channel.note(CONFIG, kept)
    assert not listener.channel.wants(CONFIG, await listener.channel.register(CONFIG, ADDRESS, kept))


async def test_another_refusal_is_an_error(listener: Listener, server: Telegram) -> None:
    server.refuse["setWebhook"] = "something else"
    with pytest.raises(PlatformError, match="something else"):
        await listener.channel.register(CONFIG, ADDRESS, {})
    with pytest.raises(PlatformError, match="Unauthorized"):
        await listener.channel.register({**POLLED, "botToken": "1:wrong"}, ADDRESS, {})


@pytest.mark.parametrize(
    "address",
    [
        "http://agents.example/hook",
        "http://localhost:3011/hook",
        "https://localhost/hook",
        "https://192.168.1.7/hook",
        "https://[::1]/hook",
        "https://0x7f.1/hook",
        "https://box.local/hook",
        "https://box/hook",
    ],
)
async def test_telegram_is_not_asked_to_call_what_it_cannot_reach(
    server: Telegram, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """The stand-in is taken for Telegram itself."""
    monkeypatch.setattr("adapters.outbound.channels.bot_messenger.api.BotApi.is_own_server", False)
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {SETTING: server.url})))
        kept = await channel.register(CONFIG, address, {})
        assert "AGENT_URL is not a public https address" in channel.note(CONFIG, kept)
        assert await channel.register(CONFIG, ADDRESS, kept) == {}
    assert [name for name, _ in server.calls] == ["deleteWebhook", "setWebhook"]


async def test_updates_come_in_as_by_webhook_and_are_confirmed(listener: Listener, server: Telegram) -> None:
    server.write(fixture("message_text"))
    listener.start()
    event = await listener.events.get()
    assert [event] == list(received(update("message_text")).events), "the same key: it is one event"
    await listener.cursors.get()
    server.write(written(900_000_001))
    assert (await listener.events.get()).text == "number 900000001"
    assert await listener.cursors.get() == {"bot": BOT, "offset": 900_000_002, "at": NOW.timestamp()}
    assert listener.recorder.ups == [True]
    assert [update["update_id"] for update in server.pending] == [900_000_001]


async def test_a_group_that_becomes_a_supergroup_is_told(listener: Listener, server: Telegram) -> None:
    server.write(fixture("migrate_to"))
    listener.start()
    await listener.cursors.get()
    assert listener.renames == [SessionRename("-4001", "-1002000300041", of_place=True)]


async def test_goes_on_where_the_last_process_ended(listener: Listener, server: Telegram) -> None:
    listener.stored = {"bot": BOT, "offset": 12, "at": NOW.timestamp()}
    for number in (10, 11, 12):
        server.write(written(number))
    listener.start()
    assert (await listener.events.get()).text == "number 12"
    assert server.of("getUpdates")[0]["offset"] == 12


@pytest.mark.parametrize("stored", [{"bot": "5", "offset": 99, "at": 0.0}, {"bot": BOT, "offset": "x"}, {}])
async def test_another_bots_place_is_not_its_own(
    listener: Listener, server: Telegram, stored: dict[str, Any]
) -> None:
    listener.stored = stored
    server.write(written(3))
    listener.start()
    assert (await listener.events.get()).text == "number 3"


async def test_after_a_week_numbers_begin_anew(listener: Listener, server: Telegram, clock: SetClock) -> None:
    listener.stored = {"bot": BOT, "offset": 900_000_000, "at": NOW.timestamp()}
    clock.advance(7 * 86400)
    server.write(written(3))
    listener.start()
    assert (await listener.events.get()).text == "number 3"


async def test_what_cannot_be_stored_is_not_confirmed(listener: Listener, server: Telegram) -> None:
    listener.broken.append(Unavailable("the database is away"))
    server.write(written(3))
    listener.start()
    assert listener.running is not None
    with pytest.raises(Unavailable):
        await listener.running
    listener.start()
    assert (await listener.events.get()).text == "number 3"


async def test_a_webhook_that_is_set_is_removed(listener: Listener, server: Telegram) -> None:
    server.webhook = {"url": ADDRESS}
    server.write(written(3))
    listener.start()
    assert (await listener.events.get()).text == "number 3"
    assert server.webhook == {"url": ""}


async def test_waits_as_long_as_telegram_says(listener: Listener, server: Telegram) -> None:
    refused = refusal(429, "Too Many Requests: retry after 33", retry_after=33)
    server.next_reply(refused.status, refused.json)
    with pytest.raises(PlatformError) as raised:
        await listener.channel.probe(CONFIG)
    assert reconnecting.pause_seconds(1, raised.value) == 33.0


async def test_failures_are_put_on_record_and_tried_again(listener: Listener, server: Telegram) -> None:
    refused = refusal(429, "Too Many Requests: retry after 0", retry_after=0)
    server.next_reply(refused.status, refused.json)
    server.next_reply(502, body=b"<html>")
    server.write(written(3))
    listener.start()
    assert "Too Many Requests" in await listener.recorder.troubles.get()
    assert (await listener.events.get()).text == "number 3"
    assert listener.recorder.troubles.empty()
    assert listener.recorder.ups[-1] is True


@pytest.mark.parametrize("odd", [{}, [], {"update_id": "x"}, {"update_id": 4, "message": []}, 7])
async def test_odd_updates_are_passed_over(listener: Listener, server: Telegram, odd: Any) -> None:
    server.next_reply(200, {"ok": True, "result": {"username": "agent_bot"}})
    server.next_reply(200, {"ok": True, "result": [odd, written(5)]})
    listener.start()
    assert (await listener.events.get()).text == "number 5"
