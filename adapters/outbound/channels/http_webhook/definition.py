"""What the HTTP webhook channel is: its fields and its set-up."""

from __future__ import annotations

from domain.channels.model import (
    COMMON_FIELDS,
    ChannelDefinition,
    ConfigField,
    Format,
    SetupInstructions,
)

DEFINITION = ChannelDefinition(
    id="http-webhook",
    name="HTTP webhook",
    description="Any program that can POST JSON: the answer comes back in the same call, or at an address of yours.",
    fields=(
        ConfigField(
            "responseWebhookUrl",
            "string",
            "Where answers are POSTed when the payload names no responseUrl or response_url.",
            format=Format.URL,
        ),
        ConfigField(
            "webhookSecret",
            "string",
            "Secret for HMAC-SHA256 signatures. When set, calls without a valid signature are refused and answers"
            " are signed. A secret that begins with whsec_ also turns on Standard Webhooks signatures.",
            secret=True,
            format=Format.SIGNING_KEY,
        ),
        ConfigField(
            "messageField",
            "string",
            "Dot-path to the message in the JSON body, for example data.message or items.0.text.",
            format=Format.DOT_PATH,
        ),
        ConfigField(
            "sessionIdField",
            "string",
            "Dot-path to the session id in the JSON body; messages of one session are answered in order.",
            format=Format.DOT_PATH,
        ),
        ConfigField(
            "responseHeaders",
            "string",
            'Headers to add to answers, as JSON text, for example {"X-Team": "support"}.',
            format=Format.JSON_HEADERS,
        ),
        ConfigField(
            "syncResponse",
            "boolean",
            "true: the call waits up to 30 seconds and gets the answer itself; false (default): it is accepted at"
            " once and the answer is POSTed to the response address.",
        ),
        *COMMON_FIELDS,
    ),
    setup=SetupInstructions(
        title="Set up an HTTP webhook",
        steps=(
            "Create the instance. Its address is <AGENT_URL>/api/agent/channels/http-webhook/<instance id>/webhook.",
            'POST JSON to it, for example {"message": "Hello", "sessionId": "42"}.',
            (
                "To have the answer in the same call, set syncResponse to true. Otherwise give an address:"
                " responseUrl in the payload, or responseWebhookUrl in the configuration."
            ),
            (
                "To prove where calls come from, set webhookSecret and send the header X-Webhook-Signature: the"
                " hexadecimal HMAC-SHA256 of the raw body, with or without the prefix sha256=. Check the same header"
                " on the answers that you receive."
            ),
            "So that a repeated call is not answered twice, send the same Idempotency-Key header with each try.",
        ),
        docs_url="https://www.standardwebhooks.com/",
        webhook_required=True,
    ),
)
