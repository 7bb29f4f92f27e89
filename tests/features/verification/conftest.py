"""The service with servers for mail, sign-in and the bot, and the steps of verification."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from pytest_bdd import given, parsers, then, when

from tests.drivers.outside import Outside, outside_servers
from tests.drivers.ways import Rest
from tests.drivers.world import SERVICE_KEY, World
from tests.support.mail import code_in
from tests.support.platforms.bot_api import BOT_TOKEN, VerificationBotApi
from tests.support.platforms.sign_in import SignIn

BASE = "/api/agent/verification"
SECRET = {"X-Telegram-Bot-Api-Secret-Token": hashlib.sha256(BOT_TOKEN.encode()).hexdigest()}


@pytest.fixture(scope="module", autouse=True)
def outside(request: pytest.FixtureRequest) -> Iterator[Outside]:
    """The servers that the module's world talks to."""
    with outside_servers() as outside:
        request.module.SETTINGS = {**getattr(request.module, "SETTINGS", {}), **outside.settings}
        yield outside


@dataclass
class Scene:
    """What happened so far: the last answer, and what users hold in their hands."""

    rest: Rest
    outside: Outside
    answer: httpx.Response | None = None
    address: str = ""
    link: str = ""
    noted: str = ""
    auth_url: str = ""
    provider: str = ""
    redirect: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, user: str | None, **options: Any) -> httpx.Response:
        self.answer = self.rest.request(method, BASE + path, user, **options)
        return self.answer

    def identities(self, user: str) -> list[tuple[str, str]]:
        found = self.rest.request("GET", f"{BASE}/identities", user).json()["identities"]
        return [(each["field"], each["value"]) for each in found]

    @property
    def code(self) -> str:
        return code_in(self.outside.postbox.mails[-1])

    @property
    def asked(self) -> dict[str, str]:
        """What the address of the sign-in asks for."""
        return dict(parse_qsl(urlsplit(self.auth_url).query))

    @property
    def bot(self) -> VerificationBotApi:
        platform = self.outside.bot_api.platform
        assert isinstance(platform, VerificationBotApi)
        return platform

    def update(self, **message: Any) -> None:
        chat = {"id": 77, "type": "private"}
        body = {"update_id": 1, "message": {"from": {"id": 77}, "chat": chat, **message}}
        assert (
            self.ask("POST", "/bot-messenger-bot-webhook", None, json=body, headers=SECRET).status_code == 200
        )


@pytest.fixture
def scene(world: World, rest: Rest, outside: Outside) -> Scene:
    world.clock.stop()
    outside.postbox.mails.clear()
    outside.sign_in.show(SignIn())
    outside.bot_api.show(VerificationBotApi())
    return Scene(rest, outside)


WHO = r"(?P<user>Ann|Bob)"


@when(parsers.re(r"nobody in particular asks for the (?P<what>providers|identities)"))
def ask_for(scene: Scene, what: str) -> None:
    scene.ask("GET", f"/{what}", None)


@then("bot-messenger, email, gaming-chat and community-chat are offered")
def offered(scene: Scene) -> None:
    assert scene.answer is not None
    found = scene.answer.json()["providers"]
    assert {name for name, there in found.items() if there} == {
        "bot-messenger",
        "email",
        "gaming-chat",
        "community-chat",
    }


@then("workspace-chat is not")
def not_offered(scene: Scene) -> None:
    assert scene.answer is not None
    found = scene.answer.json()["providers"]
    assert {name for name, there in found.items() if not there} == {"workspace-chat"}


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


@when(parsers.re(WHO + r" asks for a code to \"(?P<address>[^\"]*)\""))
def ask_for_code(scene: Scene, user: str, address: str) -> None:
    scene.ask("POST", "/start-email", user, json={"email": address})


@when(parsers.re(WHO + r" enters the code"))
def enter_code(scene: Scene, user: str) -> None:
    scene.ask("POST", "/verify-email", user, json={"otp": scene.code})


@given(parsers.re(WHO + r" noted the code"))
def note_code(scene: Scene, user: str) -> None:
    scene.noted = scene.code


@when(parsers.re(WHO + r" enters the noted code"))
def enter_noted(scene: Scene, user: str) -> None:
    scene.ask("POST", "/verify-email", user, json={"otp": scene.noted})


@given(parsers.re(WHO + r" verified the address (?P<address>\S+)"))
@when(parsers.re(WHO + r" verifies the address (?P<address>\S+)"))
def verify_address(scene: Scene, user: str, address: str) -> None:
    start_email(scene, user, address)
    enter_code(scene, user)
    assert scene.answer is not None
    assert scene.answer.status_code == 200


@then("the mail shows the same code as text and as HTML")
def in_both_forms(scene: Scene) -> None:
    mail = scene.outside.postbox.mails[-1]
    assert mail.get_content_type() == "multipart/alternative"
    assert code_in(mail, "html") == code_in(mail, "plain")


@then(parsers.re(r"(?P<count>no|\d+) mails? (?:was|were) sent"))
def mails_sent(scene: Scene, count: str) -> None:
    assert len(scene.outside.postbox.mails) == (0 if count == "no" else int(count))


@when(parsers.re(WHO + r" removes the identity (?P<name>\S+) (?P<value>\S+)"))
def remove(scene: Scene, user: str, name: str, value: str) -> None:
    scene.ask("DELETE", f"/identities/{name}/{value}", user)


