"""What the contract suite needs of this channel."""

import hashlib
import hmac
import uuid
from pathlib import Path

from adapters.outbound.channels.tests.sample import Opening, Sample
from adapters.outbound.channels.tests.support import call

FIXTURES = Path(__file__).parents[1] / "fixtures"
ADDRESS = "https://198.51.100.7/answers?team=support"
SECRET = "a-secret-of-the-user"
MESSAGE = (FIXTURES / "message.json").read_bytes()
NESTED = (FIXTURES / "nested.json").read_bytes()


def signature(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def signed(body: bytes) -> dict[str, str]:
    return {"X-Webhook-Signature": signature(body), "Idempotency-Key": "call-1"}


SAMPLE = Sample(
    fields=(
        "responseWebhookUrl string, webhookSecret string, messageField string, "
        "sessionIdField string, responseHeaders string, syncResponse boolean, "
        "identifyUsers boolean, accessMode string"
    ),
    account_by_target=True,
    config={"webhookSecret": SECRET, "responseWebhookUrl": "https://app.example/answers"},
    genuine={
        "message": call(body=MESSAGE, headers=signed(MESSAGE)),
        "nested": call(body=NESTED, headers=signed(NESTED)),
    },
    forged={
        "signature": call(body=MESSAGE, headers={"X-Webhook-Signature": signature(MESSAGE, "another")}),
        "no signature": call(body=MESSAGE),
    },
    target={"url": "https://app.example/answers"},
    shown=lambda part: str(part.payload["response"]),
    openings=(
        Opening(
            ADDRESS,
            str(uuid.uuid5(uuid.NAMESPACE_URL, ADDRESS)),
            lambda request: request.url == ADDRESS,
            config={"responseWebhookUrl": ADDRESS},
        ),
    ),
    no_addresses=(
        "198.51.100.7",
        "ftp://198.51.100.7/",
        "http://",
        "http://169.254.169.254/latest",
        "mailto:a@b.c",
    ),
)
