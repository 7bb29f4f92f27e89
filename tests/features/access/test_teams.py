"""The steps of teams.feature."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Role
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import SERVICE_KEY, World

WORKER = False
KB, AGENTS, KEYS, USERS, TEAMS = (f"/api/agent/{name}" for name in ("kb", "agents", "keys", "users", "teams"))
SECRET = "s3cret-of-ann"
scenarios("teams.feature")


class Scene:
    """`keys`: those of people by their names, in the order in which they were made."""

    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.keys: dict[str, list[str]] = {}
        self.instance = self.team = self.base = self.agent = 0
        self.made: Mapping[str, Any] = {}
        self.give_key("adam", Role.ADMIN)
        self.give_key("ann", Role.MEMBER)
        body = {"channelId": "http-webhook", "channelName": "Support", "config": {"webhookSecret": SECRET}}
        self.instance = self.done("ann", "POST", INSTANCES, body)["instanceId"]

    @property
    def address(self) -> str:
        return f"{INSTANCES}/{self.instance}"

    def give_key(self, user: str, role: Role) -> None:
        _, token = self.world.run(self.world.container.access().create_key(user, role))
        self.keys.setdefault(user, []).append(token)

    def ask(
        self, user: str, method: str, path: str, body: Any = None, key: str | None = None
    ) -> httpx.Response:
        """A request with the first key of a user."""
        options = {} if body is None else {"json": body}
        headers = {"authorization": f"Bearer {key or self.keys[user][0]}"}
        return self.rest.request(method, path, headers=headers, **options)

    def done(self, user: str, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        answer = self.ask(user, method, path, body, key)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def refused(self, *arguments: Any) -> None:
        answer = self.ask(*arguments)
        assert answer.status_code == 403, (arguments, answer.status_code, answer.text)

    def for_user(self, user: str) -> httpx.Response:
        headers = {"authorization": f"Bearer {SERVICE_KEY}", "x-user-id": user}
        return self.rest.request("GET", INSTANCES, headers=headers)

    def make_key(self, user: str, key: str, **body: Any) -> str:
        self.made = self.done(user, "POST", KEYS, body, key)
        token = str(self.made["token"])
        self.keys.setdefault(body.get("userId", user), []).append(token)
        return token

    def with_agent(self) -> int:
        body = {"name": "Own", "kind": "http", "settings": {"url": "https://agents.example.com"}}
        return int(self.done("ann", "POST", AGENTS, body)["id"])


@pytest.fixture
def scene(world: World, rest: Rest) -> Scene:
    return Scene(world, rest)


@given("bob has a key")
def has_key(scene: Scene) -> None:
    scene.give_key("bob", Role.MEMBER)


@when("a service calls for cleo")
def service_calls(scene: Scene) -> None:
    assert scene.for_user("cleo").is_success


@then("the users are adam, ann, bob, cleo")
def users_are(scene: Scene) -> None:
    users = scene.done("adam", "GET", USERS)["users"]
    assert [user["id"] for user in users] == ["adam", "ann", "bob", "cleo"]


@then("bob is a member")
def is_member(scene: Scene) -> None:
    assert scene.done("adam", "GET", f"{USERS}/bob")["role"] == "member"


@given("with it a key of his own was made, and with that one another")
def made_with(scene: Scene) -> None:
    second = scene.make_key("bob", scene.keys["bob"][0])
    scene.make_key("bob", second)


@when("adam suspends bob")
def suspends(scene: Scene) -> None:
    scene.done("adam", "PUT", f"{USERS}/bob", {"state": "suspended"})


@then("no key of bob's is taken any more")
def no_key(scene: Scene) -> None:
    answers = [scene.ask("bob", "GET", INSTANCES, None, key).status_code for key in scene.keys["bob"]]
    assert answers
    assert set(answers) == {401}


@then("a service cannot call for bob")
def no_service(scene: Scene) -> None:
    assert scene.for_user("bob").status_code == 403


@given("eve is an admin who made a key for bob")
def eve(scene: Scene) -> None:
    scene.give_key("eve", Role.ADMIN)
    scene.make_key("eve", scene.keys["eve"][0], userId="bob")


@given("bob made another key with it")
def bob_made(scene: Scene) -> None:
    scene.make_key("bob", scene.keys["bob"][0])


@when("adam deletes eve")
def deletes(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{USERS}/eve")


@given("ann has a base and an agent")
def base_and_agent(scene: Scene) -> None:
    scene.give_key("bob", Role.MEMBER)
    scene.base = scene.done("ann", "POST", KB, {"name": "Handbook"})["id"]
    scene.agent = scene.with_agent()


@then("adam cannot delete ann without a successor")
def needs_successor(scene: Scene) -> None:
    assert scene.ask("adam", "DELETE", f"{USERS}/ann").status_code == 409


@when("adam deletes ann in favour of bob")
def hands_over(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{USERS}/ann?successor=bob")


@then("bob owns the instance, the base and the agent")
def owns(scene: Scene) -> None:
    assert [instance["id"] for instance in scene.done("bob", "GET", INSTANCES)] == [scene.instance]
    assert scene.done("bob", "GET", f"{AGENTS}/{scene.agent}")["owner"] == "bob"
    scene.done("bob", "DELETE", f"{KB}/{scene.base}")
    assert scene.ask("ann", "GET", INSTANCES).status_code == 401


@then("adam can neither be deleted, nor suspended, nor made a member")
def last_admin(scene: Scene) -> None:
    assert scene.ask("adam", "DELETE", f"{USERS}/adam").status_code == 409
    for change in ({"state": "suspended"}, {"role": "member"}):
        assert scene.ask("adam", "PUT", f"{USERS}/adam", change).status_code == 409


@when(parsers.re(r"(?P<user>bob|dan) becomes an? (?P<role>admin|responder)"))
@given(parsers.re(r"(?P<user>dan) is a (?P<role>responder)"))
def becomes(scene: Scene, user: str, role: str) -> None:
    scene.give_key(user, Role(role))
    members = [{"userId": user}]
    scene.team = scene.done("adam", "POST", TEAMS, {"name": "Help", "members": members})["id"]


@then("adam can be made a member")
def made_member(scene: Scene) -> None:
    assert scene.done("adam", "PUT", f"{USERS}/adam", {"role": "member"})["role"] == "member"


@when("adam and bob make each other members at the same time")
def at_the_same_time(scene: Scene) -> None:
    async def both() -> None:
        calls = [
            scene.rest.client.put(
                f"{USERS}/{other}",
                json={"role": "member"},
                headers={"authorization": f"Bearer {scene.keys[user][0]}"},
            )
            for user, other in (("adam", "bob"), ("bob", "adam"))
        ]
        await asyncio.gather(*calls)

    scene.world.run(both())


@then("one admin is left")
def one_left(scene: Scene) -> None:
    admins = "SELECT count(*) FROM app_user WHERE role = 'admin'"
    assert scene.world.run(scene.world.container.database().fetch_value(admins)) == 1


@when('adam makes a key with the role "user" for bob')
def former_name(scene: Scene) -> None:
    scene.make_key("adam", scene.keys["adam"][0], userId="bob", role="user")
    assert scene.made["key"]["role"] == "member"


@then("dan can make no instance, no base, no agent and no subscription")
def makes_nothing(scene: Scene) -> None:
    body = {"channelId": "http-webhook", "channelName": "Own", "config": {}}
    scene.refused("dan", "POST", INSTANCES, body)
    scene.refused("dan", "POST", INSTANCES, {**body, "id": 4711})
    scene.refused("dan", "POST", KB, {"name": "Own"})
    scene.refused(
        "dan", "POST", AGENTS, {"name": "Own", "kind": "http", "settings": {"url": "https://a.example"}}
    )
    scene.refused("dan", "POST", "/api/agent/event-subscriptions", {"url": "https://events.example.com"})


@then("dan can make a key of his own")
def makes_key(scene: Scene) -> None:
    assert scene.done("dan", "POST", KEYS, {})["key"]["role"] == "responder"


@when(parsers.re(r"ann shares the instance with (?P<whom>dan|bob|his team) at level (?P<level>\d)"))
def shares(scene: Scene, whom: str, level: str) -> None:
    if whom == "bob":
        scene.give_key("bob", Role.MEMBER)
    grantee: dict[str, Any] = {"teamId": scene.team} if whom == "his team" else {"userId": whom}
    scene.done("ann", "PUT", f"{scene.address}/permissions", {**grantee, "level": int(level)})


def tries(scene: Scene, can: str, *arguments: Any) -> None:
    status = scene.ask(*arguments).status_code
    assert (status == 403) == can.startswith("cannot"), (arguments, status)


@then(parsers.re(r"dan (?P<sees>sees|cannot see) the conversations of it"))
def sees(scene: Scene, sees: str) -> None:
    tries(scene, sees, "dan", "GET", f"{scene.address}/conversations")


@then(parsers.re(r"dan (?P<answers>may answer|cannot answer) in it"))
def answers(scene: Scene, answers: str) -> None:
    tries(scene, answers, "dan", "POST", f"{scene.address}/messages", {"sessionId": "s1", "text": "Hello"})


@then(parsers.re(r"dan (?P<manages>may change|cannot change) its configuration"))
def manages(scene: Scene, manages: str) -> None:
    tries(scene, manages, "dan", "PUT", scene.address, {"config": {"webhookSecret": SECRET}})


@then(parsers.re(r"its secret is (?P<shown>shown|masked) to dan"))
def secret(scene: Scene, shown: str) -> None:
    texts = [
        scene.ask("dan", "GET", path).text
        for path in (scene.address, f"{INSTANCES}?scope=shared", f"{scene.address}/health", INSTANCES)
    ]
    assert any(SECRET in text for text in texts) == (shown == "shown")


@then("bob's instances are none")
def none_of_own(scene: Scene) -> None:
    assert scene.done("bob", "GET", INSTANCES) == []
    assert "permissionLevel" not in scene.done("ann", "GET", INSTANCES)[0]


@then("what is shared with bob is the instance with the level 2")
def shared(scene: Scene) -> None:
    assert listed(scene, "bob", "shared") == listed(scene, "bob", "all") == [(scene.instance, 2)]


@then("all that ann sees is the instance with the level 3")
def all_of_ann(scene: Scene) -> None:
    assert listed(scene, "ann", "all") == [(scene.instance, 3)]
    assert listed(scene, "ann", "shared") == []


def listed(scene: Scene, user: str, scope: str) -> list[tuple[int, int]]:
    instances = scene.done(user, "GET", f"{INSTANCES}?scope={scope}")
    return [(instance["id"], instance["permissionLevel"]) for instance in instances]


@when("dan is taken out of the team")
def taken_out(scene: Scene) -> None:
    scene.done("adam", "PUT", f"{TEAMS}/{scene.team}", {"members": []})


@given("dan leads his team")
def leads(scene: Scene) -> None:
    scene.give_key("dan", Role.MEMBER)
    scene.give_key("bob", Role.MEMBER)
    members = [{"userId": "dan", "lead": True}]
    scene.team = scene.done("adam", "POST", TEAMS, {"name": "Help", "members": members})["id"]


@then("dan can add bob to the team")
def adds(scene: Scene) -> None:
    members = [{"userId": "bob"}, {"userId": "dan", "lead": True}]
    team = scene.done("dan", "PUT", f"{TEAMS}/{scene.team}", {"members": members})
    assert [member["userId"] for member in team["members"]] == ["bob", "dan"]


@then("dan can neither rename nor delete the team")
def only_members(scene: Scene) -> None:
    scene.refused("dan", "PUT", f"{TEAMS}/{scene.team}", {"name": "Mine"})
    scene.refused("dan", "DELETE", f"{TEAMS}/{scene.team}")


@given("ann has an agent of her own")
def own_agent(scene: Scene) -> None:
    scene.agent = scene.with_agent()


@then("bob cannot bind the instance to the agent of ann")
def not_bound(scene: Scene) -> None:
    answer = scene.ask("bob", "PUT", scene.address, {"config": {}, "downStreamResourceId": "agent::own"})
    assert answer.status_code == 400
    assert "not shared with bob" in answer.text


@then("ann can")
def ann_can(scene: Scene) -> None:
    scene.done("ann", "PUT", scene.address, {"config": {}, "downStreamResourceId": "agent::own"})


@given(parsers.parse('ann has a key for "{scope}"'))
def scoped(scene: Scene, scope: str) -> None:
    scene.make_key("ann", scene.keys["ann"][0], scopes=[scope])


@then("with it ann sees the conversations of the instance")
def sees_with(scene: Scene) -> None:
    scene.done("ann", "GET", f"{scene.address}/conversations", None, scene.keys["ann"][1])


@then("with it ann cannot send, list her instances or make a key")
def cannot_with(scene: Scene) -> None:
    key = scene.keys["ann"][1]
    scene.refused("ann", "POST", f"{scene.address}/messages", {"sessionId": "s1", "text": "Hello"}, key)
    scene.refused("ann", "GET", INSTANCES, None, key)
    scene.refused("ann", "POST", KEYS, {}, key)


@then("with it ann cannot list users")
def no_users(scene: Scene) -> None:
    scene.refused("ann", "GET", USERS, None, scene.keys["ann"][1])


@then('with it ann can make a key for "admin", and none for anything else')
def makes_less(scene: Scene) -> None:
    key = scene.keys["ann"][1]
    scene.done("ann", "POST", KEYS, {"scopes": ["admin"]}, key)
    for body in ({}, {"scopes": ["instances:read"]}, {"scopes": ["admin", "events:read"]}):
        assert scene.ask("ann", "POST", KEYS, body, key).status_code == 400
    scene.refused("ann", "POST", KEYS, {"scopes": ["admin"], "role": "admin"}, key)


@when("ann makes a key with it")
def makes_with(scene: Scene) -> None:
    scene.make_key("ann", scene.keys["ann"][1], scopes=["admin"])


@then("that key was made by ann, and ends with the first")
def made_by(scene: Scene) -> None:
    assert scene.made["key"]["createdBy"] == "ann"
    scene.done("ann", "DELETE", f"{KEYS}/{scene.made['key']['parentId']}")
    assert scene.ask("ann", "GET", INSTANCES, None, scene.made["token"]).status_code == 401


@then('with it ann is told that she is a member with "conversations:read"')
def is_told(scene: Scene) -> None:
    me = scene.done("ann", "GET", "/api/agent/me", None, scene.keys["ann"][1])
    assert (me["id"], me["role"], me["scopes"]) == ("ann", "member", ["conversations:read"])
