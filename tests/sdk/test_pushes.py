"""The signature of pushed events, against the library of Standard Webhooks."""

import base64
import json
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook
from switchboard_sdk import BadSignature, verify_push

SECRET = "whsec_" + base64.b64encode(b"a" * 32).decode()
NOW = 1_800_000_000
BODY = json.dumps({"id": 42, "kind": "message.answered"}).encode()


def headers(secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    signature = Webhook(secret).sign("evt_42", datetime.fromtimestamp(at, UTC), BODY.decode())
    return {"webhook-id": "evt_42", "webhook-timestamp": str(at), "Webhook-Signature": f"v1,AA== {signature}"}


def test_a_push_of_the_holder_of_the_secret_is_an_event() -> None:
    assert verify_push(SECRET, headers(), BODY, now=NOW + 60)["kind"] == "message.answered"


@pytest.mark.parametrize(
    ("given", "body"),
    [
        (headers("whsec_" + base64.b64encode(b"b" * 32).decode()), BODY),
        (headers(), BODY + b" "),
        (headers() | {"webhook-id": "evt_43"}, BODY),
        (headers(at=NOW - 301), BODY),
        (headers() | {"webhook-timestamp": "²"}, BODY),
        (headers() | {"webhook-timestamp": "9" * 5000}, BODY),
        (headers() | {"Webhook-Signature": "v1,é"}, BODY),
        ({}, BODY),
    ],
)
def test_any_other_push_is_refused(given: dict[str, str], body: bytes) -> None:
    with pytest.raises(BadSignature):
        verify_push(SECRET, given, body, now=NOW)
