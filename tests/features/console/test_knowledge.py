"""The steps of knowledge.feature."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.uploads import PostgresUploads
from ports.knowledge_storage import Work
from tests.drivers.served import ServedWorld
from tests.features.console.conftest import Open
from tests.support.browser import Window

scenarios("knowledge.feature")

MANUALS = {
    "pumps.md": "# Pumps\n\nThe cooling pump stands in hall seven.\n\n# Faults\n\nERR-4711: it runs dry.\n",
    "valves.txt": "Valves are stored in the cellar, on the left of the stairs.",
    "tool.exe": "MZ\x90\x00\x03\x00\x00\x00",
}


OWNER = 4711
Claim = Callable[..., Awaitable[Work | None]]


@dataclass
class Scene:
    world: ServedWorld
    window: Window
    claim: Claim = PostgresUploads.claim
    upload_id: int = 0
    resume: Callable[[], None] = field(default=lambda: None)

    @property
    def page(self) -> Page:
        return self.window.page

    def create(self, name: str) -> None:
        self.window.go("/console/knowledge")
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_role("button", name="Create").press("Enter")
        self.see_whole(name)

    def see_whole(self, name: str) -> None:
        """The page of the base, with its scripts: nothing can be dropped on it before."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(name)
        self.page.wait_for_load_state()

    def row(self, name: str) -> Locator:
        return self.page.locator("#files tbody tr").filter(has_text=name)

    def drop(self, path: Path) -> None:
        """As from the desktop: the browser itself makes the files and folders of the event."""
        form = self.page.locator("#upload")
        form.scroll_into_view_if_needed()
        box = form.bounding_box()
        assert box is not None
        protocol = self.window.context.new_cdp_session(self.page)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            place = {"x": box["x"] + 20, "y": box["y"] + 20}
            protocol.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    """A folder with all of them, and an empty folder in it."""
    folder = tmp_path / "manuals"
    (folder / "machines").mkdir(parents=True)
    for name, content in MANUALS.items():
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def scene(world: ServedWorld, window: Open) -> Scene:
    return Scene(world, window("ann"))


@given("ann sees that there is no knowledge base yet")
def _(scene: Scene) -> None:
    scene.window.go("/console/knowledge")
    expect(scene.page.get_by_role("heading", name="There is no knowledge base yet")).to_be_visible()


