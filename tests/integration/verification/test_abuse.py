"""Races between users, and what logs may not tell."""

import asyncio
import logging

import httpx
import pytest

from domain.access.model import Caller
from domain.refusals import Invalid
from domain.use_cases import Verification
from tests.integration.verification.conftest import key
from tests.support.mail import Postbox, code_in
from tests.support.platforms.sign_in import SignIn

PHONE = "+4915112345678"
SERVICE = Caller("internal-service", is_service=True)


async def linked(service: Verification, user: str) -> str:
    """The token of a new link to the bot."""
    link = await service.bot.start_bot_messenger(Caller(user))
    return link.address.partition("start=")[2]


async def test_of_users_who_verify_the_same_identities_at_once_one_has_them_all(
    service: Verification,
) -> None:
    users = [f"user{number}" for number in range(6)]
    tokens = [await linked(service, user) for user in users]
    await asyncio.gather(*[service.bot.complete_bot_messenger(SERVICE, each, "77", PHONE) for each in tokens])
    owned = [len(await service.identities.list_identities(Caller(user))) for user in users]
    assert sorted(owned) == [0, 0, 0, 0, 0, 3]


async def test_of_uses_of_one_link_at_once_one_wins(service: Verification) -> None:
    token = await linked(service, "ann")
    uses = [service.bot.complete_bot_messenger(SERVICE, token, str(number), PHONE) for number in range(4)]
    results = await asyncio.gather(*uses, return_exceptions=True)
    assert sum(result == "ann" for result in results) == 1
    assert sum(isinstance(result, Invalid) for result in results) == 3


async def test_guesses_of_unknown_links_all_fail_alike(service: Verification) -> None:
    with pytest.raises(Invalid) as unknown:
        await service.bot.complete_bot_messenger(SERVICE, "guess", "77", PHONE)
    token = await linked(service, "ann")
    await service.bot.complete_bot_messenger(SERVICE, token, "77", PHONE)
    with pytest.raises(Invalid) as used:
        await service.bot.complete_bot_messenger(SERVICE, token, "77", PHONE)
    assert str(unknown.value) == str(used.value)


async def test_asking_for_a_code_tells_nothing_of_who_has_an_address(
    rest: httpx.AsyncClient, service: Verification, postbox: Postbox
) -> None:
    await service.email.start_email(Caller("ann"), "ann@example.com")
    await service.email.verify_email(Caller("ann"), code_in(postbox.mails[-1]))
    taken = await rest.post("/start-email", json={"email": "ann@example.com"}, headers=key("bob"))
    free = await rest.post("/start-email", json={"email": "new@example.com"}, headers=key("bob"))
    assert taken.status_code == free.status_code == 200
    assert taken.text.replace("ann@", "new@") == free.text


async def test_logs_hold_no_code_and_no_token(
    rest: httpx.AsyncClient, postbox: Postbox, sign_in: SignIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await rest.post("/start-email", json={"email": "ann@example.com"}, headers=key("ann"))
    code = code_in(postbox.mails[-1])
    await rest.post("/verify-email", json={"otp": code}, headers=key("ann"))
    link = (await rest.post("/start-bot-messenger", headers=key("ann"))).json()["deepLink"]
    started = await rest.post("/start-gaming-chat", headers=key("ann"))
    query = sign_in.agree(started.json()["authUrl"], id="80351110224678912")
    await rest.get("/callback/gaming-chat", params=query)
    ours = ("switchboard", "adapters.", "domain.", "apps.")
    own = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith(ours))
    assert "/callback/gaming-chat" in own
    for secret in (code, link.partition("start=")[2], query["state"], query["code"], *sign_in.tokens):
        assert secret not in own
