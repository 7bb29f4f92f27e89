"""The steps of content.feature."""

import json
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from tests.features.rich_answers.scene import Scene

scenarios("content.feature")

LINK = {"label": "Order now", "url": "https://shop.example/order"}
PICTURE = "https://shop.example/p7.png"
CARD = {
    "title": "Pump P7",
    "text": "A **quiet** one",
    "picture": PICTURE,
    "fields": [{"name": "Price", "value": "20 EUR"}],
    "buttons": [{"label": "Manual", "url": "https://shop.example/manual"}],
}
PLACE = {"latitude": 48.2082, "longitude": 16.3738, "name": "Our shop", "address": "Graben 1"}
CONTACT = {"name": "Eve Smith", "phones": ["+4312345"], "emails": ["eve@example.org"]}


@given("a resource that answers with two links, a card with a picture, a place and a contact")
def answers_richly(scene: Scene) -> None:
    call = {"label": "Call us", "url": "tel:+4312345"}
    scene.answer = {"text": "Here you are", "buttons": [LINK, call], "cards": [CARD]}
    scene.answer |= {"location": PLACE, "contact": CONTACT}


@given(parsers.re(r'a resource that answers with a card whose picture is at "(?P<url>[^"]+)"'))
def answers_with_picture(scene: Scene, url: str) -> None:
    scene.answer = {"cards": [{**CARD, "picture": url}]}


@given(parsers.re(r'a resource that answers with a card whose title and fields are "(?P<text>[^"]+)"'))
def answers_with_markup(scene: Scene, text: str) -> None:
    scene.answer = {"cards": [{"title": text, "fields": [{"name": text, "value": text}]}]}


@given("a resource that answers with one link")
def answers_with_link(scene: Scene) -> None:
    scene.answer = {"text": "Here you are", "buttons": [LINK]}


@given("a resource that answers with as much as an answer may hold")
def answers_with_all(scene: Scene) -> None:
    links = [
        {"label": f"{number} {'l' * 78}"[:80], "url": f"https://shop.example/{number}/{'u' * 1900}"}
        for number in range(10)
    ]
    fields = [{"name": f"{number} {'n' * 90}", "value": "v" * 500} for number in range(20)]
    card = {"title": "t" * 200, "text": "_*[x" * 1000, "picture": PICTURE, "fields": fields, "buttons": links}
    scene.answer = {
        "text": "word " * 3000,
        "buttons": links,
        "cards": [card, {**card, "text": ""}, {"title": "t"}],
    }


@given("a resource that answers with silence")
def answers_silently(scene: Scene) -> None:
    scene.answer = {"text": "nobody reads this", "silent": True}


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" to the bot alone on (?P<platform>\w+)'))
def writes_alone(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform, direct=True)
    scene.write(who, text)


@then(parsers.re(r'"(?P<who>\w+)" reads "(?P<one>[^"]+)", "(?P<two>[^"]+)" and "(?P<three>[^"]+)"'))
def reads(scene: Scene, one: str, two: str, three: str) -> None:
    shown = "\n".join(scene.texts())
    assert all(words in shown for words in (one, two, three)), shown


def sent(scene: Scene) -> list[Any]:
    """The bodies of the calls on the platform."""
    bodies = []
    for seen in scene.driver.platform.seen[scene.seen :]:
        try:
            bodies.append(json.loads(seen.body))
        except ValueError:
            bodies.append(dict(seen.form))
    return bodies


def members(value: Any) -> list[tuple[str, Any]]:
    """The names and values of all objects within a value."""
    if isinstance(value, dict):
        return [pair for name, item in value.items() for pair in ((name, item), *members(item))]
    return [pair for item in value for pair in members(item)] if isinstance(value, list) else []


@then(parsers.re(r'the link "(?P<url>[^"]+)" is shown as a button'))
def is_button(scene: Scene, url: str) -> None:
    assert ("url", url) in members(sent(scene))


@then(parsers.re(r'the link "(?P<url>[^"]+)" is shown as text'))
def is_text_link(scene: Scene, url: str) -> None:
    assert ("url", url) not in members(sent(scene))
    assert any(url in text for text in scene.texts())


@then(parsers.re(r"the platform gets (?P<written>.+) for the name and the value of the field"))
def is_as_written(scene: Scene, written: str) -> None:
    """In the table u200b is a zero-width space."""
    shown = written.replace("\\u200b", "\u200b")
    texts = [str(value) for _, value in members(sent(scene)) if isinstance(value, str)]
    assert sum(text.count(shown) for text in texts) >= 2, (shown, texts)


@then("the picture of the card is shown as a picture")
def is_picture(scene: Scene) -> None:
    assert any(value == PICTURE for _, value in members(sent(scene)))


@then(parsers.re(r"the place is shown as (?P<way>text|a place)"))
def place(scene: Scene, way: str) -> None:
    is_native = ("latitude", 48.2082) in [
        (name, value) for name, value in members(sent(scene)) if name == "latitude"
    ]
    assert is_native == (way == "a place")
    assert is_native or any("openstreetmap.org" in text and "Our shop" in text for text in scene.texts())


@then(parsers.re(r"the contact is shown as (?P<way>text|a contact)"))
def contact(scene: Scene, way: str) -> None:
    names = {"phone_number", "contacts"}
    assert any(name in names for name, _ in members(sent(scene))) == (way == "a contact")
    assert any("Eve Smith" in text for text in scene.texts())


@then("the platform takes all of it")
def all_taken(scene: Scene) -> None:
    states = "SELECT status, last_error FROM outbox WHERE status <> 1"
    assert scene.world.run(scene.world.container.database().fetch(states)) == []


@then(parsers.re(r'nothing is sent to "(?P<who>\w+)"'))
def nothing_sent(scene: Scene) -> None:
    assert not any("nobody reads this" in text for text in scene.texts())
    assert scene.world.run(scene.world.container.database().fetch("SELECT 1 FROM outbox")) == []
    statuses = scene.world.run(scene.world.container.database().fetch("SELECT status, error FROM inbox"))
    assert [tuple(row) for row in statuses] == [(1, None)]