@given(parsers.parse('ann\'s base "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.create(name)


@given(parsers.parse('ann\'s base "{name}" while nothing is read'))
def _(scene: Scene, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = scene.claim

    async def none(self: PostgresUploads, owner: int, *, newcomers_only: bool = False) -> None:
        return None

    monkeypatch.setattr(PostgresUploads, "claim", none)
    scene.resume = lambda: monkeypatch.setattr(PostgresUploads, "claim", claim)
    scene.create(name)


@when(parsers.parse('she creates "{name}" by keyboard alone'))
def _(scene: Scene, name: str) -> None:
    keyboard = scene.page.keyboard
    scene.page.locator("body").press("Tab")
    while scene.page.evaluate("document.activeElement.name") != "name":
        keyboard.press("Tab")
    keyboard.type(name)
    keyboard.press("Enter")
    scene.see_whole(name)


@when("she drops the folder of manuals on the page")
def _(scene: Scene, manuals: Path) -> None:
    (manuals / "pumps.md").rename(manuals / "machines" / "pumps.md")
    (manuals / "tool.exe").unlink()
    scene.drop(manuals)


@when(parsers.re(r'she adds "(?P<name>[^"]*)"( once more)?$'))
def _(scene: Scene, manuals: Path, name: str) -> None:
    scene.window.expect_refusal()
    scene.page.get_by_label("Files", exact=True).set_input_files(manuals / name)


@when(parsers.parse('she adds "{name}" before the page is whole'))
def _(scene: Scene, manuals: Path, name: str) -> None:
    held: list[Route] = []
    scene.page.route("**/upload.js*", lambda route: held.append(route))
    with scene.page.expect_request("**/upload.js*"):
        scene.page.goto(scene.page.url, wait_until="commit")
    scene.page.get_by_label("Files", exact=True).set_input_files(manuals / name)
    held[0].continue_()


@when(parsers.parse('she adds "{first}" and then "{second}"'))
def _(scene: Scene, manuals: Path, first: str, second: str) -> None:
    scene.page.get_by_label("Files", exact=True).set_input_files(manuals / first)
    expect(scene.row(first)).to_be_visible()
    scene.page.get_by_label("A folder").set_input_files(_folder_of(manuals / second))


def _folder_of(file: Path) -> Path:
    folder = file.parent / "one"
    folder.mkdir()
    return file.rename(folder / file.name).parent


@when(parsers.parse('half of "{name}" is read'))
def _(scene: Scene, name: str) -> None:
    scene.page.evaluate("window.isTheSame = document.querySelector('#files tbody button').isTheSame = true")
    database = scene.world.container.storage().database
    uploads, staging = PostgresUploads(database), PostgresStaging(database)

    async def half() -> None:
        work = await scene.claim(uploads, OWNER)
        assert work
        assert [file.name for file in work.files] == [name]
        await staging.reading(work, work.files[0].id, 0.5)
        scene.upload_id = work.upload_id

    scene.world.run(half())


@then(parsers.parse('the progress of "{name}" moves, and what she would click stays where it is'))
def _(scene: Scene, name: str) -> None:
    expect(scene.row(name)).to_contain_text("Reading: 10 %")
    assert scene.page.evaluate("document.querySelector('#files tbody button').isTheSame")


@when(parsers.parse('she cancels "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.page.get_by_role("button", name=f"Cancel {name}").press("Enter")
    expect(scene.row(name)).to_have_count(0)


@when("files are read again")
def _(scene: Scene) -> None:
    uploads = PostgresUploads(scene.world.container.storage().database)
    scene.world.run(uploads.retry(scene.upload_id, OWNER, 0))
    scene.resume()


@when(parsers.parse('she searches for "{query}"'))
def _(scene: Scene, query: str) -> None:
    scene.page.get_by_role("link", name="Search").press("Enter")
    scene.page.get_by_label("Question or words").fill(query)
    scene.page.keyboard.press("Enter")


@when(parsers.parse('she asks "{question}"'))
def _(scene: Scene, question: str) -> None:
    scene.page.get_by_role("link", name="Ask", exact=True).press("Enter")
    scene.page.get_by_label("Question").fill(question)
    scene.page.get_by_role("button", name="Ask").press("Enter")


@then(parsers.parse('the answer cites "{name}"'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.locator("#answer").get_by_role("link", name=name).first).to_be_visible()


@when("she follows the hit to its place")
def _(scene: Scene) -> None:
    scene.page.locator("#hit-1 a").press("Enter")


@when("she deletes the base and answers the question")
def _(scene: Scene) -> None:
    scene.page.get_by_role("link", name="Settings and sharing").press("Enter")
    question = scene.page.locator("details", has_text="Delete the knowledge base")
    question.locator("summary").press("Enter")
    question.get_by_role("button", name="Delete the knowledge base").press("Enter")


@then(parsers.parse('"{one}" and "{other}" become ready'))
def _(scene: Scene, one: str, other: str) -> None:
    for name in (one, other):
        expect(scene.row(name)).to_contain_text("Ready")


@then("the page was never loaded again")
def _(scene: Scene) -> None:
    assert scene.page.evaluate("window.isTheSame")


@then(parsers.parse('the first hit is from "{name}", with "{word}" highlighted'))
def _(scene: Scene, name: str, word: str) -> None:
    hit = scene.page.locator("#hit-1")
    expect(hit.get_by_role("link")).to_have_text(name)
    expect(hit.locator("mark", has_text=word).first).to_be_visible()


@then(parsers.parse('the chunk about the cooling pump is marked in the text of "{name}"'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.get_by_role("heading", level=1)).to_have_text(name)
    expect(scene.page.locator(".chunk-number:target + .chunk")).to_contain_text("The cooling pump stands")


@then(parsers.parse('"{first}" has place 1 in the queue and "{second}" place 2'))
def _(scene: Scene, first: str, second: str) -> None:
    expect(scene.row(first)).to_contain_text("Place 1 in the queue")
    expect(scene.row(second)).to_contain_text("Place 2 in the queue")


@then(parsers.parse('"{name}" is ready and nothing else is listed'))
def _(scene: Scene, name: str) -> None:
    expect(scene.row(name)).to_contain_text("Ready")
    expect(scene.page.locator("#files tbody tr")).to_have_count(1)


@then("she is told that the base has it already")
def _(scene: Scene) -> None:
    expect(scene.page.locator("#sending li")).to_contain_text("has the same file already")


@then(parsers.parse('beside "{name}" it is said that the format is not supported'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.locator("#sending li", has_text=name)).to_contain_text("not of a supported format")


@then(parsers.parse('she is told that "{name}" was deleted, and no base is listed'))
def _(scene: Scene, name: str) -> None:
    expect(scene.page.get_by_text(f"{name} was deleted with all its files.")).to_be_visible()
    expect(scene.page.get_by_role("heading", name="There is no knowledge base yet")).to_be_visible()
