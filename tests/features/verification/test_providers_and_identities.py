"""Runs providers_and_identities.feature, and the steps of it that need a channel."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when
from twilio.request_validator import RequestValidator

from adapters.outbound.channels.business_messaging.tests import samples as whatsapp_samples
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import BASE, INSTANCES, Rest
from tests.support.platforms.standin import StandIn
from tests.support.platforms.twilio import ACCOUNT, TOKEN, Twilio
from tests.support.platforms.whatsapp import WhatsApp

SETTINGS: dict[str, str] = {}
scenarios("providers_and_identities.feature")

CONFIGS: Mapping[str, Mapping[str, Any]] = {
    "business-messaging": whatsapp_samples.CONFIG,
    "sms-provider": {"accountSid": ACCOUNT, "authToken": TOKEN, "providerPhoneNumber": "+4915735980001"},
}


@pytest.fixture(scope="module", autouse=True)
def phones() -> Iterator[PlatformDriver]:
    """The server of WhatsApp and Twilio, whose address is a setting of the module's world."""
    driver = PlatformDriver()
    SETTINGS.update(BUSINESS_MESSAGING_API_URL=driver.url, SMS_PROVIDER_API_URL=driver.url)
    yield driver
    driver.close()


@dataclass
class Closed:
    """An instance that serves verified users alone."""

    channel: str
    id: int
    driver: PlatformDriver

    def said_to(self, phone: str) -> list[str]:
        platform = self.driver.platform
        if isinstance(platform, WhatsApp):
            return [each["text"]["body"] for each in platform.messages if each["to"] == phone]
        assert isinstance(platform, Twilio)
        return [each["Body"] for each in platform.messages if each["To"] == f"+{phone}"]

    def call_of(self, phone: str, text: str) -> RawCall:
        if self.channel == "business-messaging":
            body = whatsapp_samples.fixture("text")
            value = body["entry"][0]["changes"][0]["value"]
            value["contacts"][0]["wa_id"] = value["messages"][0]["from"] = phone
            value["messages"][0] |= {"id": f"wamid.{phone}", "text": {"body": text}}
            return whatsapp_samples.posted(body)
        fields = {"AccountSid": ACCOUNT, "From": f"+{phone}", "To": "+4915735980001", "Body": text}
        fields["MessageSid"] = f"SM{phone:0>32}"
        url = f"{BASE}/api/agent/channels/sms-provider/{self.id}/webhook"
        signature = RequestValidator(TOKEN).compute_signature(url, fields)
        return call(form=fields, headers={"X-Twilio-Signature": signature})


@given(
    parsers.re(r"Bob's (?P<channel>\S+) instance, which an admin trusts, serves verified users alone"),
    target_fixture="closed",
)
def closed_instance(rest: Rest, phones: PlatformDriver, channel: str) -> Closed:
    platform: StandIn = WhatsApp() if channel == "business-messaging" else Twilio()
    phones.show(platform)
    body = {
        "channelId": channel,
        "channelName": "Closed",
        "config": {**CONFIGS[channel], "accessMode": "allowlist"},
        "downStreamResourceId": "agent::echo",
    }
    made = rest.request("POST", INSTANCES, "bob", json=body)
    assert made.status_code == 201, made.text
    instance = made.json()["instanceId"]
    assert rest.trust("admin", instance, trusted=True).outcome == "done"
    return Closed(channel, instance, phones)


@when(parsers.re(r"(?P<phone>\d+) writes \"(?P<text>[^\"]+)\" to it"))
def writes(rest: Rest, closed: Closed, phone: str, text: str) -> None:
    posted = closed.call_of(phone, text)
    reply = rest.call(closed.channel, closed.id, posted.body, posted.headers, "webhook")
    assert reply.outcome == "done"


@then(parsers.re(r"(?P<phone>\d+) is answered \"(?P<text>[^\"]+)\""))
def answered(closed: Closed, phone: str, text: str) -> None:
    assert closed.driver.wait_until(lambda: closed.said_to(phone) == [text]), closed.said_to(phone)


@then(parsers.re(r"(?P<phone>\d+) is told where to verify"))
def told(closed: Closed, phone: str) -> None:
    assert closed.driver.wait_until(lambda: len(closed.said_to(phone)) == 1)
    assert "Verify your identity at http" in closed.said_to(phone)[0]
