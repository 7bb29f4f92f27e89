"""The steps of conversation.feature."""

from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Caller
from domain.conversations.model import ConversationFilter, ConversationView
from tests.features.rich_answers.scene import Scene

scenarios("conversation.feature")


@given('a resource that assigns the conversation to "team:support", labels it "sale" and closes it')
def changes(scene: Scene) -> None:
    scene.answer = {"text": "Done.", "assign": "team:support", "labels": ["sale", "sale"], "close": True}


@given('a resource that silently assigns the conversation to "team:support", labels it "sale" and closes it')
def changes_silently(scene: Scene) -> None:
    scene.answer = {"silent": True, "assign": "team:support", "labels": ["sale"], "close": True}


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)" to the bot alone on (?P<platform>\w+)'))
def writes_alone(scene: Scene, who: str, text: str, platform: str) -> None:
    scene.open(platform, direct=True)
    scene.write(who, text)


@when(parsers.re(r'"(?P<who>\w+)" writes "(?P<text>[^"]+)"$'))
def writes(scene: Scene, who: str, text: str) -> None:
    scene.write(who, text)


@given("a resource that only answers")
def only_answers(scene: Scene) -> None:
    scene.answer = {"text": "Done."}


def steps(scene: Scene) -> list[tuple[str, str | None]]:
    database = scene.world.container.database()
    message = scene.world.run(database.fetch_value("SELECT max(id) FROM inbox"))
    messages = scene.world.container.use_cases().messages
    reading = messages.timelines(Caller("ann"), scene.instance_id, [f"in-{message}"])
    [timeline] = scene.world.run(reading)
    return [(step.kind.value, step.change) for step in timeline.steps]


@then(parsers.re(r'the timeline of the message ends with "(?P<words>[^"]+)"'))
def ends_with(scene: Scene, words: str) -> None:
    assert steps(scene)[-2:] == [("answered", None), ("changed", words)]


@then(parsers.re(r'the timeline of the message, which has no answer, ends with "(?P<words>[^"]+)"'))
def ends_unanswered(scene: Scene, words: str) -> None:
    assert steps(scene)[-2:] == [("done", None), ("changed", words)]


@then("the timeline of the message tells of no change")
def tells_nothing(scene: Scene) -> None:
    assert "changed" not in dict(steps(scene))


@when('the resource takes the label "sale" and the assignee away')
def takes_away(scene: Scene) -> None:
    scene.answer = {"assign": None, "removeLabels": ["sale", "new"]}
    scene.write("ada", "order")


def listed(scene: Scene, **criteria: Any) -> list[ConversationView]:
    conversations = scene.world.container.use_cases().conversations
    page = scene.world.run(conversations.list(Caller("ann"), ConversationFilter(**criteria), 50, None))
    return list(page.items)


@then(parsers.re(r'the conversation is (?P<state>\w+), has the label "sale" and the assignee "team:support"'))
def has_changes(scene: Scene, state: str) -> None:
    [view] = listed(scene)
    assert (view.state, view.labels, view.assignee) == (state, ("sale",), "team:support")


@then("the conversation is open, has no label and no assignee")
def has_none(scene: Scene) -> None:
    [view] = listed(scene)
    assert (view.state, view.labels, view.assignee) == ("open", (), None)


@then("it is found by its label, its assignee and its state")
def is_found(scene: Scene) -> None:
    assert listed(scene, label="sale", assignee="team:support", is_closed=True)
    assert not listed(scene, label="other")
    assert not listed(scene, assignee="user:ann")
    assert not listed(scene, is_closed=False)
