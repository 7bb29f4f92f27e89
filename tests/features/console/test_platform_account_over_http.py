"""What a sign-in with the account of a chat platform answers over plain HTTP to what no browser would send."""

from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from adapters.inbound.console.sessions import SESSION
from domain.access.model import Role
from domain.access.service import COMMAND
from domain.access.users import NewUser
from domain.channels.messages import Identity
from tests.drivers.outside import Outside
from tests.drivers.served import ServedWorld
from tests.support.plain_http import plain_client
from tests.support.platforms.sign_in import SignIn

ACCOUNT = "/console/sign-in/account"
DISCORD = f"{ACCOUNT}/gaming-chat"
VERIFICATION = "/api/agent/verification"
ANN = {"id": "4711", "email": "ann@example.com", "verified": True}


@pytest.fixture
def platform(world: ServedWorld, outside: Outside) -> SignIn:
    platform = SignIn()
    outside.sign_in.show(platform)
    world.run(world.container.use_cases().users.create(COMMAND, NewUser("ann", email="ann@example.com")))
    return platform


@pytest.fixture
def person(world: ServedWorld) -> Iterator[httpx.Client]:
    with plain_client(world.url) as client:
        yield client


def begun(person: httpx.Client, path: str = DISCORD, next_page: str = "") -> str:
    """The address at the platform."""
    answer = person.get(path, params={"next": next_page})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def led_on(person: httpx.Client, query: dict[str, str]) -> str:
    """The address in the console to which the page at the redirect address leads."""
    page = person.get(f"{VERIFICATION}/callback/gaming-chat", params=query)
    assert page.status_code == 200
    assert "text/html" in page.headers["content-type"]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    return unescape(page.text.partition("0;url=")[2].partition('"')[0])


def returned(person: httpx.Client, query: dict[str, str], path: str = DISCORD) -> httpx.Response:
    return person.get(f"{path}/callback", params=query)


def owner_of(world: ServedWorld, account: str = "4711") -> str | None:
    identity = Identity("gaming-chat", account)
    return world.run(world.container.storage().identities.resolve([identity], None))


def nobody_came_in(world: ServedWorld, answer: httpx.Response) -> bool:
    return answer.status_code in (400, 403) and SESSION not in answer.cookies and owner_of(world) is None


