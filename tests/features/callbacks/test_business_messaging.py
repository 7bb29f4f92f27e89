"""What WhatsApp is in business_messaging.feature."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.business_messaging.tests import samples
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from ports.resources import Role, Turn
from tests.drivers.world import World
from tests.features.callbacks.conftest import Chat, Instance
from tests.support.platforms.whatsapp import WhatsApp
from tests.support.waiting import until

scenarios("business_messaging.feature")

EVENTS: Mapping[str, str] = {
    "a text": "text",
    "a press of a reply button": "button_reply",
    "a text of a sender who shows no number": "text_scoped",
    "a text in a group": "text_in_group",
    "a text of a sender who shows both ids": "text_both_ids",
    "three messages at once": "several",
    "that a message was delivered": "status_delivered",
    "that a message was not delivered": "status_failed",
    "a reaction": "reaction",
    "a message of an unknown kind": "unsupported",
    "a change of the account": "account_update",
    "that the sender has a new number": "system",
}
PLACES: Mapping[str, str] = {
    "441632960001": "the sender's number",
    "441632960009": "the new number",
    "GB.A1b2C3": "the sender's id",
    "120363000000000001": "the group",
}


def forged(name: str, at: datetime) -> RawCall:
    return call(body=samples.notification(name).body + b" ", headers=samples.notification(name).headers)


def said(platform: Any) -> list[tuple[str, str]]:
    return [(each.get("to") or each["recipient"], each["text"]["body"]) for each in platform.messages]


CHAT = Chat(
    channel_id="business-messaging",
    config=samples.CONFIG,
    standin=WhatsApp,
    setting=samples.SETTING,
    call=lambda name, at: samples.notification(name),
    forged=forged,
    said=said,
    events=EVENTS,
    places=PLACES,
)


@given("calls cannot be proved, and need not be")
def unproved(instance: Instance) -> None:
    config = {name: value for name, value in samples.CONFIG.items() if name != "appSecret"}
    instance.rest.update("ann", instance.id, {"config": config})


@when("the platform says that it could not be handed over")
def not_handed_over(instance: Instance) -> None:
    until(lambda: _statuses(instance) == ["sent"], "the reply is sent")
    body = samples.fixture("status_failed")
    body["entry"][0]["changes"][0]["value"]["statuses"][0]["id"] = "wamid.1"
    instance.post(samples.posted(body))


def _statuses(instance: Instance) -> list[str]:
    return [each["status"] for each in instance.rest.deliveries("ann", instance.id, None).body["deliveries"]]


@then(parsers.parse('the reply is a dead letter for "{reason}"'))
def dead_letter(instance: Instance, reason: str) -> None:
    (delivery,) = instance.rest.deliveries("ann", instance.id, None).body["deliveries"]
    error = f"131047 {reason}"  # with WhatsApp's code
    assert (delivery["status"], delivery["lastError"]) == ("dead", error)
    health = instance.rest.health("ann", instance.id).body
    assert (health["healthy"], health["lastError"]) == (False, f"sending a reply: {error}")


def _session(number: str) -> str:
    return next(session for session, name in PLACES.items() if name == number)


@given(parsers.parse("something was said with {number}"))
def was_said(world: World, instance: Instance, number: str) -> None:
    session = _session(number)
    history = world.container.storage().chat_history
    world.run(history.append(instance.id, session, "r1", [Turn(Role.USER, "hello")]))


@then(parsers.parse("it was said with {number}"))
def said_with(world: World, instance: Instance, number: str) -> None:
    turns = world.run(world.container.storage().chat_history.load(instance.id, _session(number), "r2"))
    assert [each.text for each in turns] == ["hello"]