@then("it is done")
def is_done(scene: Scene) -> None:
    assert scene.answer is not None
    assert scene.answer.status_code == 200
    assert scene.answer.json()["success"] is True


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


@when("the messenger user opens the link")
def open_link(scene: Scene) -> None:
    scene.update(text=f"/start {scene.link}")


@when(parsers.re(r"the messenger user sends \"(?P<text>[^\"]+)\""))
def send_text(scene: Scene, text: str) -> None:
    scene.update(text=text)


@when("somebody calls the bot's webhook without its secret token")
def call_without_secret(scene: Scene) -> None:
    scene.ask("POST", "/bot-messenger-bot-webhook", None, json={"update_id": 1})


@given(parsers.re(r"the messenger user shared (?P<whose>the own) contact (?P<phone>\S+)"))
@when(parsers.re(r"the messenger user shares (?P<whose>the own|another's|nobody's) contact (?P<phone>\S+)"))
def share(scene: Scene, whose: str, phone: str) -> None:
    owner = {"the own": {"user_id": 77}, "another's": {"user_id": 78}, "nobody's": {}}[whose]
    scene.update(contact={"phone_number": phone, "first_name": "Ann", **owner})


@then(parsers.re(r"the bot says \"(?P<words>[^\"]+)\""))
def bot_says(scene: Scene, words: str) -> None:
    assert words in scene.bot.said[-1]["text"]
    assert scene.bot.said[-1]["chat_id"] == "77"


@then("the button to share it is still there")
def button_is_there(scene: Scene) -> None:
    assert scene.bot.said[-1]["reply_markup"]["keyboard"][0][0]["request_contact"] is True


@then(parsers.re(r"the bot asks for the contact with a button, naming " + WHO))
def bot_asks(scene: Scene, user: str) -> None:
    asked = scene.bot.said[-1]
    assert asked["reply_markup"]["keyboard"][0][0]["request_contact"] is True
    assert user.lower() in asked["text"].lower()


@when(parsers.re(r"(?P<who>a service|Bob) completes it (?:with its key )?for (?P<phone>\S+)"))
def complete(scene: Scene, who: str, phone: str) -> None:
    body = {"token": scene.link, "bot_messenger_id": "77", "phone": phone}
    headers = {"Authorization": f"Bearer {SERVICE_KEY}"} if who == "a service" else {}
    user = None if who == "a service" else who
    scene.ask("POST", "/bot-messenger-callback", user, json=body, headers=headers)


@given(parsers.re(WHO + r" started (?P<provider>workspace-chat|gaming-chat|community-chat)"))
@when(parsers.re(WHO + r" starts (?P<provider>workspace-chat|gaming-chat|community-chat)"))
def start_oauth(scene: Scene, user: str, provider: str) -> None:
    answer = scene.ask("POST", f"/start-{provider}", user)
    scene.auth_url, scene.provider = answer.json().get("authUrl", ""), provider


@given(parsers.re(WHO + r" signed in as (?P<account>\d+) and came back"))
@when(parsers.re(WHO + r" signs in as (?P<account>\d+) and comes back"))
def sign_in(scene: Scene, user: str, account: str) -> None:
    sign_in_elsewhere(scene, user, account, scene.provider)


@when(parsers.re(WHO + r" signs in as (?P<account>\d+) and comes back to (?P<provider>\S+)"))
def sign_in_elsewhere(scene: Scene, user: str, account: str, provider: str) -> None:
    platform = scene.outside.sign_in.platform
    assert isinstance(platform, SignIn)
    scene.redirect = platform.agree(scene.auth_url, id=account)
    scene.ask("GET", f"/callback/{provider}", None, params=scene.redirect)


@when(parsers.re(WHO + r" comes back again"))
def come_back(scene: Scene, user: str) -> None:
    scene.ask("GET", f"/callback/{scene.provider}", None, params=scene.redirect)


@when(parsers.re(WHO + r" (?P<how>declines|comes back with a code of her own)"))
def come_back_without_grant(scene: Scene, user: str, how: str) -> None:
    more = {"error": "access_denied"} if how == "declines" else {"code": "made-up"}
    scene.redirect = {"state": scene.asked["state"], **more}
    come_back(scene, user)


@then("the address asks for the scope identify, with PKCE and a state")
def asks_for_identify(scene: Scene) -> None:
    assert scene.asked["scope"] == "identify"
    assert scene.asked["code_challenge_method"] == "S256"
    assert len(scene.asked["code_challenge"]) == 43
    assert len(scene.asked["state"]) >= 43


@then(parsers.re(r"the page says \"(?P<words>[^\"]+)\""))
def page_says(scene: Scene, words: str) -> None:
    assert scene.answer is not None
    assert words in scene.answer.text


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


@then(parsers.re(r"it is refused as (?P<why>forbidden|too often|not found|not known)"))
def refused(scene: Scene, why: str) -> None:
    assert scene.answer is not None
    statuses = {"forbidden": 403, "too often": 429, "not found": 404, "not known": 401}
    assert scene.answer.status_code == statuses[why]
    assert why != "too often" or int(scene.answer.headers["Retry-After"]) > 0


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


@then(parsers.re(WHO + r" has the identities bot-messenger and business-messaging"))
def has_two(scene: Scene, user: str) -> None:
    assert sorted(name for name, _ in scene.identities(user)) == ["bot-messenger", "business-messaging"]


@then(parsers.re(WHO + r" has no identity"))
def has_none(scene: Scene, user: str) -> None:
    assert scene.identities(user) == []
