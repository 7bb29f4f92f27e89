"""The steps of stored_agents.feature."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES, WORDS, Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.waiting import until

BASE = "/api/agent/agents"
RULES = """[[rule]]
match = "agent::weather*"
kind = "builtin"
use = "agent::echo"
"""
PRIVATE = "http://127.0.0.2:1/ask"
"""An address that OUTBOUND_ALLOW leaves out."""
HTTP = {"name": "a", "kind": "http", "settings": {"url": "http://x.example"}}
MODEL = {"name": "a", "kind": "chat-completions", "settings": {"url": "http://x.example", "model": "m"}}


def with_setting(body: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return {**body, "settings": {**body["settings"], **settings}}


WRONG: dict[str, dict[str, Any]] = {
    "no name": {**HTTP, "name": None},
    "no kind": {**HTTP, "kind": None},
    "an unknown kind": {**HTTP, "kind": "pigeon"},
    "a built-in as its kind": {**HTTP, "kind": "builtin"},
    "no address": {**HTTP, "settings": {}},
    "an address of FTP": {**HTTP, "settings": {"url": "ftp://x.example"}},
    "an address with a port beyond 65535": with_setting(HTTP, url="http://x.example:99999/"),
    "an address that climbs": with_setting(HTTP, url="http://x.example/a/../b"),
    "the name of a variable": with_setting(HTTP, tokenEnv="HOME"),
    "a pattern of ids": with_setting(HTTP, match="*"),
    "an unknown setting": with_setting(HTTP, hat=1),
    "a secret beyond ASCII": {**HTTP, "secret": "ä"},
    "a file of the server": {"name": "a", "kind": "grpc", "settings": {"target": "x:1", "caFile": "/etc/x"}},
    "a number in words": with_setting(MODEL, historyTokens="many"),
    "a base of others": {**MODEL, "knowledge": [4711]},
    "a tool without address": {**MODEL, "tools": [{"name": "t"}]},
    "a price below zero": {**MODEL, "prices": {"input": -1, "output": 1, "currency": "EUR"}},
    "an approver who does not exist": {**MODEL, "approvalPolicy": [{"tool": "*", "by": "team:3"}]},
    "an id that is no slug": {**HTTP, "resourceId": "agent::Not a slug"},
    "the id of a built-in": {**HTTP, "resourceId": "agent::echo"},
}
CHANGES: list[dict[str, Any]] = [
    {"secret": "s3cret-token"},
    {"name": "Help"},
    {"resourceId": "agent::help"},
    {"prices": {"input": 1.0, "output": 2.0, "currency": "EUR"}},
]
scenarios("stored_agents.feature")


class Server(StandIn):
    """An agent over HTTP, a model that searches once, and what takes the answers of instances."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Seen] = []
        self.answers: list[str] = []
        self.passages = ""
        self.repeats_in = ""
        self.refuses = self.searches = self.calls_tool = False
        self.used = 0

    def answer(self, seen: Seen) -> Reply:
        if seen.path.endswith("/answers"):
            self.answers.append(seen.json["response"])
            return Reply()
        if seen.path.endswith("/refund"):
            self.used += 1
            return Reply(json={"refunded": True})
        self.asked.append(seen)
        if self.repeats_in:
            said = f"You asked with {seen.headers['authorization']}"
            return Reply(401 if self.repeats_in == "errors" else 200, {"text": said, "error": said})
        if self.refuses:
            return Reply(403, {"error": "no"})
        if not seen.path.endswith("/chat/completions"):
            return Reply(json={"text": f"Noted: {seen.json['text']}"})
        last = seen.json["messages"][-1]
        if self.calls_tool and last["role"] == "user":
            call = {"name": "refund_order", "arguments": "{}"}
            calls = [{"id": "1", "type": "function", "function": call}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
            return Reply(json={"choices": [{"message": message, "finish_reason": "tool_calls"}]})
        if not self.searches:
            usage = {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200}
            choice = {"message": {"content": "Done"}, "finish_reason": "stop"}
            return Reply(json={"choices": [choice], "usage": usage})
        if last["role"] == "tool":
            self.passages = last["content"]
            return Reply(json={"choices": [{"message": {"content": "40 bar [1]"}, "finish_reason": "stop"}]})
        search = {"name": "search_knowledge", "arguments": json.dumps({"query": last["content"]})}
        calls = [{"id": "1", "type": "function", "function": search}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return Reply(json={"choices": [{"message": message, "finish_reason": "tool_calls"}]})


@pytest.fixture(scope="module", autouse=True)
def driver(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlatformDriver]:
    driver, rules = PlatformDriver(), tmp_path_factory.mktemp("rules") / "resources.toml"
    rules.write_text(RULES, "utf-8")
    request.module.SETTINGS = {
        "RESOURCES_FILE": str(rules),
        "OUTBOUND_POLICY": "public-only",
        "OUTBOUND_ALLOW": "127.0.0.1/32",
    }
    yield driver
    driver.close()


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world, self.rest, self.url = world, rest, driver.url
        self.server = Server()
        self.base = self.agent = self.instance = 0
        self.reply: httpx.Response
        self.shown: list[str] = []
        driver.show(self.server)
        world.run(self._load())

    async def _load(self) -> None:
        self.world.container.resources().load()

    def ask(self, method: str, path: str, user: str, body: Any = None) -> httpx.Response:
        self.reply = self.rest.request(method, path, user, **({} if body is None else {"json": body}))
        return self.reply

    def set_up(self, user: str, **body: Any) -> None:
        if self.ask("POST", BASE, user, body).status_code == 201:
            self.agent = self.reply.json()["id"]

    def of_http(self, name: str, user: str = "ann", url: str = "", **more: Any) -> None:
        url = url or f"{self.url}/ask"
        self.set_up(user, name=name, kind="http", settings={"url": url}, **more)

    def of_model(self, name: str, **more: Any) -> None:
        settings = {"url": f"{self.url}/v1", "model": "m", "historyTokens": 1000}
        self.set_up("ann", name=name, kind="chat-completions", settings=settings, **more)
        assert self.reply.status_code == 201, self.reply.text

    def bind(self, user: str, resource: str, **more: Any) -> None:
        body = {
            "channelId": "http-webhook",
            "channelName": f"of {user}",
            "config": {"responseWebhookUrl": f"{self.url}/answers"},
            "downStreamResourceId": resource,
            **more,
        }
        if self.ask("POST", INSTANCES, user, body).status_code == 201:
            self.instance = self.reply.json()["instanceId"]

    @property
    def one(self) -> str:
        return f"{BASE}/{self.agent}"

    @property
    def tested(self) -> dict[str, Any]:
        assert self.reply.status_code == 200, self.reply.text
        return dict(self.reply.json())


@pytest.fixture
def scene(world: World, rest: Rest, driver: PlatformDriver) -> Scene:
    return Scene(world, rest, driver)


@given(parsers.parse('ann has the agent "{name}"'))
def has(scene: Scene, name: str) -> None:
    scene.of_http(name)
    assert scene.reply.status_code == 201, scene.reply.text


@given(parsers.re("the server repeats the request in its (?P<where>answers|errors)"))
def repeats(scene: Scene, where: str) -> None:
    scene.server.repeats_in = where


@given(parsers.parse('ann has the agent "{name}" that is called with the secret "{secret}"'))
def has_with_secret(scene: Scene, name: str, secret: str) -> None:
    scene.of_http(name, secret=secret)
    assert scene.reply.status_code == 201, scene.reply.text


@given(parsers.parse('ann has the agent "{name}" at a private address'))
def has_private(scene: Scene, name: str) -> None:
    scene.of_http(name, url=PRIVATE)
    assert scene.reply.status_code == 201, scene.reply.text


@given(parsers.parse('ann has the agent "{name}" behind a gRPC target'))
def has_grpc(scene: Scene, name: str) -> None:
    scene.set_up("ann", name=name, kind="grpc", settings={"target": "127.0.0.1:1"})
    assert scene.reply.status_code == 201, scene.reply.text


@given(parsers.parse('ann has the base "{name}" with the text "{text}"'))
def has_base(scene: Scene, name: str, text: str) -> None:
    scene.base = scene.ask("POST", "/api/agent/kb", "ann", {"name": name}).json()["id"]
    files = {"file": ("handbook.txt", text.encode())}
    path = f"/api/agent/kb/{scene.base}/uploadfile"
    assert scene.rest.request("POST", path, "ann", files=files).status_code == 201


@given(parsers.parse('ann has the agent "{name}" of a model that searches the base'))
def has_model(scene: Scene, name: str) -> None:
    scene.server.searches = True
    scene.of_model(name, knowledge=[scene.base])


@given(parsers.parse('ann has the agent "{name}" of a model that refunds, with an approval for "{tool}"'))
def has_refunds(scene: Scene, name: str, tool: str) -> None:
    scene.server.calls_tool = True
    refund = {"name": "refund_order", "url": f"{scene.url}/refund", "confirm": False}
    scene.of_model(name, tools=[refund], approvalPolicy=[{"tool": tool, "by": "sender"}])


@given(parsers.parse('ann has the agent "{name}" of a model that refunds, and bob decides about "{tool}"'))
def bob_decides(scene: Scene, name: str, tool: str) -> None:
    scene.server.calls_tool = True
    scene.ask("GET", "/api/agent/me", "bob")
    refund = {"name": "refund_order", "url": f"{scene.url}/refund", "confirm": False}
    scene.of_model(name, tools=[refund], approvalPolicy=[{"tool": tool, "by": "user:bob"}])


@when("bob approves it")
def bob_approves(scene: Scene) -> None:
    approval = scene.ask("GET", "/api/agent/approvals", "bob").json()["approvals"][-1]
    path = f"/api/agent/approvals/{approval['id']}/decision"
    assert scene.ask("POST", path, "bob", {"decision": "approved"}).status_code == 200


@given(
    parsers.parse(
        'ann has the agent "{name}" of a model, at {read:d} EUR a million tokens read and {written:d} written'
    )
)
def has_prices(scene: Scene, name: str, read: int, written: int) -> None:
    scene.of_model(name, prices={"input": read, "output": written, "currency": "EUR"})


@given(parsers.parse('{user}\'s instance is bound to "{resource}"'))
def is_bound(scene: Scene, user: str, resource: str) -> None:
    scene.bind(user, resource)
    assert scene.reply.status_code == 201, scene.reply.text


@given(parsers.parse('{user}\'s instance has a route to "{resource}"'))
@when(parsers.parse('{user} binds an instance with a route to "{resource}"'))
def is_routed(scene: Scene, user: str, resource: str) -> None:
    scene.bind(user, "agent::echo", routes=[{"when": {"verified": True}, "to": resource}])


@given("the agent's server refuses everything")
def refuses(scene: Scene) -> None:
    scene.server.refuses = True


@given(parsers.parse("ann gives bob level {level:d} on the agent"))
@when(parsers.parse("ann gives bob level {level:d} on the agent"))
def gives(scene: Scene, level: int) -> None:
    body = {"userId": "bob", "level": level}
    assert scene.ask("PUT", f"{scene.one}/permissions", "ann", body).status_code == 204


@given("the admin trusts the agent")
def trusts(scene: Scene) -> None:
    assert scene.ask("PUT", f"{scene.one}/trusted", "admin", {"trusted": True}).json()["trusted"] is True


@when(parsers.parse('somebody writes "{text}"'))
def writes(scene: Scene, text: str) -> None:
    path = f"/api/agent/channels/http-webhook/{scene.instance}/webhook"
    body = {"message": text, "sessionId": "s"}
    assert scene.rest.request("POST", path, None, json=body).status_code == 200
    scene.world.settle()


@when(parsers.parse('ann gives the agent the secret "{secret}"'))
def new_secret(scene: Scene, secret: str) -> None:
    assert scene.ask("PUT", scene.one, "ann", {"secret": secret}).status_code == 200


@when("ann looks at the agent, the list of agents and the rules")
def looks(scene: Scene) -> None:
    scene.shown.append(scene.ask("GET", BASE, "ann").text)
    scene.shown.append(scene.ask("GET", "/api/agent/resources", "admin").text)
    scene.shown.append(scene.ask("GET", scene.one, "ann").text)


@when(parsers.parse('ann tests the agent with "{text}"'))
def asks_for_test(scene: Scene, text: str) -> None:
    scene.shown.append(scene.ask("POST", f"{scene.one}/test", "ann", {"text": text}).text)


@when(parsers.parse("{user} tries to {action} the agent"))
def tries(scene: Scene, user: str, action: str) -> None:
    calls: dict[str, tuple[str, str, Any]] = {
        "see": ("GET", "", None),
        "test": ("POST", "/test", {"text": "Hello"}),
        "change": ("PUT", "", {"name": "x"}),
        "share": ("PUT", "/permissions", {"userId": "eve", "level": 1}),
        "trust": ("PUT", "/trusted", {"trusted": True}),
        "delete": ("DELETE", "", None),
    }
    if action == "bind":
        scene.bind(user, "agent::support")
    else:
        method, path, body = calls[action]
        scene.ask(method, scene.one + path, user, body)


@when(parsers.re(r'(the )?(?P<user>ann|admin) sets up the agent "(?P<name>\w+)" as "(?P<resource>[^"]+)"'))
def sets_up(scene: Scene, user: str, name: str, resource: str) -> None:
    scene.of_http(name, user, resourceId=resource)


@when(parsers.parse("ann sets up an agent with {wrong}"))
def sets_up_with(scene: Scene, wrong: str) -> None:
    scene.ask("POST", BASE, "ann", WRONG[wrong])


@when(parsers.parse("{user} moves the agent to another server"))
def moves(scene: Scene, user: str) -> None:
    scene.ask("PUT", scene.one, user, {"settings": {"url": "http://other.example/ask"}})


@when("ann moves the agent to another path on the same server")
def moves_path(scene: Scene) -> None:
    scene.ask("PUT", scene.one, "ann", {"settings": {"url": f"{PRIVATE}/other"}})


@when("ann changes its name, secret, prices and id at the same time")
def changes_at_once(scene: Scene) -> None:
    with ThreadPoolExecutor(len(CHANGES)) as threads:
        changes = [threads.submit(scene.ask, "PUT", scene.one, "ann", change) for change in CHANGES]
    assert [change.result().status_code for change in changes] == [200] * len(CHANGES)


@then("the agent has all of it")
def has_all(scene: Scene) -> None:
    agent = scene.ask("GET", scene.one, "ann").json()
    assert [agent["hasSecret"], agent["name"], agent["resourceId"], agent["prices"]] == [
        True,
        *(next(iter(change.values())) for change in CHANGES[1:]),
    ]


@when("the admin looks at the rules")
def admin_looks(scene: Scene) -> None:
    scene.ask("GET", "/api/agent/resources", "admin")


@then(parsers.parse('the agent was asked "{text}" with the secret "{secret}"'))
def was_asked(scene: Scene, text: str, secret: str) -> None:
    last = scene.server.asked[-1]
    assert (last.json["text"], last.headers["authorization"]) == (text, f"Bearer {secret}")


@then("the agent was not asked")
@then("the test reached no server")
def not_asked(scene: Scene) -> None:
    assert scene.server.asked == []


@then(parsers.parse('the answer is "{text}"'))
def answer_is(scene: Scene, text: str) -> None:
    assert scene.server.answers == [text]


@then(parsers.parse('no answer shows "{secret}"'))
def not_shown(scene: Scene, secret: str) -> None:
    assert len(scene.shown) == 4
    assert [text for text in scene.shown if secret in text] == []


@then(parsers.parse('neither the sender nor the log learns "{secret}"'))
def not_repeated(scene: Scene, caplog: pytest.LogCaptureFixture, secret: str) -> None:
    until(lambda: bool(scene.server.answers), "the sender has an answer")
    assert scene.server.asked[-1].headers["authorization"] == f"Bearer {secret}"
    assert [text for text in (*scene.server.answers, caplog.text) if secret in text] == []


@then(parsers.parse('the database does not hold "{secret}"'))
def not_stored(scene: Scene, secret: str) -> None:
    columns = (
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND data_type IN ('text', 'bytea', 'jsonb', 'json')"
    )
    database = scene.world.container.database()

    async def search() -> list[str]:
        found = []
        for table, column in await database.fetch(columns):
            holds = f'position(%s IN "{column}"::text) > 0'
            query = f'SELECT count(*) FROM "{table}" WHERE {holds} OR {holds}'
            if await database.fetch_value(query, (secret, secret.encode().hex())):
                found.append(f"{table}.{column}")
        return found

    assert scene.world.run(search()) == []


@then("the agent is said to have a secret")
def has_secret(scene: Scene) -> None:
    assert scene.ask("GET", scene.one, "ann").json()["hasSecret"] is True


@then(parsers.parse('the test\'s answer is "{text}"'))
def answer_of_test(scene: Scene, text: str) -> None:
    assert scene.tested["answer"]["text"] == text


@then(parsers.parse('the test\'s error names "{words}"'))
def error_of_test_names(scene: Scene, words: str) -> None:
    assert words in scene.tested["answer"]["error"]


@then(parsers.parse('the test shows a POST with the text "{text}" that was {outcome}'))
def call_of_test(scene: Scene, text: str, outcome: str) -> None:
    (call,) = scene.tested["exchanges"]
    status = {"answered": 200, "refused": 403}[outcome]
    assert (call["method"], call["url"], call["status"]) == ("POST", f"{scene.url}/ask", status)
    assert json.loads(call["requestBody"])["text"] == text


@then(parsers.parse('the test hides the header "{name}"'))
def header_hidden(scene: Scene, name: str) -> None:
    (call,) = scene.tested["exchanges"]
    assert call["requestHeaders"][name] == "•••"


@then("no settings are shown")
def no_settings(scene: Scene) -> None:
    agent = scene.reply.json()
    assert (agent["settings"], agent["tools"], agent["mcpServers"]) == (None, None, None)


@then("no calls are shown")
def no_calls(scene: Scene) -> None:
    assert scene.tested["exchanges"] == []
    assert scene.tested["answer"]["text"] == "Noted: Hello"


@then(parsers.parse("ann's agents are {names}"))
def agents_of_ann(scene: Scene, names: str) -> None:
    assert listed(scene, "ann") == quoted(names)


@then("bob's agents are none")
def none_of_bob(scene: Scene) -> None:
    assert listed(scene, "bob") == []


@then(parsers.parse("the admin's agents are {names}"))
def agents_of_admin(scene: Scene, names: str) -> None:
    assert listed(scene, "admin") == quoted(names)


def listed(scene: Scene, user: str) -> list[str]:
    """By two pages."""
    first = scene.ask("GET", f"{BASE}?limit=1", user).json()
    agents = first["agents"]
    if first["next"] is not None:
        agents += scene.ask("GET", f"{BASE}?cursor={first['next']}", user).json()["agents"]
    return [agent["resourceId"] for agent in agents]


def quoted(names: str) -> list[str]:
    return names.split('"')[1::2]


@then(parsers.parse('the request is "{outcome}"'))
def outcome_is(scene: Scene, outcome: str) -> None:
    assert WORDS[scene.reply.status_code] == outcome, scene.reply.text


@then(parsers.parse('the error names "{words}"'))
def error_names(scene: Scene, words: str) -> None:
    assert words in scene.reply.json()["error"]


@then(parsers.parse("the list names {names}"))
def list_names(scene: Scene, names: str) -> None:
    assert [rule["match"] for rule in scene.reply.json()["rules"]] == quoted(names)


@then("the agent is not trusted")
def not_trusted(scene: Scene) -> None:
    assert scene.reply.status_code == 200, scene.reply.text
    assert scene.reply.json()["trusted"] is False


@then(parsers.parse('the agent\'s fault names "{words}"'))
def fault_names(scene: Scene, words: str) -> None:
    assert words in scene.ask("GET", scene.one, "ann").json()["fault"]


@then(parsers.parse('the model got the passage "{text}"'))
def got_passage(scene: Scene, text: str) -> None:
    assert text in scene.server.passages
    assert scene.server.answers[0].startswith("40 bar")


@then(parsers.parse('the answer asks for "{tool}"'))
def asks_for(scene: Scene, tool: str) -> None:
    assert tool in scene.server.answers[-1]
    assert scene.server.used == 0


@then(parsers.parse('the answer says that "{tool}" needs an approval'))
def waits(scene: Scene, tool: str) -> None:
    assert f"{tool} needs an approval" in scene.server.answers[-1].replace("`", "")


@then("the tool was not used")
def not_used(scene: Scene) -> None:
    assert scene.server.used == 0


@then("the tool was used once")
def used_once(scene: Scene) -> None:
    until(lambda: scene.server.answers[-1].endswith("Done"), "the sender has the answer")
    assert scene.server.used == 1


@then(parsers.parse("the test cost {cost:f} EUR"))
def cost_of_test(scene: Scene, cost: float) -> None:
    assert scene.tested["cost"] == pytest.approx(cost)
