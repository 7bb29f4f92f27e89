"""The steps of reports.feature."""

import csv
import io
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from domain.access.model import Role
from domain.channels.rich import ConversationChange
from domain.routing.model import RunRequest, RunResult
from ports.resources import DownstreamFailed
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.features.conversations.scene import PEOPLE, Scene
from tests.support.platforms.telegram import TOKEN
from tests.support.reports import Days
from tests.support.waiting import until

EDGE = samples.SETTING
scenarios("reports.feature")

REPORTS = "/api/agent/reports"
FIGURES = {
    "messages": "messages",
    "people": "people",
    "by agents": "answeredByAgent",
    "by colleagues": "answeredByPerson",
    "handovers": "handovers",
    "closed": "closed",
    "failures": "failed",
    "liked": "feedbackUp",
    "disliked": "feedbackDown",
}
TIMES = {
    "to first answer": "timeToFirstAnswer",
    "to a colleague": "timeToPerson",
    "to close": "timeToClose",
}


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, rest, platform_driver)


def script(request: RunRequest) -> RunResult:
    """What the agent answers."""
    if request.text == "fail":
        raise DownstreamFailed("the model is away", retryable=False)
    wants_person = request.text == "a refund, please"
    change = ConversationChange(close=True) if request.text == "that is all" else None
    return RunResult(f"You said: {request.text}", wants_person=wants_person, change=change)


@given(
    parsers.parse("a bot of ann that asks for feedback, whose agent answers after {seconds:g} seconds"),
    target_fixture="days",
)
def bot(scene: Scene, seconds: float) -> Days:
    counted_bot(scene)
    return Days(scene.world, seconds)


@given("a bot of ann whose reports are counted as always")
def counted_bot(scene: Scene) -> None:
    scene.resource.script = script
    body = {
        "channelId": "bot-messenger",
        "channelName": "Support",
        "config": {"botToken": TOKEN},
        "downStreamResourceId": "agent::parrot",
        "feedback": True,
    }
    scene.bots["ann"] = int(scene.rest.create("ann", body).body["instanceId"])


@when('ada has written "hello" and got an answer')
def has_written(scene: Scene) -> None:
    scene.write("ada", "hello")
    scene.settle()


@given(parsers.parse('the team "{name}" of {first} and {second}'))
def team(scene: Scene, name: str, first: str, second: str) -> None:
    for user in (first, second):
        scene.world.key_of(user, Role.ADMIN if user == "bob" else Role.MEMBER)
    body = {"name": name, "members": [{"userId": user} for user in (first, second)]}
    assert scene.ask("POST", "/api/agent/teams", "admin", json=body).status_code == 201


@when("ann shares the bot with bob, who may look at it")
def shares(scene: Scene) -> None:
    body = {"userId": "bob", "level": 1}
    assert scene.ask("PUT", f"{scene.path}/permissions", json=body).status_code == 204


@when(parsers.re(r'(?P<who>ada|bert) writes "(?P<text>[^"]+)"'))
def writes(scene: Scene, days: Days, who: str, text: str) -> None:
    scene.write(who, text)
    scene.settle()
    days.stamp()


@when(parsers.re(r'(?P<seconds>\d+) seconds pass, and (?P<who>ada|bert) writes "(?P<text>[^"]+)"'))
def writes_later(scene: Scene, days: Days, seconds: str, who: str, text: str) -> None:
    days.wait(float(seconds))
    writes(scene, days, who, text)


@when(
    parsers.re(
        r'(?P<seconds>\d+) seconds pass, and (?P<user>\w+)(?:, an admin,)? writes "(?P<text>[^"]+)" to bert'
    )
)
def colleague_writes(scene: Scene, days: Days, seconds: str, user: str, text: str) -> None:
    days.wait(float(seconds))
    colleague_goes_on(scene, days, user, text)


@when(parsers.re(r'(?P<user>ann|bob) writes "(?P<text>[^"]+)" to bert'))
def colleague_goes_on(scene: Scene, days: Days, user: str, text: str) -> None:
    role = Role.ADMIN if user == "bob" else Role.MEMBER
    headers = {"authorization": f"Bearer {scene.world.key_of(user, role)}"}
    body = {"sessionId": str(PEOPLE["bert"][2]), "text": text, "takeOver": True}
    response = scene.rest.request("POST", f"{scene.path}/messages", headers=headers, json=body)
    assert response.status_code == 202, response.text
    scene.settle()
    days.stamp()


