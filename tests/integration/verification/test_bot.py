"""Verification by the messenger bot."""

import hashlib
from typing import Any

import httpx
import pytest

from adapters.outbound.channels.tests.support import SetClock
from adapters.outbound.system.verification_bot import TelegramVerificationBot
from ports.capabilities import PlatformError
from tests.integration.verification.conftest import SERVICE_KEY, key
from tests.support.platforms.bot_api import BOT_TOKEN, VerificationBotApi

SECRET = {"X-Telegram-Bot-Api-Secret-Token": hashlib.sha256(BOT_TOKEN.encode()).hexdigest()}
SERVICE = {"Authorization": f"Bearer {SERVICE_KEY}"}
THREE = [
    {"field": "bot-messenger", "value": "77"},
    {"field": "business-messaging", "value": "4915112345678"},
    {"field": "phone", "value": "+4915112345678"},
]


def update(sender: int = 77, **message: Any) -> dict[str, Any]:
    chat = {"id": sender, "type": "private"}
    return {"update_id": 1, "message": {"message_id": 1, "from": {"id": sender}, "chat": chat, **message}}


def contact(sender: int = 77, owner: int | None = 77, phone: str = "+49 151 12345678") -> dict[str, Any]:
    shared = {"phone_number": phone, "first_name": "Ann", **({"user_id": owner} if owner else {})}
    return update(sender, contact=shared)


async def tell(rest: httpx.AsyncClient, body: dict[str, Any], secret: dict[str, str] = SECRET) -> int:
    return (await rest.post("/bot-messenger-bot-webhook", json=body, headers=secret)).status_code


async def link(rest: httpx.AsyncClient, user: str = "ann") -> str:
    answer = await rest.post("/start-bot-messenger", headers=key(user))
    assert answer.status_code == 200
    assert set(answer.json()) == {"success", "deepLink", "expiresInSeconds", "message"}
    assert answer.json()["expiresInSeconds"] == 300
    start, token = answer.json()["deepLink"].split("=")
    assert start == "https://t.me/verify_bot?start"
    assert len(token) <= 64
    return str(token)


async def identities(rest: httpx.AsyncClient, user: str = "ann") -> list[dict[str, str]]:
    found = (await rest.get("/identities", headers=key(user))).json()["identities"]
    return sorted(found, key=lambda each: str(each["field"]))


async def test_a_shared_contact_gives_three_identities(
    rest: httpx.AsyncClient, bot_api: VerificationBotApi
) -> None:
    token = await link(rest)
    assert await tell(rest, update(text=f"/start {token}")) == 200
    assert bot_api.said[0]["reply_markup"]["keyboard"][0][0]["request_contact"] is True
    assert "ann" in bot_api.said[0]["text"]
    assert await tell(rest, contact()) == 200
    assert await identities(rest) == THREE
    assert bot_api.said[1]["reply_markup"] == {"remove_keyboard": True}


async def test_another_persons_contact_is_not_taken(
    rest: httpx.AsyncClient, bot_api: VerificationBotApi
) -> None:
    token = await link(rest)
    await tell(rest, update(text=f"/start {token}"))
    await tell(rest, contact(owner=78))
    await tell(rest, contact(owner=None))
    assert await identities(rest) == []
    assert "own contact" in bot_api.said[-1]["text"]


async def test_a_contact_without_a_link_is_not_taken(rest: httpx.AsyncClient) -> None:
    await link(rest)
    assert await tell(rest, contact()) == 200
    assert await identities(rest) == []


async def test_a_link_belongs_to_who_opened_it_first(rest: httpx.AsyncClient) -> None:
    token = await link(rest)
    await tell(rest, update(77, text=f"/start {token}"))
    await tell(rest, update(78, text=f"/start {token}"))
    await tell(rest, contact(78, 78))
    assert await identities(rest) == []
    await tell(rest, contact(77, 77))
    assert await identities(rest) == THREE


