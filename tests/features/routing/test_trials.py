"""The steps of trials.feature, over both gateways."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Reply, Seen, StandIn

BASE = "/api/agent/resources"
SECRETS = ("t0ken-of-weather", "hunter2", "k3y-in-the-query")
RULES = """
[[rule]]
match = "agent::weather*"
kind = "http"
url = "{url}/ask?key=k3y-in-the-query"
token_env = "WEATHER_TOKEN"

[[rule]]
match = "agent::old"
kind = "http"
url = "http://ann:hunter2@127.0.0.1:1/ask"
timeout = 0.5
"""
scenarios("trials.feature")


class Weather(StandIn):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.refuses = False
        self.usage: dict[str, int] | None = None

    def answer(self, seen: Seen) -> Reply:
        if self.refuses:
            return Reply(403, {"error": "no"})
        self.asked.append(seen.json)
        picture = {"name": "map.png", "mimeType": "image/png", "dataBase64": "aGk="}
        answer = {"text": f"Noted: {seen.json['text']}", "artifacts": [picture]}
        return Reply(json=answer | ({"usage": self.usage} if self.usage else {}))


@pytest.fixture(scope="module")
def rules_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules") / "resources.toml"


@pytest.fixture(scope="module", autouse=True)
def driver(request: pytest.FixtureRequest, rules_file: Path) -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    rules_file.write_text(RULES.format(url=driver.url), "utf-8")
    request.module.SETTINGS = {"RESOURCES_FILE": str(rules_file), "WEATHER_TOKEN": SECRETS[0]}
    yield driver
    driver.close()


class Scene:
    def __init__(self, world: World, rest: Rest, driver: PlatformDriver, rules_file: Path) -> None:
        self.world, self.rest, self.rules_file = world, rest, rules_file
        self.weather = Weather()
        self.reply: httpx.Response
        driver.show(self.weather)

    def look(self, user: str) -> httpx.Response:
        return self.rest.request("GET", BASE, user)

    def attempt(self, user: str, resource: str, text: str = "", *, ask: bool = False) -> None:
        body = {"downStreamResourceId": resource, "text": text, "ask": ask}
        self.reply = self.rest.request("POST", f"{BASE}/try", user, json=body)

    def read_rules(self) -> None:
        async def read() -> None:
            self.world.container.resources().rules.reload()

        self.world.run(read())

    @property
    def answer(self) -> dict[str, Any]:
        assert self.reply.status_code == 200, self.reply.text
        return dict(self.reply.json()["answer"])


@pytest.fixture
def scene(world: World, rest: Rest, driver: PlatformDriver, rules_file: Path) -> Scene:
    return Scene(world, rest, driver, rules_file)


@given("somebody breaks the rules file, and it is read again")
def broken(scene: Scene, request: pytest.FixtureRequest) -> None:
    whole = scene.rules_file.read_text("utf-8")

    def mend() -> None:
        scene.rules_file.write_text(whole, "utf-8")
        scene.read_rules()

    request.addfinalizer(mend)
    scene.rules_file.write_text(whole.replace('kind = "http"', 'kind = "carrier pigeon"', 1), "utf-8")
    scene.read_rules()


@given("the service refuses everything")
def refuses(scene: Scene) -> None:
    scene.weather.refuses = True


@given(parsers.parse("the service says that models read {read:d} tokens and wrote {written:d}"))
def tells_usage(scene: Scene, read: int, written: int) -> None:
    scene.weather.usage = {"inputTokens": read, "outputTokens": written}


@when("the admin looks at the rules")
def looks(scene: Scene) -> None:
    scene.reply = scene.look("admin")
    assert scene.reply.status_code == 200, scene.reply.text


@when(parsers.parse('ann tries "{resource}" without asking it'))
def tries(scene: Scene, resource: str) -> None:
    scene.attempt("ann", resource, "Rain?")


@when(parsers.re('(the )?(?P<user>ann|admin) asks "(?P<resource>[^"]+)" the question "(?P<text>[^"]*)"'))
def asks(scene: Scene, user: str, resource: str, text: str) -> None:
    scene.attempt(user, resource, text, ask=True)


@then('"agent::weather*" stands before "agent::old", then come the built-ins')
def in_order(scene: Scene) -> None:
    rules = [(rule["source"], rule["match"]) for rule in scene.reply.json()["rules"]]
    assert rules == [
        ("rule", "agent::weather*"),
        ("rule", "agent::old"),
        ("built-in", "agent::echo"),
        ("built-in", "agent::kb-*"),
    ]


@then("the line of each rule in the file is told")
def lines_told(scene: Scene) -> None:
    whole = scene.reply.json()
    assert [rule["line"] for rule in whole["rules"]] == [3, 9, 0, 0]
    assert (whole["file"], whole["fault"]) == (str(scene.rules_file), "")
    assert whole["readAt"]


@then("no token, password or secret of an address is shown")
def no_secrets(scene: Scene) -> None:
    first, second = scene.reply.json()["rules"][:2]
    assert (first["hasToken"], first["target"].endswith("/ask?key=***")) == (True, True)
    assert second["target"] == "http://127.0.0.1:1/ask"
    assert not any(secret in scene.reply.text for secret in SECRETS)


@then("ann may not see the rules")
def may_not(scene: Scene) -> None:
    assert scene.look("ann").status_code == 403


@then("the fault is told with its line")
def fault_told(scene: Scene) -> None:
    assert "line 4: kind must be one of" in scene.reply.json()["fault"]


@then(parsers.parse("it is taken by {what}"))
def taken(scene: Scene, what: str) -> None:
    trial = scene.reply.json()
    assert trial["source"] == what.removeprefix("a "), trial
    assert (trial["rule"], trial["answer"]) == (None, None)


@then("nobody was asked")
def nobody_asked(scene: Scene) -> None:
    assert scene.weather.asked == []


@then(parsers.parse('she is answered "{text}" with the file "{name}", and that it took some time'))
def answered(scene: Scene, text: str, name: str) -> None:
    answer = scene.answer
    assert (answer["text"], answer["files"], answer["error"]) == (text, [name], "")
    assert answer["seconds"] > 0


@then(parsers.parse("the trial tells {read:d} tokens read and {written:d} written"))
def usage_told(scene: Scene, read: int, written: int) -> None:
    assert scene.answer["usage"] == {"inputTokens": read, "outputTokens": written}


@then("the trial tells no tokens")
def no_usage_told(scene: Scene) -> None:
    assert scene.answer["usage"] is None


@then("the resource was told that ann asks, in a conversation of its own")
def told_who(scene: Scene) -> None:
    [asked] = scene.weather.asked
    assert (asked["instanceId"], asked["channelId"], asked["sender"]["userId"]) == (0, "trial", "ann")
    assert asked["sessionId"] == asked["requestId"]


@then(parsers.parse('the rule "{match}" is told'))
def rule_told(scene: Scene, match: str) -> None:
    assert scene.reply.json()["rule"]["match"] == match


@then("the failure is told in words, without the password of its address")
def failure_told(scene: Scene) -> None:
    error = scene.answer["error"]
    assert "cannot be connected to" in error or "does not answer" in error, error
    assert not any(secret in scene.reply.text for secret in SECRETS)


@then("the failure is told as that of a resource that refuses")
def told_refusal(scene: Scene) -> None:
    assert (scene.answer["error"], scene.answer["text"]) == ("the resource answers with status 403", "")


@then(parsers.parse('that is refused, naming "{field}"'))
def refused(scene: Scene, field: str) -> None:
    assert (scene.reply.status_code, field in scene.reply.json()["error"]) == (400, True), scene.reply.text
