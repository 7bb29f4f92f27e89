"""What WhatsApp is in business_messaging.feature."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pytest_bdd import scenarios

from adapters.outbound.channels.business_messaging.tests import samples
from domain.channels.messages import RawCall
from tests.features.callbacks.conftest import Chat
from tests.support.channels import call
from tests.support.platforms.whatsapp import WhatsApp

THROUGH = "way"
scenarios("business_messaging.feature")


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
)
