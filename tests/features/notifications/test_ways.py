"""The steps of ways.feature."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.confirmations.requests import ApprovalRequest
from tests.features.notifications.conftest import LIST, Scene

EDGE = samples.SETTING
SETTINGS = {"AGENT_URL": "https://bots.example"}
SETTINGS_PATH = "/api/agent/me/notifications"
PASSING = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
scenarios("ways.feature")


class Wishes:
    """What bob has set."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.body: dict[str, Any] = {}

    def add(self, **settings: Any) -> None:
        self.body |= settings
        self.scene.do("PUT", SETTINGS_PATH, "bob", self.body)


@pytest.fixture
def wishes(scene: Scene) -> Wishes:
    return Wishes(scene)


@given("bob has the address bob@example.com, and may answer on the bot")
def bob(scene: Scene) -> None:
    scene.user("bob")
    scene.user("admin")
    scene.do("PUT", "/api/agent/users/bob", "admin", {"email": "bob@example.com"})
    scene.share(3, userId="bob")


@given(parsers.parse('bob wants mail about "{kind}"'))
def wants_mail(wishes: Wishes, kind: str) -> None:
    wishes.add(kinds={kind: ["mail"]})


@given(parsers.re(r'bob wants a mail each (?P<pace>hour|day) about "(?P<kind>\w+)"'))
def wants_digest(scene: Scene, wishes: Wishes, pace: str, kind: str) -> None:
    scene.world.clock.stop()
    wishes.add(kinds={kind: ["mail"]}, mail={"hour": "hourly", "day": "daily"}[pace])


@given(parsers.parse('bob wants messages about "{kind}" to bert\'s conversation with the bot'))
def wants_messages(scene: Scene, wishes: Wishes, kind: str) -> None:
    scene.result = type(scene.result)("hello")
    scene.write("bert", "hello")
    scene.settle()
    scene.result = type(scene.result)("One moment", wants_person=True)
    wishes.add(kinds={kind: ["message"]}, notifyVia={"instanceId": scene.bots["ann"], "to": "102"})


@given("ann has another bot, which bob may answer on")
def other_bot(scene: Scene) -> None:
    body = {
        "channelId": "http-webhook",
        "channelName": "other",
        "config": {},
        "downStreamResourceId": "agent::parrot",
    }
    scene.bots["other"] = int(scene.rest.create("ann", body).body["instanceId"])
    scene.do("PUT", _other(scene), "ann", {"userId": "bob", "level": 2})


def _other(scene: Scene) -> str:
    return f"/api/agent/channel-instances/{scene.bots['other']}/permissions"


@given('bob wants messages about "wanted" by the other bot')
def wants_by_other(scene: Scene, wishes: Wishes) -> None:
    wishes.add(kinds={"wanted": ["message"]}, notifyVia={"instanceId": scene.bots["other"], "to": "102"})


@given("bob loses the permission on the other bot")
def loses_other(scene: Scene) -> None:
    scene.do("PUT", _other(scene), "ann", {"userId": "bob", "level": 0})


@then("the other bot sends nothing")
def other_sends_nothing(scene: Scene) -> None:
    scene.work()
    other = scene.bots["other"]
    assert scene.value(f"SELECT count(*) FROM send WHERE instance_id = {other}") == 0
    assert scene.value("SELECT count(*) FROM notification_delivery") == 0


@given(parsers.parse("bob works from {start} to {end}"))
def works(wishes: Wishes, start: str, end: str) -> None:
    wishes.add(hours={"from": start, "to": end, "timeZone": "Asia/Tokyo"})


@given(parsers.re(r"it is (?P<hour>\d+):(?P<minute>\d+)"))
@when(parsers.re(r"it becomes (?P<hour>\d+):(?P<minute>\d+) on the next day"))
def becomes(scene: Scene, hour: str, minute: str) -> None:
    scene.at(int(hour), int(minute))
    scene.work()


@given("bob reads German")
def german(wishes: Wishes) -> None:
    wishes.add(language="de")


@given("bob reads British English")
def british(wishes: Wishes) -> None:
    wishes.add(language="en-GB")


@given("the mail server is away")
def mail_away(scene: Scene) -> None:
    scene.world.clock.stop()
    scene.postbox.answers["MAIL"] = "451 4.3.0 come back later"


@when("the mail server is back")
def mail_back(scene: Scene) -> None:
    scene.postbox.answers.clear()


@when("some minutes pass")
def minutes_pass(scene: Scene) -> None:
    scene.world.clock.advance(timedelta(minutes=6))
    scene.work()


@when(parsers.re(r"a (?P<pace>hour|day) passes"))
def passes(scene: Scene, pace: str) -> None:
    scene.world.clock.advance(PASSING[pace])
    scene.work()


@when("a tool waits for bob's approval")
def waits_for_bob(scene: Scene) -> None:
    scene.write("ada", "money back")
    scene.settle()
    now = scene.world.clock.now()
    request = ApprovalRequest(
        instance_id=scene.bots["ann"],
        session_id="101",
        inbox_id=int(scene.value("SELECT max(id) FROM inbox")),
        request_id="r1",
        resource="agent::parrot",
        tool="refund",
        parameters={},
        approver="user:bob",
        sender="Ada",
        original="money back",
        asked_at=now,
        expires_at=now + timedelta(days=1),
        secret="s",
    )
    assert scene.world.run(scene.storage.approvals.add(request))
    scene.work()


