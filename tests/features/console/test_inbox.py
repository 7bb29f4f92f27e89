"""The steps of inbox.feature."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.features.console.talks import Talks

scenarios("inbox.feature")


class Scene:
    """Ann's bot, her window, and that of a colleague."""

    def __init__(self, talks: Talks, window: Open) -> None:
        self.talks = talks
        self.ann: Page = window("ann").page
        self.open = window
        self.colleague: Page | None = None

    def look(self, page: Page) -> None:
        page.goto(self.talks.world.url + self.talks.address("ada"))
        expect(page.get_by_role("heading", level=1)).to_have_text("ada")

    @property
    def other(self) -> Page:
        assert self.colleague is not None
        return self.colleague


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Iterator[Scene]:
    talks = Talks(world, "ann")
    yield Scene(talks, window)
    talks.close()


def _said(page: Page, text: str) -> None:
    expect(page.locator(".said").filter(has_text=text).first).to_be_visible()


@given("ann has a bot and looks at her inbox, in which nobody has written yet")
def _(scene: Scene) -> None:
    scene.ann.goto(f"{scene.talks.world.url}/console/inbox")
    expect(scene.ann.get_by_text("Nobody has written yet")).to_be_visible()


@given("ann looks at her bot's conversation with ada")
def _(scene: Scene) -> None:
    scene.talks.write("ada", "Hello")
    scene.look(scene.ann)


@given("a colleague looks at it too")
def _(scene: Scene) -> None:
    scene.colleague = scene.open("admin").page
    scene.look(scene.colleague)


@given("ann's bot has failed at a message of ada's")
def _(scene: Scene) -> None:
    scene.talks.fails = True
    scene.talks.write("ada", "Open the valve")


@given(parsers.parse("ada has written {number:d} messages to ann's bot"))
def _(scene: Scene, number: int) -> None:
    for each in range(number):
        scene.talks.write("ada", f"message {each} of ada", settle=False)
    scene.talks.settle()


