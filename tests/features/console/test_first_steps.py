"""The section "The first message in five minutes" of the README, done in a browser word by word."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from adapters.outbound.channels.community_chat.tests import samples
from domain.access.model import Role
from tests.drivers.platform import PlatformDriver
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import open_menu
from tests.support.plain_http import plain_request
from tests.support.platforms.mattermost import CHANNEL, TOKEN, Mattermost

README = Path(__file__).parents[3] / "README.md"


@pytest.fixture
def chat_server() -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    driver.show(Mattermost())
    yield driver
    driver.close()


def test_the_first_message_comes_back_as_the_readme_says(
    world: ServedWorld, window: Open, chat_server: PlatformDriver, tmp_path: Path
) -> None:
    section = README.read_text(encoding="utf-8").partition("## The first message in five minutes\n")[2]
    steps = re.split(r"\n\d\. ", section.partition("\n![")[0])[1:]
    link, try_it, connect, knowledge = (re.findall(r'"([^"]+)"|`([^`]+)`', step) for step in steps)
    page = window().page

    # 1. The link that the service prints.
    assert "console link --user me" in link[1][1]
    token = world.run(world.container.access().create_link("me", Role.ADMIN))
    page.goto(f"{world.url}/console/sign-in?link={token}")
    page.get_by_role("button", name="Sign in").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")

    # 2. The chat.
    [(section_name, _), (_, resource), (button, _)] = try_it
    open_menu(page)
    page.get_by_role("link", name=section_name).first.press("Enter")
    expect(page.get_by_label("Resource")).to_have_value(resource)
    page.get_by_role("button", name=button).press("Enter")
    page.get_by_label("Write a message").fill("Is anybody there?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").locator(".agent", has_text="Is anybody there?")).to_be_visible()

    # 3. A channel.
    channels, gallery, check, waiting = (name for name, _ in connect)
    open_menu(page)
    page.get_by_role("link", name=channels, exact=True).press("Enter")
    page.get_by_role("link", name=gallery).first.press("Enter")
    page.get_by_role("link", name="Mattermost").press("Enter")
    page.get_by_label("Server URL").fill(chat_server.url)
    page.get_by_label("Channel ID").fill(CHANNEL)
    page.get_by_label("Token", exact=True).fill(TOKEN)
    page.get_by_role("button", name=check).press("Enter")
    expect(page.locator("#form-result")).to_contain_text("Mattermost accepts the credentials")
    page.get_by_label("Name").press("Enter")
    expect(page.locator("#first-message")).to_contain_text(waiting)
    address = page.get_by_role("button", name="Copy the address").get_attribute("data-copy")
    body = {**samples.POST, "token": TOKEN}
    assert plain_request("POST", str(address), json=body).status_code == 200
    expect(page.locator("#first-message.good")).to_contain_text("Messages arrive")

    # 4. A knowledge base.
    [(section_name, _), (_, resource)] = knowledge
    open_menu(page)
    page.get_by_role("link", name=section_name, exact=True).press("Enter")
    page.get_by_label("Name").fill("Handbook")
    page.get_by_label("Name").press("Enter")
    handbook = tmp_path / "handbook.md"
    handbook.write_text("# Pumps\n\nThe pump of hall seven is serviced every March.\n", encoding="utf-8")
    expect(page.get_by_role("heading", level=1)).to_have_text("Handbook")
    page.get_by_label("Files", exact=True).set_input_files(handbook)
    expect(page.get_by_role("link", name="handbook.md")).to_be_visible()
    expect(page.get_by_role("link", name="Files")).to_have_attribute("aria-current", "page")
    resource = resource.replace("<number>", page.url.rpartition("/")[2])
    open_menu(page)
    page.get_by_role("link", name="Try it").first.press("Enter")
    page.get_by_label("Resource").fill(resource)
    page.get_by_label("Resource").press("Enter")
    page.get_by_label("Write a message").fill("When is the pump serviced?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").locator(".agent", has_text="every March")).to_be_visible()