@when(parsers.re(r"(?P<who>ada|bert) (?P<liked>likes|does not like) the answer"))
def votes(scene: Scene, days: Days, who: str, liked: str) -> None:
    sent = [number for number, (name, call) in enumerate(scene.platform.calls, 501) if "reply_markup" in call]
    [buttons] = scene.platform.calls[sent[-1] - 501][1]["reply_markup"]["inline_keyboard"]
    first, _, id = PEOPLE[who]
    number = next(scene.updates)
    person = {"id": id, "is_bot": False, "first_name": first}
    message = {"message_id": sent[-1], "date": 1780000000, "chat": {"id": id, "type": "private"}}
    query = {"id": str(number), "from": person, "chat_instance": "1", "message": message}
    query["data"] = buttons[0 if liked == "likes" else 1]["callback_data"]
    scene.deliver({"update_id": number, "callback_query": query})
    scene.settle()
    days.stamp()


@when("ann has taken over what bert wrote before")
def taken_over(scene: Scene, days: Days) -> None:
    writes(scene, days, "bert", "hi")
    colleague_goes_on(scene, days, "ann", "one moment")


@when("the next day begins")
def next_day(days: Days) -> None:
    days.next_day()


@when("the day is counted")
def is_counted(days: Days) -> None:
    days.count()


@when("ann deletes the bot")
def deletes(scene: Scene) -> None:
    assert scene.ask("DELETE", scene.path).status_code == 200


@when("ann erases what ada wrote")
def erases(scene: Scene) -> None:
    assert scene.ask("DELETE", scene.of("ada")).status_code == 204


def ask(scene: Scene, days: Days, user: str = "ann", **query: Any) -> httpx.Response:
    """Of the days of the scenario, unless the query names others."""
    last = days.first + timedelta(days=2)
    query = {"from": days.first.isoformat(), "to": last.isoformat(), **query}
    return scene.ask("GET", REPORTS, user, params=query)


def rows(scene: Scene, days: Days, by: str, user: str = "ann", **query: Any) -> list[dict[str, Any]]:
    """All pages, of two rows each."""
    days.count()
    reports: list[dict[str, Any]] = []
    cursor = ""
    while True:
        response = ask(scene, days, user, by=by, limit=2, cursor=cursor, **query)
        assert response.status_code == 200, response.text
        reports += response.json()["reports"]
        cursor = response.json()["next"]
        if cursor is None:
            return reports


def shown(first: str, row: dict[str, Any]) -> list[str]:
    return [first, *(str(row[name]) for name in FIGURES.values())]


@then("the report by day is")
def by_day(scene: Scene, days: Days, datatable: Sequence[Sequence[str]]) -> None:
    assert datatable[0] == ["day", *FIGURES]
    reports = [shown(days.name_of(row["day"]), row) for row in rows(scene, days, "day")]
    assert reports == datatable[1:]


@then("the report by colleague is")
def by_colleague(scene: Scene, days: Days, datatable: Sequence[Sequence[str]]) -> None:
    assert datatable[0] == ["colleague", *FIGURES]
    reports = [shown(row["userId"] or "nobody", row) for row in rows(scene, days, "person")]
    assert reports == datatable[1:]


@then("the report by team is")
def by_team(scene: Scene, days: Days, datatable: Sequence[Sequence[str]]) -> None:
    assert datatable[0] == ["team", *FIGURES]
    teams = rows(scene, days, "team")
    assert [shown(row["teamName"] or "none", row) for row in teams] == datatable[1:]
    assert [bool(row["teamId"]) for row in teams] == [bool(row["teamName"]) for row in teams]


@then("the times of the first day are")
def times(scene: Scene, days: Days, datatable: Sequence[Sequence[str]]) -> None:
    row = rows(scene, days, "day")[0]
    for what, count, mean in datatable[1:]:
        figures = row[TIMES[what]]
        assert (figures["count"], figures["meanSeconds"]) == (int(count), float(mean)), what
        assert figures["medianSeconds"] is not None


@then(parsers.parse("the report of the second day alone has {count:d} message"))
def second_day(scene: Scene, days: Days, count: int) -> None:
    day = (days.first + timedelta(days=1)).isoformat()
    [row] = rows(scene, days, "all", **{"from": day, "to": day})
    assert row["messages"] == count
    assert row["day"] is row["instanceId"] is row["userId"] is None