def test_the_person_comes_back_by_the_redirect_address_of_verification(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    url = begun(person, next_page="/console/identities")
    asked = parse_qs(urlsplit(url).query)
    assert asked["redirect_uri"] == [f"{world.url}{VERIFICATION}/callback/gaming-chat"]
    assert asked["scope"] == ["identify email"]
    assert asked["code_challenge_method"] == ["S256"]
    address = led_on(person, platform.agree(url, **ANN))
    assert address.startswith(f"{world.url}{DISCORD}/callback?")
    answer = person.get(address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/identities")
    assert owner_of(world) == "ann"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_a_return_that_another_site_began_is_asked_for_once_more(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    query = platform.agree(begun(person), **ANN)
    cross = person.get(f"{DISCORD}/callback", params=query, headers={"sec-fetch-site": "cross-site"})
    assert cross.status_code == 200
    assert 'http-equiv="refresh"' in cross.text
    assert returned(person, query).status_code == 303


def test_a_state_is_good_once(world: ServedWorld, platform: SignIn, person: httpx.Client) -> None:
    query = platform.agree(begun(person), **ANN)
    assert returned(person, query).status_code == 303
    again = returned(person, query)
    assert again.status_code == 400
    assert "was used already" in again.text
    assert SESSION not in again.cookies


def test_a_state_is_used_up_by_a_failure(world: ServedWorld, platform: SignIn, person: httpx.Client) -> None:
    query = platform.agree(begun(person), **ANN)
    assert nobody_came_in(world, returned(person, {**query, "error": "access_denied"}))
    assert nobody_came_in(world, returned(person, query))


def test_a_state_expires(world: ServedWorld, platform: SignIn, person: httpx.Client) -> None:
    query = platform.agree(begun(person), **ANN)
    world.clock.advance(timedelta(minutes=10))
    assert nobody_came_in(world, returned(person, query))


def test_a_state_is_good_for_its_browser_alone(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    query = platform.agree(begun(person), **ANN)
    with plain_client(world.url) as other:
        begun(other)  # has a cookie too
        assert nobody_came_in(world, returned(other, query))
    person.cookies.clear()
    assert nobody_came_in(world, returned(person, query))


def test_a_state_is_good_for_its_platform_alone(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    query = platform.agree(begun(person), **ANN)
    assert nobody_came_in(world, returned(person, query, f"{ACCOUNT}/community-chat"))


def test_a_state_of_verification_signs_nobody_in(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    headers = {"authorization": f"Bearer {world.key_of('bob', Role.MEMBER)}"}
    url = person.post(f"{VERIFICATION}/start-gaming-chat", headers=headers).json()["authUrl"]
    assert parse_qs(urlsplit(url).query)["scope"] == ["identify"]
    assert nobody_came_in(world, returned(person, platform.agree(url, **ANN)))


def test_a_state_of_the_console_verifies_nothing_over_grpc_or_rest(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    query = platform.agree(begun(person), **ANN)
    oauth = world.container.use_cases().verification.oauth
    result = world.run(oauth.complete_oauth("gaming-chat", query["state"], query["code"], ""))
    assert not result.success
    assert owner_of(world) is None


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"state": "console.made-up", "code": "c"},
        {"state": "", "code": "c"},
        {"state": "</script><script>alert(1)", "code": "c"},
        {"state": "console.x", "error": "<script>alert(1)</script>"},
        {"state": "console." + "x" * 5000, "code": "c"},
    ],
)
def test_a_made_up_return_is_refused(
    world: ServedWorld, platform: SignIn, person: httpx.Client, query: dict[str, str]
) -> None:
    begun(person)
    answer = returned(person, query)
    assert nobody_came_in(world, answer)
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("code", ["", "made-up", "x" * 3000])
def test_a_code_that_the_platform_did_not_give_is_refused(
    world: ServedWorld, platform: SignIn, person: httpx.Client, code: str
) -> None:
    query = platform.agree(begun(person), **ANN)
    answer = returned(person, {**query, "code": code})
    assert nobody_came_in(world, answer)
    assert "must not be logged" not in answer.text


@pytest.mark.parametrize("provider", ["workspace-chat", "email", "bot-messenger", "unknown", "%3Cscript%3E"])
def test_what_is_not_set_up_is_refused(platform: SignIn, person: httpx.Client, provider: str) -> None:
    for answer in (person.get(f"{ACCOUNT}/{provider}"), person.get(f"{ACCOUNT}/{provider}/callback")):
        assert answer.status_code == 400
        assert "not set up" in answer.text


@pytest.mark.parametrize(
    "next_page", ["https://elsewhere.example", "//elsewhere.example/console", "/console\\@x", "/api/agent"]
)
def test_signing_in_leads_nowhere_else(platform: SignIn, person: httpx.Client, next_page: str) -> None:
    query = platform.agree(begun(person, next_page=next_page), **ANN)
    answer = returned(person, query)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")


def test_the_page_that_leads_on_shows_nothing_as_markup(platform: SignIn, person: httpx.Client) -> None:
    hostile = {"state": 'console."><script>alert(1)</script>', "code": "'\"&url=https://elsewhere.example"}
    page = person.get(f"{VERIFICATION}/callback/gaming-chat", params=hostile)
    assert "<script" not in page.text
    address = urlsplit(led_on(person, hostile))
    assert f"{address.scheme}://{address.netloc}" == str(person.base_url).rstrip("/")
    assert parse_qs(address.query) == {name: [value] for name, value in hostile.items()}


def test_an_address_that_is_too_long_begins_nothing(platform: SignIn, person: httpx.Client) -> None:
    assert person.get(DISCORD, params={"next": "/console/" + "x" * 2000}).status_code == 400


@pytest.mark.parametrize("verified", [False, None, "true", 1, "yes"])
def test_an_address_counts_only_where_the_platform_says_that_it_has_verified_it(
    world: ServedWorld, platform: SignIn, person: httpx.Client, verified: object
) -> None:
    query = platform.agree(begun(person), id="4711", email="ann@example.com", verified=verified)
    assert nobody_came_in(world, returned(person, query))


@pytest.mark.parametrize("email", ["", "ann", "ann@example.com\x00", ["ann@example.com"], {"ann": 1}, None])
def test_an_address_that_is_none_belongs_to_nobody(
    world: ServedWorld, platform: SignIn, person: httpx.Client, email: object
) -> None:
    query = platform.agree(begun(person), id="4711", email=email, verified=True)
    assert nobody_came_in(world, returned(person, query))


def test_two_users_with_one_account_are_one_at_a_time(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    """Whoever has verified the account last has it, whatever its e-mail address says."""
    storage = world.container.storage()
    world.run(world.container.use_cases().users.create(COMMAND, NewUser("bob", email="bob@example.com")))
    world.run(storage.identities.give("ann", [Identity("gaming-chat", "4711")]))
    world.run(storage.identities.give("bob", [Identity("gaming-chat", "4711")]))
    assert returned(person, platform.agree(begun(person), **ANN)).status_code == 303
    assert owner_of(world) == "bob"


def test_an_account_of_somebody_who_is_no_user_any_more_opens_nothing(
    world: ServedWorld, platform: SignIn, person: httpx.Client
) -> None:
    world.run(world.container.storage().identities.give("gone", [Identity("gaming-chat", "4711")]))
    answer = returned(person, platform.agree(begun(person), **ANN))
    assert answer.status_code == 403
    assert owner_of(world) == "gone"
