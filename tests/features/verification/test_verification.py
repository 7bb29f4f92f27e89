"""The steps of verification.feature."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import SERVICE_KEY, World
from tests.support.mail import Postbox, smtp_server
from tests.support.platforms.bot_api import BOT_TOKEN, VerificationBotApi
from tests.support.platforms.sign_in import CLIENT_ID, CLIENT_SECRET, SignIn

THROUGH = "rest"
scenarios("verification.feature")

BASE = "/api/agent/verification"
SECRET = {"X-Telegram-Bot-Api-Secret-Token": hashlib.sha256(BOT_TOKEN.encode()).hexdigest()}


@pytest.fixture(scope="module", autouse=True)
def outside(request: pytest.FixtureRequest) -> Iterator[Outside]:
    """The servers that the module's world talks to."""
    with smtp_server(auth=False) as postbox:
        sign_in, bot_api = PlatformDriver(), PlatformDriver()
        request.module.SETTINGS = {
            "SMTP_HOST": "127.0.0.1",
            "SMTP_PORT": str(postbox.port),
            "SMTP_FROM": "verify@switchboard.example",
            "GAMING_CHAT_CLIENT_ID": CLIENT_ID,
            "GAMING_CHAT_CLIENT_SECRET": CLIENT_SECRET,
            "GAMING_CHAT_AUTHORIZE_URL": f"{sign_in.url}/authorize",
            "GAMING_CHAT_TOKEN_URL": f"{sign_in.url}/token",
            "GAMING_CHAT_USERINFO_URL": f"{sign_in.url}/me",
            "VERIFICATION_BOT_TOKEN": BOT_TOKEN,
            "VERIFICATION_BOT_USERNAME": "verify_bot",
            "BOT_MESSENGER_API_URL": bot_api.url,
        }
        yield Outside(postbox, sign_in, bot_api)
        sign_in.close()
        bot_api.close()


@dataclass
class Outside:
    postbox: Postbox
    sign_in: PlatformDriver
    bot_api: PlatformDriver


@dataclass
class Scene:
    """What happened so far: the last answer, and what users hold in their hands."""

    rest: Rest
    outside: Outside
    answer: httpx.Response | None = None
    address: str = ""
    link: str = ""
    auth_url: str = ""
    redirect: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, user: str | None, **options: Any) -> httpx.Response:
        self.answer = self.rest.request(method, BASE + path, user, **options)
        return self.answer

    def identities(self, user: str) -> list[tuple[str, str]]:
        found = self.rest.request("GET", f"{BASE}/identities", user).json()["identities"]
        return [(each["field"], each["value"]) for each in found]

    @property
    def code(self) -> str:
        found = re.search(r"\b\d{6}\b", self.outside.postbox.mails[-1].get_content())  # type: ignore[attr-defined]
        assert found
        return found.group()

    def update(self, **message: Any) -> None:
        chat = {"id": 77, "type": "private"}
        body = {"update_id": 1, "message": {"from": {"id": 77}, "chat": chat, **message}}
        assert (
            self.ask("POST", "/bot-messenger-bot-webhook", None, json=body, headers=SECRET).status_code == 200
        )


@pytest.fixture
def scene(rest: Rest, outside: Outside) -> Scene:
    outside.postbox.mails.clear()
    outside.sign_in.show(SignIn())
    outside.bot_api.show(VerificationBotApi())
    return Scene(rest, outside)


WHO = r"(?P<user>Ann|Bob)"


@when("nobody in particular asks for the providers")
def ask_for_providers(scene: Scene) -> None:
    scene.ask("GET", "/providers", None)


@then("bot-messenger, email and gaming-chat are offered")
def offered(scene: Scene) -> None:
    assert scene.answer is not None
    found = scene.answer.json()["providers"]
    assert {name for name, there in found.items() if there} == {"bot-messenger", "email", "gaming-chat"}


@then("workspace-chat and community-chat are not")
def not_offered(scene: Scene) -> None:
    assert scene.answer is not None
    found = scene.answer.json()["providers"]
    assert {name for name, there in found.items() if not there} == {"workspace-chat", "community-chat"}


@given(parsers.re(WHO + r" started e-mail with (?P<address>\S+)"))
@when(parsers.re(WHO + r" starts e-mail with (?P<address>\S+)"))
def start_email(scene: Scene, user: str, address: str) -> None:
    scene.address = address
    answer = scene.ask("POST", "/start-email", user, json={"email": address})
    assert (answer.status_code, answer.json()["expiresInSeconds"]) == (200, 600)


@when(parsers.re(WHO + r" starts it (?P<times>\d+) times more"))
def start_again(scene: Scene, user: str, times: str) -> None:
    for _ in range(int(times)):
        scene.ask("POST", "/start-email", user, json={"email": scene.address})


