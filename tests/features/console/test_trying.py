"""The steps of trying.feature."""

import re
from collections.abc import Callable
from html import escape

import httpx
import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.instances.model import NewInstance
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import open_menu
from tests.support.plain_http import plain_request

scenarios("trying.feature")


@pytest.fixture
def instances(world: ServedWorld) -> dict[str, int]:
    """Ids of instances by their owner."""
    return {}


def create(world: ServedWorld, user: str, channel: str, name: str, resource: str) -> int:
    new = NewInstance(channel, name, {}, resource)
    return world.run(world.container.use_cases().instances.create(Caller(user), new)).instance_id


@given(parsers.parse('{user} has signed in and opens the page "Try it"'), target_fixture="page")
def _(window: Open, user: str) -> Page:
    page = window(user).go("/console")
    open_menu(page)
    page.get_by_role("link", name="Try it").press("Enter")
    return page


@given(parsers.parse('{user} has a webhook with the name "{name}" and the resource "{resource}"'))
def _(world: ServedWorld, user: str, name: str, resource: str) -> None:
    create(world, user, "http-webhook", name, resource)


@given(parsers.parse("{user} has a web chat"))
def _(world: ServedWorld, instances: dict[str, int], user: str) -> None:
    instances[user] = create(world, user, "web-chat", "Website", "agent::echo")


@when(parsers.re('she asks for the resource "(?P<resource>[^"]+)"(, by keyboard alone| again)'))
def _(page: Page, resource: str) -> None:
    page.get_by_label("Resource").focus()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(resource)
    with page.expect_navigation():
        page.keyboard.press("Enter")


@when(parsers.parse('he presses "{name}"'))
def _(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).press("Enter")


@when(parsers.parse('she writes "{text}" in the chat'))
def _(page: Page, text: str) -> None:
    page.get_by_label("Write a message").fill(text)
    page.keyboard.press("Enter")


@then(parsers.parse('the chat answers "{text}"'))
def _(page: Page, text: str) -> None:
    expect(page.get_by_role("log").locator(".agent", has_text=text)).to_be_visible()


@then("the chat shows what was said before")
def _(page: Page) -> None:
    expect(page.get_by_role("log").locator(".bubble", has_text="Is anybody there?")).to_have_count(2)


@when("she begins a new conversation")
def _(page: Page) -> None:
    page.get_by_role("button", name="New conversation").press("Enter")


@then("the chat shows nothing of what was said before")
def _(page: Page) -> None:
    expect(page.get_by_role("log").locator(".bubble")).to_have_count(1)  # the greeting


@then(parsers.parse('she has one web chat, with the name "{name}"'))
def _(world: ServedWorld, name: str) -> None:
    views = world.run(world.container.use_cases().instances.list(Caller("ann")))
    assert [(view.instance.channel_id, view.instance.channel_name) for view in views] == [("web-chat", name)]


@then(parsers.parse('the chat says that "{resource}" answers'))
def _(page: Page, resource: str) -> None:
    expect(page.get_by_role("log")).to_contain_text(f"{resource} answers")


@when(
    parsers.parse('ann asks for the resource "{resource}" without a browser\'s help'), target_fixture="answer"
)
def _(client: Callable[[str], httpx.Client], resource: str) -> httpx.Response:
    ann = client("ann")
    csrf = re.search(r'name="csrf" value="(\w+)"', ann.get("/console/try").text)
    assert csrf
    return ann.post("/console/try", data={"csrf": csrf[1], "resource": resource})


@then(parsers.parse('the page keeps "{resource}" and says what ids look like'))
def _(answer: httpx.Response, resource: str) -> None:
    assert answer.status_code == 400
    assert f'value="{escape(resource)}"' in answer.text
    assert re.search(r'id="fault-resource"[^>]*>has an unknown prefix', answer.text)


@then("ann may not open it")
def _(client: Callable[[str], httpx.Client], instances: dict[str, int]) -> None:
    answer = client("ann").get(f"/console/try?instance={instances['bob']}")
    assert (answer.status_code, "data-instance" in answer.text) == (403, False)


@then("a chat that does not exist is not found")
def _(client: Callable[[str], httpx.Client]) -> None:
    for name in ("999999", "none"):
        assert client("ann").get(f"/console/try?instance={name}").status_code == 404


def session_from(world: ServedWorld, instance_id: int, page: str, host: str) -> int:
    """The status of the answer to a page that opens the chat through a host."""
    view = world.run(world.container.use_cases().instances.get(Caller("bob"), instance_id))
    address = f"{world.url}/api/agent/web-chat/{view.public_id}/session"
    headers = {"origin": f"http://{page}", "host": host}
    return plain_request("POST", address, json={}, headers=headers).status_code


@then("a page of the service opens it, by any name of the service")
def _(world: ServedWorld, instances: dict[str, int]) -> None:
    own = world.url.removeprefix("http://")
    for page, host in ((own, own), ("chat.local:3011", "chat.local:3011"), (own, "behind.a.proxy")):
        assert session_from(world, instances["bob"], page, host) == 200


@then("a page of another website does not")
def _(world: ServedWorld, instances: dict[str, int]) -> None:
    assert session_from(world, instances["bob"], "www.example.com", "chat.local:3011") == 403