@when(parsers.parse('ada writes "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.talks.write("ada", text)


@when(parsers.parse('ada writes "{text}" after ann\'s page was made anew and before it listens'))
def _(scene: Scene, text: str) -> None:
    held: list[Route] = []
    scene.ann.route("**/console/live?*", lambda route: held.append(route))
    with scene.ann.expect_request("**/console/live?*"):
        scene.look(scene.ann)
    scene.talks.write("ada", text)
    _said(scene.other, text)
    held[0].continue_()


@then("the inbox shows ada's conversation without being loaded again")
def _(scene: Scene) -> None:
    expect(scene.ann.get_by_role("link", name="ada")).to_be_visible()


@when("ann opens it")
def _(scene: Scene) -> None:
    scene.ann.get_by_role("link", name="ada").press("Enter")


@when("ann looks at the conversation")
def _(scene: Scene) -> None:
    scene.look(scene.ann)


@then(parsers.parse('she reads "{text}" and the bot\'s answer to it'))
def _(scene: Scene, text: str) -> None:
    expect(scene.ann.locator(".message.in .said")).to_have_text(text)
    expect(scene.ann.locator(".message.out .said strong")).to_have_text(text)


@when("she takes it over")
def _(scene: Scene) -> None:
    scene.ann.get_by_label("Take it over for").press("ArrowDown")
    scene.ann.get_by_role("button", name="Take over").press("Enter")


@then("the page says that she has it, and for how long")
def _(scene: Scene) -> None:
    expect(scene.ann.locator("#handler")).to_contain_text("You have this conversation, for 4 h more")


@then(parsers.parse('she reads "{text}" without loading the page again'))
def _(scene: Scene, text: str) -> None:
    _said(scene.ann, text)


@when(parsers.parse('she answers "{text}" with a file and two choices'))
def _(scene: Scene, text: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.txt"
    file.write_text("turn left")
    scene.ann.get_by_label("Your answer").press_sequentially(text)
    scene.ann.get_by_text("Files and choices").press("Enter")
    scene.ann.get_by_label("Files", exact=False).set_input_files(file)
    scene.ann.get_by_label("Choices").press_sequentially("Good\nBad")
    scene.ann.get_by_role("button", name="Send", exact=True).press("Enter")


@then("ada gets the answer with the file and the choices")
def _(scene: Scene) -> None:
    answer = scene.talks.receiver.wait_for(2)[-1].json
    assert answer["response"] == "Yes, me"
    assert [file["name"] for file in answer["artifacts"]] == ["plan.txt"]
    assert [choice["label"] for choice in answer["choices"]] == ["Good", "Bad"]


@then(parsers.parse('the conversation shows "{text}" and the file'))
def _(scene: Scene, text: str) -> None:
    _said(scene.ann, text)
    link = scene.ann.get_by_role("link", name="plan.txt")
    assert (
        scene.ann.request.get(scene.talks.world.url + str(link.get_attribute("href"))).text() == "turn left"
    )
    expect(scene.ann.get_by_label("Your answer")).to_have_value("")


@when("she hands it back")
def _(scene: Scene) -> None:
    scene.ann.get_by_role("button", name="Hand it back").press("Enter")


@then("the page says that the bot answers")
def _(scene: Scene) -> None:
    expect(scene.ann.locator("#handler")).to_contain_text("The bot answers")


def _answers(page: Page, text: str) -> None:
    page.get_by_label("Your answer").fill(text)
    page.get_by_role("button", name="Send", exact=True).press("Enter")


@when(parsers.parse('ann answers "{text}"'))
def _(scene: Scene, text: str) -> None:
    _answers(scene.ann, text)


@then(parsers.parse('the colleague reads "{text}" and that ann has the conversation'))
def _(scene: Scene, text: str) -> None:
    _said(scene.other, text)
    expect(scene.other.locator("#handler")).to_contain_text("ann has this conversation")


@when(parsers.parse('the colleague answers "{text}"'))
def _(scene: Scene, text: str) -> None:
    _answers(scene.other, text)


@then("the colleague is told that ann has the conversation, and that nothing was sent")
def _(scene: Scene) -> None:
    composer = scene.other.locator("form", has=scene.other.get_by_label("Your answer"))
    expect(composer).to_contain_text("ann has this conversation")
    expect(composer).to_contain_text("nothing was sent")


@when(parsers.parse('the colleague takes it over and answers "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.other.get_by_role("button", name="Take it over").press("Enter")
    expect(scene.other.locator("#handler")).to_contain_text("You have this conversation")
    _answers(scene.other, text)


@when(parsers.parse('she comes to "{name}" by keyboard'))
def _(scene: Scene, name: str) -> None:
    scene.ann.get_by_role("button", name=name).focus()


@then(parsers.parse('the focus is on the first "{name}"'))
def _(scene: Scene, name: str) -> None:
    expect(scene.ann.get_by_role("button", name=name)).to_have_count(2)
    expect(scene.ann.get_by_role("button", name=name).first).to_be_focused()


@then(parsers.parse('ann reads "{text}"'))
def _(scene: Scene, text: str) -> None:
    _said(scene.ann, text)


@then("she reads why it failed")
def _(scene: Scene) -> None:
    expect(scene.ann.locator(".message.in .fault")).to_contain_text("the model is away")


@when("the bot works again and she has the message processed again")
def _(scene: Scene) -> None:
    scene.talks.fails = False
    scene.ann.get_by_role("button", name="Process it again").press("Enter")


@then("she reads the bot's answer")
def _(scene: Scene) -> None:
    expect(scene.ann.locator(".message.out .said strong")).to_have_text("Open the valve")


@when("she unfolds what happened to the answer")
def _(scene: Scene) -> None:
    scene.ann.locator(".message.out summary").press("Enter")


@then("she reads when the platform took it, and the id of the request")
def _(scene: Scene) -> None:
    steps = scene.ann.locator(".message.out details[open]")
    expect(steps).to_contain_text(re.compile(r"Taken by the platform .*\d:\d\d", re.DOTALL))
    expect(steps).to_contain_text(scene.talks.messages("ada")[-1]["requestId"])


@then("it stays unfolded when ada writes again")
def _(scene: Scene) -> None:
    scene.talks.write("ada", "Thank you")
    _said(scene.ann, "Thank you")
    expect(scene.ann.locator(".message.out details").first).to_have_attribute("open", "")


@then("the first message of ada is not there yet")
def _(scene: Scene) -> None:
    _said(scene.ann, "message 14 of ada")
    expect(scene.ann.locator(".said").filter(has_text="message 0 of ada")).to_have_count(0)


@when("she asks for earlier messages")
def _(scene: Scene) -> None:
    scene.ann.get_by_role("link", name="Earlier messages").press("Enter")


@then("the first message of ada is there")
def _(scene: Scene) -> None:
    expect(scene.ann.locator(".said").filter(has_text="message 0 of ada").first).to_be_visible()


@then("it stays there when ada writes again")
def _(scene: Scene) -> None:
    scene.talks.write("ada", "one more")
    _said(scene.ann, "one more")
    expect(scene.ann.locator(".message.in")).to_have_count(16)


@when("she wants to erase it, and thinks better of it")
def _(scene: Scene) -> None:
    scene.ann.get_by_text("Erase this conversation").first.press("Enter")
    expect(scene.ann.get_by_text("are erased for good")).to_be_visible()
    scene.ann.keyboard.press("Escape")
    expect(scene.ann.get_by_text("are erased for good")).not_to_be_visible()


@then("the conversation is still there")
def _(scene: Scene) -> None:
    assert len(scene.talks.messages("ada")) == 2


@when("she wants to erase it, and says so again")
def _(scene: Scene) -> None:
    scene.ann.get_by_text("Erase this conversation").first.press("Enter")
    scene.ann.get_by_role("button", name="Erase this conversation").press("Enter")


@then("her inbox is empty")
def _(scene: Scene) -> None:
    expect(scene.ann.get_by_text("The conversation was erased.")).to_be_visible()
    expect(scene.ann.get_by_text("Nobody has written yet")).to_be_visible()
