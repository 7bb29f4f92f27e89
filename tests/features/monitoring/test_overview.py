"""The steps of overview.feature."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_bdd import given, scenarios, then, when

from adapters.outbound.channels.http_webhook.tests import samples as webhooks
from adapters.outbound.storage.pool import Database
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import SERVICE_KEY, World
from tests.features.conversations.scene import Scene
from tests.support.figures import count_all
from tests.support.platforms.standin import Reply
from tests.support.platforms.telegram import Telegram
from tests.support.receiver import Receiver
from tests.support.waiting import until

EDGE = "BOT_MESSENGER_API_URL"
scenarios("overview.feature")

HEALTH = "/api/agent/instance-health"
FIGURES = "/api/agent/figures"
MANY = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config, resource_id, status, connects)
SELECT user_id, channel_id, channel_name || n, config, resource_id, status, connects
FROM channel_instance, generate_series(2, %s) n
"""
BREAK = """
INSERT INTO instance_activity (instance_id, activity, last_error, last_error_at)
SELECT max(id), 'receiving', 'it is broken', now() FROM channel_instance
"""


class Busy(Telegram):
    """Takes no messages for five minutes."""

    def _sendMessage(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        refused = {"ok": False, "error_code": 429, "description": "Too Many Requests: retry after 300"}
        return Reply(429, json={**refused, "parameters": {"retry_after": 300}})


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Scene:
    return Scene(world, rest, platform_driver)


@pytest.fixture
def answers(world: World) -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def webhook(scene: Scene, url: str, name: str = "webhook") -> int:
    body = {
        "channelId": "http-webhook",
        "channelName": name,
        "config": {"responseWebhookUrl": url, "webhookSecret": webhooks.SECRET},
        "downStreamResourceId": "agent::parrot",
    }
    return int(scene.rest.create("ann", body).body["instanceId"])


@given("ann has a bot that works and one whose platform refuses answers", target_fixture="works")
def two_bots(scene: Scene, answers: Receiver) -> int:
    scene.create("ann")
    scene.platform.refuse["sendMessage"] = "Bad Request: this method is closed for the bot"
    return webhook(scene, answers.url)


def write(scene: Scene, works: int) -> None:
    body = json.dumps({"message": "hello", "sessionId": "s"}).encode()
    headers = {"content-type": "application/json", **webhooks.signed(body)}
    scene.rest.call("http-webhook", works, body, headers, "webhook")
    scene.write("ada", "hello")
    scene.settle()


def states(scene: Scene, user: str = "ann", **query: Any) -> list[dict[str, Any]]:
    response = scene.ask("GET", HEALTH, user, params=query)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["instances"]
    return found


@then("ann sees the health of both, and which of them has to be mended")
def health_of_both(scene: Scene, works: int) -> None:
    write(scene, works)
    broken, working = states(scene)
    assert (broken["instance"]["id"], working["instance"]["id"]) == (scene.bots["ann"], works)
    assert working["health"]["healthy"]
    assert not broken["health"]["healthy"]
    assert "closed for the bot" in broken["health"]["lastError"]
    assert broken["health"]["queue"] == {"waiting": 0, "pending": 0, "dead": 1}
    for state in (broken, working):
        alone = scene.read(f"{INSTANCES}/{state['instance']['id']}/health")
        assert state["health"] == alone
        assert state["backlog"] == {"waitingSeconds": 0.0, "pendingSeconds": 0.0}


@then("she can see the broken one alone")
def broken_alone(scene: Scene) -> None:
    assert [state["instance"]["id"] for state in states(scene, failing="true")] == [scene.bots["ann"]]


@then("bob sees neither, and an admin sees both")
def health_of_others(scene: Scene) -> None:
    assert states(scene, "bob") == []
    assert len(states(scene, "admin")) == 2


@given("ann has a bot whose platform asks to wait")
def asks_to_wait(scene: Scene, platform_driver: PlatformDriver) -> None:
    scene.platform = Busy()
    platform_driver.show(scene.platform)
    scene.create("ann")
    scene.write("ada", "hello")
    cooldowns = "SELECT count(*) FROM send_cooldown"
    until(lambda: scene.value(cooldowns) > 0, "the platform has asked to wait")
    until(lambda: scene.value("SELECT count(*) FROM outbox WHERE attempts > 0") > 0, "it was tried")
    database = scene.world.container.database()
    scene.world.run(database.execute("UPDATE outbox SET created_at = now() - interval '5 minutes'"))


@then("ann sees how long its oldest message waits and for how long nothing is sent")
def waits(scene: Scene) -> None:
    [state] = states(scene)
    assert state["backlog"]["pendingSeconds"] > 299
    assert state["backlog"]["waitingSeconds"] == 0
    assert state["health"]["queue"]["pending"] == 1
    cooldown = state["cooldown"]
    assert cooldown["seconds"] > 200 or cooldown["conversations"] == 1


@given("ann has 500 bots, of which the last one is broken")
def many(scene: Scene, answers: Receiver) -> None:
    webhook(scene, answers.url)
    database = scene.world.container.database()
    scene.world.run(database.execute(MANY, (500,)))
    scene.world.run(database.execute(BREAK))


@then("she sees the broken one in one answer, with a few questions to the database")
def few_questions(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    fetch = Database.fetch

    async def counted(self: Database, query: Any, *more: Any, **options: Any) -> Any:
        if "channel_instance" in str(query) or "inbox" in str(query):
            asked.append(str(query))
        return await fetch(self, query, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "fetch", counted)
        [state] = states(scene, failing="true")
    assert state["health"]["lastError"] == "it is broken"
    assert len(asked) < 40, "500 instances are asked for by the hundred"


@then("she sees all of them in pages")
def in_pages(scene: Scene) -> None:
    pages = list(scene.pages(HEALTH, "instances", limit=200))
    assert [len(page) for page in pages] == [200, 200, 100]
    ids = [state["instance"]["id"] for page in pages for state in page]
    assert ids == sorted(set(ids))


@when("somebody writes to both and it is counted")
def counted(scene: Scene, works: int) -> None:
    write(scene, works)
    count_all(scene.world)


def figures(scene: Scene, user: str = "ann", **query: Any) -> dict[str, Any]:
    response = scene.ask("GET", FIGURES, user, params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@then("ann sees 2 messages, 1 answer, 1 failure and the time to reply")
def sees_figures(scene: Scene) -> None:
    for period, points in (("hour", 60), ("day", 48)):
        found = figures(scene, period=period)
        assert [found["total"][name] for name in ("received", "answered", "failed")] == [2, 1, 1]
        assert 17 < found["total"]["p50Seconds"] < 23
        assert 17 < found["total"]["p95Seconds"] < 23
        assert len(found["points"]) == points
        assert found["stepSeconds"] * points == {"hour": 3600, "day": 86400}[period]


@then("the figures of one bot are told apart")
def of_one_bot(scene: Scene, works: int) -> None:
    assert figures(scene, instanceId=works)["total"]["failed"] == 0
    assert figures(scene, instanceId=scene.bots["ann"])["total"]["failed"] == 1
    for query, status in (
        ({"instanceId": works}, 403),
        ({"instanceId": 10**6}, 404),
        ({"period": "year"}, 400),
    ):
        assert scene.ask("GET", FIGURES, "bob", params=query).status_code == status


@then("bob sees none of it, and an admin sees all")
def figures_of_others(scene: Scene) -> None:
    assert figures(scene, "bob")["total"]["received"] == 0
    assert figures(scene, "admin")["total"]["received"] == 2


@then("an admin sees what is well and what is missing, without any secret")
def findings(scene: Scene) -> None:
    response = scene.ask("GET", "/api/agent/doctor", "admin")
    found = {finding["subject"]: finding for finding in response.json()["findings"]}
    for subject in ("settings", "database", "encryption", "queue", "resources", "orphans"):
        assert found[subject]["grade"] == "ok", found[subject]
    assert found["AGENT_URL"]["grade"] == "note"
    settings = scene.world.settings
    for secret in (SERVICE_KEY, settings.config_encryption_key):
        assert secret not in response.text


@then("ann is told that only an admin sees it")
def only_admins(scene: Scene) -> None:
    assert scene.ask("GET", "/api/agent/doctor").status_code == 403
