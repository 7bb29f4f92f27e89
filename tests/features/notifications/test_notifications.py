"""The steps of notifications.feature."""

from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.storage.events import PostgresEventLog
from domain.channels.rich import ConversationChange
from domain.events import EventFilter, EventKind
from domain.routing.model import RunResult
from tests.features.notifications.conftest import LIST, Scene
from tests.support.event_log import events_of, listening

EDGE = samples.SETTING
SETTINGS = {"AGENT_URL": "https://bots.example"}
scenarios("notifications.feature")


@when("ann reads her notifications")
def reads(scene: Scene) -> None:
    [notification] = scene.notifications("ann")
    assert notification["url"] == f"https://bots.example/console/inbox/{scene.bots['ann']}/101"
    assert (notification["sessionId"], notification["readAt"]) == ("101", None)
    scene.do("POST", f"{LIST}/read", "ann", {"ids": [notification["id"]]})
    scene.do("POST", f"{LIST}/read", "bob", {"upTo": notification["id"] + 1})


@then(parsers.parse("{who} has no notification"))
def has_none(scene: Scene, who: str) -> None:
    count = scene.value(f"SELECT count(*) FROM notification WHERE user_id = '{who}'")
    assert count == 0


@when("bob takes the conversation over")
def takes_over(scene: Scene) -> None:
    path = f"{scene.of('ada')}/handler"
    scene.do("PUT", path, "bob", {"handler": "person"})


@given("ann has a budget that is spent by 80 percent")
def budget(scene: Scene) -> None:
    scene.user("admin")
    scene.budget("ann")


@given("somebody follows the events", target_fixture="event_log")
def follows(scene: Scene) -> PostgresEventLog:
    return scene.world.run(listening(scene.world.container.database()))


@then("an event tells ann alone that she was notified")
def event(scene: Scene, event_log: PostgresEventLog) -> None:
    [notification] = scene.notifications("ann")
    data = {"notificationId": notification["id"], "notification": "wanted", "userId": "ann"}
    kinds = frozenset({EventKind.NOTIFICATION_CREATED})
    instances = frozenset(scene.bots.values())
    for owner, told in (("ann", [data]), ("bob", [])):
        wanted = EventFilter(owner, kinds, shared=instances)
        events = scene.world.run(events_of(event_log, wanted=wanted))
        assert [event.data for event in events] == told


@when("ann erases the conversation")
def erases(scene: Scene) -> None:
    scene.do("DELETE", scene.of("ada"), "ann")


@then("nothing of it is left")
def nothing_left(scene: Scene) -> None:
    assert scene.notifications("ann") == []
    assert scene.value("SELECT count(*) FROM notification") == 0


@then(parsers.parse("ann sees {count:d} notifications, {size:d} on each page"))
def pages(scene: Scene, count: int, size: int) -> None:
    listed = scene.notifications("ann", limit=size)
    ids = [notification["id"] for notification in listed]
    assert len(ids) == count
    assert ids == sorted(ids, reverse=True)


@given("ada has written before")
def written(scene: Scene) -> None:
    result, scene.result = scene.result, RunResult("hello")
    scene.write("ada", "hello")
    scene.settle()
    scene.result = result


@given("the bot assigns to the team Support, and asks for nobody")
def assigns_only(scene: Scene) -> None:
    scene.result = RunResult("hello", change=ConversationChange(assign="team:support"))


@when(parsers.re(r"(?P<who>ann|bob) assigns ada's conversation to (?P<to>\w+)"))
def assigns_to(scene: Scene, who: str, to: str) -> None:
    assignee = {"herself": "me", "bob": "user:bob"}.get(to) or f"team:{scene.teams[to]}"
    scene.do("PUT", f"{scene.of('ada')}/state", who, {"assignee": assignee})
    scene.work()


@when(parsers.parse('ann notes "{text}"'))
def notes(scene: Scene, text: str) -> None:
    scene.do("POST", f"{scene.of('ada')}/notes", "ann", {"text": text})
    scene.work()


@then("the notification names the note")
def names_note(scene: Scene) -> None:
    [notification] = scene.notifications("bob")
    [note] = [message for message in scene.messages("ada") if message["direction"] == "note"]
    assert notification["messageId"] == note["id"]
    assert (notification["actor"], notification["confirmationId"]) == ("ann", None)
