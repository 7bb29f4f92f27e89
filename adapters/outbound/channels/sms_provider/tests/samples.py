"""What the contract suite needs of this channel."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from twilio.request_validator import RequestValidator

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.sms_provider import webhook
from adapters.outbound.channels.sms_provider.config import CONFIG as MODEL
from adapters.outbound.channels.tests.sample import Opening, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Event, RawCall
from ports.http import HttpRequest

URL = "https://switchboard.example/api/agent/channels/sms-provider/7/webhook"
TOKEN = "0123456789abcdef0123456789abcdef"
MESSAGE = json.loads((Path(__file__).parents[1] / "fixtures/message.json").read_text())


def _signed(fields: dict[str, str], signature_of: dict[str, str]) -> RawCall:
    signature = RequestValidator(TOKEN).compute_signature(URL, signature_of)
    return call(form=fields, url=URL, headers={"X-Twilio-Signature": signature})


CONFIG = {
    "accountSid": "AC00000000000000000000000000000001",
    "authToken": TOKEN,
    "providerPhoneNumber": "+4915735980001",
}


def _event(sender: str) -> Event:
    fields = {**MESSAGE, "From": sender}
    return webhook.receive(MODEL.load(CONFIG), _signed(fields, fields), {}, NOW).events[0]


def _sends_between(to: str, own: str) -> Callable[[HttpRequest], bool]:
    return lambda request: (text(request.form, "To"), text(request.form, "From")) == (to, own)


SAMPLE = Sample(
    fields=(
        "accountSid string R, authToken string R, providerPhoneNumber string R, "
        "messagingServiceSid string, acknowledge boolean, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    config=CONFIG,
    genuine={"message": _signed(MESSAGE, MESSAGE), "unsigned": call(form=MESSAGE, url=URL)},
    forged={
        "text": _signed({**MESSAGE, "Body": "Another text"}, MESSAGE),
        "account": call(form={**MESSAGE, "AccountSid": "AC2"}, url=URL),
    },
    target={"to": "+4915112345678", "callback": URL},
    addresses={"SMS_PROVIDER_API_URL": "https://api.twilio.com"},
    shown=lambda part: str(part.payload["body"]),
    openings=[
        Opening(
            network + "+4915112345678",
            network + "+4915112345678",
            sent_to=_sends_between(f"{network}+4915112345678", f"{network}+4915735980001"),
            answered=partial(_event, f"{network}+4915112345678"),
        )
        for network in ("", "whatsapp:")
    ],
    no_addresses=("4915112345678", "+0151123", "whatsapp:", "messenger:+4915112345678", "12345"),
    of_recipient=[
        refusal(400, code=code, message="no") for code in (21610, 21211, 21614, 21612, 63024, 63032)
    ],
)
