"""Each list of what instances have shows that of the instances that are shared with the caller, and of no others."""

from typing import Any

import pytest

from domain.access.model import Role
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World

WORKER = False
LISTS = (
    "conversations",
    "dead-letters",
    "instance-health",
    "feedback",
    "usage?by=instance",
    "budgets",
    "schedules",
)
GIVEN_UP = """
UPDATE inbox SET status = 2, error = 'broken', finished_at = now(), answer = '{"text": "Sorry."}'
"""
VOTE = """
INSERT INTO feedback (instance_id, inbox_id, session_key, sender_key, sender, sender_name, rating, at)
SELECT instance_id, id, session_key, 'a', 'a', 'a', 1, now() FROM inbox
"""
USAGE = """
INSERT INTO usage (
    day, instance_id, resource_id, user_id, currency, slot, runs, input_tokens, output_tokens, seconds, cost
)
SELECT (now() AT TIME ZONE 'utc')::date, id, 'agent::a', 'ann', 'EUR', 0, 1, 2, 3, 4, 5 FROM channel_instance
"""


class Scene:
    """Ann's bots are shared with the team of bob, for VIEW; dan manages them; cleo has nothing to do with them."""

    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.keys = {user: self.made_key(user, Role.MEMBER) for user in ("ann", "bob", "cleo", "dan")}
        self.keys["adam"] = self.made_key("adam", Role.ADMIN)
        team = self.done("adam", "POST", "/api/agent/teams", {"name": "Help", "members": [{"userId": "bob"}]})
        configs = {"http-webhook": {}, "cron": {"cronSchedule": "0 9 * * *", "message": "Report."}}
        for channel, config in configs.items():
            body = {"channelId": channel, "channelName": "Support", "config": config}
            self.bot = self.done("ann", "POST", INSTANCES, body)["instanceId"]
            for permission in ({"teamId": team["id"], "level": 1}, {"userId": "dan", "level": 3}):
                self.done("ann", "PUT", f"{INSTANCES}/{self.bot}/permissions", permission)
            self.done("ann", "PUT", "/api/agent/budgets", {"instanceId": self.bot, "tokens": 9})
            if channel == "http-webhook":
                path = f"/api/agent/channels/http-webhook/{self.bot}/webhook"
                rest.request("POST", path, json={"message": "hello", "sessionId": "kim"})
        for statement in (GIVEN_UP, VOTE, USAGE):
            world.run(world.container.database().execute(statement))

    def made_key(self, user: str, role: Role) -> str:
        return self.world.run(self.world.container.access().create_key(user, role))[1]

    def ask(self, user: str, method: str, path: str, body: Any = None) -> Any:
        options = {} if body is None else {"json": body}
        headers = {"authorization": f"Bearer {self.keys[user]}"}
        return self.rest.request(method, path, headers=headers, **options)

    def done(self, user: str, method: str, path: str, body: Any = None) -> Any:
        answer = self.ask(user, method, path, body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


@pytest.fixture
def scene(world: World, rest: Rest) -> Scene:
    return Scene(world, rest)


@pytest.mark.grpc
def test_a_list_shows_what_is_shared(scene: Scene) -> None:
    for name in LISTS:
        path = f"/api/agent/{name}"
        own, shared, others = (scene.done(user, "GET", path) for user in ("ann", "bob", "cleo"))
        rows = {user: _rows(answer) for user, answer in (("ann", own), ("bob", shared), ("cleo", others))}
        assert rows["ann"], name
        assert rows["bob"] == rows["ann"], name
        assert rows["cleo"] == [], name


def _rows(answer: Any) -> list[Any]:
    """The ids in the list of an answer."""
    [rows] = [value for value in answer.values() if isinstance(value, list)]
    return [(row.get("instanceId"), row.get("id")) for row in rows]


@pytest.mark.grpc
def test_who_manages_an_instance_manages_its_budget(scene: Scene) -> None:
    [_, budget] = scene.done("dan", "GET", "/api/agent/budgets")["budgets"]
    path = f"/api/agent/budgets/{budget['id']}"
    assert scene.ask("bob", "DELETE", path).status_code == 403
    assert scene.ask("cleo", "DELETE", path).status_code == 404
    scene.done("dan", "DELETE", path)
    assert len(scene.done("ann", "GET", "/api/agent/budgets")["budgets"]) == 1
