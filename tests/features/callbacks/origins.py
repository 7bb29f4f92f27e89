"""Calls of each platform with its proof of origin, and the same calls with proofs that are wrong.

Proofs are made by the platforms' own libraries, or by nothing but hashes and keys: never by the code under test.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from nacl.signing import SigningKey
from slack_sdk.signature import SignatureVerifier
from twilio.request_validator import RequestValidator

from tests.support.platforms import teams

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
KEY, OTHER_KEY = SigningKey(b"\x01" * 32), SigningKey(b"\x02" * 32)
ACCOUNT = "AC00000000000000000000000000000001"


@dataclass(frozen=True)
class Call:
    """What is sent to the callback address."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    query: str = ""


@dataclass(frozen=True)
class Place:
    """Where and when a call is made; `platform` is the address of the platform's own server."""

    url: str
    platform: str
    now: datetime


Make = Callable[[Place], Call]


@dataclass(frozen=True)
class Origin:
    """A platform: its instance's configuration, a call that is proved, and how proofs can be wrong.

    `lacking` is the configuration without that with which calls are proved, and `unproved` a call for it.
    """

    config: Mapping[str, Any]
    genuine: Make
    faults: Mapping[str, Make]
    unproved: tuple[Mapping[str, Any], Make] | None = None


def _json(value: Any, **headers: str) -> Call:
    return Call(json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def _with(make: Make, **changed: Any) -> Make:
    """The call with headers, or the body, changed after it was proved; a header of None is left out."""

    def changed_call(place: Place) -> Call:
        call = make(place)
        body = changed.get("body", call.body)
        named = {name.replace("_", "-"): value for name, value in changed.items() if name != "body"}
        headers = {name: value for name, value in {**call.headers, **named}.items() if value is not None}
        return replace(call, body=body, headers=headers)

    return changed_call


def _at(make: Make, seconds: float) -> Make:
    """The call as it would have been proved at another moment."""
    return lambda place: make(replace(place, now=place.now + timedelta(seconds=seconds)))


# Slack


def _slack(secret: str = SECRET) -> Make:
    event = {
        "type": "message",
        "channel_type": "im",
        "user": "U1",
        "text": "hi",
        "channel": "D1",
        "ts": "1.1",
    }
    body = json.dumps({"type": "event_callback", "event_id": "Ev1", "event": event})

    def make(place: Place) -> Call:
        stamp = str(int(place.now.timestamp()))
        signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
        assert signature
        headers = {"Content-Type": "application/json", "X-Slack-Request-Timestamp": stamp}
        return Call(body.encode(), {**headers, "X-Slack-Signature": signature})

    return make


SLACK = Origin(
    {"botToken": "xoxb-1", "signingSecret": SECRET},
    _slack(),
    {
        "no signature": _with(_slack(), X_Slack_Signature=None),
        "a signature of another secret": _slack("another"),
        "a signature of another body": _with(_slack(), body=b'{"type": "event_callback"}'),
        "a signature of six minutes ago": _at(_slack(), -360),
        "a signature of six minutes ahead": _at(_slack(), 360),
        "no time stamp": _with(_slack(), X_Slack_Request_Timestamp=None),
    },
)

# Microsoft Teams


def _teams(**options: Any) -> Make:
    def make(place: Place) -> Call:
        service = f"{place.platform}/"
        activity = {
            "type": "message",
            "id": "1",
            "channelId": "msteams",
            "serviceUrl": service,
            "from": {"id": "29:1"},
            "recipient": {"id": "28:bot"},
            "conversation": {"id": "a:1", "conversationType": "personal"},
            "text": "hi",
        }
        return _json(activity, Authorization=f"Bearer {teams.token(place.now, service, **options)}")

    return make


TEAMS = Origin(
    {"appId": teams.APP_ID, "appPassword": teams.PASSWORD},
    _teams(),
    {
        "no token": _with(_teams(), Authorization=None),
        "a token of another key": _teams(key=teams.private_key("another")),
        "a token for another app": _teams(aud="another"),
        "a token of another issuer": _teams(iss="https://evil.example"),
        "a token that has ended": _teams(exp=1),
        "a token for another service": _teams(serviceurl="https://evil.example/"),
    },
    unproved=({"webhookUrl": "https://example.webhook.office.com/x"}, _with(_teams(), Authorization=None)),
)

# Mattermost


def _mattermost(token: str | None) -> Make:
    post = {"user_id": "u1", "channel_id": "c1", "text": "hi", "post_id": "p1"}
    return lambda place: _json(post if token is None else {**post, "token": token})


MATTERMOST = Origin(
    {"SERVER_URL": "http://127.0.0.1:9", "channelId": "c1", "token": "apitoken", "webhookToken": "hooktoken"},
    _mattermost("hooktoken"),
    {
        "no token": _mattermost(None),
        "an empty token": _mattermost(""),
        "another token": _mattermost("hooktokem"),
        "the beginning of the token": _mattermost("hooktoke"),
    },
)

# Discord


def _discord(key: SigningKey = KEY) -> Make:
    interaction = {
        "id": "1",
        "type": 2,
        "token": "t",
        "channel_id": "5",
        "user": {"id": "7", "username": "ann"},
        "data": {"name": "ask", "options": [{"name": "q", "type": 3, "value": "hi"}]},
    }
    body = json.dumps(interaction).encode()

    def make(place: Place) -> Call:
        stamp = str(int(place.now.timestamp()))
        signature = key.sign(stamp.encode() + body).signature.hex()
        return Call(body, {"X-Signature-Ed25519": signature, "X-Signature-Timestamp": stamp})

    return make


DISCORD = Origin(
    {"botToken": "t", "applicationId": "9", "publicKey": KEY.verify_key.encode().hex()},
    _discord(),
    {
        "no signature": _with(_discord(), X_Signature_Ed25519=None),
        "a signature of another key": _discord(OTHER_KEY),
        "a signature of another body": _with(_discord(), body=b'{"type": 1}'),
        "a signature of six minutes ago": _at(_discord(), -360),
        "no time stamp": _with(_discord(), X_Signature_Timestamp=None),
    },
    unproved=(
        {"botToken": "t", "applicationId": "9"},
        _with(_discord(), X_Signature_Ed25519=None, X_Signature_Timestamp=None),
    ),
)

# Telegram


def _telegram(secret: str | None) -> Make:
    who = {"id": 11, "is_bot": False, "first_name": "Ann"}
    message = {"message_id": 1, "date": 1, "from": who, "chat": {"id": 11, "type": "private"}, "text": "hi"}
    headers = {} if secret is None else {"X-Telegram-Bot-Api-Secret-Token": secret}
    return lambda place: _json({"update_id": 1, "message": message}, **headers)


TELEGRAM = Origin(
    {"botToken": "123456:AA"},
    _telegram(hashlib.sha256(b"123456:AA").hexdigest()),
    {
        "no secret": _telegram(None),
        "the token itself": _telegram("123456:AA"),
        "the secret of another bot": _telegram(hashlib.sha256(b"123456:AB").hexdigest()),
    },
)

# WhatsApp

NUMBER = "106540000000001"


def _whatsapp(secret: str = SECRET) -> Make:
    message = {"from": "441632960001", "id": "wamid.1", "type": "text", "text": {"body": "hi"}}
    value = {"metadata": {"phone_number_id": NUMBER}, "messages": [message]}
    body = json.dumps({"entry": [{"changes": [{"field": "messages", "value": value}]}]}).encode()
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return lambda place: Call(body, {"X-Hub-Signature-256": signature})


def _subscription(word: str) -> Make:
    query = urlencode({"hub.mode": "subscribe", "hub.challenge": "1158201444", "hub.verify_token": word})
    return lambda place: Call(b"", method="GET", query=query)


_WHATSAPP = {"phoneNumberId": NUMBER, "accessToken": "t", "webhookVerifyToken": "steam"}
WHATSAPP = Origin(
    {**_WHATSAPP, "appSecret": SECRET},
    _whatsapp(),
    {
        "no signature": _with(_whatsapp(), X_Hub_Signature_256=None),
        "a signature of another secret": _whatsapp("another"),
        "a signature of another body": _with(_whatsapp(), body=b'{"entry": []}'),
        "another verify token": _subscription("stea"),
        "no verify token": _subscription(""),
    },
    unproved=(_WHATSAPP, _with(_whatsapp(), X_Hub_Signature_256=None)),
)

# Twilio


def _twilio(token: str = SECRET, signed: str = "hi", **changed: str) -> Make:
    fields = {"AccountSid": ACCOUNT, "MessageSid": "SM1", "From": "+4915112345678", "To": "+1", "Body": "hi"}

    def make(place: Place) -> Call:
        signature = RequestValidator(token).compute_signature(place.url, {**fields, "Body": signed})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature}
        return Call(urlencode({**fields, **changed}).encode(), headers)

    return make


