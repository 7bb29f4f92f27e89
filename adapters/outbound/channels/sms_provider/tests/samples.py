"""What the contract suite needs of this channel."""

from __future__ import annotations

import json
from pathlib import Path

from twilio.request_validator import RequestValidator

from adapters.outbound.channels.tests.sample import Sample
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import RawCall

URL = "https://switchboard.example/api/agent/channels/sms-provider/7/webhook"
TOKEN = "0123456789abcdef0123456789abcdef"
MESSAGE = json.loads((Path(__file__).parents[1] / "fixtures/message.json").read_text())


def _signed(fields: dict[str, str], signature_of: dict[str, str]) -> RawCall:
    signature = RequestValidator(TOKEN).compute_signature(URL, signature_of)
    return call(form=fields, url=URL, headers={"X-Twilio-Signature": signature})


SAMPLE = Sample(
    fields=(
        "accountSid string R, authToken string R, providerPhoneNumber string R, "
        "messagingServiceSid string, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    config={
        "accountSid": "AC00000000000000000000000000000001",
        "authToken": TOKEN,
        "providerPhoneNumber": "+4915735980001",
    },
    genuine={"message": _signed(MESSAGE, MESSAGE), "unsigned": call(form=MESSAGE, url=URL)},
    forged={
        "text": _signed({**MESSAGE, "Body": "Another text"}, MESSAGE),
        "account": call(form={**MESSAGE, "AccountSid": "AC2"}, url=URL),
    },
    target={"to": "+4915112345678", "callback": URL},
    addresses={"SMS_PROVIDER_API_URL": "https://api.twilio.com"},
    shown=lambda part: str(part.payload["body"]),
)
