"""What holds for every page: nothing serious that axe finds, nothing cut off, small, and quick beside REST."""

import os
import re
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from playwright.sync_api import Page

from adapters.inbound.console.sessions import SESSION
from tests.drivers.served import ServedWorld
from tests.drivers.ways import Rest, RestOverGrpc
from tests.features.console.conftest import NARROW, WIDE, Open, session_of
from tests.features.console.shown import (
    access,
    channels,
    inbox,
    knowledge,
    operations,
    overview,
    settings,
    trying,
)
from tests.support.browser import Window

AREAS = (overview, channels, settings, inbox, access, knowledge, operations, trying)
FIRST_BYTES = 150_000
LATER_BYTES = 50_000
PICTURES = os.environ.get("PICTURES", "")
"""A folder for the screenshots of all pages; none are kept without it."""


def _looks(window: Window, name: str) -> list[str]:
    """What is wrong with the page as the window shows it: wide and light, and narrow and dark."""
    page, wrong = window.page, []
    for width, scheme in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
        where = f"{page.url} at {width} px, {scheme}"
        wrong += [f"{where}: {fault}" for fault in window.serious_faults()]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            wrong.append(f"{where}: wider than the window")
    return wrong


LISTEN = """() => {
  const wanted = 'a[href], button, input:not([type=hidden]), select, textarea, summary';
  const shown = (each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled;
  const left = window.left = new Set([...document.querySelectorAll(wanted)].filter(shown));
  document.addEventListener('focusin', ({ target }) => {
    left.delete(target);
    if (target.type === 'radio') for (const other of target.form.elements[target.name]) left.delete(other);
  });
}"""
LEFT = "[...window.left].filter((each) => each.isConnected).map((each) => each.outerHTML.slice(0, 200))"


def _unreached(page: Page) -> list[str]:
    """What the Tab key does not come to, of all that can be pressed or filled in."""
    page.evaluate(LISTEN)
    for _ in range(3):  # elements of a chat panel are not counted, and take the focus too
        for _ in page.evaluate(LEFT):
            page.keyboard.press("Tab")
    return [f"{page.url}: not reached by keyboard: {each}" for each in page.evaluate(LEFT)]


def _differs(own: httpx.Response, remote: httpx.Response) -> list[str]:
    """What is wrong with a page over HTTP: too large, or another one on a gateway without a database."""
    wrong = [] if len(own.content) < LATER_BYTES else [f"{own.url.path}: {len(own.content)} bytes"]
    texts = [re.sub(r"\d+", "0", answer.text) for answer in (own, remote)]
    return wrong + ([] if texts[0] == texts[1] else [f"{own.url.path}: another page without a database"])


@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.__name__.rpartition(".")[2])
def test_pages_can_be_used_by_everybody(
    world: ServedWorld, window: Open, area: ModuleType, request: pytest.FixtureRequest
) -> None:
    """Each area is furnished once, since that takes longer than to look at its pages."""
    seen = window("admin")
    gateways = (Rest(world), RestOverGrpc(world))
    headers = {"cookie": f"{SESSION}={session_of(world, 'admin')}"}
    wrong: list[str] = []
    for number, path in enumerate(area.pages(world)):
        response = seen.page.goto(world.url + path)
        assert response is not None
        assert response.status == 200, path
        wrong += _unreached(seen.page)
        wrong += _looks(seen, f"{request.node.callspec.id}-{number}")
        wrong += _differs(*(gateway.request("GET", path, headers=headers) for gateway in gateways))
    for gateway in gateways:
        gateway.close()
    assert wrong == []


def test_the_first_page_with_its_files_is_small(world: ServedWorld, window: Open) -> None:
    seen = window("admin")
    sizes: list[int] = []
    seen.page.on("requestfinished", lambda request: sizes.append(sum(request.sizes().values())))
    seen.go("/console")
    seen.page.wait_for_load_state("networkidle")
    assert sum(sizes) < FIRST_BYTES
