"""The steps of people.feature."""

from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.cron.channel import DEFINITION as CRON
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from domain.channels.messages import Event, Sender
from domain.instances.model import NewInstance
from tests.drivers.ways import INSTANCES
from tests.features.people.scene import ACCOUNTS, PEOPLE, Scene

scenarios("people.feature")


@given("instances of ann on WhatsApp and mail that identify their senders, and are trusted")
def identifying(scene: Scene) -> None:
    for channel in ("WhatsApp", "mail"):
        instance = scene.instance("ann", channel, identifyUsers=True)
        scene.world.run(scene.storage.instances.set_trusted(instance, trusted=True))


@given("bob has verified what ada is on WhatsApp and by mail")
def verified(scene: Scene) -> None:
    for channel in ("WhatsApp", "mail"):
        scene.verify("bob", "ada", channel)


@given(parsers.parse("{number:d} people have written to ann"))
def many(scene: Scene, number: int) -> None:
    instance = scene.instance("ann", "Slack")
    events = [Event(f"k{n}", f"s{n}", Sender(f"U{n}", f"Person {n}"), "hi", {}) for n in range(number)]
    scene.world.run(scene.storage.inbox.add(instance, events))
    scene.settle()


@when("a message proves that both are hers")
def joins(scene: Scene) -> None:
    both = (*ACCOUNTS["ada"]["WhatsApp"].identities, *ACCOUNTS["ada"]["mail"].identities)
    event = Event("joins", "S1", Sender("U0ADA", "", both), "it is me", {})
    scene.world.run(scene.storage.inbox.add(scene.instance("ann", "Slack"), [event]))
    scene.settle()


@when("ada writes again a minute later, by WhatsApp and by mail")
def again(scene: Scene) -> None:
    earlier = "UPDATE person_sender SET seen_at = seen_at - interval '2 minutes'"
    scene.world.run(scene.world.container.database().execute(earlier))
    for channel in ("WhatsApp", "mail"):
        scene.write("ada", channel, "again")


@when(parsers.parse("ann erases the conversation by {channel}"))
def erases(scene: Scene, channel: str) -> None:
    session = ACCOUNTS["ada"][channel].external_id
    path = f"{INSTANCES}/{scene.instance('ann', channel)}/conversations/{session}"
    assert scene.ask("DELETE", path).status_code == 204
    scene.settle()


@when(parsers.parse("ann deletes the instance on {channel}"))
def deletes(scene: Scene, channel: str) -> None:
    scene.world.run(scene.storage.instances.remove(scene.instance("ann", channel)))
    scene.settle()


@when("the conversation was silent for longer than texts are kept")
def silent(scene: Scene) -> None:
    database = scene.world.container.database()
    scene.world.run(database.execute("UPDATE queue SET touched_at = touched_at - interval '2 days'"))
    scene.world.run(ConversationExpiry(database, 1).clean())
    scene.settle()


@when("a message of ada's is stored")
def stored(scene: Scene) -> None:
    event = Event("k", "s", ACCOUNTS["ada"]["WhatsApp"], "hello", {})
    scene.world.run(scene.storage.inbox.add(scene.instance("ann", "WhatsApp"), [event]))


@when("an instance of ann fires by the clock")
def fires(scene: Scene) -> None:
    new = NewInstance(CRON.id, "every day", {"schedule": "0 0 * * *", "message": "tell"}, "agent::x")
    made = scene.world.run(scene.storage.instances.add("ann", new))
    event = Event("fired", str(made.id), Sender("cron", "Cron"), "tell", {})
    scene.world.run(scene.storage.inbox.add(made.id, [event]))
    scene.settle()


@then(parsers.parse("she has the identities {fields}"))
def has_identities(person: dict[str, Any], fields: str) -> None:
    assert sorted(identity["field"] for identity in person["identities"]) == fields.split(", ")


@then(parsers.parse("she is the user {user}"))
def is_user(person: dict[str, Any], user: str) -> None:
    assert person["userIds"] == [user]


@then("an admin has two people")
def of_all(scene: Scene) -> None:
    assert {person["owner"] for person in scene.people("admin")} == {"ann", "bob"}


@then("bob may not see ann's person")
def may_not_see(scene: Scene) -> None:
    [person] = scene.people("ann")
    assert scene.ask("GET", f"{PEOPLE}/{person['id']}", "bob").status_code == 403
    assert scene.ask("GET", f"{PEOPLE}/999999", "bob").status_code == 404


@then("ann gets them in pages of 3, 3 and 1")
def in_pages(scene: Scene) -> None:
    pages = list(scene.pages(limit=3))
    assert [len(page) for page in pages] == [3, 3, 1]
    assert len({person["id"] for page in pages for person in page}) == 7


@then("Ada is listed within seconds")
def listed(scene: Scene) -> None:
    scene.until_listed("Ada")