_TWILIO = {"accountSid": ACCOUNT, "authToken": SECRET, "providerPhoneNumber": "+15017122661"}
TWILIO = Origin(
    _TWILIO,
    _twilio(),
    {
        "another account": _twilio(AccountSid="AC2"),
        "no account and no signature": _with(_twilio(AccountSid=""), X_Twilio_Signature=None),
        "a signature of another token": _twilio("another"),
        "a signature of another text": _twilio(signed="ho"),
    },
    unproved=(_TWILIO, _with(_twilio(), X_Twilio_Signature=None)),
)

# HTTP webhook


def _webhook(header: str | None = "X-Webhook-Signature", secret: str = SECRET, prefix: str = "") -> Make:
    body = b'{"message": "hi"}'
    signature = prefix + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return lambda place: Call(
        body, {"Content-Type": "application/json"} | ({header: signature} if header else {})
    )


HTTP_WEBHOOK = Origin(
    {"webhookSecret": SECRET},
    _webhook(),
    {
        "no signature": _webhook(None),
        "a signature of another secret": _webhook(secret="another"),
        "a signature of another body": _with(_webhook(), body=b'{"message": "ho"}'),
        "a wrong X-Hub-Signature-256": _webhook("X-Hub-Signature-256", "another", "sha256="),
        "a wrong X-Signature": _webhook("X-Signature", "another"),
    },
)

ORIGINS: Mapping[str, Origin] = {
    "workspace-chat": SLACK,
    "enterprise-chat": TEAMS,
    "community-chat": MATTERMOST,
    "gaming-chat": DISCORD,
    "bot-messenger": TELEGRAM,
    "business-messaging": WHATSAPP,
    "sms-provider": TWILIO,
    "http-webhook": HTTP_WEBHOOK,
}

MORE_PROOFS: Mapping[str, Mapping[str, Make]] = {
    "community-chat": {"the API token": _mattermost("apitoken")},
    "business-messaging": {"the verify token": _subscription("steam")},
    "http-webhook": {
        "X-Hub-Signature-256": _webhook("X-Hub-Signature-256", prefix="sha256="),
        "X-Signature": _webhook("X-Signature"),
    },
}
"""Other proofs that a platform's call may bear."""
