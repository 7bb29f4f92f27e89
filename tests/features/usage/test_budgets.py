"""The steps of budgets.feature. The state of budgets is read anew before each message, as it is every few seconds."""

from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.storage.events import PostgresEventLog
from domain.channels.provenance import Usage
from domain.events import LoggedEvent
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.ways import INSTANCES
from tests.features.usage.conftest import Scene
from tests.support.event_log import events_of, listening

BUDGETS = "/api/agent/budgets"
scenarios("budgets.feature")


@pytest.fixture
def log(scene: Scene) -> PostgresEventLog:
    return scene.world.run(listening(scene.world.container.database()))


@pytest.fixture
def heard() -> list[LoggedEvent]:
    """The events that a step has looked at."""
    return []


def refresh(scene: Scene) -> None:
    scene.world.run(scene.world.container.storage().budget_guard.refresh())


def subject_of(scene: Scene, words: str) -> dict[str, Any]:
    if words.startswith("the user "):
        return {"userId": words.split('"')[1]}
    subjects: dict[str, dict[str, Any]] = {
        "her instance": {"instanceId": scene.instances["ann"]},
        "ann's instance": {"instanceId": scene.instances["ann"]},
        "the agent": {"resourceId": "agent::small_7"},
        "her agent": {"resourceId": "agent::hers"},
        "zoe's agent": {"resourceId": "agent::hers"},
        "nobody": {},
    }
    return subjects[words]


def amount_of(words: str) -> dict[str, Any]:
    if words == "nothing":
        return {}
    number, unit = words.split()
    return {"tokens": int(number)} if unit == "tokens" else {"cost": float(number), "currency": unit}


@given(parsers.re(r"(the )?(?P<user>\w+) sets a budget of (?P<amount>.+?) for (?P<whose>.+)"))
@when(parsers.re(r"(the )?(?P<user>\w+) sets a budget of (?P<amount>.+?) for (?P<whose>.+)"))
def sets(scene: Scene, user: str, amount: str, whose: str) -> None:
    body = {**subject_of(scene, whose), **amount_of(amount)}
    scene.reply = scene.rest.request("PUT", BUDGETS, user, json=body)
    refresh(scene)


@given("ann's bot has a program to fall back on")
def has_fallback(scene: Scene) -> None:
    scene.open("ann", "agent::small_3", fallback=["agent::program"])


@pytest.fixture
def opened() -> list[RunRequest]:
    """What the valve was opened for."""
    return []


@given("ann's bot asks before it opens the valve")
def asks_first(scene: Scene, opened: list[RunRequest]) -> None:
    def script(request: RunRequest) -> RunResult:
        if request.approval is None:
            return RunResult("", confirmation=Confirmation("open_valve", {}), usage=Usage(9, 4))
        opened.append(request)
        return RunResult("The valve is open.", usage=Usage(9, 4))

    Resource(scene.world, script)
    scene.open("ann", "agent::valve")


@when("ann runs the failed message again")
def runs_again(scene: Scene) -> None:
    [failed] = [message for message in scene.messages() if message["status"] == "failed"]
    path = f"{INSTANCES}/{scene.instances['ann']}/messages/{failed['id']}/rerun"
    assert scene.rest.request("POST", path, "ann").status_code == 202
    scene.world.settle()


@then(parsers.re(r"the valve was opened (?P<count>\d+) times?"))
def was_opened(opened: list[RunRequest], count: str) -> None:
    assert len(opened) == int(count)


@given(parsers.parse('zoe has the agent "{resource}"'))
def has_agent(scene: Scene, resource: str) -> None:
    settings = {"url": "http://agents.example/ask"}
    body = {"name": "Hers", "resourceId": resource, "kind": "http", "settings": settings}
    assert scene.rest.request("POST", "/api/agent/agents", "zoe", json=body).status_code == 201


@given("somebody listens to events")
def listens(log: PostgresEventLog) -> None:
    return None


