"""The steps of privacy.feature."""

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.storage.feedback import PostgresFeedback
from adapters.outbound.storage.people import export as exporting
from adapters.outbound.storage.unanswered import add_unanswered
from domain.access.model import Caller
from domain.channels.messages import Event
from domain.feedback.model import Rating, Voter
from domain.file_names import file_name
from domain.files import one_piece
from domain.refusals import StorageFull
from domain.routing.model import RunRequest, RunResult
from ports.files import FilePlace
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import INSTANCES
from tests.features.conversations.test_erasure import COLUMNS
from tests.features.people.scene import ACCOUNTS, PEOPLE, PHONE, Scene, channels_of
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.waiting import until

scenarios("privacy.feature")

WORD = "Schnabeltier"
"""Stands in every text and every file of ada's."""
BYTES = f"{WORD} in a file".encode() * 5000
MARKERS = (WORD, "Lovelace", "Countess", "ada@example.org", PHONE[1:], "vip7")
SUBSCRIPTIONS = "/api/agent/event-subscriptions"


class Platforms(StandIn):
    """WhatsApp and Twilio, which take everything, and an address of events, which takes nothing."""

    refuses = False

    def answer(self, seen: Seen) -> Reply:
        if seen.path.startswith("/events"):
            return Reply(500)
        if self.refuses:
            return Reply(400, {"error": {"code": 100, "message": "no"}, "code": 21211, "message": "no"})
        if seen.path.endswith("/Messages.json"):
            return Reply(201, {"sid": f"SM{len(self.seen):032d}", "status": "queued", "error_code": None})
        return Reply(json={"messaging_product": "whatsapp", "messages": [{"id": f"wamid.{len(self.seen)}"}]})


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    driver = PlatformDriver()
    names = ("BUSINESS_MESSAGING_API_URL", "SMS_PROVIDER_API_URL")
    request.module.SETTINGS = {**dict.fromkeys(names, driver.url), "ADDRESS_POLICY": "private"}
    yield driver
    driver.close()


@pytest.fixture(autouse=True)
def platforms(platform_driver: PlatformDriver) -> Platforms:
    made = Platforms()
    platform_driver.show(made)
    return made


def answering(request: RunRequest) -> RunResult:
    return RunResult(f"You said: {request.text}")


def attach(scene: Scene, inbox_id: int, files: Sequence[tuple[str, bytes]]) -> None:
    """Stores files of a mail as fetching them would."""
    session, stored = scene.row("SELECT session_key, event FROM inbox WHERE id = %s", inbox_id)
    place = FilePlace(scene.instance("ann", "mail"), session, inbox_id, inbound=True)
    for name, content in files:
        storing = scene.world.container.files().shared.store(
            one_piece(content), file_name(name), "text/plain", place
        )
        scene.world.run(storing)
    attachments = [[name, "text/plain", {}, len(content)] for name, content in files]
    event = json.dumps({**json.loads(stored), "files": attachments}, separators=(",", ":"))
    scene.row("UPDATE inbox SET event = %s WHERE id = %s RETURNING id", event, inbox_id)


@given("ada has written ann by WhatsApp and SMS and was answered, and by mail with an attachment")
def everything(scene: Scene) -> None:
    scene.resource.script = answering
    for channel in ("WhatsApp", "SMS"):
        scene.write("ada", channel, f"{WORD} by {channel}")
    scene.resource.script = scene.answer
    for path in (scene.world.settings.data_dir / "uploads").rglob("*"):  # those of other scenarios
        if path.is_file():
            path.unlink()
    attach(scene, scene.write("ada", "mail", f"{WORD} by mail"), [(f"{WORD}.txt", BYTES)])
    instance, votes = scene.instance("ann", "WhatsApp"), PostgresFeedback(scene.world.container.database())
    ref = scene.value("SELECT ref FROM outbox WHERE instance_id = %s", instance)
    voter = Voter(ACCOUNTS["ada"]["WhatsApp"].external_id, f"Ada {WORD}")
    assert scene.world.run(votes.vote_on(instance, ref, Rating.DOWN, voter))
    refused = Event("list", "list", ACCOUNTS["ada"]["mail"], f"{WORD} to a list", {}, refused="list")

    async def refuse() -> None:
        async with scene.world.container.database().transaction() as connection:
            await add_unanswered(connection, scene.instance("ann", "mail"), [refused])

    scene.world.run(refuse())


