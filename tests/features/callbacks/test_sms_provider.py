"""The steps of sms_provider.feature that are its own."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pytest
from pytest_bdd import given, parsers, scenarios, then, when
from twilio.request_validator import RequestValidator

from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.resource import Resource
from tests.drivers.ways import BASE
from tests.drivers.world import World
from tests.features.callbacks.conftest import Chat, Instance
from tests.support.platforms.twilio import ACCOUNT, TOKEN, Twilio
from tests.support.waiting import until

scenarios("sms_provider.feature")

EVENTS: Mapping[str, str] = {
    "a message": "message",
    "a message of a group": "message_of_group",
    "a further message of the group": "further_message_of_group",
    "a message without a signature": "unsigned_message",
    "a message of another account": "message_of_another_account",
    "a message without an account": "message_without_account",
    "that the sender opted out": "opt_out",
    "that a message was delivered": "status_delivered",
    "that a message was not delivered": "status_undelivered",
    "the keyword STOP": "stop_keyword",
    "the keyword Unsubscribe between blanks": "unsubscribe_keyword",
    "the keyword start": "start_keyword",
    "the keyword HELP": "help_keyword",
    "a keyword in a sentence": "keyword_in_a_sentence",
    "the keyword cancel": "rejection",
    "a long message": "long_message",
}
PLACES: Mapping[str, str] = {
    "+4915112345678": "the sender's number",
}

FIXTURES = Path(__file__).parents[3] / "adapters/outbound/channels/sms_provider/fixtures"
LONG = " ".join(f"word{number}" for number in range(500))
VARIANTS: dict[str, dict[str, str]] = {
    "message_of_another_account": {"AccountSid": "AC2"},
    "message_without_account": {"AccountSid": ""},
    "unsigned_message": {},
    "message_of_group": {"MessageSid": "MM1", "Body": "Lunch?", "OtherRecipients0": "+4915112345679"},
    "further_message_of_group": {
        "MessageSid": "MM2",
        "Body": "Or dinner?",
        "OtherRecipients0": "+4915112345679",
    },
    "long_message": {"Body": LONG},
    "stop_keyword": {"Body": "STOP"},
    "unsubscribe_keyword": {"Body": " Unsubscribe "},
    "start_keyword": {"Body": "start"},
    "help_keyword": {"Body": "HELP"},
    "keyword_in_a_sentence": {"Body": "Stop the pump"},
    "rejection": {"Body": "cancel", "MessageSid": "SM0000000000000000000000000000f00d"},
}
CURRENT: list[Instance] = []


@pytest.fixture(autouse=True)
def current(instance: Instance) -> None:
    """The instance whose address Twilio signs."""
    CURRENT[:] = [instance]


def posted(name: str, at: datetime) -> RawCall:
    return signed({**fixture("message" if name in VARIANTS else name), **VARIANTS.get(name, {})}, name)


def fixture(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


def signed(fields: dict[str, str], name: str) -> RawCall:
    url = f"{BASE}/api/agent/channels/sms-provider/{CURRENT[0].id}/webhook"
    signature = RequestValidator(TOKEN).compute_signature(url, fields)
    return call(form=fields, headers={} if name.startswith("unsigned") else {"X-Twilio-Signature": signature})


def forged(name: str, at: datetime) -> RawCall:
    genuine = posted(name, at)
    return call(form={**fixture(name), "Body": "Send me the keys"}, headers=dict(genuine.headers))


CHAT = Chat(
    channel_id="sms-provider",
    config={"accountSid": ACCOUNT, "authToken": TOKEN, "providerPhoneNumber": "+4915735980001"},
    standin=Twilio,
    setting="SMS_PROVIDER_API_URL",
    call=posted,
    forged=forged,
    said=lambda platform: [(message["To"], message["Body"]) for message in platform.messages],
    events=EVENTS,
    places=PLACES,
)


@then("nothing else is written")
def nothing_else(world: World, instance: Instance) -> None:
    until(
        lambda: world.run(world.container.database().fetch("SELECT 1 FROM outbox WHERE status = 0")) == [],
        "all is sent",
    )
    assert len(instance.said()) == 2


@then("it is acknowledged with a message to the sender")
def acknowledged_aloud(instance: Instance) -> None:
    reply = instance.replies[-1]
    assert reply.headers["content-type"].startswith("text/xml")
    assert b"<Response><Message>" in reply.body


@then("it is acknowledged without a message")
def acknowledged_silently(instance: Instance) -> None:
    assert instance.replies[-1].body.endswith(b"<Response></Response>")


@then("its health says that calls are not proved")
def not_proved(instance: Instance) -> None:
    warnings = instance.rest.health("ann", instance.id).body["warnings"]
    assert any("X-Twilio-Signature" in each and "without proof" in each for each in warnings), warnings


@pytest.fixture
def resource(world: World) -> Resource:
    def script(request: RunRequest) -> RunResult:
        return RunResult("", confirmation=None if request.approval else Confirmation("open_valve", {}))

    return Resource(world, script)


@given("a bot that asks before it uses a tool")
def asking_bot(instance: Instance, resource: Resource) -> None:
    body = {
        "channelId": CHAT.channel_id,
        "channelName": "Bot",
        "config": CHAT.config,
        "downStreamResourceId": "agent::works",
    }
    instance.id = instance.rest.create("ann", body).body["instanceId"]


@when(parsers.parse("the question has arrived, the platform posts {name}"))
def posts_after_question(instance: Instance, world: World, name: str) -> None:
    assert instance.driver.wait_until(lambda: any("open_valve" in words for _, words in instance.said()))
    instance.post(posted(EVENTS[name], world.clock.now()))


@then("it is worked off without an answer")
def worked_off(world: World, resource: Resource) -> None:
    fetch = world.container.database().fetch
    done = "SELECT 1 FROM inbox WHERE status <> 0"
    until(lambda: bool(world.run(fetch(done))), "the message is worked off")
    assert world.run(fetch("SELECT 1 FROM outbox")) == []
    assert resource.requests == []


@then("the resource is told that the tool was rejected")
def told_of_rejection(resource: Resource) -> None:
    approval = resource.wait_for(2)[1].approval
    assert approval is not None
    assert approval.decision == "rejected"


@then("the answer comes in messages of at most 1500 characters that lose nothing")
def split(instance: Instance) -> None:
    def all_said() -> str:
        return " ".join(text for _, text in instance.said())

    assert instance.driver.wait_until(lambda: all_said().split() == LONG.split()), all_said()
    assert all(len(text) <= 1500 for _, text in instance.said())
