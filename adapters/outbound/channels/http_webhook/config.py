"""Configuration, targets and set-up of http-webhook."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.config import steps
from domain.channels.model import ChannelDefinition, Format, SetupInstructions
from domain.channels.typed import ChannelTarget, CommonConfig, ConfigModel, JsonModel, setting
from domain.instances.validation import text_fault
from domain.json_text import TOO_DEEP, TOO_LONG, TooDeep, TooLong, loads
from domain.limits import CHOICES
from domain.subscriptions.model import is_standard, standard_key
from domain.values import value

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x20-\xff]*")
_NO_OBJECT = 'must be JSON text of an object, for example {"X-Team": "support"}'


def secret_fault(secret: str) -> str | None:
    """Returns the fault of a configured secret: what follows whsec_ must be the key in base64."""
    if not is_standard(secret):
        return text_fault(secret)
    if standard_key(secret):
        return None
    return "begins with whsec_, so what follows must be a key in base64, with its padding"


def dot_path_fault(path: str) -> str | None:
    good = all(segment.strip() for segment in path.split("."))
    return None if good else "must be a dot-path such as data.message, with no empty segment"


def headers_fault(json_text: str) -> str | None:
    try:
        headers = loads(json_text)
    except TooDeep:
        return TOO_DEEP
    except TooLong:
        return TOO_LONG
    except ValueError:
        return _NO_OBJECT
    if not isinstance(headers, dict):
        return _NO_OBJECT
    for name, content in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            return f"'{name[:100]}' is not a header name"
        if not isinstance(content, str) or not _HEADER_VALUE.fullmatch(content):
            return f"the value of '{name[:100]}' must be a string of printable Latin-1 characters"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookConfig(CommonConfig):
    response_webhook_url: str = setting(
        "Where answers are POSTed when the payload names no responseUrl or response_url.", format=Format.URL
    )
    webhook_secret: str = setting(
        "Secret for HMAC-SHA256 signatures. When set, calls without a valid signature are refused and answers are "
        "signed. A secret that begins with whsec_ also turns on Standard Webhooks signatures.",
        secret=True,
        check=secret_fault,
    )
    message_field: str = setting(
        "Dot-path to the message in the JSON body, for example data.message or items.0.text.",
        check=dot_path_fault,
    )
    session_id_field: str = setting(
        "Dot-path to the session id in the JSON body; messages of one session are answered in order.",
        check=dot_path_fault,
    )
    response_headers: str = setting(
        'Headers to add to answers, as JSON text, for example {"X-Team": "support"}.',
        secret=True,  # often an Authorization
        check=headers_fault,
    )
    sync_response: bool = setting(
        "true: the call waits up to 30 seconds and gets the answer itself; false (default): it is accepted at once "
        "and the answer is POSTed to the response address.",
        basic=True,
    )


@value
class WebhookTarget(ChannelTarget):
    """The response address, empty for an answer that goes nowhere but into the call."""

    url: str = ""


CONFIG = ConfigModel(WebhookConfig)
TARGET = JsonModel(WebhookTarget)

DEFINITION = ChannelDefinition(
    id="http-webhook",
    name="HTTP webhook",
    description="Any program that can POST JSON: the answer comes back in the same call, or at an address of yours.",
    fields=CONFIG.fields,
    without_public_address="Programs in the same network call it at the address of this server.",
    setup=SetupInstructions(
        title="Set up an HTTP webhook",
        steps=steps("""
            - Create the instance. Its address is
              {base_url}/api/agent/channels/http-webhook/{instance_id}/webhook.
            - POST JSON to it, for example {"message": "Hello", "sessionId": "42"}.
            - To have the answer in the same call, set syncResponse to true. Otherwise give an address:
              responseUrl in the payload, or responseWebhookUrl in the configuration.
            - To prove where calls come from, set webhookSecret and send the header X-Webhook-Signature: the
              hexadecimal HMAC-SHA256 of the raw body, with or without the prefix sha256=. Check the same header
              on the answers that you receive.
            - So that a repeated call is not answered twice, send the same Idempotency-Key header with each try.
        """),
        docs_url="https://www.standardwebhooks.com/",
        webhook_required=True,
    ),
    buttons=CHOICES,
)
