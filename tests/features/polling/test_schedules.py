"""The steps of schedules.feature, over both gateways."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.waiting import until

BASE = "/api/agent/schedules"
BERLIN = ZoneInfo("Europe/Berlin")
FIRED = "SELECT count(*) FROM inbox WHERE instance_id = %s"
STATES: dict[str, dict[str, Any]] = {"switched on": {}, "switched off": {"enabled": False}, "": {}}
scenarios("schedules.feature")


class Scene:
    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.id = 0
        self.seen: dict[str, Any] = {}

    def create(self, channel_id: str, name: str, config: dict[str, Any]) -> None:
        body = {"channelId": channel_id, "channelName": name, "config": config}
        self.id = self.rest.create("ann", {**body, "downStreamResourceId": "agent::echo"}).body["instanceId"]

    def page(self, user: str = "ann", **query: Any) -> dict[str, Any]:
        reply = self.rest.request("GET", BASE, user, params=query)
        assert reply.status_code == 200, reply.text
        return dict(reply.json())

    def view(self) -> dict[str, Any]:
        [view] = self.page()["schedules"]
        return dict(view)

    def run(self, user: str = "ann") -> int:
        return self.rest.request("POST", f"{BASE}/{self.id}/run", user).status_code

    def fired(self) -> int:
        [[count]] = self.world.run(self.world.container.database().fetch(FIRED, (self.id,)))
        return int(count)


@pytest.fixture
def scene(world: World, rest: Rest) -> Scene:
    return Scene(world, rest)


@given(parsers.re(r"ann's schedule for \"(?P<cron>[^\"]+)\" in Berlin(, (?P<state>.+))?"))
def schedule(scene: Scene, cron: str, state: str | None) -> None:
    config = {"cronSchedule": cron, "message": "Count.", "timezone": "Europe/Berlin"}
    scene.create("cron", "Morning", {**config, **STATES[state or ""]})


@given("ann's mailbox on a server that does not answer, looked into every 5 minutes")
def mailbox(scene: Scene) -> None:
    config = {"imapHost": "127.0.0.1", "imapPort": 1, "smtpHost": "127.0.0.1", "smtpPort": 1}
    account = {"username": "ann", "password": "secret", "fromEmail": "ann@example.com", "checkInterval": 5}
    scene.create("email", "Post", {**config, **account})
    until(lambda: scene.view()["failures"] > 0, "the first poll fails")


@given("no run of it is planned any more")
def given_up(scene: Scene) -> None:
    until(lambda: not scene.view()["running"], "the run has ended")
    scene.world.run(scene.world.container.storage().schedules.plan(scene.id, None))


@given("ann's webhook bot")
def webhook_bot(scene: Scene) -> None:
    scene.create("http-webhook", "Bot", {})


@given(parsers.parse("{count:d} schedules of ann"))
def many(scene: Scene, count: int) -> None:
    for number in range(count):
        scene.create("cron", f"Schedule {number}", {"cronSchedule": "0 9 * * *", "message": "Count."})


@when("ann looks at what runs by the clock")
def looks(scene: Scene) -> None:
    scene.seen = scene.view()


@when("ann has it run now")
def runs_now(scene: Scene) -> None:
    scene.seen = scene.view()
    assert scene.run() == 202


@then(parsers.re(r'it runs "(?P<words>[^"]+)"(?P<zone>, by the clock of Berlin)?'))
def described(scene: Scene, words: str, zone: str | None) -> None:
    assert (scene.seen["description"], scene.seen["timezone"]) == (words, "Europe/Berlin" if zone else "")


@then("its next five times are told, each at 9 in Berlin")
def next_times(scene: Scene) -> None:
    times = [scene.seen["nextRun"], *scene.seen["following"]]
    local = [datetime.fromisoformat(time).astimezone(BERLIN) for time in times]
    assert (len(set(times)), times) == (5, sorted(times))
    assert {(time.hour, time.minute) for time in local} == {(9, 0)}
    assert all(time.isoweekday() <= 5 for time in local)


@then("it has no next time, and says that it is switched off")
def switched_off(scene: Scene) -> None:
    assert (scene.seen["nextRun"], scene.seen["following"]) == (None, [])
    assert scene.seen["description"].startswith("Switched off")


@then("its last error and the number of failed runs are told")
def error_told(scene: Scene) -> None:
    until(lambda: bool(scene.view()["lastError"]), "the error is on record")
    seen = scene.view()
    assert "127.0.0.1" in seen["lastError"] or "refused" in seen["lastError"], seen["lastError"]
    assert seen["failures"] > 0
    assert seen["lastErrorAt"]


@then("it fires once, and its plan is as before")
def fires_once(scene: Scene) -> None:
    def is_over() -> bool:
        view = scene.view()
        return scene.fired() > 0 and not view["running"] and view["nextRun"] == scene.seen["nextRun"]

    until(is_over, "it fired")
    assert scene.fired() == 1


@then("it is tried once more")
def tried_again(scene: Scene) -> None:
    until(lambda: scene.view()["failures"] > 0 and not scene.view()["running"], "it was polled again")


@then("bob sees nothing that runs by the clock, and may not run it")
def bob_sees_nothing(scene: Scene) -> None:
    assert scene.page("bob") == {"schedules": [], "next": None}
    assert scene.run("bob") == 403


@then("an admin sees it")
def admin_sees(scene: Scene) -> None:
    [view] = scene.page("admin")["schedules"]
    assert (view["instanceId"], view["userId"]) == (scene.id, "ann")


@then("ann sees nothing that runs by the clock")
def ann_sees_nothing(scene: Scene) -> None:
    assert scene.page()["schedules"] == []


@then("having it run now is a conflict")
def run_is_conflict(scene: Scene) -> None:
    assert scene.run() == 409


@then(parsers.parse("she reads them {count:d} at a time, each once"))
def in_pages(scene: Scene, count: int) -> None:
    names: list[str] = []
    cursor = ""
    while True:
        page = scene.page(limit=count, cursor=cursor)
        assert len(page["schedules"]) <= count
        names += [view["channelName"] for view in page["schedules"]]
        if page["next"] is None:
            break
        cursor = page["next"]
    assert names == [f"Schedule {number}" for number in range(5)]
