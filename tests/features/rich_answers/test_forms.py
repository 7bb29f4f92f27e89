"""The steps of forms.feature."""

import json
from datetime import timedelta
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.groups import Discord, Telegram
from tests.features.rich_answers.scene import Scene

scenarios("forms.feature")

FORM = {
    "title": "Your order",
    "name": "order",
    "fields": [
        {"name": "count", "label": "How many?", "type": "number", "required": True, "min": 1, "max": 9},
        {
            "name": "size",
            "label": "Size",
            "type": "choice",
            "required": True,
            "options": [{"label": "Small", "value": "small"}, {"label": "Large", "value": "large"}],
        },
        {"name": "remark", "label": "Remark"},
    ],
}


@given(parsers.re(r"a resource that asks by a form for .*"))
def asks_by_form(scene: Scene) -> None:
    scene.answer = {"text": "Gladly.", "form": FORM}


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" to the bot alone on (?P<platform>\w+)'))
def writes_alone(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform, direct=True)
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" on (?P<platform>\w+)'))
def writes_on(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform)
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)", and the resource fails'))
def writes_in_vain(scene: Scene, who: str, text: str) -> None:
    scene.fails = True
    scene.write(who, text)
    scene.fails = False


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)", and the resource asks whether it may use a tool'))
def writes_and_is_asked(scene: Scene, who: str, text: str) -> None:
    scene.asks = True
    scene.write(who, text)
    scene.asks = False


@then(parsers.re(r'the resource gets the decision "(?P<decision>\w+)"'))
def gets_decision(scene: Scene, decision: str) -> None:
    approval = scene.resource.requests[-1].approval
    assert approval is not None
    assert approval.decision == decision


@when(parsers.re(r'a program calls the webhook with "(?P<text>[^"]+)"'))
def program_calls(scene: Scene, text: str) -> None:
    scene.call(message=text)
    scene.reference = scene.reply["form"]["reference"]


@when(parsers.re(r'it sends the form with the number (?P<count>\d+) and the size "(?P<size>\w+)"'))
def program_sends(scene: Scene, count: str, size: str) -> None:
    scene.call(form={"reference": scene.reference, "values": {"count": int(count), "size": size}})


@when("it sends a form by another reference")
def program_guesses(scene: Scene) -> None:
    scene.call(form={"reference": scene.reference[:-1] + "-", "values": {"count": "3", "size": "large"}})


@given('a resource whose form asks for one of "Cancel", "Skip", "2" and "skip"')
def asks_for_words(scene: Scene) -> None:
    labels = {"Cancel": "2", "Skip": "cancel", "2": "skip", "skip": "-"}
    options = [{"label": label, "value": value} for label, value in labels.items()]
    field = {"name": "answer", "label": "Answer", "type": "choice", "options": options}
    scene.answer = {"form": {"title": "Words", "fields": [field]}}


@then(parsers.re(r'the resource gets the form of "(?P<who>\w+)" with the answer "(?P<value>[^"]+)"'))
def gets_answer(scene: Scene, value: str) -> None:
    assert scene.resource.requests[-1].form == {"values": {"answer": value}}


@then(
    parsers.re(
        r'the resource gets the form of the program with the number (?P<count>\d+) and the size "large"'
    )
)
def gets_form_of_program(scene: Scene, count: str) -> None:
    values = {"count": int(count), "size": "large", "remark": None}
    assert scene.resource.requests[-1].form == {"name": "order", "values": values}


@then(parsers.re(r'the program is told "(?P<words>[^"]+)"'))
def program_is_told(scene: Scene, words: str) -> None:
    assert words in str(scene.reply), scene.reply


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)"$'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" of the first question with buttons'))
def presses_first(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons(0)[label], 0)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)" twice, at once'))
def presses_twice(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons()[label], at_once=2)


@when(parsers.re(r'"(?P<who>\w+)" presses "(?P<label>[^"]+)"$'))
def presses(scene: Scene, who: str, label: str) -> None:
    scene.press(who, scene.buttons()[label])


@when(parsers.re(r'the form of "(?P<who>\w+)" is replaced by another one'))
def replaced(scene: Scene, who: str) -> None:
    scene.write(who, "cancel")
    scene.write(who, "order")


@when(parsers.re(r'"(?P<who>\w+)" changes her message to "(?P<text>[^"]+)"'))
def changes(scene: Scene, who: str, text: str) -> None:
    assert isinstance(scene.group, Telegram)
    scene.post(scene.group.edit(who, text))


@when("24 hours pass")
def day_passes(scene: Scene) -> None:
    scene.world.clock.advance(timedelta(hours=24))


@when("the service is restarted")
def restarted(scene: Scene) -> None:
    scene.restart()


@then(parsers.re(r'"(?P<who>\w+)" is asked "(?P<label>[^"]+)"$'))
def is_asked(scene: Scene, label: str) -> None:
    assert any(label in text for text in scene.texts()), scene.texts()


@then(parsers.re(r'"(?P<who>\w+)" is asked "(?P<label>[^"]+)" once'))
def is_asked_once(scene: Scene, label: str) -> None:
    assert len([text for text in scene.texts() if label in text]) == 1, scene.texts()


