"""The steps of audit.feature."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.access.model import Role, Scope
from domain.audit.model import AuditFilter
from domain.audit.service import AuditService
from domain.refusals import Unauthenticated
from tests.drivers.ways import INSTANCES, WORDS, Rest
from tests.drivers.world import World

scenarios("audit.feature")

LOG, KB = "/api/agent/audit", "/api/agent/kb"


class Scene:
    """`response`: the latest answer. `pages`: those that were read."""

    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.instance = 0
        self.response: httpx.Response | None = None
        self.pages: list[list[dict[str, Any]]] = []

    def ask(self, method: str, path: str, user: str | None, **options: Any) -> httpx.Response:
        self.response = self.rest.request(method, path, user, **options)
        return self.response

    def entries(self, query: str = "") -> list[dict[str, Any]]:
        listed = self.rest.request("GET", f"{LOG}?limit=200{query}", "admin")
        assert listed.status_code == 200, listed.text
        entries: list[dict[str, Any]] = listed.json()["entries"]
        return [entry for entry in entries if not entry["action"].startswith("key.")]

    def run(self, statement: str) -> None:
        self.world.run(self.world.container.storage().database.execute(statement))


@pytest.fixture
def scene(world: World, rest: Rest) -> Scene:
    return Scene(world, rest)


@given(parsers.parse('ann has a webhook "{name}" with the secret "{secret}"'))
def webhook(scene: Scene, name: str, secret: str) -> None:
    body = {"channelId": "http-webhook", "channelName": name, "config": {"webhookSecret": secret}}
    scene.instance = scene.ask("POST", INSTANCES, "ann", json=body).json()["instanceId"]


@when(parsers.parse('ann renames it to "{name}" and gives it the secret "{secret}"'))
def rename(scene: Scene, name: str, secret: str) -> None:
    body = {"channelName": name, "config": {"webhookSecret": secret}}
    changed = scene.ask("PUT", f"{INSTANCES}/{scene.instance}", "ann", json=body)
    assert changed.status_code == 200, changed.text


@when("bob tries to rename it")
def rename_in_vain(scene: Scene) -> None:
    body = {"channelName": "Mine", "config": {}}
    assert scene.ask("PUT", f"{INSTANCES}/{scene.instance}", "bob", json=body).status_code == 403


@when("ann erases a conversation that nobody has begun")
def erase_in_vain(scene: Scene) -> None:
    path = f"{INSTANCES}/{scene.instance}/conversations/nobody"
    assert scene.ask("DELETE", path, "ann").status_code == 404


@then("the latest entry says that ann changed it with a key, and from where")
def says_who(scene: Scene) -> None:
    entry = scene.entries()[0]
    assert (entry["action"], entry["object"]) == ("instance.changed", f"instance:{scene.instance}")
    assert (entry["actor"]["userId"], entry["result"]) == ("ann", "done")
    assert entry["actor"]["keyId"] is not None
    assert entry["actor"]["address"] == "127.0.0.1"
    assert scene.response is not None
    assert entry["requestId"] == scene.response.headers["x-request-id"]


@then("the latest entry says that ann made it")
def says_made(scene: Scene) -> None:
    assert scene.entries()[0]["action"] == "instance.created"


@then(parsers.parse('it tells the names "{before}" and "{after}"'))
def tells_names(scene: Scene, before: str, after: str) -> None:
    data = scene.entries()[0]["data"]
    assert (data["before"]["name"], data["after"]["name"]) == (before, after)


@then("it says that the secret changed")
def tells_secret(scene: Scene) -> None:
    data = scene.entries()[0]["data"]
    assert data["before"]["config"] == data["after"]["config"] == {"webhookSecret": "changed"}


@then(parsers.parse('no entry holds "{text}"'))
def holds_not(scene: Scene, text: str) -> None:
    assert text not in json.dumps(scene.entries())


@when(parsers.parse("somebody at {address} signs in with a wrong key"))
def sign_in_wrongly(scene: Scene, address: str) -> None:
    with pytest.raises(Unauthenticated):
        scene.world.run(scene.world.container.use_cases().sessions.sign_in("sb_wrong", address))


@when(parsers.parse("ann signs in at {address}"))
def sign_in(scene: Scene, address: str) -> None:
    key = scene.world.key_of("ann")
    scene.world.run(scene.world.container.use_cases().sessions.sign_in(key, address))


@then(parsers.parse("the log tells a refused sign-in from {address}"))
def tells_refused(scene: Scene, address: str) -> None:
    [entry] = scene.entries("&action=session.refused")
    assert (entry["actor"]["address"], entry["result"]) == (address, "refused")


@then(parsers.parse("a session of ann from {address}"))
def tells_session(scene: Scene, address: str) -> None:
    [entry] = scene.entries("&action=session.opened")
    assert (entry["actor"]["userId"], entry["actor"]["address"]) == ("ann", address)


@when("the service starts")
def starts(scene: Scene) -> None:
    scene.world.restart()


@then("the log tells its settings, of secrets only that they are set")
def tells_settings(scene: Scene) -> None:
    audit = scene.world.container.storage().audit
    [entry] = scene.world.run(audit.list(AuditFilter(action="process.started"), None, 1))
    assert entry.data["INTERNAL_SERVICE_KEY"] == "set"
    assert scene.world.settings.internal_service_key not in json.dumps(entry.data)
    assert entry.data["DATA_DIR"] == str(scene.world.settings.data_dir)


READERS = {"an admin": "admin", "ann": "ann", "nobody": None}


@when(parsers.re(f"(?P<who>{'|'.join(READERS)}) reads the log"))
def reads(scene: Scene, who: str) -> None:
    scene.ask("GET", LOG, READERS[who])


@when('a key of an admin without "admin" reads the log')
def reads_with_scopes(scene: Scene) -> None:
    access = scene.world.container.access()
    _, key = scene.world.run(access.create_key("admin", Role.ADMIN, scopes=(Scope.CONVERSATIONS_READ,)))
    scene.ask("GET", LOG, None, headers={"authorization": f"Bearer {key}"})


@then(parsers.parse("that is {outcome}"))
def outcome(scene: Scene, outcome: str) -> None:
    assert scene.response is not None
    assert WORDS[scene.response.status_code] == outcome


@given("ann has made 5 knowledge bases and bob has made one")
def bases(scene: Scene) -> None:
    for user in ("ann", "ann", "bob", "ann", "ann", "ann"):
        assert scene.ask("POST", KB, user, json={"name": "b"}).status_code == 201


@given(parsers.parse('ann has made a knowledge base called "{name}"'))
def base(scene: Scene, name: str) -> None:
    assert scene.ask("POST", KB, "ann", json={"name": name}).status_code == 201


@when("an admin reads the log of ann's actions on bases, two at a time")
def reads_pages(scene: Scene) -> None:
    cursor: object = ""
    while cursor is not None:
        query = f"{LOG}?actor=ann&action=base&limit=2&cursor={cursor}"
        page = scene.ask("GET", query, "admin").json()
        scene.pages.append(page["entries"])
        cursor = page["next"]


@then("that are 5 entries on 3 pages, the latest first")
def pages_read(scene: Scene) -> None:
    assert [len(page) for page in scene.pages] == [2, 2, 1]
    entries = [entry for page in scene.pages for entry in page]
    assert {(entry["actor"]["userId"], entry["action"]) for entry in entries} == {("ann", "base.created")}
    ids = [entry["id"] for entry in entries]
    assert ids == sorted(ids, reverse=True)


@when("an admin exports the log")
def exports(scene: Scene) -> None:
    scene.ask("GET", f"{LOG}/export", "admin")


@then("the CSV file names each column, and no cell of it is a formula")
def csv_file(scene: Scene) -> None:
    assert scene.response is not None
    rows = list(csv.reader(io.StringIO(scene.response.text)))
    assert rows[0][:3] == ["id", "at", "userId"]
    assert len(rows) > 1
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


@then("the other file has one entry on each line")
def lines(scene: Scene) -> None:
    text = scene.ask("GET", f"{LOG}/export?format=ndjson&action=base", "admin").text
    assert [json.loads(line)["action"] for line in text.splitlines()] == ["base.created"]


CHANGES = {
    "somebody changes the actor of a row": "UPDATE audit_entry SET user_id = 'eve' WHERE id = {middle}",
    "somebody changes the data of a row": "UPDATE audit_entry SET data = '{{}}' WHERE id = {middle}",
    "somebody deletes a row in the middle": "DELETE FROM audit_entry WHERE id = {middle}",
    "somebody deletes the first rows": "DELETE FROM audit_entry WHERE id <= {middle}",
}


@when(parsers.re(f"(?P<what>{'|'.join(CHANGES)})"))
def changes(scene: Scene, what: str) -> None:
    ids = sorted(entry["id"] for entry in scene.entries("&action=base"))
    scene.run(CHANGES[what].format(middle=ids[2]))


@when("400 days pass, and old entries are removed")
def removes_old(scene: Scene) -> None:
    audit, now = scene.world.container.storage().audit, scene.world.clock.now()
    scene.ask("POST", KB, "ann", json={"name": "latest"})
    scene.world.run(audit.prune(now + timedelta(days=400) - timedelta(days=365)))


@then("the check of the log finds nothing")
def finds_nothing(scene: Scene) -> None:
    assert _fault(scene) == ""


@then(parsers.parse('the check of the log finds that "{fault}"'))
def finds(scene: Scene, fault: str) -> None:
    assert _fault(scene) == fault


def _fault(scene: Scene) -> str:
    return scene.world.run(AuditService(scene.world.container.storage().audit).verify()).fault


@then("the log tells how many were removed")
def tells_removed(scene: Scene) -> None:
    [entry] = scene.entries("&action=audit.pruned")
    assert entry["data"]["count"] > 6