async def test_a_link_is_good_once(rest: httpx.AsyncClient) -> None:
    token = await link(rest)
    await tell(rest, update(text=f"/start {token}"))
    await tell(rest, contact())
    await tell(rest, update(text=f"/start {token}"))
    await tell(rest, contact(phone="+4915100000000"))
    assert await identities(rest) == THREE


@pytest.mark.parametrize("when", ["before opening", "before sharing"])
async def test_a_link_expires(rest: httpx.AsyncClient, clock: SetClock, when: str) -> None:
    token = await link(rest)
    if when == "before opening":
        clock.advance(300)
    await tell(rest, update(text=f"/start {token}"))
    if when == "before sharing":
        clock.advance(300)
    await tell(rest, contact())
    assert await identities(rest) == []


async def test_the_origin_is_proved(rest: httpx.AsyncClient) -> None:
    token = await link(rest)
    for headers in ({}, {"X-Telegram-Bot-Api-Secret-Token": "wrong"}):
        assert await tell(rest, update(text=f"/start {token}"), headers) == 401


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": []},
        {"message": {"from": 3}},
        update(text="/start"),
        update(text=5),
        update(contact={"phone_number": {}}),
        contact(phone="not a phone"),
        {"message": {"from": {"id": 77}, "chat": {"id": -5, "type": "group"}, "text": "/start x"}},
    ],
)
async def test_what_cannot_be_used_does_no_harm(rest: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert await tell(rest, body) == 200
    assert await identities(rest) == []


async def test_a_bot_that_cannot_answer_loses_nothing(
    rest: httpx.AsyncClient, bot_api: VerificationBotApi
) -> None:
    token = await link(rest)
    bot_api.next_reply(500)
    assert await tell(rest, update(text=f"/start {token}")) == 200
    bot_api.next_reply(403, {"ok": False, "description": "Forbidden: bot was blocked by the user"})
    assert await tell(rest, contact()) == 200
    assert await identities(rest) == THREE


async def test_the_callback_completes_a_link(rest: httpx.AsyncClient) -> None:
    body = {"token": await link(rest), "bot_messenger_id": "77", "phone": "004915112345678"}
    done = await rest.post("/bot-messenger-callback", json=body, headers=SERVICE)
    assert (done.status_code, done.json()["success"]) == (200, True)
    assert await identities(rest) == THREE
    assert (await rest.post("/bot-messenger-callback", json=body, headers=SERVICE)).status_code == 400


async def test_the_callback_needs_the_service_key(rest: httpx.AsyncClient) -> None:
    body = {"token": await link(rest), "bot_messenger_id": "77", "phone": "+4915112345678"}
    assert (await rest.post("/bot-messenger-callback", json=body)).status_code == 401
    refused = await rest.post("/bot-messenger-callback", json=body, headers=key("ann"))
    assert refused.status_code == 403
    assert await identities(rest) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"phone": "123"}, "phone"),
        ({"bot_messenger_id": "x y"}, "bot_messenger_id"),
        ({"token": "unknown"}, "token"),
        ({"token": 5}, "token"),
    ],
)
async def test_a_bad_callback_names_its_fault(
    rest: httpx.AsyncClient, change: dict[str, Any], named: str
) -> None:
    body = {"token": await link(rest), "bot_messenger_id": 77, "phone": "+4915112345678", **change}
    answer = await rest.post("/bot-messenger-callback", json=body, headers=SERVICE)
    assert (answer.status_code, named in answer.json()["error"]) == (400, True)


async def test_the_webhook_is_registered_with_its_secret(
    bot: TelegramVerificationBot, bot_api: VerificationBotApi
) -> None:
    await bot.register("https://agent.example/")
    assert bot_api.webhook == {
        "url": "https://agent.example/api/agent/verification/bot-messenger-bot-webhook",
        "secret_token": SECRET["X-Telegram-Bot-Api-Secret-Token"],
        "allowed_updates": ["message"],
    }
    bot_api.next_reply(400, {"ok": False, "description": "bad webhook"})
    with pytest.raises(PlatformError, match="bad webhook") as failure:
        await bot.register("https://agent.example")
    assert BOT_TOKEN not in str(failure.value)