@then(parsers.re(r'"(?P<who>\w+)" is told "(?P<words>[^"]+)"'))
def is_told(scene: Scene, words: str) -> None:
    assert scene.driver.wait_until(lambda: any(words in text for text in scene.texts())), scene.texts()


@then(parsers.re(r'the message has the buttons "(?P<one>[^"]+)" and "(?P<two>[^"]+)"'))
def has_buttons(scene: Scene, one: str, two: str) -> None:
    assert list(scene.buttons()) == [one, two]


def gets_form(scene: Scene, who: str, values: dict[str, Any]) -> None:
    request = scene.resource.requests[-1]
    assert request.form == {"name": "order", "values": values}
    assert request.sender.external_id == scene.sender_id(who)
    assert not request.choice


@then(
    parsers.re(
        r'the resource gets the form of "(?P<who>\w+)" with the number (?P<count>\d+), the size "(?P<size>\w+)"'
        r' and the remark "(?P<remark>[^"]+)"'
    )
)
def gets_whole_form(scene: Scene, who: str, count: str, size: str, remark: str) -> None:
    gets_form(scene, who, {"count": int(count), "size": size, "remark": remark})


@then(
    parsers.re(
        r'the resource gets the form of "(?P<who>\w+)" with the number (?P<count>\d+), the size "(?P<size>\w+)"'
        r" and no remark"
    )
)
def gets_form_without_remark(scene: Scene, who: str, count: str, size: str) -> None:
    gets_form(scene, who, {"count": int(count), "size": size, "remark": None})


@then(parsers.re(r'the text of the request lists "(?P<one>[^"]+)", "(?P<two>[^"]+)" and "(?P<three>[^"]+)"'))
def lists(scene: Scene, one: str, two: str, three: str) -> None:
    assert scene.resource.requests[-1].text.splitlines() == [one, two, three]


@then(parsers.re(r'the resource gets the message "(?P<text>[^"]+)" of "(?P<who>\w+)"'))
def gets_message(scene: Scene, text: str, who: str) -> None:
    request = scene.resource.requests[-1]
    assert (request.text, request.form) == (text, {})
    assert request.sender.external_id == scene.sender_id(who)


@then("the resource gets no further message")
def gets_nothing(scene: Scene) -> None:
    assert len(scene.resource.requests) == scene.heard


@when(parsers.re(r'"(?P<who>\w+)" opens the form'))
def opens_form(scene: Scene, who: str) -> None:
    """On Teams the form is part of the message."""
    buttons = scene.buttons()
    if "Open form" in buttons:
        scene.press(who, buttons["Open form"])


ENTERED = r'the number "(?P<count>\w+)", the size "(?P<size>\w+)" and the remark "(?P<remark>[^"]+)"'


@when(parsers.re(rf'"(?P<who>\w+)" sends the form with {ENTERED}$'))
def sends_form(scene: Scene, who: str, count: str, size: str, remark: str) -> None:
    scene.fill_in(who, {"count": count, "size": size, "remark": remark})


@when(parsers.re(rf'"(?P<who>\w+)" sends the form again with {ENTERED}$'))
def sends_form_again(scene: Scene, who: str, count: str, size: str, remark: str) -> None:
    opens_form(scene, who)
    sends_form(scene, who, count, size, remark)


@when(parsers.re(rf'"(?P<who>\w+)" sends the form with {ENTERED} twice'))
def sends_form_twice(scene: Scene, who: str, count: str, size: str, remark: str) -> None:
    scene.fill_in(who, {"count": count, "size": size, "remark": remark}, at_once=2)


@when(parsers.re(r'"(?P<who>\w+)" sends the form of "(?P<other>\w+)"'))
def sends_form_of(scene: Scene, who: str, other: str) -> None:
    opens_form(scene, other)
    scene.fill_in(who, {"count": "3", "size": "small", "remark": "x"})


@then("the form shows that it was sent, without buttons")
def shows_sent(scene: Scene) -> None:
    def is_so() -> bool:
        text, has_buttons = scene.group.shown(0)
        return not has_buttons and "Large" in text

    assert scene.driver.wait_until(is_so), scene.group.shown(0)


@then(
    parsers.re(r'the dialog shows the size "(?P<size>\w+)" and the remark "(?P<remark>[^"]+)", and no number')
)
def dialog_shows(scene: Scene, size: str, remark: str) -> None:
    assert isinstance(scene.group, Discord)
    modal = [callback["data"] for callback in scene.group.platform.callbacks if callback["type"] == 9][-1]
    number, select, text = (label["component"] for label in modal["components"])
    assert "value" not in number
    assert [option["value"] for option in select["options"] if option["default"]] == [size]
    assert text["value"] == remark


@then(parsers.re(r'the answer in the history names "(?P<title>[^"]+)"'))
def history_names(scene: Scene, title: str) -> None:
    contents = scene.world.container.database().fetch("SELECT answer FROM inbox WHERE answer IS NOT NULL")
    [[content]] = scene.world.run(contents)
    assert title in json.loads(content)["text"]


@then("the resource gets the form once")
def gets_form_once(scene: Scene) -> None:
    assert len([request for request in scene.resource.requests if request.form]) == 1
