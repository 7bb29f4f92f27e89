"""Verification of mail addresses."""

import asyncio

import httpx
import pytest

from adapters.outbound.channels.tests.support import SetClock
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.channels.messages import Identity
from domain.refusals import Invalid
from domain.use_cases import Verification
from domain.verification.model import Provider
from tests.integration.verification.conftest import Made, gateway, key
from tests.support.mail import Postbox, code_in

ANN, BOB = Caller("ann"), Caller("bob")


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


async def test_the_way_over_rest(rest: httpx.AsyncClient, postbox: Postbox) -> None:
    started = await rest.post("/start-email", json={"email": "Ann@Example.com"}, headers=key("ann"))
    assert started.status_code == 200
    assert started.json()["success"] is True
    assert started.json()["expiresInSeconds"] == 600
    assert set(started.json()) == {"success", "expiresInSeconds", "message"}
    assert postbox.mails[0]["To"] == "ann@example.com"
    assert postbox.mails[0]["Auto-Submitted"] == "auto-generated"
    done = await rest.post("/verify-email", json={"otp": code_in(postbox.mails[-1])}, headers=key("ann"))
    assert (done.status_code, done.json()["email"]) == (200, "ann@example.com")
    assert set(done.json()) == {"success", "message", "email"}
    listed = await rest.get("/identities", headers=key("ann"))
    assert listed.json() == {
        "success": True,
        "identities": [{"field": "email", "value": "ann@example.com"}],
    }
    assert (await rest.get("/identities", headers=key("bob"))).json()["identities"] == []


@pytest.mark.parametrize(
    "body", [{}, {"email": ""}, {"email": 5}, {"email": "no"}, {"email": "a@b\r\nc"}, []]
)
async def test_what_is_no_address_is_refused(rest: httpx.AsyncClient, postbox: Postbox, body: object) -> None:
    answer = await rest.post("/start-email", json=body, headers=key("ann"))
    assert answer.status_code == 400
    assert "email" in answer.json()["error"] or body == []
    assert postbox.mails == []


@pytest.mark.parametrize("otp", ["", "12345", "1234567", "12345a", "١٢٣٤٥٦", 123456, None])
async def test_what_is_no_code_is_refused(rest: httpx.AsyncClient, otp: object) -> None:
    answer = await rest.post("/verify-email", json={"otp": otp}, headers=key("ann"))
    assert answer.status_code == 400
    assert "otp" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/identities", "/start-email", "/verify-email"])
async def test_a_key_is_needed(rest: httpx.AsyncClient, path: str) -> None:
    method = "GET" if path == "/identities" else "POST"
    assert (await rest.request(method, path, json={})).status_code == 401


