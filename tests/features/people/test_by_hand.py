"""The steps of by_hand.feature."""

import json
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from tests.features.people.scene import ACCOUNTS, PEOPLE, Scene, channels_of

scenarios("by_hand.feature")


def by(scene: Scene, channel: str, owner: str = "ann") -> dict[str, Any]:
    """The person with a conversation on a channel."""
    [person] = [person for person in scene.people(owner) if channel in channels_of(person)]
    return person


def only(scene: Scene) -> str:
    [person] = scene.people()
    return f"{PEOPLE}/{person['id']}"


def change(scene: Scene, path: str, **fields: Any) -> None:
    response = scene.ask("PUT", path, json=fields)
    assert response.status_code == 200, response.text


@given(parsers.parse("ann has called her {name}"))
def has_called(scene: Scene, name: str) -> None:
    change(scene, only(scene), name=name)


@given("ann has labelled the person by Telegram vip, and the person by mail late")
def labelled(scene: Scene) -> None:
    scene.kept = {channel: by(scene, channel)["id"] for channel in ("Telegram", "mail")}
    change(scene, f"{PEOPLE}/{scene.kept['Telegram']}", labels=["vip"])
    change(scene, f"{PEOPLE}/{scene.kept['mail']}", labels=["late"])


@when(parsers.parse("ann calls her {name}, with the language {language} and the labels {labels}"))
def calls(scene: Scene, name: str, language: str, labels: str) -> None:
    change(scene, only(scene), name=name, language=language, labels=labels.split(", "))


@when("ann takes name and labels back")
def takes_back(scene: Scene) -> None:
    change(scene, only(scene), name="", labels=[])


@given(parsers.parse("ann has merged the person by {channel} into the person by {other}"))
@when(parsers.parse("ann merges the person by {channel} into the person by {other}"))
def merges(scene: Scene, channel: str, other: str) -> None:
    path = f"{PEOPLE}/{by(scene, other)['id']}/merge"
    response = scene.ask("POST", path, json={"personIds": [by(scene, channel)["id"]]})
    assert response.status_code == 200, response.text
    assert response.json() == scene.people()[0]


@when(parsers.parse("ann splits the identity {field} from her"))
def splits_identity(scene: Scene, field: str) -> None:
    [person] = scene.people()
    [identity] = [identity for identity in person["identities"] if identity["field"] == field]
    split(scene, person["id"], identities=[identity])


@when(parsers.parse("ann splits the conversation by {channel} from her"))
def splits_conversation(scene: Scene, channel: str) -> None:
    [person] = scene.people()
    split(scene, person["id"], conversations=[conversation(scene, channel)])


def conversation(scene: Scene, channel: str) -> dict[str, Any]:
    session = ACCOUNTS["ada"][channel].external_id
    return {"instanceId": scene.instance("ann", channel), "sessionId": session}


def split(scene: Scene, person_id: int, **parts: Any) -> None:
    response = scene.ask("POST", f"{PEOPLE}/{person_id}/split", json=parts)
    assert response.status_code == 201, response.text
    assert response.json() in scene.people()


@when("ada writes again a minute later, by WhatsApp and by SMS")
def again(scene: Scene) -> None:
    earlier = "UPDATE person_sender SET seen_at = seen_at - interval '2 minutes'"
    scene.world.run(scene.world.container.database().execute(earlier))
    for channel in ("WhatsApp", "SMS"):
        scene.write("ada", channel, "again")


@then(parsers.re(r"she is called (?P<name>\w+), with the language (?P<language>\w+) and (?P<labels>.+)"))
def is_called(scene: Scene, name: str, language: str, labels: str) -> None:
    [person] = scene.people()
    assert (person["name"], person["language"]) == (name, language)
    assert person["labels"] == (
        [] if labels == "no labels" else labels.removeprefix("the labels ").split(", ")
    )


@then(parsers.parse("ann finds {name} by the label {label}, and nobody by the label {other}"))
def finds_by_label(scene: Scene, name: str, label: str, other: str) -> None:
    assert [person["name"] for person in scene.people(label=label)] == [name]
    assert scene.people(label=other) == []


@then(parsers.parse("she has the labels {labels}"))
def has_labels(scene: Scene, labels: str) -> None:
    assert scene.people()[0]["labels"] == labels.split(", ")


@then("the person by mail is not found under the former id")
def former(scene: Scene) -> None:
    assert scene.ask("GET", f"{PEOPLE}/{scene.kept['mail']}").status_code == 404


@then(parsers.parse("ann has two people, one with conversations by {channels}, one with {other}"))
def two_people(scene: Scene, channels: str, other: str) -> None:
    assert sorted(sorted(channels_of(person)) for person in scene.people()) == sorted(
        [channels.split(", "), [other]]
    )


@then("ann may not set a name of 201 characters, a blank name, 21 labels or a label of two lines")
def wrong_fields(scene: Scene) -> None:
    path, labels = only(scene), [str(number) for number in range(21)]
    for fields in ({"name": "x" * 201}, {"name": " "}, {"labels": labels}, {"labels": ["a\nb"]}):
        response = scene.ask("PUT", path, json=fields)
        assert response.status_code == 400, fields
        assert next(iter(fields)) in response.json()["error"]
    assert scene.people()[0]["name"] == "Ada"


@then("ann may not merge her with bob's person")
def not_merged(scene: Scene) -> None:
    body = {"personIds": [by(scene, "mail", "bob")["id"]]}
    assert scene.ask("POST", f"{only(scene)}/merge", json=body).status_code == 403


@then("an admin may not merge people of ann and bob")
def not_merged_by_admin(scene: Scene) -> None:
    body = {"personIds": [by(scene, "mail", "bob")["id"]]}
    response = scene.ask("POST", f"{only(scene)}/merge", "admin", json=body)
    assert (response.status_code, "owner" in response.json()["error"]) == (400, True)


@then("ann may not merge her with nobody, with herself or with somebody unknown")
def merged_with_nobody(scene: Scene) -> None:
    path, own = f"{only(scene)}/merge", scene.people()[0]["id"]
    for ids, status in (([], 400), ([own], 400), ([own, 999999], 404)):
        assert scene.ask("POST", path, json={"personIds": ids}).status_code == status, ids


@then("ann may not split her only conversation, an unknown one, or nothing from her")
def not_split(scene: Scene) -> None:
    path, unknown = f"{only(scene)}/split", {"instanceId": 1, "sessionId": "unknown"}
    for parts in ({"conversations": [conversation(scene, "WhatsApp")]}, {"conversations": [unknown]}, {}):
        assert scene.ask("POST", path, json=parts).status_code == 400, parts
    assert channels_of(scene.people()[0]) == ["WhatsApp"]
    assert scene.value("SELECT count(*) FROM person") == 1


@then("bob may not split a conversation from her")
def not_split_by_another(scene: Scene) -> None:
    parts = {"conversations": [conversation(scene, "WhatsApp")]}
    assert scene.ask("POST", f"{only(scene)}/split", "bob", json=parts).status_code == 403


@then(parsers.parse("the audit log has a change of {fields} by {user}, without the word {word}"))
def audited(scene: Scene, fields: str, user: str, word: str) -> None:
    [entry] = scene.read("/api/agent/audit", "admin", action="person.changed")["entries"]
    assert (entry["actor"]["userId"], entry["data"]["fields"]) == (user, fields.split(", "))
    assert word not in json.dumps(entry)