@given("ann has joined all of it to one person, called Countess, with the label vip")
def joined(scene: Scene) -> None:
    first, *others = scene.people()
    if others:
        ids = [other["id"] for other in others]
        assert scene.ask("POST", f"{PEOPLE}/{first['id']}/merge", json={"personIds": ids}).status_code == 200
    fields = {"name": "Countess", "labels": ["vip7"]}
    assert scene.ask("PUT", f"{PEOPLE}/{first['id']}", json=fields).status_code == 200


@given("ada and bert have written ann in the channel C1 by Slack")
def group(scene: Scene) -> None:
    scene.write("ada", "Slack", "I am ada", session="C1")
    scene.write("bert", "Slack", "I am bert", session="C1")


@given(parsers.re(r"ada has sent ann files by mail that are called (?P<names>.+) and \"a.txt\" twice"))
def named_files(scene: Scene, names: str) -> None:
    named = [*names.split('"')[1::2], "a.txt", "a.txt"]
    files = [(name, f"content {number}".encode()) for number, name in enumerate(named)]
    attach(scene, scene.write("ada", "mail", "files"), files)
    scene.kept["files"] = len(files)


@given("ada has written ann 450 messages by SMS")
def many(scene: Scene) -> None:
    sender = scene.proved(ACCOUNTS["ada"]["SMS"], "SMS")
    events = [Event(f"k{n}", PHONE, sender, f"text {n}", {}) for n in range(450)]
    scene.world.run(scene.storage.inbox.add(scene.instance("ann", "SMS"), events))
    scene.settle()


