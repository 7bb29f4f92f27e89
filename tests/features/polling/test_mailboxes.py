"""The steps of mailboxes.feature."""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage, Message
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing.model import RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest, RestOverGrpc
from tests.drivers.world import PATIENCE, World
from tests.support.mail import PASSWORD, USER, Mailbox, Postbox, imap_server, smtp_server
from tests.support.platforms.gmail import CLIENT, Gmail

scenarios("mailboxes.feature")

UNANSWERED = "/api/agent/channel-instances/{}/unanswered"
OFTEN = 0.02
"""Minutes between two polls."""
_numbers = itertools.count(1)


@dataclass
class Outside:
    imap: Mailbox
    smtp: Postbox
    google: PlatformDriver


@pytest.fixture(scope="module", autouse=True)
def outside(request: pytest.FixtureRequest) -> Iterator[Outside]:
    """The mail servers that the module's world talks to."""
    with imap_server() as imap, smtp_server() as smtp:
        google = PlatformDriver()
        request.module.SETTINGS = {"MAIL_API_URL": google.url, "GOOGLE_TOKEN_URL": f"{google.url}/token"}
        yield Outside(imap, smtp, google)
        google.close()


@dataclass
class Post:
    """The mail that goes to and fro; `kind` is 'email' or 'mail-api'."""

    rest: Rest
    outside: Outside
    kind: str = ""
    created: Any = None
    resource: Any = None
    threads: Sequence[str] = ()
    mailed: str = ""

    @property
    def gmail(self) -> Gmail:
        assert isinstance(self.outside.google.platform, Gmail)
        return self.outside.google.platform

    def sent(self) -> list[Message]:
        return self.outside.smtp.mails + [mail for _, mail in self.gmail.sent]

    def unanswered(self) -> Any:
        path = UNANSWERED.format(self.created.body["instanceId"])
        return self.rest.request("GET", path, "ann").json()["unanswered"]

    def create(self, resource: str = "agent::echo", **changes: Any) -> None:
        config = {"checkInterval": OFTEN, **(CLIENT if self.kind == "mail-api" else self._servers())}
        body = {"channelId": self.kind, "channelName": "Mail", "config": {**config, **changes}}
        self.created = self.rest.create("ann", {**body, "downStreamResourceId": resource})
        assert self.created.outcome == "created", self.created

    def _servers(self) -> dict[str, Any]:
        return {
            "smtpHost": "127.0.0.1",
            "smtpPort": self.outside.smtp.port,
            "imapHost": "127.0.0.1",
            "imapPort": self.outside.imap.port,
            "username": USER,
            "password": PASSWORD,
            "fromEmail": USER,
        }

    def mail(self, text: str, subject: str, thread: str = "", **headers: str) -> None:
        self.mailed = f"<{next(_numbers)}@client.example>"
        fields = {
            "From": "Ann <ann@client.example>",
            "Subject": subject,
            "Message-ID": self.mailed,
            **headers,
        }
        if self.kind == "mail-api":
            more = {"threadId": thread} if thread else {}
            self.gmail.arrive(f"m{next(_numbers)}", text, headers=fields, **more)
            return
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.outside.imap.put(f"{head}\r\n{text}\r\n".encode())


@pytest.fixture
def post(rest: Rest, outside: Outside) -> Iterator[Post]:
    outside.google.show(Gmail())
    outside.imap.empty()
    outside.smtp.mails.clear()
    yield Post(rest, outside)
    assert outside.google.platform.faults == []


def soon(ready: Callable[[], bool]) -> bool:
    """Whether something comes about within the world's patience."""
    moment = threading.Event()
    for _ in range(int(PATIENCE / 0.05)):
        if ready():
            return True
        moment.wait(0.05)
    return False


MAILBOX = r"(?P<mailbox>a mailbox|a Gmail mailbox)"


def kind_of(mailbox: str) -> str:
    return "mail-api" if "Gmail" in mailbox else "email"


@given(parsers.re(MAILBOX + " that echoes"))
def echoing(post: Post, mailbox: str) -> None:
    post.kind = kind_of(mailbox)
    post.create()
    if post.kind == "mail-api":
        assert soon(lambda: any(seen.path.endswith("/history") for seen in post.gmail.seen))


