"""What the contract suite of channels needs of WhatsApp."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.channels.business_messaging import webhook
from adapters.outbound.channels.business_messaging.config import CONFIG as MODEL
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.calls import signature
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from domain.channels.messages import Attachment, Event, RawCall
from tests.support.platforms.whatsapp import NUMBER_ID, SECRET, TOKEN

FIXTURES = Path(__file__).parent.parent / "fixtures"
CONFIG: dict[str, Any] = {
    "phoneNumberId": NUMBER_ID,
    "accessToken": TOKEN,
    "webhookVerifyToken": "steam engine",
    "appSecret": SECRET,
}
SETTING = "BUSINESS_MESSAGING_API_URL"
TARGET = {"to": "441632960001", "message_id": "wamid.HBgM0001"}


def fixture(name: str) -> Any:
    """A recorded notification."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def notification(name: str) -> RawCall:
    """A recorded notification as Meta posts it."""
    return posted(fixture(name))


def posted(body: Any) -> RawCall:
    """Any body as Meta posts it."""
    return signed(json.dumps(body).encode())


def signed(body: bytes) -> RawCall:
    headers = {"Content-Type": "application/json", "X-Hub-Signature-256": signature(SECRET, body)}
    return call(body=body, headers=headers)


def challenge(**changed: str) -> RawCall:
    """The call by which Meta checks a new callback address."""
    query = {
        "hub.mode": "subscribe",
        "hub.challenge": "1158201444",
        "hub.verify_token": "steam engine",
    } | {name.replace("_", ".", 1): value for name, value in changed.items()}
    return call(method="GET", url=f"https://switchboard.example/webhook?{urlencode(query)}")


def tampered() -> list[RawCall]:
    """Calls whose proof of origin is wrong."""
    first = notification("text")
    right = first.headers["x-hub-signature-256"]
    wrong = ("", "sha256=", right.removeprefix("sha256="), right[:-1], "sha256=ü", "sha1=" + "0" * 40)
    headers = [{"X-Hub-Signature-256": each} for each in wrong]
    return [
        call(body=first.body + b"\n", headers=first.headers),
        call(body=first.body),
        *(call(body=first.body, headers=each) for each in headers),
    ]


def replied() -> Event:
    """The event of a reply, of which WhatsApp tells the id of what was replied to."""
    body = fixture("text")
    message = body["entry"][0]["changes"][0]["value"]["messages"][0]
    message["context"] = {"from": "441632960001", "id": "wamid.HBgM0000"}
    return webhook.receive(MODEL.load(CONFIG), posted(body), {}, NOW).events[0]


SAMPLE = Sample(
    fields=(
        "phoneNumberId string R, accessToken string R, webhookVerifyToken string R, "
        "appSecret string, apiVersion string, ackReaction string, reactions boolean, "
        "identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    reacted_to="wamid.1",
    typing_shown_seconds=25.0,
    attachment=Attachment("a.png", "image/png", {"id": "f1"}),
    config=CONFIG,
    genuine={
        name: notification(name)
        for name in (
            "text",
            "text_scoped",
            "text_in_group",
            "text_from_ad",
            "button_reply",
            "list_reply",
            "image",
            "location",
        )
    },
    forged={str(number): each for number, each in enumerate(tampered())},
    target=TARGET,
    addresses={SETTING: "https://graph.facebook.com"},
    shown=lambda part: str(part.payload["text"]),
    openings=(
        Opening(
            "+441632960001",
            "441632960001",
            sent_to=lambda request: text(request.json, "to") == "441632960001",
            answered=lambda: webhook.receive(MODEL.load(CONFIG), notification("text"), {}, NOW).events[0],
        ),
    ),
    no_addresses=("441632960001", "+0441632960001", "+44", "GB.1234567890", "+44 1632 960001"),
    replies=(Reply(replied, "It is hot.", "441632960001"),),
    of_recipient=[
        refusal(400, error={"code": code, "message": "no"})
        for code in (131026, 131049, 131050, 130472, 131056)
    ],
)