@when(parsers.re(WHO + r" enters the code"))
def enter_code(scene: Scene, user: str) -> None:
    scene.ask("POST", "/verify-email", user, json={"otp": scene.code})


@given(parsers.re(WHO + r" entered a wrong code (?P<times>\d+) times"))
def enter_wrong(scene: Scene, user: str, times: str) -> None:
    for _ in range(int(times)):
        scene.ask("POST", "/verify-email", user, json={"otp": f"{(int(scene.code) + 1) % 10**6:06d}"})


@when(parsers.re(r"(?P<seconds>\d+) seconds pass"))
def time_passes(world: World, seconds: str) -> None:
    world.clock.advance(timedelta(seconds=int(seconds)))


@given(parsers.re(WHO + r" started the bot"))
def start_bot(scene: Scene, user: str) -> None:
    answer = scene.ask("POST", "/start-bot-messenger", user)
    assert (answer.status_code, answer.json()["expiresInSeconds"]) == (200, 300)
    scene.link = answer.json()["deepLink"].partition("start=")[2]


@given(parsers.re(WHO + r" started the bot and opened its link"))
def start_and_open(scene: Scene, user: str) -> None:
    start_bot(scene, user)
    scene.update(text=f"/start {scene.link}")


@when(parsers.re(r"the messenger user shares (?P<whose>the own|another's) contact (?P<phone>\S+)"))
def share(scene: Scene, whose: str, phone: str) -> None:
    scene.update(contact={"phone_number": phone, "user_id": 77 if whose == "the own" else 78})


@when(parsers.re(r"(?P<who>a service|Bob) completes it (?:with its key )?for (?P<phone>\S+)"))
def complete(scene: Scene, who: str, phone: str) -> None:
    body = {"token": scene.link, "bot_messenger_id": "77", "phone": phone}
    headers = {"Authorization": f"Bearer {SERVICE_KEY}"} if who == "a service" else {}
    user = None if who == "a service" else who
    scene.ask("POST", "/bot-messenger-callback", user, json=body, headers=headers)


@given(parsers.re(WHO + r" started (?P<provider>workspace-chat|gaming-chat)"))
@when(parsers.re(WHO + r" starts (?P<provider>workspace-chat|gaming-chat)"))
def start_oauth(scene: Scene, user: str, provider: str) -> None:
    answer = scene.ask("POST", f"/start-{provider}", user)
    scene.auth_url = answer.json().get("authUrl", "")


@given(parsers.re(WHO + r" signed in as (?P<account>\d+) and came back"))
@when(parsers.re(WHO + r" signs in as (?P<account>\d+) and comes back"))
def sign_in(scene: Scene, user: str, account: str) -> None:
    platform = scene.outside.sign_in.platform
    assert isinstance(platform, SignIn)
    scene.redirect = platform.agree(scene.auth_url, id=account)
    come_back(scene, user)


@when(parsers.re(WHO + r" comes back again"))
def come_back(scene: Scene, user: str) -> None:
    scene.ask("GET", "/callback/gaming-chat", None, params=scene.redirect)


@when("somebody comes back with a made-up state")
def made_up(scene: Scene) -> None:
    scene.ask("GET", "/callback/gaming-chat", None, params={"state": "made-up", "code": "x"})


@then(parsers.re(r"a page tells the opener of (?P<outcome>success|failure)"))
def page(scene: Scene, outcome: str) -> None:
    assert scene.answer is not None
    assert scene.answer.status_code == (200 if outcome == "success" else 400)
    assert f'"success": {"true" if outcome == "success" else "false"}' in scene.answer.text
    assert "postMessage" in scene.answer.text


@then(parsers.re(r"it is refused as invalid, naming \"(?P<named>[^\"]+)\""))
def refused_as_invalid(scene: Scene, named: str) -> None:
    assert scene.answer is not None
    assert scene.answer.status_code == 400
    assert named in scene.answer.json()["error"]


@then(parsers.re(r"it is refused as (?P<why>forbidden|too often)"))
def refused(scene: Scene, why: str) -> None:
    assert scene.answer is not None
    assert scene.answer.status_code == {"forbidden": 403, "too often": 429}[why]
    assert why == "forbidden" or int(scene.answer.headers["Retry-After"]) > 0


@then(parsers.re(WHO + r" has the identity (?P<name>\S+) (?P<value>\S+)"))
def has_identity(scene: Scene, user: str, name: str, value: str) -> None:
    assert scene.identities(user) == [(name, value)]


@then(parsers.re(WHO + r" has the identities phone, bot-messenger and business-messaging"))
def has_three(scene: Scene, user: str) -> None:
    assert sorted(scene.identities(user)) == [
        ("bot-messenger", "77"),
        ("business-messaging", "4915112345678"),
        ("phone", "+4915112345678"),
    ]


@then(parsers.re(WHO + r" has no identity"))
def has_none(scene: Scene, user: str) -> None:
    assert scene.identities(user) == []
