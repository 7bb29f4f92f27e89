"""The steps of opt_outs.feature."""

import pytest
from pytest_bdd import given, parsers, scenarios, then, when
from twilio.request_validator import RequestValidator

from adapters.outbound.channels.sms_provider.tests.samples import CONFIG, MESSAGE
from adapters.outbound.channels.tests.support import call
from tests.drivers.ways import BASE
from tests.features.sending.conftest import Sending
from tests.support.platforms.twilio import TOKEN, Twilio
from tests.support.waiting import until

scenarios("opt_outs.feature")

NUMBERS = {"bob": "+4915112345678", "carol": "+4915112345679"}


@pytest.fixture(autouse=True)
def twilio(sending: Sending) -> Twilio:
    platform = Twilio()
    sending.show(platform)
    sending.id = sending.create("sms-provider", CONFIG)
    return platform


def _writes(sending: Sending, text: str, *, signed: bool = True) -> None:
    fields = {**MESSAGE, "Body": text, "From": NUMBERS["bob"], "MessageSid": f"SM{text.encode().hex():0<32}"}
    url = f"{BASE}/api/agent/channels/sms-provider/{sending.id}/webhook"
    signature = RequestValidator(TOKEN).compute_signature(url, fields)
    posted = call(form=fields, headers={"X-Twilio-Signature": signature} if signed else {})
    reply = sending.rest.call("sms-provider", sending.id, posted.body, posted.headers, "webhook")
    assert reply.outcome == "done", reply


@given(parsers.parse('bob has written "{text}"'))
@when(parsers.parse('bob writes "{text}"'))
def writes(sending: Sending, text: str) -> None:
    _writes(sending, text)


@given(parsers.parse('somebody has written "{text}" in bob\'s name, without proof'))
def forges(sending: Sending, text: str) -> None:
    _writes(sending, text, signed=False)


@when(parsers.parse('ann sends "{text}" to {person}'))
def sends(sending: Sending, text: str, person: str) -> None:
    sending.send(text=text, to=NUMBERS[person])


@then("the message is refused, as bob wrote STOP")
def refused(sending: Sending) -> None:
    assert sending.last.outcome == "conflict", sending.last
    assert "wrote STOP" in str(sending.last.body)


@then("the answer is a dead letter, as bob wrote STOP")
def dead(sending: Sending) -> None:
    def letters() -> list[dict[str, str]]:
        return list(sending.rest.deliveries("ann", sending.id, "dead").body["deliveries"])

    until(lambda: len(letters()) == 1, "the answer is a dead letter")
    assert "wrote STOP" in letters()[0]["lastError"]


@when("ann has the dead letter sent again")
def replayed(sending: Sending) -> None:
    (letter,) = sending.rest.deliveries("ann", sending.id, "dead").body["deliveries"]
    assert sending.rest.replay("ann", sending.id, letter["id"]).outcome == "accepted"


@then("bob gets nothing")
def nothing(twilio: Twilio) -> None:
    assert twilio.messages == []


@then(parsers.parse('{person} reads "{text}"'))
def reads(sending: Sending, twilio: Twilio, person: str, text: str) -> None:
    expected = [(NUMBERS[person], text)]
    assert sending.driver.wait_until(
        lambda: [(message["To"], message["Body"]) for message in twilio.messages] == expected
    ), twilio.messages
