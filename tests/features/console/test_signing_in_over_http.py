"""What signing in, keys and identities answer over plain HTTP: links, proxies, tokens of forms, things of others."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from adapters.inbound.console.sessions import SESSION
from domain.access.model import Role
from domain.channels.messages import Identity
from tests.drivers.served import ServedWorld
from tests.drivers.world import SERVICE_KEY
from tests.support.plain_http import plain_client

Client = Callable[[str], httpx.Client]
SIGN_IN = "/console/sign-in"
KEYS = "/console/keys"
MARKUP = "<script>alert(1)</script><b title='x\">"


def token_of(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" (?:content|value)="([0-9a-f]{64})"', page.text)
    assert found, page.text
    return found[1]


def post(client: httpx.Client, path: str, page: str, **fields: str) -> httpx.Response:
    """The form of a page, with its token."""
    return client.post(path, data={"csrf": token_of(client.get(page)), **fields})


@pytest.fixture
def nobody(world: ServedWorld) -> Any:
    with plain_client(world.url) as client:
        yield client


def test_a_link_is_used_up_by_its_button_alone(world: ServedWorld, nobody: httpx.Client) -> None:
    link = world.run(world.container.access().create_link("ann", Role.MEMBER))
    for _ in range(3):
        page = nobody.get(SIGN_IN, params={"link": link})
        assert page.status_code == 200
        assert SESSION not in page.cookies
    form = {"csrf": token_of(page), "credential": link, "next": "/console/identities"}
    answer = nobody.post(SIGN_IN, data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/identities")
    assert nobody.get(KEYS).status_code == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]


def test_a_link_that_was_used_says_how_to_get_another(world: ServedWorld, nobody: httpx.Client) -> None:
    link = world.run(world.container.access().create_link("ann", Role.MEMBER))
    world.run(world.container.use_cases().sessions.sign_in(link, "192.0.2.1"))
    answer = post(nobody, SIGN_IN, SIGN_IN, credential=link)
    assert answer.status_code == 401
    assert "switchboard console link" in answer.text
    assert 'name="credential"' in answer.text


def test_a_link_that_is_clicked_twice_signs_in_once(world: ServedWorld, nobody: httpx.Client) -> None:
    link = world.run(world.container.access().create_link("ann", Role.MEMBER))
    form = {"csrf": token_of(nobody.get(SIGN_IN, params={"link": link})), "credential": link}
    assert nobody.post(SIGN_IN, data=form).headers["location"] == "/console"
    again = {**form, "csrf": token_of(nobody.get(SIGN_IN, params={"link": link}))}
    assert nobody.post(SIGN_IN, data=again).headers["location"] == "/console"


def test_who_signed_in_meanwhile_is_led_on(client: Client, nobody: httpx.Client) -> None:
    ann = client("ann")
    page = ann.get(SIGN_IN, params={"next": KEYS})
    assert (page.status_code, page.headers["location"]) == (303, KEYS)
    stale = ann.post(SIGN_IN, data={"csrf": token_of(nobody.get(SIGN_IN)), "credential": "sb_x"})
    assert stale.status_code == 403
    assert "This page is out of date" in stale.text


def test_who_was_signed_out_comes_back_to_the_page_of_the_form(
    world: ServedWorld, nobody: httpx.Client
) -> None:
    headers = {"referer": f"{world.url}/console/knowledge/7?at=2"}
    answer = nobody.post("/console/knowledge/7/delete", headers=headers)
    assert answer.headers["location"] == f"{SIGN_IN}?next=%2Fconsole%2Fknowledge%2F7%3Fat%3D2"


def test_a_person_whom_a_proxy_signed_in_is_not_asked_to_sign_in(nobody: httpx.Client) -> None:
    nobody.headers.update({"authorization": f"Bearer {SERVICE_KEY}", "x-user-id": "ann"})
    assert nobody.get(SIGN_IN).headers["location"] == "/console"


def test_after_too_many_wrong_keys_one_has_to_wait(nobody: httpx.Client) -> None:
    *wrong, last = [post(nobody, SIGN_IN, SIGN_IN, credential=f"sb_{n}") for n in range(21)]
    assert {answer.status_code for answer in wrong} == {401}
    assert last.status_code == 429
    assert 0 < int(last.headers["retry-after"]) <= 900
    assert "try again later" in last.text


@pytest.mark.parametrize(
    "wanted", ["https://elsewhere.example", "//elsewhere.example/console", "/console\\@x"]
)
def test_signing_in_leads_nowhere_else(world: ServedWorld, nobody: httpx.Client, wanted: str) -> None:
    answer = post(nobody, SIGN_IN, SIGN_IN, credential=world.key_of("ann"), next=wanted)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")


def test_a_proxy_signs_a_person_in_without_a_cookie(world: ServedWorld, nobody: httpx.Client) -> None:
    user = "m\N{LATIN SMALL LETTER U WITH DIAERESIS}nchen"
    nobody.headers.update({"authorization": f"Bearer {SERVICE_KEY}"})
    nobody.headers.update([(b"x-user-id", user.encode())])
    page = nobody.get(KEYS)
    assert page.status_code == 200
    assert user in page.text
    assert "Sign out" not in page.text
    assert SERVICE_KEY not in page.text
    answer = nobody.post(KEYS, data={"csrf": token_of(page), "name": "Export", "days": "30"})
    assert "Your new key" in answer.text
    [key] = world.run(world.container.access().list_keys())
    assert (key.user_id, key.role, key.name) == (user, Role.MEMBER, "Export")


def test_a_proxy_wins_over_a_cookie_of_somebody_else(world: ServedWorld, client: Client) -> None:
    bob = client("bob")
    page = bob.get(KEYS, headers={"authorization": f"Bearer {SERVICE_KEY}", "x-user-id": "ann"})
    assert re.search(r"<b [^>]*>ann</b>", page.text)


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_a_form_without_its_token_changes_nothing(world: ServedWorld, client: Client, token: str) -> None:
    answer = client("ann").post(KEYS, data={"csrf": token, "name": "Export", "days": ""})
    assert answer.status_code == 403
    assert [key.name for key in world.run(world.container.access().list_keys())] == [""]


def test_the_token_of_one_person_is_not_another_s(client: Client) -> None:
    ann, bob = client("ann"), client("bob")
    answer = bob.post(KEYS, data={"csrf": token_of(ann.get(KEYS)), "name": "Export", "days": ""})
    assert answer.status_code == 403


def test_a_form_of_another_site_changes_nothing(client: Client) -> None:
    ann = client("ann")
    form = {"csrf": token_of(ann.get(KEYS)), "name": "Export", "days": ""}
    assert ann.post(KEYS, data=form, headers={"origin": "https://elsewhere.example"}).status_code == 403


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"name": "", "days": ""}, "say what the key is for"),
        ({"name": "x" * 101, "days": ""}, "at most 100 characters"),
        ({"name": "Export", "days": "31"}, "choose one of the list"),
        ({"name": "Export", "days": "", "role": "owner"}, "choose one of the list"),
    ],
)
def test_a_wrong_field_is_named_and_what_was_typed_stays(
    client: Client, fields: dict[str, str], fault: str
) -> None:
    answer = post(client("ann"), KEYS, KEYS, **fields)
    assert answer.status_code == 400
    assert fault in answer.text
    assert f'value="{fields["name"]}"' in answer.text


@pytest.mark.parametrize("fields", [{"role": "admin"}, {"user": "bob"}])
def test_who_may_not_make_a_key_gets_none(world: ServedWorld, client: Client, fields: dict[str, str]) -> None:
    answer = post(client("ann"), KEYS, KEYS, name="Export", days="", **fields)
    assert answer.status_code == 403
    assert len(world.run(world.container.access().list_keys())) == 1


def test_keys_of_others_and_of_nobody(world: ServedWorld, client: Client) -> None:
    key, _ = world.run(world.container.access().create_key("bob", Role.MEMBER))
    ann = client("ann")
    assert post(ann, f"{KEYS}/{key.id}/revoke", KEYS).status_code == 403
    for unknown in ("4711", "x", "0", "9" * 30):
        assert post(ann, f"{KEYS}/{unknown}/revoke", KEYS).status_code == 404


def test_an_admin_makes_a_key_for_another_user(world: ServedWorld, client: Client) -> None:
    post(client("admin"), KEYS, KEYS, name="Export", days="", user="bob", role="member")
    assert ("bob", "Export") in [
        (key.user_id, key.name) for key in world.run(world.container.access().list_keys())
    ]


def test_one_s_own_browser_is_marked_and_can_be_signed_out(client: Client) -> None:
    ann = client("ann")
    page = ann.get(f"{KEYS}/sessions")
    assert page.text.count("this browser") == 1
    [session] = re.findall(r"/console/keys/(\d+)/revoke", page.text)
    assert post(ann, f"{KEYS}/{session}/revoke", KEYS, kind="session").status_code == 303
    assert ann.get(KEYS).headers["location"].startswith(SIGN_IN)


def test_what_people_wrote_is_never_markup(world: ServedWorld, client: Client) -> None:
    world.run(world.container.access().create_key(MARKUP, Role.MEMBER, MARKUP))
    world.run(world.container.storage().identities.give("admin", [Identity("email", MARKUP)]))
    admin = client("admin")
    for path in (KEYS, f"{KEYS}/sessions", "/console/identities", f"{SIGN_IN}?link={MARKUP}&next={MARKUP}"):
        page = admin.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text, path
        assert "<b title" not in page.text, path


@pytest.mark.parametrize(
    ("path", "fields", "status", "told"),
    [
        ("email", {"email": "nobody"}, 400, "must be a mail address"),
        ("email/code", {"otp": "12"}, 400, "must be the 6 digits"),
        ("email/code", {"otp": "123456"}, 400, "wrong or expired"),
        ("remove", {"field": "email", "value": "x@example.com"}, 404, "no verified identity"),
    ],
)
def test_what_cannot_be_verified(
    client: Client, path: str, fields: dict[str, str], status: int, told: str
) -> None:
    page = "/console/identities"
    answer = post(client("ann"), f"{page}/{path}", page, **fields)
    assert answer.status_code == status
    assert told in answer.text


@pytest.mark.parametrize(("provider", "status"), [("workspace-chat", 400), ("elsewhere", 404)])
def test_a_provider_that_is_not_offered(client: Client, provider: str, status: int) -> None:
    assert client("ann").get(f"/console/identities/sign-in/{provider}").status_code == status


def test_a_click_on_a_link_of_another_site_loads_the_page_anew_with_its_cookie(nobody: httpx.Client) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    page = nobody.get("/console/identities", headers=headers)
    assert "refresh" in page.text
    assert nobody.post(KEYS, headers=headers).status_code == 303


def test_tokens_of_forms_behind_a_proxy_follow_the_browser_and_not_the_service_key(
    world: ServedWorld,
) -> None:
    headers = {"authorization": f"Bearer {SERVICE_KEY}", "x-user-id": "ann"}
    tokens = []
    for _ in range(2):
        with plain_client(world.url, headers=headers) as browser:
            tokens.append(token_of(browser.get(KEYS)))
            assert token_of(browser.get(KEYS)) == tokens[-1]
            stale = browser.post(KEYS, data={"csrf": tokens[0], "name": "Export"})
            assert stale.status_code == (200 if len(tokens) == 1 else 403)
    assert len(set(tokens)) == 2


def test_over_https_the_cookies_are_of_this_host_alone(world: ServedWorld, nobody: httpx.Client) -> None:
    nobody.headers["x-forwarded-proto"] = "https"
    page = nobody.get(SIGN_IN)
    visit = page.headers["set-cookie"].partition(";")[0]
    form = {"csrf": token_of(page), "credential": world.key_of("ann")}
    answer = nobody.post(SIGN_IN, data=form, headers={"cookie": visit})
    assert answer.status_code == 303, answer.text
    session = answer.headers["set-cookie"].partition(";")[0]
    unprefixed = session.removeprefix("__Host-")
    assert nobody.get(KEYS, headers={"cookie": unprefixed}).headers["location"].startswith(SIGN_IN)
    keys = nobody.get(KEYS, headers={"cookie": session})
    [own] = re.findall(r"/console/keys/(\d+)/revoke", keys.text)
    revoked = nobody.post(f"{KEYS}/{own}/revoke", data={"csrf": token_of(keys)}, headers={"cookie": session})
    assert revoked.status_code == 303
    for cookie in (answer.headers["set-cookie"] for answer in (page, answer, revoked)):
        assert cookie.startswith("__Host-")
        assert {"Path=/", "Secure", "HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
        assert "domain" not in cookie.lower()


def test_a_key_of_a_session_ends_with_it_and_one_made_with_an_api_key_does_not(
    world: ServedWorld, client: Client
) -> None:
    ann = client("ann")
    refused = post(ann, KEYS, KEYS, name="Export", days="30")
    assert refused.status_code == 400
    assert "must not reach beyond" in refused.text
    assert "Your new key" in post(ann, KEYS, KEYS, name="Short", days="").text
    made = post(ann, KEYS, KEYS, name="Lasting", days="365", credential=world.key_of("ann"))
    assert "Your new key" in made.text
    assert world.key_of("ann") not in made.text
    assert ann.get(f"{KEYS}/sessions").text.count("this browser") == 1
    ann.post("/console/sign-out", data={"csrf": token_of(ann.get(KEYS))})
    live = {key.name: key.live for key in world.run(world.container.access().list_keys())}
    assert live == {"": True, "Short": False, "Lasting": True}


@pytest.mark.parametrize("credential", ["sb_nobody-has-this", SERVICE_KEY, "sbs_x", "x y"])
def test_a_key_is_made_with_an_api_key_that_works(
    world: ServedWorld, client: Client, credential: str
) -> None:
    answer = post(client("ann"), KEYS, KEYS, name="Export", days="", credential=credential)
    assert answer.status_code == 400
    assert "is no API key that works" in answer.text
    assert credential not in answer.text
    assert [key.name for key in world.run(world.container.access().list_keys())] == [""]