@when("somebody decides")
def decides(scene: Scene) -> None:
    [approval] = scene.do("GET", "/api/agent/approvals", "bob")["approvals"]
    scene.do("POST", f"/api/agent/approvals/{approval['id']}/decision", "admin", {"decision": "rejected"})


@when("bob reads all")
def reads_all(scene: Scene) -> None:
    scene.do("POST", f"{LIST}/read", "bob", {"upTo": scene.notifications("bob")[0]["id"]})


@when(parsers.parse('it happens that "{kind}"'))
def happens(scene: Scene, kind: str) -> None:
    if kind == "wanted":
        scene.write("ada", "help")
    elif kind in ("assigned", "mentioned"):
        scene.colleague(kind)
    elif kind == "approval":
        scene.approval("user:bob")
    elif kind == "budget":
        scene.budget("bob")
    else:
        scene.health(works=False)
        if kind == "healthy":
            scene.health(works=True)
    scene.work()


@then(parsers.parse('bob gets the mail "{subject}"'))
def gets_mail(scene: Scene, subject: str) -> None:
    scene.work()
    assert [mail["Subject"] for mail in scene.postbox.mails] == [scene.dated(subject)]
    assert [envelope.rcpt_tos for envelope in scene.postbox.envelopes] == [["bob@example.com"]]


@then("bob gets no mail")
def no_mail(scene: Scene) -> None:
    scene.work()
    assert scene.postbox.mails == []


def _text(scene: Scene) -> str:
    [mail] = scene.postbox.mails
    return str(mail.get_body(("plain",)).get_content())  # type: ignore[attr-defined]


@then("the mail to bob leads to the conversation")
def leads(scene: Scene) -> None:
    assert f"https://bots.example/console/inbox/{scene.bots['ann']}/101" in _text(scene)


@then(parsers.parse('no mail holds "{text}"'))
def holds_not(scene: Scene, text: str) -> None:
    assert text not in _text(scene)


@then("the mail tells of both conversations")
def tells_of_both(scene: Scene) -> None:
    assert all(f"/{session}" in _text(scene) for session in ("101", "102"))


@then(parsers.parse('bert\'s conversation gets "{text}" once'))
def message(scene: Scene, text: str) -> None:
    scene.work()
    scene.world.clock.advance(timedelta(minutes=10))
    scene.work()
    first_lines = [got.splitlines()[0] for got in scene.got("bert")]
    assert first_lines.count(scene.dated(text)) == 1
    assert scene.value("SELECT count(*) FROM notification_delivery") == 0


@then("bob sees and changes his settings")
def settings(scene: Scene) -> None:
    before = scene.do("GET", SETTINGS_PATH, "bob")
    assert set(before["kinds"]) >= {"wanted", "assigned", "mentioned", "approval", "unhealthy", "budget"}
    assert all(ways == [] for ways in before["kinds"].values())
    hours = {"days": ["mon"], "from": "09:00", "to": "17:00", "timeZone": "Europe/Berlin"}
    via = {"instanceId": scene.bots["ann"], "to": "102"}
    body = {
        "kinds": {"wanted": ["mail", "message", "mail"]},
        "mail": "daily",
        "notifyVia": via,
        "hours": hours,
    }
    after = scene.do("PUT", SETTINGS_PATH, "bob", body)
    assert after == scene.do("GET", SETTINGS_PATH, "bob")
    assert after["kinds"]["wanted"] == ["mail", "message"]
    assert (after["mail"], after["notifyVia"], after["hours"]) == ("daily", via, hours)


@then("these settings of bob are refused")
def refused(scene: Scene, datatable: list[list[str]]) -> None:
    scene.create("eve", "http-webhook")
    other = {"notifyVia": {"instanceId": scene.bots.pop("eve"), "to": "1"}}
    bodies: Mapping[str, dict[str, Any]] = {
        "messages without an instance": {"kinds": {"wanted": ["message"]}},
        "messages by an instance of nobody": {"notifyVia": {"instanceId": 10**9, "to": "1"}},
        "messages by an instance of another": other,
        "a language that nobody speaks here": {"language": "tlh"},
        "hours that end when they begin": {"hours": {"from": "09:00", "to": "09:00"}},
        "mail without an address, by carl": {"kinds": {"wanted": ["mail"]}},
    }
    for words, because in datatable[1:]:
        user = "carl" if words.endswith("by carl") else "bob"
        response = scene.ask("PUT", SETTINGS_PATH, user, json=bodies[words])
        assert response.status_code in (400, 403, 404), words
        assert because in response.json()["error"], response.text


@then("the audit log tells what bob has set")
def audited(scene: Scene) -> None:
    entries = scene.ask("GET", "/api/agent/audit", "admin", params={"action": "notifications.changed"}).json()
    [entry] = entries["entries"]
    assert (entry["actor"]["userId"], entry["object"]) == ("bob", "user:bob")
    assert entry["data"]["notifyVia"] == {"instanceId": scene.bots["ann"], "to": "102"}
