"""The steps of refusals.feature."""

import base64
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_samples
from adapters.outbound.channels.workspace_chat.tests import samples
from domain.access.model import Caller
from domain.channels.answers import Choice, Template
from domain.conversations.model import NewFile, NewMessage
from domain.refusals import Invalid
from tests.drivers.ways import Reply
from tests.features.sending.conftest import ROOM, Sending
from tests.support.platforms.slack import Slack
from tests.support.platforms.whatsapp import WhatsApp

scenarios("refusals.feature")

TEXT = {"text": "Hello", "to": ROOM}
FILE = {"name": "a.txt", "mimeType": "text/plain"}
BYTES = {"dataBase64": base64.b64encode(b"hello").decode()}
MUCH = base64.b64encode(b"x" * (11 * 1024 * 1024 // 2)).decode()
YES = {"label": "Yes", "value": "yes"}
TEMPLATE: dict[str, Any] = {"name": "order_ready", "language": "en_US", "parameters": ["4711"]}

REQUESTS: dict[str, dict[str, Any]] = {
    "nothing at all": {"to": ROOM},
    "blanks": {"to": ROOM, "text": " \n\t"},
    "a text of 100001 characters": {"to": ROOM, "text": "x" * 100_001},
    "to a conversation and to an address": {**TEXT, "sessionId": ROOM},
    "to nobody, with no default channel": {"text": "Hello"},
    "to an empty address": {"text": "Hello", "to": ""},
    "to an address with a line break": {"text": "Hello", "to": f"{ROOM}\nC0OTHER"},
    "to an address with a control character": {"text": "Hello", "to": f"{ROOM}\x1b"},
    "to an address of 10 KB": {"text": "Hello", "to": "C" * 10_240},
    "to a mail address": {"text": "Hello", "to": "ada@example.com"},
    "to a person whom Slack does not know": {"text": "Hello", "to": "U0NOBODY"},
    "a subject with a line break": {**TEXT, "subject": "Hello\r\nBcc: all@example.com"},
    "a subject to a conversation": {"text": "Hello", "sessionId": ROOM, "subject": "Hello"},
    "21 files": {**TEXT, "files": [{**FILE, **BYTES}] * 21},
    "files of 11 MB": {**TEXT, "files": [{**FILE, "dataBase64": MUCH}] * 2},
    "a file without a name": {**TEXT, "files": [{**FILE, **BYTES, "name": " "}]},
    "a file with a strange media type": {
        **TEXT,
        "files": [{**FILE, **BYTES, "mimeType": "text/plain\r\nX: y"}],
    },
    "a file with an address and bytes": {**TEXT, "files": [{**FILE, **BYTES, "url": "https://a.example"}]},
    "a file with neither": {**TEXT, "files": [FILE]},
    "a file at an address that is none": {**TEXT, "files": [{**FILE, "url": "file:///etc/passwd"}]},
    "26 choices": {**TEXT, "choices": [YES] * 26},
    "choices without a text": {"to": ROOM, "files": [{**FILE, **BYTES}], "choices": [YES]},
    "a choice without a label": {**TEXT, "choices": [{**YES, "label": ""}]},
    "a choice of two lines": {**TEXT, "choices": [{**YES, "label": "Yes\nNo"}]},
    "a choice with a value of 2001 characters": {**TEXT, "choices": [{**YES, "value": "x" * 2001}]},
    "a template": {"to": ROOM, "template": TEMPLATE},
    "a template beside a text": {"to": "+441632960001", "text": "Hello", "template": TEMPLATE},
    "a template without a name": {"to": "+441632960001", "template": {**TEMPLATE, "name": ""}},
    "a template without a language": {"to": "+441632960001", "template": {**TEMPLATE, "language": " "}},
    "a template with 51 parameters": {
        "to": "+441632960001",
        "template": {**TEMPLATE, "parameters": ["x"] * 51},
    },
    "a template with an empty parameter": {
        "to": "+441632960001",
        "template": {**TEMPLATE, "parameters": [""]},
    },
    "to an unknown conversation": {"text": "Hello", "sessionId": "C0NOBODY"},
    '"Hello" to the channel': TEXT,
}


@given("ann has a WhatsApp number")
def with_whatsapp(sending: Sending) -> None:
    sending.show(WhatsApp())
    sending.id = sending.create("business-messaging", whatsapp_samples.CONFIG)


@given("a schedule of ann's")
def with_schedule(sending: Sending) -> None:
    sending.id = sending.create("cron", {"cronSchedule": "0 9 * * 1", "message": "Hello"})


@given("the bot's configuration cannot be read")
def unreadable(sending: Sending, slack: Slack) -> None:
    database = sending.world.container.database()
    change = "UPDATE channel_instance SET config = '\\x00' WHERE id = %s"
    sending.world.run(database.execute(change, (sending.id,)))
    sending.world.container.storage().instances.forget()


@given("Slack refuses the next message")
def refuses_next(sending: Sending, slack: Slack) -> None:
    slack.next_reply(200, {"ok": False, "error": "is_archived"})


@given(parsers.re(r'ann has sent "(?P<text>[^"]+)" to the channel'))
def has_sent(sending: Sending, slack: Slack, text: str) -> None:
    assert sending.send(text=text, to=ROOM).outcome == "accepted"


@when('ann asks to send "Hello" through the schedule')
def asks_schedule(sending: Sending) -> None:
    sending.send(text="Hello")


@when(parsers.re(r"ann asks to send (?P<what>(?!.*through the schedule).+)"))
def asks(sending: Sending, what: str, request: Any) -> None:
    if not sending.id:
        request.getfixturevalue("slack")
    body = REQUESTS[what]
    sending.send(**body)
    if sending.last.outcome == "invalid":
        sending.replies.append(ask_use_case(sending, body))


def ask_use_case(sending: Sending, body: dict[str, Any]) -> Reply:
    """What REST checks by its schema, the use case checks as well: callers over gRPC reach it straight."""
    template = body.get("template")
    message = NewMessage(
        session_id=body.get("sessionId"),
        to=body.get("to"),
        subject=body.get("subject"),
        text=body.get("text", ""),
        files=tuple(
            NewFile(
                file["name"],
                file["mimeType"],
                file.get("url"),
                base64.b64decode(file["dataBase64"]) if "dataBase64" in file else None,
            )
            for file in body.get("files", ())
        ),
        choices=tuple(Choice(choice["label"], choice["value"]) for choice in body.get("choices", ())),
        template=template and Template(template["name"], template["language"], tuple(template["parameters"])),
    )
    messages = sending.world.container.use_cases().messages
    with pytest.raises(Invalid) as refused:
        sending.world.run(messages.send(Caller("ann"), sending.id, message, None))
    return Reply("invalid", {"error": refused.value.message})


@when(parsers.re(r'(?P<who>ann|bob|admin) sends "(?P<text>[^"]+)" to the channel'))
def somebody_sends(sending: Sending, slack: Slack, who: str, text: str) -> None:
    sending.send(user=who, text=text, to=ROOM)


@when("ann sends through an instance that does not exist")
def sends_through_none(sending: Sending, slack: Slack) -> None:
    sending.replies.append(sending.rest.send("ann", 999_999, TEXT))


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to a channel that the bot is not in'))
def sends_outside(sending: Sending, slack: Slack, text: str) -> None:
    sending.send(text=text, to="C0OTHER")


@when("bob looks at the message")
def bob_looks(sending: Sending) -> None:
    sending.replies.append(sending.rest.message("bob", sending.id, sending.last.body["messageId"]))


@when(parsers.re("ann looks for (?P<message>.+)"))
def looks_for(sending: Sending, message: str) -> None:
    sent = sending.last.body["messageId"]
    ids = {
        "a message that was never sent": "send-999999999",
        "an id that is none": "send-1;drop",
        "the message at another bot of hers": sent,
        "the answer to a message without one": sent.replace("send", "out"),
    }
    instance = sending.id
    if message == "the message at another bot of hers":
        instance = sending.create("workspace-chat", samples.CONFIG, "Other")
    sending.replies.append(sending.rest.message("ann", instance, ids[message]))


@when("ann replays it")
def replays(sending: Sending) -> None:
    [dead] = sending.rest.deliveries("ann", sending.id, "dead").body["deliveries"]
    assert sending.rest.replay("ann", sending.id, dead["id"]).outcome == "accepted"


@then(parsers.parse("the error names {field}"))
def error_names(sending: Sending, field: str) -> None:
    named = field.replace("[", ".").replace("]", "")
    for reply in sending.replies:
        faults = reply.error.split("; ")
        assert any(fault.startswith((f"{field}: ", f"{named}: ")) for fault in faults), reply.error
        assert len(reply.error) < 1500


@then("the error says that it cannot send")
def says_cannot(sending: Sending) -> None:
    assert "'cron' cannot send messages" in sending.last.error


@then("nothing was stored")
def nothing_stored(sending: Sending) -> None:
    assert (sending.count("send"), sending.count("outbox"), sending.count("queue")) == (0, 0, 0)


@then(parsers.parse('its reason is "{words}"'))
def has_reason(sending: Sending, words: str) -> None:
    assert words in sending.status()["error"]


@then(parsers.re(r'"(?P<text>[^"]+)" stands in the channel'))
def stands(sending: Sending, slack: Slack, text: str) -> None:
    assert [(each["channel"], each["text"]) for each in slack.messages] == [(ROOM, text)]
