"""The steps of mail.feature."""

import itertools
from collections.abc import Iterator
from email.message import Message
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.mail import PASSWORD, USER, Mailbox, Postbox, imap_server, smtp_server
from tests.support.waiting import until

scenarios("mail.feature")

APPROVALS = "/api/agent/approvals"
INSTANCES = "/api/agent/channel-instances"
UNFINISHED = "SELECT count(*) FROM approval_request WHERE decision IS NOT NULL AND finished_at IS NULL"
OFTEN = 0.02
"""Minutes between two polls."""


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Mailbox, Postbox]]:
    with imap_server() as imap, smtp_server() as smtp:
        yield imap, smtp


class Scene:
    """A mailbox, the people who write to it, and its resource."""

    def __init__(self, world: World, rest: Rest, imap: Mailbox, smtp: Postbox) -> None:
        self.world, self.rest, self.imap, self.smtp = world, rest, imap, smtp
        self.resource = Resource(world, _answer)
        self.more: dict[str, Any] = {}
        self.line = ""
        self.numbers = itertools.count(1)
        self.instance = 0

    def do(self, method: str, path: str, user: str, body: Any = None) -> Any:
        response = self.rest.request(method, path, user, **({} if body is None else {"json": body}))
        assert response.is_success, response.text
        return response.json() if response.content else None

    def create(self, policy: list[dict[str, Any]]) -> None:
        config = {
            "smtpHost": "127.0.0.1",
            "smtpPort": self.smtp.port,
            "imapHost": "127.0.0.1",
            "imapPort": self.imap.port,
            "username": USER,
            "password": PASSWORD,
            "fromEmail": USER,
            "checkInterval": OFTEN,
            **self.more,
        }
        body = {"channelId": "email", "channelName": "Desk", "config": config, "approvalPolicy": policy}
        created = self.rest.create("ann", {**body, "downStreamResourceId": "agent::works"})
        assert created.outcome == "created", created.body
        self.instance = int(created.body["instanceId"])

    def mail(self, who: str, text: str, references: str = "") -> None:
        head = f"From: {who.title()} <{who}@client.example>\r\nSubject: Order\r\n"
        head += f"Message-ID: <{next(self.numbers)}.{who}@client.example>\r\n"
        head += f"References: {references}\r\n" if references else ""
        self.imap.put(f"{head}\r\n{text}\r\n".encode())

    def got(self, who: str) -> list[Message]:
        return [mail for mail in self.smtp.mails if f"{who}@client.example" in str(mail["To"])]

    def read(self, who: str, words: str) -> bool:
        return any(words in plain(mail) for mail in self.got(who))

    def approval(self) -> dict[str, Any]:
        [approval] = self.do("GET", APPROVALS, "admin")["approvals"]
        return dict(approval)


def _answer(request: RunRequest) -> RunResult:
    if request.approval is None and request.text == "money back":
        return RunResult("", confirmation=Confirmation("refund", {"order": 4711}))
    return RunResult("Noted")


def plain(mail: Message) -> str:
    [part] = [part for part in mail.walk() if part.get_content_type() == "text/plain"]
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    return " ".join(content.decode().replace("`", "").split())


@pytest.fixture
def scene(world: World, rest: Rest, servers: tuple[Mailbox, Postbox]) -> Scene:
    imap, smtp = servers
    imap.empty()
    smtp.mails.clear()
    return Scene(world, rest, imap, smtp)


@given('a mailbox of ann\'s whose resource wants to use the tool "refund"')
def mailbox(scene: Scene) -> None:
    for user in ("bob", "admin"):
        scene.do("GET", "/api/agent/me", user)


@given("all senders of a thread share one conversation")
def shared(scene: Scene) -> None:
    scene.more = {"sharedThreads": True}


@given("the sender decides about it")
def by_sender(scene: Scene) -> None:
    scene.create([])


@given("the user bob decides about it, and wants mails of the mailbox about approvals")
def by_bob(scene: Scene) -> None:
    scene.create([{"tool": "refund", "by": "user:bob"}])
    scene.do("PUT", f"{INSTANCES}/{scene.instance}/permissions", "ann", {"userId": "bob", "level": 2})
    via = {"instanceId": scene.instance, "to": "bob@client.example"}
    settings = {"kinds": {"approval": ["message"]}, "notifyVia": via}
    scene.do("PUT", "/api/agent/me/notifications", "bob", settings)


@when('ada mails "money back"')
def asks(scene: Scene) -> None:
    scene.mail("ada", "money back")
    until(lambda: bool(scene.got("ada")), "ada gets an answer")
    scene.world.settle()
    scene.world.run(scene.world.container.notification_writer().work())
    scene.world.run(scene.world.container.notification_delivery().work())


@when(parsers.re(r'(?P<who>\w+) answers with the line "(?P<line>[^"]+)" and \w+ regards'))
def answers(scene: Scene, who: str, line: str) -> None:
    """Also mallory has the mail that was sent to bob, as mails are forwarded."""
    [asked] = scene.got("ada" if who == "ada" else "bob")
    references = f"{asked.get('References', '')} {asked['Message-ID']}".strip()
    scene.line = line
    scene.mail(who, f"{line}\r\n\r\nBest regards", references)


@then(parsers.parse('{who} is asked by mail about "refund"'))
def asked(scene: Scene, who: str) -> None:
    until(lambda: scene.read(who, "The tool refund"), f"{who} is asked")
    assert scene.read(who, "4711")


@then(parsers.parse('{who} reads by mail "{words}"'))
def reads(scene: Scene, who: str, words: str) -> None:
    until(lambda: scene.read(who, words), f"{who} reads {words}: {[*map(plain, scene.smtp.mails)]}")


@then("the resource gets it as a message")
def gets(scene: Scene) -> None:
    request = scene.resource.wait_for(2)[1]
    assert request.text.startswith(scene.line)
    assert request.approval is None


@then(parsers.re(r"the resource is told once that it was (?P<decision>\w+)"))
def told_once(scene: Scene, decision: str) -> None:
    scene.resource.wait_for(2)
    count = scene.world.container.database().fetch_value
    until(lambda: scene.world.run(count(UNFINISHED)) == 0, "nothing is left to be told")
    [approval] = [request.approval for request in scene.resource.requests if request.approval]
    assert (approval.tool, approval.decision) == ("refund", decision)


@then(parsers.re(r"bob has (?P<decision>\w+) it"))
def has_decided(scene: Scene, decision: str) -> None:
    until(lambda: scene.approval()["state"] == decision, f"bob has {decision} it")
    assert scene.approval()["decidedBy"] == "bob"


@then("nobody has decided")
def undecided(scene: Scene) -> None:
    scene.world.settle()
    assert scene.approval()["state"] == "waiting"
