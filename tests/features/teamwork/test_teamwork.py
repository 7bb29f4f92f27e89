"""The steps of teamwork.feature."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from adapters.outbound.resources.messages import result_of
from domain.routing.model import RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.ways import INSTANCES
from tests.features.conversations.scene import PEOPLE, Scene
from tests.features.conversations.test_erasure import remains
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("teamwork.feature")

LIST, COUNTS, SNIPPETS = "/api/agent/conversations", "/api/agent/conversations/counts", "/api/agent/snippets"
WHO = r"(?P<who>ann|bob|carl|dora)"
SESSION = str(PEOPLE["ada"][2])
VIEWS: dict[str, dict[str, Any]] = {
    "mine": {"assignee": "me", "state": "open"},
    "teams": {"assignee": "teams", "state": "open"},
    "unassigned": {"assignee": "none", "state": "open"},
    "open": {"state": "open"},
    "snoozed": {"state": "snoozed"},
    "closed": {"state": "closed"},
    "wantsPerson": {"wantsPerson": "true"},
    "failed": {"failed": "true"},
}


@pytest.fixture
def made() -> dict[str, Any]:
    """What a scenario has made, by a name of its own."""
    return {}


def answer(scene: Scene, who: str, text: str = "", headers: Any = None, **more: Any) -> httpx.Response:
    body = {"sessionId": SESSION, "text": text, **more}
    return scene.ask("POST", f"{scene.path}/messages", who, json=body, headers=headers or {})


def change(scene: Scene, who: str, person: str = "ada", **body: Any) -> httpx.Response:
    return scene.ask("PUT", f"{scene.of(person)}/state", who, json=body)


def changed(scene: Scene, who: str, person: str = "ada", **body: Any) -> None:
    response = change(scene, who, person, **body)
    assert response.status_code == 204, response.text


def conversation(scene: Scene, who: str = "ann", person: str = "ada") -> dict[str, Any]:
    query = {"sessionId": str(PEOPLE[person][2])}
    [found] = scene.ask("GET", f"{scene.path}/conversations", who, params=query).json()["conversations"]
    return dict(found)


def listed(scene: Scene, who: str, **query: Any) -> list[str]:
    response = scene.ask("GET", LIST, who, params=query)
    assert response.status_code == 200, response.text
    return [view["sender"]["displayName"].split()[0].lower() for view in response.json()["conversations"]]


@given("a bot of ann that repeats what it hears")
def parrot(scene: Scene) -> None:
    scene.create("ann")


@given("bob may answer there, and carl may look")
def shared(scene: Scene) -> None:
    for user, level in (("bob", 2), ("carl", 1), ("dora", 0)):
        scene.world.key_of(user)
        body = {"userId": user, "level": level}
        response = scene.ask("PUT", f"{scene.path}/permissions", "ann", json=body)
        assert response.status_code == 204, response.text


@given('the team "Support" of bob and dora')
def team(scene: Scene, made: dict[str, Any]) -> None:
    body = {"name": "Support", "members": [{"userId": "bob"}, {"userId": "dora"}]}
    response = scene.ask("POST", "/api/agent/teams", "admin", json=body)
    assert response.status_code == 201, response.text
    made["team"] = response.json()["id"]


@given(parsers.re(r"(?P<person>ada|bert) has written before"))
def before(scene: Scene, person: str) -> None:
    scene.write(person, "hello")
    scene.settle()


@given('the resource hands over to the team "Support"')
def hands_over(scene: Scene) -> None:
    result = {"text": "A colleague will answer you", "handover": True, "assign": "team:support"}
    scene.resource.script = lambda request: result_of(result)


@given("the resource fails")
def fails(scene: Scene) -> None:
    def away(request: RunRequest) -> RunResult:
        raise DownstreamFailed("the model is away", retryable=False)

    scene.resource.script = away


@given("somebody follows what happens")
def follows(scene: Scene) -> None:
    scene.world.run(scene.world.container.storage().event_log.listen("test"))


@when(parsers.re(r'(?P<person>ada|bert) writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, person: str, text: str) -> None:
    scene.write(person, text)
    scene.settle()


@when(parsers.re(WHO + r' answers ada "(?P<text>[^"]+)"$'), target_fixture="response")
def answers(scene: Scene, who: str, text: str) -> httpx.Response:
    response = answer(scene, who, text)
    scene.settle()
    return response


@when(parsers.re(WHO + r' answers ada "(?P<text>[^"]+)" with the key "(?P<key>\w+)"$'))
def answers_with_key(scene: Scene, who: str, text: str, key: str) -> None:
    response = answer(scene, who, text, headers={"Idempotency-Key": key})
    assert response.status_code == 202, response.text
    scene.settle()


@when(parsers.re(WHO + r' answers ada "(?P<text>[^"]+)" and (?P<how>takes it over|leaves it)$'))
def answers_and(scene: Scene, who: str, text: str, how: str) -> None:
    response = answer(scene, who, text, takeOver=how == "takes it over")
    assert response.status_code == 202, response.text
    scene.settle()


@when("ann and bob answer ada at the same time", target_fixture="responses")
def at_once(scene: Scene) -> list[httpx.Response]:
    keys = {who: scene.world.key_of(who) for who in ("ann", "bob")}

    async def ask(who: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {keys[who]}"}
        body = {"sessionId": SESSION, "text": f"I am {who}"}
        return await scene.rest.client.post(f"{scene.path}/messages", json=body, headers=headers)

    async def both() -> list[httpx.Response]:
        return list(await asyncio.gather(ask("ann"), ask("bob")))

    responses = scene.world.run(both())
    scene.settle()
    return list(responses)


@when(parsers.re(WHO + r' assigns (?P<person>ada|bert)\'s conversation to "(?P<assignee>[^"]+)"'))
def assigns(scene: Scene, who: str, person: str, assignee: str) -> None:
    changed(scene, who, person, assignee=assignee)


@when("the team is deleted")
def team_deleted(scene: Scene, made: dict[str, Any]) -> None:
    assert scene.ask("DELETE", f"/api/agent/teams/{made['team']}", "admin").status_code == 204


def later(**time: float) -> str:
    return (datetime.now(UTC) + timedelta(**time)).isoformat()


@when("bob snoozes ada's conversation for an hour")
def snoozes(scene: Scene) -> None:
    changed(scene, "bob", state="snoozed", snoozedUntil=later(hours=1))


@when("the hour is over")
def hour_over(scene: Scene) -> None:
    past = "UPDATE queue SET snoozed_until = snoozed_until - interval '1 hour' WHERE kind = 0"
    scene.world.run(scene.world.container.database().execute(past))


@when("bob closes ada's conversation")
def closes(scene: Scene) -> None:
    changed(scene, "bob", state="closed")


@when('bob labels ada\'s conversation "sale" and "vip"')
def labels(scene: Scene) -> None:
    changed(scene, "bob", labels=["vip", "sale", "vip"])


@when(parsers.re(r'bob notes "(?P<text>[^"]+)"'))
def notes(scene: Scene, text: str, made: dict[str, Any]) -> None:
    response = scene.ask("POST", f"{scene.of('ada')}/notes", "bob", json={"text": text})
    assert response.status_code == 201, response.text
    made["note"] = response.json()


@when("ann erases ada's conversation")
def erases(scene: Scene) -> None:
    assert "conversation_note.text" in remains(scene, "secret-word")
    assert scene.ask("DELETE", scene.of("ada")).status_code == 204


def write_snippet(scene: Scene, who: str, name: str, text: str, **more: Any) -> httpx.Response:
    return scene.ask("POST", SNIPPETS, who, json={"name": name, "text": text, **more})


@when(parsers.re(r'(?P<who>bob|the admin) writes the snippet "(?P<name>\w+)": "(?P<text>[^"]+)"(?P<of>.*)'))
def writes_snippet(scene: Scene, who: str, name: str, text: str, of: str, made: dict[str, Any]) -> None:
    more = {" for the team": {"teamId": made["team"]}, " for all": {"forAll": True}}.get(of, {})
    response = write_snippet(scene, who.split()[-1], name, text, **more)
    assert response.status_code == 201, response.text
    made[name] = response.json()["id"]


@when("bob answers ada with the snippet")
def sends_snippet(scene: Scene, made: dict[str, Any]) -> None:
    response = answer(scene, "bob", snippetId=made["Greeting"])
    assert response.status_code == 202, response.text
    assert answer(scene, "bob", "and a text", snippetId=made["Greeting"]).status_code == 400
    assert answer(scene, "carl", snippetId=made["Greeting"]).status_code == 403
    assert answer(scene, "ann", snippetId=made["Greeting"], takeOver=True).status_code == 400
    scene.settle()


@then(parsers.re(WHO + r" has the conversation, and is its assignee"))
def has_conversation(scene: Scene, who: str) -> None:
    view = conversation(scene)
    assert (view["handler"], view["handledBy"], view["assignee"]) == ("person", who, f"user:{who}")
    assert not view["wantsPerson"]


@then("ann is told that bob has it")
def is_told(response: httpx.Response) -> None:
    assert response.status_code == 409
    assert response.json()["error"].startswith("bob has this conversation until ")


@then(parsers.re(r'ada got "(?P<text>[^"]+)" and nothing of ann\'s'))
def got_alone(scene: Scene, text: str) -> None:
    assert scene.got("ada")[1:] == [text]


@then(parsers.re(r'ada got "(?P<first>[^"]+)" and "(?P<second>[^"]+)"'))
def got_both(scene: Scene, first: str, second: str) -> None:
    assert scene.got("ada")[1:] == [first, second]


@then(parsers.re(r'ada got "(?P<text>[^"]+)" and nothing more'))
def got_only(scene: Scene, text: str) -> None:
    assert scene.got("ada")[1:] == [text]


@then(parsers.re(r'the bot does not answer "(?P<text>[^"]+)"'))
def not_answered(scene: Scene, text: str) -> None:
    assert text not in [request.text for request in scene.resource.requests]


@then("one of them has it, and the other is told")
def one_has_it(scene: Scene, responses: list[httpx.Response]) -> None:
    assert sorted(response.status_code for response in responses) == [202, 409]
    winner = "ann" if responses[0].status_code == 202 else "bob"
    [refused] = [response for response in responses if response.status_code == 409]
    assert refused.json()["error"].startswith(f"{winner} has this conversation until ")
    has_conversation(scene, winner)


@then("ada got one answer")
def one_answer(scene: Scene) -> None:
    assert len(scene.got("ada")) == 2


def audited(scene: Scene, action: str) -> list[dict[str, Any]]:
    response = scene.ask("GET", "/api/agent/audit", "admin", params={"action": action})
    return [dict(entry) for entry in response.json()["entries"]]


@then("the audit log tells once that bob took it")
def took_once(scene: Scene) -> None:
    [entry] = audited(scene, "conversation.taken")
    assert entry["actor"]["userId"] == "bob"
    assert entry["object"].startswith(f"instance:{scene.bots['ann']}/conversation:")


@then("the audit log tells that ann changed it")
def tells_change(scene: Scene, made: dict[str, Any]) -> None:
    [entry] = audited(scene, "conversation.changed")
    assert (entry["actor"]["userId"], entry["data"]) == ("ann", {"assignee": f"team:{made['team']}"})


@then("carl may not answer, assign or note anything")
def only_looks(scene: Scene) -> None:
    assert conversation(scene, "carl")["sessionId"] == SESSION
    assert answer(scene, "carl", "me").status_code == 403
    assert change(scene, "carl", state="closed").status_code == 403
    assert scene.ask("POST", f"{scene.of('ada')}/notes", "carl", json={"text": "x"}).status_code == 403
    assert change(scene, "dora", state="closed").status_code == 403


@then("it is assigned to the team, and among the conversations of bob's teams")
def of_team(scene: Scene, made: dict[str, Any]) -> None:
    assignee = f"team:{made['team']}"
    assert conversation(scene)["assignee"] == assignee
    for name in ("teams", assignee, "team:Support", "team:support"):
        assert listed(scene, "bob", assignee=name) == ["ada"], name


@then("it is not among the conversations of nobody")
def not_of_nobody(scene: Scene) -> None:
    assert listed(scene, "bob", assignee="none") == listed(scene, "bob", assignee="me") == []


@then(parsers.re(r"(?P<who>ann|bob) is notified that (?:she is|it is) (?P<kind>mentioned|assigned)"))
def is_notified(scene: Scene, who: str, kind: str) -> None:
    def kinds() -> list[str]:
        response = scene.ask("GET", "/api/agent/notifications", who)
        return [entry["kind"] for entry in response.json()["notifications"]]

    until(lambda: kind in kinds(), f"{who} is notified")


@then("the conversation wants a person")
def wants_person(scene: Scene) -> None:
    view = conversation(scene)
    assert (view["wantsPerson"], view["handler"], view["handledBy"]) == (True, "person", None)
    assert listed(scene, "bob", wantsPerson="true") == ["ada"]


@then("the conversation is of nobody")
def of_nobody(scene: Scene) -> None:
    assert conversation(scene)["assignee"] is None


@then(
    parsers.re(r'assigning ada\'s conversation to "(?P<assignee>[^"]+)" is refused, and the field is named')
)
def assigning_refused(scene: Scene, assignee: str) -> None:
    response = change(scene, "ann", assignee=assignee)
    assert response.status_code == 400
    assert response.json()["error"].startswith("assignee: ")


@then(parsers.re(r"the conversation is (?P<state>open|snoozed|closed)"))
def has_state(scene: Scene, state: str) -> None:
    view = conversation(scene)
    assert (view["state"], view["snoozedUntil"] is not None) == (state, state == "snoozed")
    for name in ("open", "snoozed", "closed"):
        assert listed(scene, "ann", state=name) == (["ada"] if name == state else [])


@then("the events tell that it was snoozed, open and closed")
def events_tell(scene: Scene) -> None:
    data = "SELECT array_agg(data ORDER BY seq) FROM event_log WHERE kind = 'conversation.changed'"
    states = [text.partition('"state" : "')[2].partition('"')[0] for text in scene.value(data)]
    assert states == ["snoozed", "open", "closed"]


@then(parsers.re(r"snoozing ada's conversation (?P<how>.+) is refused, and the field is named"))
def snoozing_refused(scene: Scene, how: str) -> None:
    until = {"snoozedUntil": later(days=-1)} if "yesterday" in how else {}
    response = change(scene, "bob", state="snoozed", **until)
    assert response.status_code == 400
    assert response.json()["error"].startswith("snoozedUntil: ")


@then('it is found by the labels "sale" and "vip" alone')
def found_by_labels(scene: Scene) -> None:
    assert conversation(scene)["labels"] == ["sale", "vip"]
    names = ("sale", "vip", "other")
    assert [listed(scene, "bob", label=name) for name in names] == [["ada"], ["ada"], []]


@then("ann reads it among the messages, as a note of bob's")
def reads_note(scene: Scene, made: dict[str, Any]) -> None:
    messages = scene.messages("ada")
    assert [message["direction"] for message in messages] == ["in", "out", "note"]
    assert messages[-1] == made["note"]
    assert (messages[-1]["author"], messages[-1]["userId"]) == ("person", "bob")
    assert scene.messages("ada", latestFirst="true") == messages[::-1]
    assert scene.messages("ada", limit=1) == messages


@then("it names ann, carl and the team")
def names(scene: Scene, made: dict[str, Any]) -> None:
    assert made["note"]["mentions"] == ["user:ann", "user:carl", f"team:{made['team']}"]


@then("it was sent to nobody, and the bot did not get it")
def not_sent(scene: Scene) -> None:
    assert len(scene.got("ada")) == len(scene.resource.requests) == 1


@then(parsers.re(r'neither ada nor the resource got "(?P<word>[^"]+)"'))
def nobody_got(scene: Scene, word: str) -> None:
    assert not [text for text in scene.got("ada") if word in text]
    assert word not in repr(scene.resource.requests)


@then(parsers.re(r'nothing is left of "(?P<word>[^"]+)"'))
def nothing_left(scene: Scene, word: str) -> None:
    assert remains(scene, word) == []


@then("noting nothing is refused, and the field is named")
def empty_note(scene: Scene) -> None:
    for text in ("", "  "):
        response = scene.ask("POST", f"{scene.of('ada')}/notes", "bob", json={"text": text})
        assert response.status_code == 400
        assert response.json()["error"].startswith("text: ")


@then(parsers.re(WHO + r' sees the snippets "(?P<names>[^"]+)"'))
def sees_snippets(scene: Scene, who: str, names: str) -> None:
    pages = []
    path = f"{SNIPPETS}?limit=1"
    while True:
        page = scene.ask("GET", path, who).json()
        pages += [snippet["name"] for snippet in page["snippets"]]
        if page["next"] is None:
            break
        path = f"{SNIPPETS}?limit=1&cursor={page['next']}"
    assert pages == names.split(", ")
    first = pages[0]
    searched = scene.ask("GET", SNIPPETS, who, params={"query": first.lower()}).json()["snippets"]
    assert [snippet["name"] for snippet in searched] == [first]


@then("carl cannot change the snippets of bob and of all")
def cannot_change(scene: Scene, made: dict[str, Any]) -> None:
    for name, status in (("Own", 404), ("Team", 404), ("House", 403)):
        for method in ("PUT", "DELETE"):
            body = {"json": {"text": "no"}} if method == "PUT" else {}
            response = scene.ask(method, f"{SNIPPETS}/{made[name]}", "carl", **body)
            assert response.status_code == status, (name, method, response.text)


@then("dora changes and deletes the snippet of the team")
def changes_snippet(scene: Scene, made: dict[str, Any]) -> None:
    path = f"{SNIPPETS}/{made['Team']}"
    assert scene.ask("PUT", path, "dora", json={"text": "new"}).json()["text"] == "new"
    assert scene.ask("GET", path, "bob").json()["text"] == "new"
    assert scene.ask("DELETE", path, "dora").status_code == 204
    assert scene.ask("GET", path, "bob").status_code == 404


@then("carl cannot write a snippet for all, nor for the team")
def cannot_write(scene: Scene, made: dict[str, Any]) -> None:
    assert write_snippet(scene, "carl", "x", "y", forAll=True).status_code == 403
    assert write_snippet(scene, "carl", "x", "y", teamId=made["team"]).status_code == 403
    assert write_snippet(scene, "admin", "x", "y", teamId=made["team"] + 1000).status_code == 400


@then(parsers.parse("these views show, and count, for bob:"))
def views(scene: Scene, datatable: list[list[str]]) -> None:
    counts = scene.ask("GET", COUNTS, "bob").json()
    for view, names in datatable[1:]:
        expected = [name for name in names.split(", ") if name]
        assert listed(scene, "bob", **VIEWS[view]) == expected, view
        assert counts[view] == len(expected), view
    assert listed(scene, "bob", channelId="bot-messenger")
    assert not listed(scene, "bob", channelId="odoo")


@then("nothing is shown or counted for dora")
def nothing_for_dora(scene: Scene) -> None:
    assert set(scene.ask("GET", COUNTS, "dora").json().values()) == {0}
    for query in VIEWS.values():
        assert listed(scene, "dora", **query) == []
    assert scene.ask("GET", f"{INSTANCES}/{scene.bots['ann']}/conversations", "dora").status_code == 403
