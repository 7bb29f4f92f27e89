"""The steps of rendering.feature: each markup is read as its platform reads it."""

import pytest
from pytest_bdd import parsers, scenarios, then, when

from adapters.outbound.rendering import Markup, render
from tests.support import markups

scenarios("rendering.feature")


@pytest.fixture
def shown() -> dict[Markup, str]:
    """What a person sees, by markup."""
    return {}


@when(parsers.parse('a resource answers "{markdown}"'))
def answers(shown: dict[Markup, str], markdown: str) -> None:
    for markup, read in markups.READERS.items():
        (message,) = render(markup, markdown.replace("\\n", "\n"), None)
        shown[markup] = read(message.text).replace("\u200b", "")


@then(parsers.parse('every channel shows "{text}"'))
def all_show(shown: dict[Markup, str], text: str) -> None:
    assert {markup: seen for markup, seen in shown.items() if text not in seen} == {}


@then(parsers.parse('no channel shows "{text}"'))
def none_shows(shown: dict[Markup, str], text: str) -> None:
    assert {markup: seen for markup, seen in shown.items() if text in seen} == {}