@given(parsers.re(MAILBOX + " whose resource answers with a file"))
def filing(post: Post, world: World, mailbox: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from domain.routing.model import ResultArtifact

    async def run(*_: Any, **__: Any) -> RunResult:
        return RunResult(
            "Here it is", (ResultArtifact("r.pdf", "application/pdf", "https://x.example/r.pdf"),)
        )

    monkeypatch.setattr(type(world.container.downstream()), "run", run)
    echoing(post, mailbox)


@given(parsers.re(MAILBOX + r"(?P<shared> with shared threads|) whose resource is watched"))
def watching(post: Post, world: World, mailbox: str, shared: str) -> None:
    post.resource = Resource(world, lambda request: RunResult("Noted"))
    post.kind = kind_of(mailbox)
    post.create("agent::helper", **({"sharedThreads": True} if shared else {}))
    if post.kind == "mail-api":
        assert soon(lambda: any(seen.path.endswith("/history") for seen in post.gmail.seen))


@given("the service wrote to Ann first")
def written_first(post: Post) -> None:
    body = {"to": "ann@client.example", "subject": "Hours", "text": "We are closed"}
    assert post.rest.send("ann", post.created.body["instanceId"], body).outcome == "accepted"
    assert soon(lambda: bool(post.sent()))


@when(
    'Ann mails "Is it running?" with the subject "The engine" to the desk, with a copy to Bob, as important'
)
def mails_with_copy(post: Post) -> None:
    post.mail(
        "Is it running?",
        "The engine",
        To="Desk <desk@shop.example>",
        Cc="Bob <bob@client.example>",
        Importance="High",
        Date="Thu, 26 Nov 2026 08:00:00 +0100",
    )


@given("mails may be no larger than a page")
def small_mails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.outbound.channels.email.polling.MAX_MAIL", 1000)
    monkeypatch.setattr("adapters.outbound.channels.email.polling.CUT_MAIL", 600)


@when('Ann mails "The plan" with the file "plan.pdf" of three pages')
def mails_large_file(post: Post) -> None:
    mail_files(post, "The plan", {"plan.pdf": "x" * 3000})


@when('Ann mails "The plans" with the files "plan-1.txt" to "plan-22.txt"')
def mails_many_files(post: Post) -> None:
    mail_files(post, "The plans", {f"plan-{number}.txt": "x" for number in range(1, 23)})


def mail_files(post: Post, text: str, files: Mapping[str, str]) -> None:
    mail = EmailMessage()
    mail["From"], mail["Message-ID"] = "Ann <ann@client.example>", f"<{next(_numbers)}@client.example>"
    mail.set_content(text)
    for name, content in files.items():
        mail.add_attachment(content.encode(), maintype="application", subtype="x", filename=name)
    post.outside.imap.put(mail.as_bytes())


@then(
    parsers.re(r"the resource is asked \"(?P<text>[^\"]+)\", and told that \"(?P<name>[^\"]+)\" is missing")
)
def told_missing(post: Post, text: str, name: str) -> None:
    request = post.resource.wait_for(1)[0]
    missing: Any = request.context["filesLeftOut"]
    assert request.text == text
    assert name in [file["name"] for file in missing]
    assert name not in [file.name for file in request.files]


@then(parsers.re(r"Ann is told that \"(?P<name>[^\"]+)\" could not be read"))
def told_sender(post: Post, name: str) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    assert f"I could not read {name}: " in plain(post.sent()[0])
    assert plain(post.sent()[0]).endswith("Noted")


@when(parsers.re(r"(?P<who>Ann|Bob) answers in her thread \"(?P<text>[^\"]+)\""))
def answers_in_thread(post: Post, who: str, text: str) -> None:
    post.resource.wait_for(len(post.threads) or 1)
    first = post.threads[0] if post.threads else post.mailed
    post.threads = [*(post.threads or [first]), text]
    sender = {"Ann": "Ann <ann@client.example>", "Bob": "Bob <bob@client.example>"}[who]
    thread = next(iter(post.gmail.mails.values()))["threadId"] if post.kind == "mail-api" else ""
    post.mail(text, "Re: Order", thread, From=sender, References=first)


@when(parsers.re(r"(?P<who>Ann|Bob) answers in that thread \"(?P<text>[^\"]+)\""))
def answers_in_begun_thread(post: Post, who: str, text: str) -> None:
    post.threads = [*post.threads, text]
    references = str(post.sent()[0]["References"])
    post.mail(text, "Re: Hours", From=f"{who} <{who.lower()}@client.example>", References=references)
    post.resource.wait_for(len(post.threads))


@then(parsers.re(r"the resource is asked \"(?P<text>[^\"]+)\""))
def asked(post: Post, text: str) -> None:
    assert post.resource.wait_for(1)[0].text == text


@then('it is told the subject "The engine", the desk, Bob, the date and that it is important')
def told(post: Post) -> None:
    assert post.resource.requests[0].context == {
        "subject": "The engine",
        "to": ["desk@shop.example"],
        "cc": ["bob@client.example"],
        "date": "2026-11-26T07:00:00.000Z",
        "platform": {"importance": "high"},
    }


@then("Ann's mails are one conversation, and Bob's is another")
def apart(post: Post) -> None:
    first, bob, second = (request.session_id for request in post.resource.wait_for(3))
    assert first == second
    assert bob == f"{first}:bob@client.example"


@then("all mails are one conversation")
def together(post: Post) -> None:
    assert len({request.session_id for request in post.resource.wait_for(2)}) == 1


@then("Ann's mail is in the conversation that the service began, and Bob's is not")
def with_beginner(post: Post) -> None:
    bob, ann = (request.session_id for request in post.resource.wait_for(2))
    assert ann == str(post.sent()[0]["References"])
    assert bob == f"{ann}:bob@client.example"


@given(parsers.re(r"mail \"(?P<text>[^\"]+)\" (?P<where>in the mailbox|at Gmail)"))
def earlier(post: Post, text: str, where: str) -> None:
    post.kind = kind_of("a Gmail mailbox" if "Gmail" in where else "a mailbox")
    post.mail(text, "Before")


@given('mail "I was here a week ago" that came a week ago')
def week_old(post: Post) -> None:
    mail = b"From: Ann <ann@client.example>\r\nMessage-ID: <week@client.example>\r\n\r\nI was here a week ago\r\n"
    post.outside.imap.put(mail, at=datetime.now(UTC) - timedelta(days=7))


@given("a mailbox that echoes mail of the last day")
def last_day(post: Post) -> None:
    post.kind = "email"
    post.create(since=24)
    assert "1 unread mail lies in the mailbox" in post.created.body["message"]


@then("the answer and the health of the instance tell of 1 unread mail")
def told_of_unread(post: Post) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    words = f"1 unread mail lies in the mailbox, the oldest of {today}"
    assert words in post.created.body["message"]
    health = post.rest.health("ann", post.created.body["instanceId"])
    assert any(words in note for note in health.body["notes"])
    assert health.body["healthy"] is True


@then("the old mail is unread")
def still_unread(post: Post) -> None:
    assert soon(lambda: len(post.outside.imap.uids("UNSEEN")) == 1)


@given("a mailbox with a wrong password")
def wrong_password(post: Post) -> None:
    post.kind = "email"
    post.create(password="wrong")


@given("a Gmail mailbox whose grant was revoked")
def revoked(post: Post) -> None:
    post.kind = "mail-api"
    post.gmail.grant_error = "invalid_grant"
    post.create()


@when(parsers.re(r"Ann mails \"(?P<text>[^\"]+)\" with the subject \"(?P<subject>[^\"]+)\""))
def ann_mails(post: Post, text: str, subject: str) -> None:
    post.mail(text, subject)


@when(parsers.re(r"Ann mails the lines \"(?P<lines>[^\"]+)\" with the subject \"(?P<subject>[^\"]+)\""))
def ann_mails_lines(post: Post, lines: str, subject: str) -> None:
    post.mail(lines.replace(" / ", "\r\n"), subject)


@when(parsers.re(r"\"(?P<sender>[^\"]+)\" mails \"(?P<text>[^\"]+)\""))
def somebody_mails(post: Post, sender: str, text: str) -> None:
    post.mail(text, "Question", From=sender)


@then(parsers.re(r"Ann is answered with the lines \"(?P<lines>[^\"]+)\""))
def answered_lines(post: Post, lines: str) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    assert plain(post.sent()[0]).split() == lines.replace(" / ", " ").split()


@when('Ann mails "To both of us" and asks for an answer to Bob and Carl')
def mails_for_two(post: Post) -> None:
    post.mail("To both of us", "Both", **{"Reply-To": "Bob <bob@client.example>, carl@client.example"})


@then("the answer goes to Bob and Carl")
def goes_to_two(post: Post) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    expected = ["bob@client.example", "carl@client.example"]
    assert [recipient.addr_spec for recipient in post.sent()[0]["To"].addresses] == expected
    if post.kind == "email":
        assert post.outside.smtp.envelopes[-1].rcpt_tos == expected


@when('somebody writes as Ann in her thread "Send me all" and asks for an answer to Ann and Mallory')
def joins_answers(post: Post) -> None:
    post.resource.wait_for(1)
    addresses = "Ann <ann@client.example>, mallory@client.example"
    post.mail("Send me all", "Re: Order", References=post.mailed, **{"Reply-To": addresses})


@then("that mail is not in Ann's conversation")
def not_in_conversation(post: Post) -> None:
    first, second = (request.session_id for request in post.resource.wait_for(2))
    assert second == f"{first}:ann@client.example,mallory@client.example"


@then(parsers.re(r"the answer goes to (?P<address>\S+@\S+)"))
def goes_to(post: Post, address: str) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    assert [recipient.addr_spec for recipient in post.sent()[0]["To"].addresses] == [address]


@when(parsers.re(r"a machine mails \"(?P<text>[^\"]+)\""))
def machine_mails(post: Post, text: str) -> None:
    post.mail(text, "Away", **{"Auto-Submitted": "auto-replied"})


@when(parsers.re(r"a notification \"(?P<text>[^\"]+)\" comes from (?P<address>\S+)"))
def notification(post: Post, text: str, address: str) -> None:
    post.mail(text, "Notice", From=f"Shop <{address}>")


@when(parsers.re(r"a mailing list mails \"(?P<text>[^\"]+)\""))
def list_mails(post: Post, text: str) -> None:
    post.mail(text, "News", **{"List-Id": "<news.shop.example>"})


@when(parsers.re(r"an address that nobody reads mails \"(?P<text>[^\"]+)\""))
def no_reply_mails(post: Post, text: str) -> None:
    post.mail(text, "News", From="no-reply@shop.example")


@given(parsers.re(r"a mailbox that answers (?P<what>lists|machines|addresses that nobody reads)"))
def answering_more(post: Post, what: str) -> None:
    post.kind = "email"
    names = {"lists": "answerLists", "machines": "answerAutomatic"}
    post.create(**{names.get(what, "answerNoReply"): True})


@then('it is listed as not answered, because of "list", and counted in the health of the instance')
def listed(post: Post) -> None:
    assert soon(lambda: bool(post.unanswered()))
    [message] = post.unanswered()
    shown = {name: message[name] for name in ("reason", "sender", "senderName", "subject", "text")}
    assert shown == {
        "reason": "list",
        "sender": "ann@client.example",
        "senderName": "Ann",
        "subject": "News",
        "text": "News of the week",
    }
    health = post.rest.health("ann", post.created.body["instanceId"])
    assert health.body["unanswered"] == {"list": 1}
    assert health.body["healthy"] is True


@when(parsers.re(r"it is released over (?P<transport>REST|gRPC)"))
def released(post: Post, world: World, transport: str) -> None:
    rest = post.rest if transport == "REST" else RestOverGrpc(world)
    path = f"{UNANSWERED.format(post.created.body['instanceId'])}"
    [message] = rest.request("GET", path, "ann").json()["unanswered"]
    assert rest.request("POST", f"{path}/{message['id']}/release", "ann").status_code == 202
    assert rest.request("POST", f"{path}/{message['id']}/release", "ann").status_code == 404
    if transport == "gRPC":
        assert rest.health("ann", post.created.body["instanceId"]).body["unanswered"] == {}
        rest.close()


@then("somebody else may neither see nor release it")
def not_for_others(post: Post) -> None:
    path = UNANSWERED.format(post.created.body["instanceId"])
    assert post.rest.request("GET", path, "bob").status_code == 403
    assert post.rest.request("POST", f"{path}/{post.unanswered()[0]['id']}/release", "bob").status_code == 403


@then("nothing is listed as not answered")
def nothing_listed(post: Post) -> None:
    assert post.unanswered() == []


@then(parsers.re(r"(?:somebody|the mailing list) is answered \"(?P<text>[^\"]+)\""))
def somebody_answered(post: Post, text: str) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    assert plain(post.sent()[0]) == text


@then(parsers.re(r"Ann is answered \"(?P<text>[^\"]+)\" with the subject \"(?P<subject>[^\"]+)\""))
def answered(post: Post, text: str, subject: str) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    mail = post.sent()[0]
    assert (mail["To"], mail["Subject"]) == ("Ann <ann@client.example>", subject)
    assert plain(mail) == text


def plain(mail: Any) -> str:
    return str(mail.get_body(("plain",)).get_content()).strip()


@then("the answer belongs to her mail")
def threaded(post: Post) -> None:
    mail = post.sent()[0]
    assert mail["In-Reply-To"] == mail["References"] == post.mailed


@then("it is marked as automatic")
def automatic(post: Post) -> None:
    assert post.sent()[0]["Auto-Submitted"] == "auto-replied"


@then("Ann is answered with a link to the file")
def linked(post: Post) -> None:
    assert soon(lambda: bool(post.sent())), "nothing was sent"
    assert "r.pdf (https://x.example/r.pdf)" in plain(post.sent()[0])


@then("the mail is marked as read")
def read(post: Post) -> None:
    assert soon(lambda: not post.outside.imap.uids("UNSEEN"))


@then("nothing else was sent")
def nothing_else(post: Post) -> None:
    assert len(post.sent()) == 1


@then(parsers.re(r"the instance was made, and says \"(?P<words>[^\"]+)\""))
def says(post: Post, words: str) -> None:
    assert words in post.created.body["webhookError"]
    health = post.rest.health("ann", post.created.body["instanceId"])
    assert health.body["healthy"] is False
    assert any(words in warning for warning in health.body["warnings"])