def budgets_of(scene: Scene, user: str, **query: Any) -> list[dict[str, Any]]:
    scene.reply = scene.rest.request("GET", BUDGETS, user, params=query)
    assert scene.reply.status_code == 200, scene.reply.text
    return list(scene.reply.json()["budgets"])


@when("ann deletes the budget")
def deletes(scene: Scene) -> None:
    [budget] = budgets_of(scene, "ann")
    assert scene.rest.request("DELETE", f"{BUDGETS}/{budget['id']}", "ann").status_code == 204
    refresh(scene)


@when("ann deletes the budget of the admin")
def deletes_of_admin(scene: Scene) -> None:
    [budget] = [budget for budget in budgets_of(scene, "ann") if budget["byAdmin"]]
    scene.reply = scene.rest.request("DELETE", f"{BUDGETS}/{budget['id']}", "ann")


@when("zoe tries the agent")
def tries(scene: Scene) -> None:
    body = {"downStreamResourceId": "agent::small", "text": "hello", "ask": True}
    scene.reply = scene.rest.request("POST", "/api/agent/resources/try", "zoe", json=body)


@then(parsers.re(r"the model was asked (?P<count>\d+) times?"))
def was_asked(scene: Scene, count: str) -> None:
    assert len(scene.model.asked) == int(count)


@then(parsers.parse('the timeline says "{words}"'))
def timeline_says(scene: Scene, words: str) -> None:
    base = f"{INSTANCES}/{scene.instances['ann']}"
    [failed] = [message for message in scene.messages() if message["status"] == "failed"]
    timeline = scene.rest.request("GET", f"{base}/messages/{failed['id']}/timeline", "ann").text
    assert words.replace("instance ", f"instance {scene.instances['ann']} ") in timeline


def news(scene: Scene, log: PostgresEventLog, heard: list[LoggedEvent]) -> list[LoggedEvent]:
    refresh(scene)
    events = [event for event in scene.world.run(events_of(log)) if event.kind == "budget.reached"]
    new = events[len(heard) :]
    heard += new
    return new


@then("no event tells of the budget")
def no_event(scene: Scene, log: PostgresEventLog, heard: list[LoggedEvent]) -> None:
    assert news(scene, log, heard) == []


@then(parsers.parse("an event tells ann of {percent:d} percent"))
def event_tells(scene: Scene, log: PostgresEventLog, heard: list[LoggedEvent], percent: int) -> None:
    [event] = news(scene, log, heard)
    assert (event.owner, event.instance_id) == ("ann", scene.instances["ann"])
    assert (event.data["percent"], event.data["amount"]) == (percent, 30)


@then(parsers.parse("ann sees her budget, of which {spent:d} tokens are spent, {percent:d} percent"))
def sees_budget(scene: Scene, spent: int, percent: int) -> None:
    [budget] = budgets_of(scene, "ann")
    assert [budget["instanceId"], budget["tokens"], budget["spent"], budget["percent"]] == [
        scene.instances["ann"],
        20,
        spent,
        percent,
    ]


@then("zoe sees no budget")
def sees_none(scene: Scene) -> None:
    assert budgets_of(scene, "zoe") == []


@then("the admin sees 2 budgets in pages of 1")
def sees_pages(scene: Scene) -> None:
    [first] = budgets_of(scene, "admin", limit=1)
    [second] = budgets_of(scene, "admin", limit=1, cursor=scene.reply.json()["next"])
    assert scene.reply.json()["next"] is None
    assert [first["tokens"], second["cost"], second["resourceId"]] == [20, 0.5, "agent::small"]


@then("she is told nothing")
def no_error(scene: Scene) -> None:
    assert scene.reply.status_code == 200, scene.reply.text


@then("the budget is gone with the next cleaning")
def is_gone(scene: Scene) -> None:
    storage = scene.world.container.storage()
    scene.world.run(storage.instances.remove_retired())
    scene.world.run(storage.retention.clean())
    assert budgets_of(scene, "admin") == []
