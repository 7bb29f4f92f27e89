"""The steps of problems.feature."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect
from pytest_bdd import given, scenarios, then, when

from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.features.console.shown.operations import answer
from tests.features.console.talks import Talks
from tests.support.browser import Window, open_menu
from tests.support.figures import count_all
from tests.support.waiting import until

scenarios("problems.feature")


@dataclass
class Scene:
    talks: Talks
    open: Open
    seen: Window | None = None

    def go(self, path: str) -> Page:
        if self.seen is None:
            self.seen = self.open("ann")
        return self.seen.go(path)

    @property
    def page(self) -> Page:
        assert self.seen
        return self.seen.page


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Iterator[Scene]:
    talks = Talks(world, "ann")
    yield Scene(talks, window)
    talks.close()


@given("the resource of ann's channel has failed for two messages")
def _(scene: Scene) -> None:
    scene.talks.fails = True
    scene.talks.write("ada", "The pump runs dry")
    scene.talks.write("bert", "Where is my order?")
    count_all(scene.talks.world)


@when("ann opens the overview")
def _(scene: Scene) -> None:
    scene.go("/console")


@then("it says that messages are not answered, and why")
def _(scene: Scene) -> None:
    broken = scene.page.get_by_role("region", name="What needs attention")
    expect(broken).to_contain_text(
        "Messages are not answered: the downstream resource failed: the model is away"
    )
    expect(broken.get_by_role("link", name="Support")).to_be_visible()


@then("a chart and a table tell how many messages were received and given up")
def _(scene: Scene) -> None:
    chart = scene.page.get_by_role("img", name="Messages: 2 received, 0 answered, 2 given up")
    expect(chart).to_be_visible()
    scene.page.get_by_text("The same as a table").press("Enter")
    expect(scene.page.get_by_role("columnheader", name="Given up")).to_be_visible()


@when("she opens the problems and ticks all messages")
def _(scene: Scene) -> None:
    open_menu(scene.page)
    scene.page.get_by_role("link", name="Problems").press("Enter")
    expect(scene.page.get_by_role("heading", level=1)).to_have_text("Problems")
    scene.page.wait_for_load_state()  # the box is there for scripts alone, and hidden before they ran
    scene.page.get_by_label("All on this page").press("Space")
    expect(scene.page.get_by_label("Choose message").first).to_be_checked()
    expect(scene.page.get_by_label("Choose message").last).to_be_checked()


@when("she replays them and confirms, now that the resource works")
def _(scene: Scene) -> None:
    scene.talks.fails = False
    scene.page.locator("summary", has_text="Replay").press("Enter")
    scene.page.get_by_role("button", name="Replay the chosen messages").press("Enter")


@then("nothing is given up any more, and the senders have their answers")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_text("2 messages are replayed.")).to_be_visible()
    expect(scene.page.get_by_role("heading", name="Nothing was given up")).to_be_visible()
    scene.talks.settle()
    for who in ("ada", "bert"):
        until(lambda who=who: scene.talks.messages(who)[-1]["author"] == "resource", "it is answered")


@given("an answer of the channel could not be delivered")
def _(scene: Scene) -> None:
    answer(scene.talks.world, scene.talks.id, "Your order is ready", error="HTTP 404: no such channel")


@when("she opens the payload of the answer")
def _(scene: Scene) -> None:
    scene.page.get_by_text("Payload", exact=True).press("Enter")


@then("she sees what was to be sent")
def _(scene: Scene) -> None:
    payload = scene.page.get_by_role("region", name="Payload of part")
    expect(payload).to_contain_text('"text": "Your order is ready"')


@given("ann looks at the problems")
def _(scene: Scene) -> None:
    scene.seen = scene.open("ann")
    scene.go("/console/problems")


@when("another message is given up")
def _(scene: Scene) -> None:
    scene.talks.write("carl", "Is anybody there?")


@then("the page says that more messages were given up")
def _(scene: Scene) -> None:
    expect(scene.page.get_by_text("More messages were given up.")).to_be_visible()
    scene.page.get_by_role("link", name="Show them").press("Enter")
    expect(scene.page.get_by_text("Is anybody there?")).to_be_visible()