@given("exports take their time")
def slow(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of an export hangs before the last byte."""
    written = exporting.zip_stream

    async def hanging(*arguments: Any) -> AsyncIterator[bytes]:
        async for piece in written(*arguments):
            yield piece
        if not scene.kept.get("hung"):
            scene.kept["hung"] = True
            await asyncio.Event().wait()

    monkeypatch.setattr(exporting, "zip_stream", hanging)


@given("there is no room for files")
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: Any) -> AsyncIterator[bytes]:
        raise StorageFull("there is no room left on the disk")
        yield b""

    monkeypatch.setattr(exporting, "zip_stream", refuse)


@given("ann has subscribed to events, which are pushed to an address that takes none")
def subscribed(scene: Scene, platform_driver: PlatformDriver) -> None:
    body = {"url": f"{platform_driver.url}/events"}
    assert scene.ask("POST", SUBSCRIPTIONS, json=body).status_code == 201
    scene.write("ada", "SMS", f"{WORD} is pushed")
    pushed = "SELECT count(*) FROM outbox WHERE message LIKE '{\"event\"%%'"
    until(lambda: scene.value(pushed) > 0, "an event is pushed")


@given("an answer to ada was given up")
def given_up(scene: Scene, platforms: Platforms) -> None:
    platforms.refuses = True
    scene.resource.script = answering
    sender = scene.proved(ACCOUNTS["ada"]["SMS"], "SMS")
    event = Event("dead", PHONE, sender, f"{WORD} is dead", {"to": PHONE, "from": "+4915735980001"})
    scene.world.run(scene.storage.inbox.add(scene.instance("ann", "SMS"), [event]))
    until(lambda: scene.value("SELECT count(*) FROM outbox WHERE status = 2") > 0, "it was given up")


@given("bob has verified what ada is by mail")
def verified(scene: Scene) -> None:
    scene.verify("bob", "ada", "mail")


@given(parsers.parse("ann has called her {name}"))
def called(scene: Scene, name: str) -> None:
    [person] = scene.people()
    scene.ask("PUT", f"{PEOPLE}/{person['id']}", json={"name": name})


@given("the process hangs after the first conversation")
def hangs(scene: Scene) -> None:
    eraser: Any = scene.world.container.privacy_worker().eraser
    erase, count = eraser.erase_conversation, 0

    async def hanging(*arguments: Any) -> None:
        nonlocal count
        count += 1
        if count == 2:
            await asyncio.Event().wait()
        await erase(*arguments)

    eraser.erase_conversation = hanging


def begin(scene: Scene, kind: str, name: str = "", user: str = "ann") -> None:
    person = scene.person(name) if name else scene.people()[0]
    scene.kept["person"] = person
    response = scene.ask("POST", f"{PEOPLE}/{person['id']}/{kind}", user)
    assert response.status_code == 202, response.text
    scene.kept[kind] = response.json()


def request_of(scene: Scene, kind: str) -> dict[str, Any]:
    request: dict[str, Any] = scene.read(f"{PEOPLE}/requests/{scene.kept[kind]['id']}")
    return request


def end(scene: Scene, kind: str) -> dict[str, Any]:
    until(lambda: request_of(scene, kind)["state"] in ("done", "failed"), f"the {kind} has ended")
    scene.kept[kind] = request_of(scene, kind)
    assert scene.kept[kind]["state"] == "done", scene.kept[kind]
    return scene.kept[kind]


def fetched(scene: Scene) -> zipfile.ZipFile:
    url = end(scene, "export")["url"]
    response = scene.rest.request("GET", urlsplit(url).path)
    assert response.status_code == 200
    assert len(response.content) == scene.kept["export"]["size"]
    archive = zipfile.ZipFile(io.BytesIO(response.content))
    assert archive.testzip() is None
    return archive


def all_of(archive: zipfile.ZipFile) -> dict[str, bytes]:
    return {name: archive.read(name) for name in archive.namelist()}


@given("ann has exported her")
@when("ann exports her")
@when("ann begins to export her")
def exports(scene: Scene) -> None:
    begin(scene, "export")


@when("ann exports ada")
def exports_ada(scene: Scene) -> None:
    begin(scene, "export", "ada.l")


@when("ann exports her twice")
def exports_twice(scene: Scene) -> None:
    begin(scene, "export")
    scene.kept["first"] = scene.kept["export"]
    begin(scene, "export")


@when("the days of files of messages are over")
def over(scene: Scene, request: pytest.FixtureRequest) -> None:
    scene.kept["url"] = end(scene, "export")["url"]
    scene.world.clock.advance(timedelta(days=8))
    request.addfinalizer(lambda: scene.world.clock.advance(timedelta(days=-8)))


@when("ann erases her")
@when("ann begins to erase her")
def erases_her(scene: Scene) -> None:
    if "export" in scene.kept:
        end(scene, "export")
    begin(scene, "erase")


@when(parsers.re(r"ann erases (?P<name>Ada Lovelace|Ada|Countess)"))
def erases(scene: Scene, name: str) -> None:
    begin(scene, "erase", name)
    end(scene, "erase")


@when("1 of 3 conversations is done when the process dies and is started again")
def dies(scene: Scene) -> None:
    until(lambda: request_of(scene, "erase")["done"] == 1, "one conversation is done")
    assert request_of(scene, "erase")["state"] == "running"
    start_again(scene)


@when("the process dies and is started again")
def dies_exporting(scene: Scene) -> None:
    until(lambda: "hung" in scene.kept, "it is being exported")
    start_again(scene)


def start_again(scene: Scene) -> None:
    scene.world.restart()
    scene.rest = type(scene.rest)(scene.world)
    expire_lease(scene)


def expire_lease(scene: Scene) -> None:
    scene.value("UPDATE privacy_request SET lease_until = now() RETURNING 1")


@when("ann erases the conversation by WhatsApp while it is written")
def erases_meanwhile(scene: Scene) -> None:
    until(lambda: "hung" in scene.kept, "it is being exported")
    path = f"{INSTANCES}/{scene.instance('ann', 'WhatsApp')}/conversations/{PHONE[1:]}"
    assert scene.ask("DELETE", path).status_code == 204
    scene.world.restart()  # the first run hangs for ever
    scene.rest = type(scene.rest)(scene.world)


@then(parsers.parse("the {kind} is done, with {done:d} of {total:d} conversations"))
def is_done(scene: Scene, kind: str, done: int, total: int) -> None:
    request = end(scene, "erase" if kind == "erasure" else kind)
    assert (request["done"], request["total"]) == (done, total), request
    listed = scene.read(f"{PEOPLE}/requests")["requests"]
    assert listed[0]["id"] == request["id"]


@then("the ZIP holds the texts of both directions, the attachment, and all identities")
def holds_all(scene: Scene) -> None:
    content = all_of(fetched(scene))
    texts = [
        message["text"]
        for name in content
        if name.endswith("messages.json")
        for message in json.loads(content[name])
    ]
    expected = [f"{WORD} by {channel}" for channel in ("WhatsApp", "SMS", "mail")]
    answers = [f"You said: {WORD} by {channel}" for channel in ("WhatsApp", "SMS")]
    assert sorted(texts) == sorted([*expected, *answers])
    assert [data for name, data in content.items() if "/files/" in name] == [BYTES]
    identities = json.loads(content["person.json"])["person"]["identities"]
    fields = {(identity["field"], identity["value"]) for identity in identities}
    channels = ("WhatsApp", "SMS", "mail")
    assert fields == {
        (identity.field, identity.value)
        for channel in channels
        for identity in ACCOUNTS["ada"][channel].identities
    }


@then("the ZIP holds the name Countess and the label vip")
def holds_name(scene: Scene) -> None:
    person = json.loads(fetched(scene).read("person.json"))["person"]
    assert (person["name"], person["labels"]) == ("Countess", ["vip7"])


@then("the ZIP tells the vote and the mail that was not answered")
def holds_more(scene: Scene) -> None:
    content = all_of(fetched(scene))
    [votes] = [json.loads(data) for name, data in content.items() if name.endswith("/votes.json")]
    [refused] = [json.loads(data) for name, data in content.items() if name.endswith("/unanswered.json")]
    assert [vote["rating"] for vote in votes] == ["down"]
    assert [(mail["text"], mail["reason"]) for mail in refused] == [(f"{WORD} to a list", "list")]


@then("the ZIP holds what ada wrote and not what bert wrote")
def holds_own(scene: Scene) -> None:
    everything = b"".join(all_of(fetched(scene)).values())
    assert b"I am ada" in everything
    assert b"bert" not in everything.lower()


@then(parsers.parse("the ZIP holds the text {text} and not the text {other}"))
def holds_text(scene: Scene, text: str, other: str) -> None:
    everything = b"".join(all_of(fetched(scene)).values()).decode()
    assert f'"{text}"' in everything
    assert f'"{other}"' not in everything


@then("each file has a place of its own below the folder of the conversation")
def places(scene: Scene) -> None:
    archive = fetched(scene)
    files = [name for name in archive.namelist() if "/files/" in name]
    assert len(set(files)) == scene.kept["files"]
    for name in files:
        assert name.startswith("conversations/00001-email/files/000")
        assert ".." not in name
        assert not set('<>:"\\|?*') & set(name)
    assert sorted(archive.read(name) for name in files) == [
        f"content {n}".encode() for n in range(scene.kept["files"])
    ]
    [messages] = [
        json.loads(archive.read(name)) for name in archive.namelist() if name.endswith("messages.json")
    ]
    assert sorted(file["path"] for file in messages[0]["files"]) == sorted(files)


@then("the ZIP holds all 450 texts, in their order")
def in_order(scene: Scene) -> None:
    archive = fetched(scene)
    [name] = [name for name in archive.namelist() if name.endswith("messages.json")]
    texts = [message["text"] for message in json.loads(archive.read(name))]
    assert texts == [f"text {n}" for n in range(450)]


@then("the address leads nowhere, and none is told any more")
def expired(scene: Scene) -> None:
    assert scene.rest.request("GET", urlsplit(scene.kept["url"]).path).status_code == 404
    assert request_of(scene, "export")["url"] is None


@then("both are the same request")
def same(scene: Scene) -> None:
    assert scene.kept["export"]["id"] == scene.kept["first"]["id"]
    assert scene.value("SELECT count(*) FROM privacy_request") == 1


def remains(scene: Scene, word: str) -> list[str]:
    """The columns of all tables, and the files, that hold a word."""

    async def search() -> list[str]:
        database = scene.world.container.database()
        columns = []
        for table, column in await database.fetch(COLUMNS):
            holds = f'position(%s IN "{column}"::text) > 0'
            query = f'SELECT count(*) FROM "{table}" WHERE {holds} OR {holds}'
            if await database.fetch_value(query, (word, word.encode().hex())):
                columns.append(f"{table}.{column}")
        return columns

    folder = scene.world.settings.data_dir
    files = [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    return [*scene.world.run(search()), *(str(path) for path in files)]


@then("no table and no file holds a marker of ada")
def nothing_left(scene: Scene) -> None:
    assert {marker: remains(scene, marker) for marker in MARKERS} == {marker: [] for marker in MARKERS}
    assert scene.value("SELECT count(*) FROM person") == 0
    assert scene.value("SELECT count(*) FROM person_sender") == 0


@then("the address of the export leads nowhere")
def nowhere(scene: Scene) -> None:
    assert scene.rest.request("GET", urlsplit(scene.kept["export"]["url"]).path).status_code == 404
    assert request_of(scene, "export")["url"] is None


@then("bob still has the verified address")
def still_verified(scene: Scene) -> None:
    identities = scene.world.run(scene.storage.identities.of_user("bob"))
    assert [identity.field for identity in identities] == ["email"]


@then("erasing her again is answered with the same request")
def again(scene: Scene) -> None:
    response = scene.ask("POST", f"{PEOPLE}/{scene.kept['person']['id']}/erase")
    assert (response.status_code, response.json()) == (202, scene.kept["erase"])


@then("bob may not see the request")
def may_not_see(scene: Scene) -> None:
    assert scene.ask("GET", f"{PEOPLE}/requests/{scene.kept['erase']['id']}", "bob").status_code == 403
    assert scene.ask("GET", f"{PEOPLE}/requests/999", "bob").status_code == 404
    assert scene.ask("POST", f"{PEOPLE}/{scene.kept['person']['id']}/erase", "bob").status_code == 403
    assert scene.read(f"{PEOPLE}/requests", "bob")["requests"] == []


@then("she is another person than before")
def another(scene: Scene) -> None:
    [person] = scene.people()
    assert person["id"] != scene.kept["person"]["id"]
    assert channels_of(person) == ["WhatsApp"]


@then("the export is tried again, and says that there is no room")
def no_room(scene: Scene) -> None:
    until(lambda: request_of(scene, "export")["error"], "it has failed once")
    request = request_of(scene, "export")
    assert (request["state"], "no room" in request["error"]) == ("pending", True)


@then("bob may neither export nor erase her")
def may_not(scene: Scene) -> None:
    [person] = scene.people()
    for kind in ("export", "erase"):
        assert scene.ask("POST", f"{PEOPLE}/{person['id']}/{kind}", "bob").status_code == 403
        assert scene.ask("POST", f"{PEOPLE}/999999/{kind}", "bob").status_code == 404


@then("an admin may export her")
def admin_may(scene: Scene) -> None:
    begin(scene, "export", user="admin")
    end(scene, "export")


@then("the audit log has an export of her by admin")
def audited(scene: Scene) -> None:
    [entry] = scene.read("/api/agent/audit", "admin", action="person.exported")["entries"]
    assert entry["actor"]["userId"] == Caller("admin").user_id
    assert entry["object"] == f"person:{scene.kept['person']['id']}"