@then("the report of the last 30 days has 1 message, 1 answer and 1 first answer before long")
def before_long(scene: Scene) -> None:
    def figures() -> list[tuple[int, int, int]]:
        reports = scene.read(REPORTS, by="all")["reports"]
        return [
            (row["messages"], row["answeredByAgent"], row["timeToFirstAnswer"]["count"]) for row in reports
        ]

    until(lambda: figures() == [(1, 1, 1)], "it is counted")


@then("the report by instance names the bot")
def by_instance(scene: Scene, days: Days) -> None:
    [row] = rows(scene, days, "instance")
    assert (row["instanceId"], row["channelName"]) == (scene.bots["ann"], "Support")


@then(parsers.parse("the colleague ann has {count:d} answers"))
def colleague_has(scene: Scene, days: Days, count: int) -> None:
    by_user = {row["userId"]: row["answeredByPerson"] for row in rows(scene, days, "person")}
    assert by_user["ann"] == count


def exported(scene: Scene, days: Days) -> list[dict[str, str]]:
    response = ask(scene, days, by="day,person", format="csv")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="reports.csv"' in response.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(response.text)))


@then("the CSV file has the same figures as the report")
def as_csv(scene: Scene, days: Days) -> None:
    reports = rows(scene, days, "day,person")
    lines = exported(scene, days)
    assert len(lines) == len(reports) == 2
    for row, line in zip(reports, lines, strict=True):
        assert [line[name] for name in FIGURES.values()] == [str(row[name]) for name in FIGURES.values()]
        assert (line["day"], line["userId"], line["instanceId"]) == (row["day"], "", "")
        assert float(line["timeToFirstAnswerMeanSeconds"]) == row["timeToFirstAnswer"]["meanSeconds"]
        assert (line["timeToFirstAnswerCount"], line["timeToCloseMedianSeconds"]) == ("1", "")


@then(parsers.parse('a colleague with the name "{name}" is a text in the CSV file'))
def no_formula(scene: Scene, days: Days, name: str) -> None:
    database = scene.world.container.database()
    parameters = (days.first, scene.bots["ann"], name)
    scene.world.run(database.execute("INSERT INTO report VALUES (%s, %s, %s, -4, 1)", parameters))
    assert f"'{name}" in [line["userId"] for line in exported(scene, days)]


@then("bob sees no report, and may not ask for that of the bot")
def bob_sees_none(scene: Scene, days: Days) -> None:
    assert rows(scene, days, "day", "bob") == []
    assert ask(scene, days, "bob", instanceId=scene.bots["ann"]).status_code == 403
    assert ask(scene, days, "bob", instanceId=10**6).status_code == 404


@then("bob sees the report of the bot")
def bob_sees(scene: Scene, days: Days) -> None:
    [row] = rows(scene, days, "instance", "bob")
    assert (row["instanceId"], row["messages"]) == (scene.bots["ann"], 1)
    assert ask(scene, days, "bob", instanceId=scene.bots["ann"]).status_code == 200


@then("a key of his for messages alone shows no report")
def other_scope(scene: Scene) -> None:
    made = scene.ask("POST", "/api/agent/keys", "bob", json={"scopes": ["messages:send"]}).json()
    headers = {"authorization": f"Bearer {made['token']}"}
    response = scene.rest.request("GET", REPORTS, headers=headers)
    assert response.status_code == 403
    assert "conversations:read" in response.json()["error"]


@then("ann sees no report")
def ann_sees_none(scene: Scene, days: Days) -> None:
    assert rows(scene, days, "day") == []


@then("an admin sees that of the bot")
def admin_sees(scene: Scene, days: Days) -> None:
    [row] = rows(scene, days, "instance", "admin")
    assert (row["instanceId"], row["messages"]) == (scene.bots["ann"], 1)


@then('no figure holds "Schnabeltier", "Lovelace" or ada\'s id')
def nothing_left(scene: Scene) -> None:
    columns = "SELECT count(*) FROM {} r WHERE r::text ~ 'Schnabeltier|Lovelace|101'"
    for table in ("report", "report_event"):
        assert scene.value(columns.format(table)) == 0
    assert scene.value("SELECT count(*) FROM report_person") == 0


@then(parsers.re(r'a report with (?P<field>\w+) "(?P<text>[^"]+)" is refused: (?P<reason>.+)'))
def is_refused(scene: Scene, days: Days, field: str, text: str, reason: str) -> None:
    response = ask(scene, days, **{field: text})
    assert response.status_code == 400, response.text
    assert response.json()["error"].startswith(f"{field}: {reason}")
