"""Examples of what is not JSON of the API's own: errors, other types, callbacks of platforms, and parameters."""

from typing import Any

from adapters.inbound.rest.example_values import DEEP_LINK_CODE, PUBLIC_ID, REQUEST_ID

ERRORS: dict[str, str] = {
    "400": "config.smtpPort: must be a number",
    "401": "Unauthorized",
    "403": "Forbidden",
    "404": "there is no instance 99",
    "405": "PATCH is not allowed at /api/agent/channel-instances/1",
    "409": "channelName: you have an active http-webhook instance named 'Support' already",
    "413": "the body is over 1024 KB",
    "415": "pump.dwg: this format is not supported",
    "416": "range: lies outside the file, which has 48213 bytes",
    "422": "pump.pdf: the file is encrypted",
    "429": "too many codes were sent within the hour; try again later",
    "500": "Internal server error",
    "503": "the database is away for the moment; try again shortly",
}

TEXTS: dict[str, str] = {
    "application/octet-stream": "(the bytes of the file)",
    "text/event-stream": (
        "retry: 3000\nid: 41\n\nid: 42\nevent: delivery.sent\n"
        'data: {"id":42,"kind":"delivery.sent","at":"2026-03-01T09:30:00.000Z","instanceId":1,"sessionId":"s-1",'
        '"data":{"messageId":"out-7","deliveryId":9}}\n\n'
    ),
    "text/html": "<!doctype html><title>Verification</title><p>Your identity is verified.</p>",
    "text/plain": "switchboard_accepted_total 42.0\n",
}
"""What answers in other types look like, by the type."""

BOT_UPDATE: dict[str, Any] = {
    "update_id": 10000,
    "message": {
        "message_id": 1,
        "date": 1767225600,
        "chat": {"id": 77, "type": "private"},
        "from": {"id": 77, "is_bot": False, "first_name": "Ann"},
        "text": f"/start {DEEP_LINK_CODE}",
    },
}

CALLBACK_BODIES: dict[str, Any] = {
    "http-webhook": {"summary": "http-webhook", "value": {"message": "Hello", "sessionId": "session-1"}},
    "cron": {"summary": "cron: manual_trigger", "value": {"message": "Check the machines now."}},
    "workspace-chat": {
        "summary": "workspace-chat: the challenge of the set-up",
        "value": {
            "type": "url_verification",
            "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
        },
    },
    "bot-messenger": {"summary": "bot-messenger", "value": BOT_UPDATE},
}
CALLBACK_FORMS: dict[str, Any] = {
    "sms-provider": {
        "summary": "sms-provider",
        "value": {
            "AccountSid": "AC0123456789abcdef0123456789abcdef",
            "MessageSid": "SM0123456789abcdef0123456789abcdef",
            "From": "+14155550123",
            "To": "+14155550100",
            "Body": "Hello",
        },
    }
}

CALLBACKS: dict[str, Any] = {
    "200": {"status": "accepted", "requestId": REQUEST_ID, "message": "The message was accepted."},
    "202": {"status": "accepted", "requestId": REQUEST_ID},
    "502": {"status": "error", "requestId": REQUEST_ID, "message": "The resource could not answer."},
    "504": {"status": "timeout", "requestId": REQUEST_ID, "message": "No answer within 30 seconds."},
}

PARAMETERS: dict[str, tuple[str, object]] = {
    "type": ("Id of a channel.", "http-webhook"),
    "instanceId": ("Id of an instance.", "1"),
    "publicId": ("Id by which web pages name an instance: its publicId.", PUBLIC_ID),
    "messageId": ("Id of a message.", "send-7"),
    "subscriptionId": ("Id of a subscription.", "12"),
    "kind": ("`key` for API keys, `session` for sessions in browsers.", "key"),
    "keyId": ("Id of an API key or of a session.", "3"),
    "pushId": ("Id of a push.", "7"),
    "direction": ("Only messages of senders (in) or to them (out).", "out"),
    "failing": ("Only instances that are not healthy.", True),
    "period": ("The last hour by minutes, or the last day by half hours.", "hour"),
    "sessionId": ("Id of a conversation, as its messages have it.", "4711"),
    "cursor": ("The value of next in the answer before.", "WzE3NjcyMjU2MDAwMDAwMDAsIjQ3MTEiXQ"),
    "query": ("A text that is contained.", "pump"),
    "handler": ("Who answers: person or resource.", "person"),
    "waiting": ("Whether messages of the sender have no answer yet.", True),
    "latestFirst": ("From the end of the chat to its beginning.", False),
    "Idempotency-Key": ("1 to 200 printable ASCII characters without blanks.", "order-4711-ready"),
    "sourceId": ("Id of a source.", "5"),
    "keepFiles": ("true: what was read stays in the base.", False),
    "state": ("Only pages in this state.", "failed"),
    "deliveryId": ("Id of a delivery.", "7"),
    "unansweredId": ("Id of a message that is not answered.", "12"),
    "callback": ("Name of the callback: `webhook`, or what the channel's page names.", "webhook"),
    "field": ("Type of an identity.", "email"),
    "value": ("Value of an identity.", "ann@example.com"),
    "provider": ("workspace-chat, gaming-chat, community-chat or enterprise-chat.", "gaming-chat"),
    "token": ("Signed token of a file.", "c2lnbmVkLXRva2Vu"),
    "fields": ("Fields of a record.", ["file_name", "status"]),
    "name": ("Name of a file.", "pump.pdf"),
    "fileId": ("Hash of a file.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    "id": ("Id of a knowledge base.", "1"),
    "kinds": ("Only these kinds of events, separated by commas.", ["message.answered", "delivery.dead"]),
    "after": ("Go on behind the event of this id; without it, from now on.", 41),
    "Last-Event-ID": ("As `after`, and counts before it: browsers send it when they connect again.", 41),
    "status": ("Only deliveries in this state.", "dead"),
    "limit": ("How many, 1 to 1000.", 5),
    "offset": ("How many to leave out at the beginning.", 0),
    "Prefer": ("respond-async: answer 202 before the files can be found.", "respond-async"),
}
"""Description and example of each parameter, by its name."""
