"""The steps of idempotency.feature."""

import asyncio
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.workspace_chat.tests import samples
from domain.access.model import Caller, Role
from domain.conversations.model import NewMessage
from tests.drivers.passing import pass_time
from tests.drivers.ways import Reply
from tests.features.sending.conftest import ROOM, Sending
from tests.support.platforms.slack import Slack
from tests.support.waiting import until

scenarios("idempotency.feature")

KEYS = {"of 201 characters": "k" * 201, "of nothing": "", "with a blank": "order 4711"}


@given("another bot of ann's", target_fixture="other")
def another(sending: Sending, slack: Slack) -> int:
    return sending.create("workspace-chat", samples.CONFIG, "Other")


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to the channel with the key "(?P<key>[^"]+)"$'))
def sends(sending: Sending, slack: Slack, text: str, key: str) -> None:
    sending.send(key=key, text=text, to=ROOM)


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to the channel$'))
def sends_without_key(sending: Sending, slack: Slack, text: str) -> None:
    sending.send(text=text, to=ROOM)


@when(parsers.parse('ann sends "{text}" to the channel with the key "{key}" through the other bot'))
def sends_through(sending: Sending, other: int, text: str, key: str) -> None:
    sending.replies.append(sending.rest.send("ann", other, {"text": text, "to": ROOM}, key))


@when(parsers.parse('ten programs send "{text}" to the channel with the key "{key}" at once'))
def ten_send(sending: Sending, slack: Slack, text: str, key: str) -> None:
    messages = sending.world.container.use_cases().messages
    message = NewMessage(to=ROOM, text=text)

    async def send_all() -> list[Any]:
        caller = Caller("ann", Role.MEMBER)
        return await asyncio.gather(*(messages.send(caller, sending.id, message, key) for _ in range(10)))

    for queued in sending.world.run(send_all()):
        sending.replies.append(Reply("accepted", {"messageId": queued.message_id}))


@when(parsers.parse('ann sends another {what} with the key "{key}"'))
def sends_another(sending: Sending, what: str, key: str) -> None:
    changes: dict[str, dict[str, Any]] = {
        "text": {"text": "Your order is late"},
        "place": {"to": "U0ADA"},
        "file": {"files": [{"name": "a.txt", "mimeType": "text/plain", "dataBase64": "aGVsbG8="}]},
        "choice": {"choices": [{"label": "Thanks", "value": "thanks"}]},
    }
    sending.send(key=key, **{"text": "Your order is ready", "to": ROOM, **changes[what]})


@when(parsers.parse("{hours:d} hours pass"))
def hours_pass(sending: Sending, hours: int) -> None:
    until(lambda: sending.status()["status"] == "sent", "the message is sent")
    pass_time(sending.world, hours * 3600)


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to the channel with a key (?P<what>.+)'))
def sends_with_bad_key(sending: Sending, slack: Slack, text: str, what: str) -> None:
    sending.send(key=KEYS[what], text=text, to=ROOM)


@then("both are accepted as the same message")
@then("all are accepted as the same message")
def same(sending: Sending) -> None:
    assert {reply.outcome for reply in sending.replies} == {"accepted"}, sending.replies
    assert len({reply.body["messageId"] for reply in sending.replies}) == 1


@then("they are different messages")
def different(sending: Sending) -> None:
    assert {reply.outcome for reply in sending.replies} == {"accepted"}, sending.replies
    assert len({reply.body["messageId"] for reply in sending.replies}) == len(sending.replies)


@then(parsers.re(r'"(?P<text>[^"]+)" stands in the channel (?P<count>once|twice)'))
def stands(sending: Sending, slack: Slack, text: str, count: str) -> None:
    number = {"once": 1, "twice": 2}[count]
    assert sending.driver.wait_until(lambda: len(slack.messages) >= number), slack.messages
    assert [message["text"] for message in slack.messages] == [text] * number
    assert sending.count("outbox") == number


@then("the error names Idempotency-Key")
def names_key(sending: Sending) -> None:
    assert sending.last.error.startswith("Idempotency-Key: ")
