"""The steps of delivery_statuses.feature."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_samples
from adapters.outbound.channels.sms_provider.tests import samples as twilio_samples
from tests.drivers.passing import pass_time
from tests.features.sending.conftest import Sending
from tests.support.platforms.twilio import Twilio
from tests.support.platforms.whatsapp import WhatsApp
from tests.support.waiting import until

AGENT = "https://switchboard.example.com"
MORE_SETTINGS = {"AGENT_URL": AGENT}
scenarios("delivery_statuses.feature")

ADA, ADA_SMS = "441632960001", "+4915112345678"


@pytest.fixture
def whatsapp(sending: Sending) -> WhatsApp:
    platform = WhatsApp()
    sending.show(platform)
    sending.id = sending.create("business-messaging", whatsapp_samples.CONFIG)
    return platform


@pytest.fixture
def twilio(sending: Sending) -> Twilio:
    platform = Twilio()
    sending.show(platform)
    sending.id = sending.create("sms-provider", twilio_samples.CONFIG)
    return platform


def _call(sending: Sending, body: Any) -> None:
    call = whatsapp_samples.posted(body)
    reply = sending.rest.call("business-messaging", sending.id, call.body, call.headers, "webhook")
    assert reply.outcome == "done", reply


def _until_sent(sending: Sending) -> None:
    until(lambda: sending.status()["status"] == "sent", "the message is sent")


@given("ann has sent a WhatsApp message to ada")
def sent_whatsapp(sending: Sending, whatsapp: WhatsApp) -> None:
    assert sending.send(to=f"+{ADA}", text="Welcome").outcome == "accepted"
    _until_sent(sending)


@given("ann has sent an SMS to ada")
def sent_sms(sending: Sending, twilio: Twilio) -> None:
    assert sending.send(to=ADA_SMS, text="Welcome").outcome == "accepted"
    _until_sent(sending)


@given("ada has written to the WhatsApp number")
@when("ada writes again")
def written(sending: Sending, whatsapp: WhatsApp) -> None:
    before = len(whatsapp.messages)
    body = whatsapp_samples.fixture("text")
    body["entry"][0]["changes"][0]["value"]["messages"][0]["id"] = f"wamid.ada{sending.count('inbox')}"
    _call(sending, body)
    assert sending.driver.wait_until(lambda: len(whatsapp.messages) > before)
    until(lambda: sending.count("outbox", "status = 0") == 0, "the answer is marked as sent")
    whatsapp.messages.clear()


@given(parsers.parse("WhatsApp hands over today what ada wrote {hours:d} hours ago"))
def handed_over_late(sending: Sending, whatsapp: WhatsApp, hours: int) -> None:
    before = len(whatsapp.messages)
    body = whatsapp_samples.fixture("text")
    written_at = datetime.now(UTC) - timedelta(hours=hours)  # by the clock of the database
    late = {"id": "wamid.late", "timestamp": str(int(written_at.timestamp()))}
    body["entry"][0]["changes"][0]["value"]["messages"][0] |= late
    _call(sending, body)
    assert sending.driver.wait_until(lambda: len(whatsapp.messages) > before)


@when(parsers.re(r"WhatsApp reports (?P<reports>[a-z, ]+)$"))
def whatsapp_reports(sending: Sending, whatsapp: WhatsApp, reports: str) -> None:
    ref = "wamid.1"
    if reports == "that another message was read":
        ref, reports = "wamid.99", "read"
    for state in reports.split(", "):
        body = whatsapp_samples.fixture("status_failed" if state == "failed" else "status_delivered")
        status = body["entry"][0]["changes"][0]["value"]["statuses"][0]
        status |= {"id": ref, "status": state}
        _call(sending, body)


@when(parsers.parse("Twilio reports {reports}"))
def twilio_reports(sending: Sending, twilio: Twilio, reports: str) -> None:
    for state in reports.split(", "):
        form = {
            "MessageSid": f"SM{1:032d}",
            "MessageStatus": state,
            "AccountSid": twilio_samples.CONFIG["accountSid"],
            "To": ADA_SMS,
            "From": twilio_samples.CONFIG["providerPhoneNumber"],
        }
        headers = {"content-type": "application/x-www-form-urlencoded"}
        body = urlencode(form).encode()
        reply = sending.rest.call("sms-provider", sending.id, body, headers, "webhook")
        assert reply.outcome == "done", reply


@when(parsers.parse("{hours:d} hours pass"))
def hours_pass(sending: Sending, hours: int) -> None:
    pass_time(sending.world, hours * 3600)


def _place(place: str) -> dict[str, str]:
    return {"sessionId": ADA} if place == "ada's conversation" else {"to": f"+{ADA}"}


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to (?P<place>ada\'s .+)'))
def sends(sending: Sending, whatsapp: WhatsApp, text: str, place: str) -> None:
    sending.send(text=text, **_place(place))


@when(parsers.re(r'ann sends the template "(?P<name>[^"]+)" to (?P<place>ada\'s .+)'))
def sends_template(sending: Sending, whatsapp: WhatsApp, name: str, place: str) -> None:
    template = {"name": name, "language": "en_US", "parameters": ["4711"]}
    sending.send(template=template, **_place(place))


@when("ann replays it")
def replays(sending: Sending) -> None:
    [dead] = sending.rest.deliveries("ann", sending.id, "dead").body["deliveries"]
    assert sending.rest.replay("ann", sending.id, dead["id"]).outcome == "accepted"


@then("ada has it twice")
def has_twice(sending: Sending, whatsapp: WhatsApp) -> None:
    assert [message["text"]["body"] for message in whatsapp.messages] == ["Welcome", "Welcome"]
    assert len(set(whatsapp.keys)) == 1


@then(parsers.parse('ada gets the template "{name}"'))
def gets_template(sending: Sending, whatsapp: WhatsApp, name: str) -> None:
    assert sending.driver.wait_until(lambda: len(whatsapp.messages) == 1)
    template = whatsapp.messages[0]["template"]
    assert (template["name"], template["language"]) == (name, {"code": "en_US"})
    assert template["components"][0]["parameters"] == [{"type": "text", "text": "4711"}]


@then(parsers.parse('its reason is "{words}"'))
def has_reason(sending: Sending, words: str) -> None:
    assert words in sending.status()["error"]


@then("the error asks for a template")
def asks_for_template(sending: Sending) -> None:
    assert "template" in sending.last.error
    assert "24 hours" in sending.last.error


@then("Twilio was told where to report")
def told_where(sending: Sending, twilio: Twilio) -> None:
    [message] = twilio.messages
    address, _, query = message["StatusCallback"].partition("?")
    assert address == f"{AGENT}/api/agent/channels/sms-provider/{sending.id}/webhook"
    assert query.startswith("part=")