async def test_a_code_is_good_for_its_user_alone_and_once(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    code = code_in(postbox.mails[-1])
    with pytest.raises(Invalid):
        await service.email.verify_email(BOB, code)
    assert await service.email.verify_email(ANN, code) == "ann@example.com"
    with pytest.raises(Invalid, match="wrong or expired"):
        await service.email.verify_email(ANN, code)


async def test_a_code_expires(service: Verification, postbox: Postbox, clock: SetClock) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    clock.advance(600)
    with pytest.raises(Invalid, match="wrong or expired"):
        await service.email.verify_email(ANN, code_in(postbox.mails[-1]))


async def test_a_new_code_replaces_the_old_one(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    old = code_in(postbox.mails[-1])
    await service.email.start_email(ANN, "other@example.com")
    new = code_in(postbox.mails[-1])
    if old != new:
        with pytest.raises(Invalid):
            await service.email.verify_email(ANN, old)
    assert await service.email.verify_email(ANN, new) == "other@example.com"


async def test_five_wrong_tries_void_a_code(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    code = code_in(postbox.mails[-1])
    for _ in range(5):
        with pytest.raises(Invalid):
            await service.email.verify_email(ANN, wrong(code))
    with pytest.raises(Invalid):
        await service.email.verify_email(ANN, code)


async def test_the_fifth_try_may_be_right(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    code = code_in(postbox.mails[-1])
    for _ in range(4):
        with pytest.raises(Invalid):
            await service.email.verify_email(ANN, wrong(code))
    assert await service.email.verify_email(ANN, code) == "ann@example.com"


async def test_tries_at_once_are_counted_one_by_one(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    code = code_in(postbox.mails[-1])
    tries = [service.email.verify_email(ANN, f"{(int(code) + n) % 1_000_000:06d}") for n in range(1, 21)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert all(isinstance(result, Invalid) for result in results)
    with pytest.raises(Invalid):
        await service.email.verify_email(ANN, code)


async def test_of_right_codes_at_once_one_wins(service: Verification, postbox: Postbox) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    code = code_in(postbox.mails[-1])
    results = await asyncio.gather(
        *[service.email.verify_email(ANN, code) for _ in range(5)], return_exceptions=True
    )
    assert results.count("ann@example.com") == 1


async def test_five_codes_an_hour_go_to_one_address(
    rest: httpx.AsyncClient, postbox: Postbox, clock: SetClock
) -> None:
    sends = [
        rest.post("/start-email", json={"email": "ann@example.com"}, headers=key(f"user{n % 2}"))
        for n in range(8)
    ]
    answers = [answer.status_code for answer in await asyncio.gather(*sends)]
    assert sorted(answers) == [200] * 5 + [429] * 3
    assert len(postbox.mails) == 5
    limited = await rest.post("/start-email", json={"email": "ANN@example.com"}, headers=key("third"))
    assert limited.status_code == 429
    assert 0 < int(limited.headers["Retry-After"]) <= 3600
    assert (
        await rest.post("/start-email", json={"email": "bob@example.com"}, headers=key("user0"))
    ).status_code == 200
    clock.advance(3600)
    assert (
        await rest.post("/start-email", json={"email": "ann@example.com"}, headers=key("third"))
    ).status_code == 200


async def test_an_address_moves_to_who_verified_it_last(service: Verification, postbox: Postbox) -> None:
    for caller in (ANN, BOB):
        await service.email.start_email(caller, "shared@example.com")
        await service.email.verify_email(caller, code_in(postbox.mails[-1]))
    assert await service.identities.list_identities(ANN) == []
    assert await service.identities.list_identities(BOB) == [Identity("email", "shared@example.com")]


async def test_no_code_is_stored_in_the_clear(
    service: Verification, postbox: Postbox, database: Database
) -> None:
    await service.email.start_email(ANN, "ann@example.com")
    rows = await database.fetch("SELECT t::text FROM verification_code t")
    assert code_in(postbox.mails[-1]) not in rows[0][0].replace("ann@example.com", "")


async def test_a_recipient_that_the_server_refuses_is_told(rest: httpx.AsyncClient, postbox: Postbox) -> None:
    postbox.answers["RCPT"] = "550 5.1.1 no such user"
    answer = await rest.post("/start-email", json={"email": "a@example.com"}, headers=key("ann"))
    assert (answer.status_code, "email" in answer.json()["error"]) == (400, True)


async def test_a_mail_server_that_is_away_is_told(rest: httpx.AsyncClient, postbox: Postbox) -> None:
    postbox.answers["DATA"] = "451 4.3.0 later"
    answer = await rest.post("/start-email", json={"email": "a@example.com"}, headers=key("ann"))
    assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)


async def test_a_provider_that_is_not_set_up_is_said_so(made: Made, clock: SetClock) -> None:
    async with gateway(made.service(Provider.EMAIL), clock) as rest:
        providers = (await rest.get("/providers")).json()
        assert providers == {
            "success": True,
            "providers": {
                "bot-messenger": False,
                "email": True,
                "workspace-chat": False,
                "gaming-chat": False,
                "community-chat": False,
            },
        }
        for path in ("bot-messenger", "workspace-chat", "gaming-chat", "community-chat"):
            answer = await rest.post(f"/start-{path}", headers=key("ann"))
            assert (answer.status_code, "not set up" in answer.json()["error"]) == (400, True)
