"""The steps of people.feature."""

from typing import Any

import psycopg
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.cron.channel import DEFINITION as CRON
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from domain.channels.messages import Event, Identity, Sender
from domain.instances.model import NewInstance
from domain.people.model import SeenSender
from tests.drivers.ways import INSTANCES
from tests.features.people.scene import ACCOUNTS, PEOPLE, Scene
from tests.support.waiting import until

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


@given("the database refuses the sender of a message")
def refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = scene.world.container.people_recorder()
    record = recorder.senders.record

    async def refusing(seen: SeenSender) -> None:
        if seen.sender.external_id == "U0BERT":
            raise psycopg.DataError("no")
        await record(seen)

    monkeypatch.setattr(recorder.senders, "record", refusing)
    scene.write("bert", "Slack", "hello")


@given("somebody whose name and id hold NUL, half a surrogate pair and 10,000 letters has written to ann")
def hostile(scene: Scene) -> None:
    text = "Eve\0\ud83d" + "x" * 10_000
    sender = Sender(text, text, (Identity("email", text),))
    event = Event(text, text, sender, text, {}, context={"language": "de\0"})
    scene.world.run(scene.storage.inbox.add(scene.instance("ann", "Slack"), [event]))
    scene.settle()


@then("ann has one person, and finds them by the beginning of the name")
def finds_hostile(scene: Scene) -> None:
    [person] = scene.people()
    assert person["name"].startswith("Eve")
    assert [found["id"] for found in scene.people(query="eve")] == [person["id"]]


@then("the person can be exported and erased")
def exported_and_erased(scene: Scene) -> None:
    [person] = scene.people()
    for kind in ("export", "erase"):
        request = scene.ask("POST", f"{PEOPLE}/{person['id']}/{kind}").json()
        path = f"{PEOPLE}/requests/{request['id']}"
        until(lambda path=path: scene.read(path)["state"] == "done", f"the {kind} is done")
    assert scene.people() == []
    assert scene.value("SELECT count(*) FROM inbox WHERE event <> '{}'") == 0


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


@given("ann has called Ada Countess, with the label vip")
def called(scene: Scene) -> None:
    body = {"name": "Countess", "labels": ["vip"]}
    assert scene.ask("PUT", scene.path("Ada"), json=body).status_code == 200


@given(parsers.parse("ann shares the instance on {channel} with bob at level {level:d}"))
@when(parsers.parse("ann shares the instance on {channel} with bob at level {level:d}"))
def shares(scene: Scene, channel: str, level: int) -> None:
    scene.world.key_of("bob")
    grant(scene, channel, {"userId": "bob", "level": level})


@given(parsers.parse("ann shares the instance on {channel} with the team of bob at level {level:d}"))
def shares_with_team(scene: Scene, channel: str, level: int) -> None:
    scene.world.key_of("bob")
    assert scene.ask("GET", "/api/agent/me", "bob").status_code == 200
    body = {"name": "support", "members": [{"userId": "bob"}]}
    made = scene.ask("POST", "/api/agent/teams", "admin", json=body)
    assert made.status_code == 201, made.text
    grant(scene, channel, {"teamId": made.json()["id"], "level": level})


def grant(scene: Scene, channel: str, body: dict[str, Any]) -> None:
    path = f"{INSTANCES}/{scene.instance('ann', channel)}/permissions"
    response = scene.ask("PUT", path, json=body)
    assert response.status_code in (200, 204), response.text


@then("he sees the name Countess, the label vip and the identities business-messaging, phone")
def sees(person: dict[str, Any]) -> None:
    assert (person["name"], person["labels"]) == ("Countess", ["vip"])
    fields = sorted(identity["field"] for identity in person["identities"])
    assert fields == ["business-messaging", "phone"]


@then(parsers.parse('bob finds {name} by "{query}", and nobody by "{other}"'))
def bob_finds(scene: Scene, name: str, query: str, other: str) -> None:
    assert [person["name"] for person in scene.people("bob", query=query)] == [name]
    assert scene.people("bob", query=other) == []


@then('bob finds nobody by "Ada"')
def bob_finds_nobody(scene: Scene) -> None:
    assert scene.people("bob", query="Ada") == []


@then("bob has the people +4915735980001")
def bob_has(scene: Scene) -> None:
    assert [person["name"] for person in scene.people("bob")] == ["+4915735980001"]


def tried(scene: Scene, *kinds: str) -> set[int]:
    """How these calls of bob's end."""
    [person] = scene.people("bob")
    path, status = f"{PEOPLE}/{person['id']}", set()
    conversation = person["conversations"][0]
    names = {key: conversation[key] for key in ("instanceId", "sessionId")}
    for kind in kinds:
        if kind == "change":
            response = scene.ask("PUT", path, "bob", json={"labels": ["x"]})
        else:
            response = scene.ask("POST", f"{path}/{kind}", "bob", json={"conversations": [names]})
        status.add(response.status_code)
    return status


@then("bob may not change, split, export or erase her")
def may_only_see(scene: Scene) -> None:
    assert tried(scene, "change", "split", "export", "erase") == {403}


@then("bob may change her, and neither export nor erase her")
def may_change(scene: Scene) -> None:
    assert tried(scene, "change") == {200}
    assert tried(scene, "export", "erase") == {403}


@then("bob may export her, and sees his request")
def may_export(scene: Scene) -> None:
    assert tried(scene, "export") == {202}
    [request] = scene.read(f"{PEOPLE}/requests", "bob")["requests"]
    assert scene.read(f"{PEOPLE}/requests/{request['id']}", "bob")["requestedBy"] == "bob"


@then("ann gets them in pages of 3, 3 and 1")
def in_pages(scene: Scene) -> None:
    pages = list(scene.pages(limit=3))
    assert [len(page) for page in pages] == [3, 3, 1]
    assert len({person["id"] for page in pages for person in page}) == 7


@then("Ada is listed within seconds")
def listed(scene: Scene) -> None:
    scene.until_listed("Ada")


@then(
    "ann may not list people with a query of 201 characters, a NUL character, a limit of 201 or an unknown cursor"
)
def wrong_lists(scene: Scene) -> None:
    wrong = {"query": ["x" * 201, "a\0b"], "label": ["a\0b"], "limit": ["201", "x"], "cursor": ["x"]}
    for field, values in wrong.items():
        for value in values:
            response = scene.ask("GET", PEOPLE, params={field: value})
            assert response.status_code == 400, (field, value)
            assert field in response.json()["error"]


@then("people and requests with ids that none has are not found")
def not_found(scene: Scene) -> None:
    for path in ("x", "0", str(2**64), "requests/x", "requests/99999"):
        assert scene.ask("GET", f"{PEOPLE}/{path}").status_code == 404, path
