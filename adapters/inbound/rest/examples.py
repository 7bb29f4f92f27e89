"""Examples of the OpenAPI description that no model has: errors, other types, callbacks of platforms, and requests to
create an instance of each channel."""

from typing import Any

from adapters.inbound.rest.bodies import REQUEST_ID

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
        "text": "/start uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R",
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

_KEY = "8f0e5b7c1d2a4e6f9b3c5d7e1f2a4b6c8d0e2f4a6b8c0d1e3f5a7b9c1d3e5f70"

CONFIGS: dict[str, dict[str, Any]] = {
    "workspace-chat": {
        "botToken": "xoxb-1234567890-abcdefghij",
        "signingSecret": "8f742231b10e8888abcd99yyyzzz85a5",
        "defaultChannel": "C0123456789",
        "allowedChannels": "C0123456789,C0123456790",
        "replyInThread": True,
    },
    "enterprise-chat": {
        "appId": "2b6f1c0e-6d0e-4f7e-9a54-0a4c3f5f2b11",
        "appPassword": "app-password",
        "tenantId": "7a1d9c3e-1b2c-4d5e-8f90-112233445566",
    },
    "community-chat": {
        "SERVER_URL": "https://chat.example.com",
        "channelId": "4yuhb4ksfbyibqaxa7x3c8z5he",
        "token": "x8fkz5d4wtgmxqu6o1rjc3h7ne",
    },
    "gaming-chat": {
        "botToken": "MTA1.bot.token",
        "applicationId": "845027738276462632",
        "publicKey": _KEY,
        "defaultChannelId": "645027906669510667",
    },
    "bot-messenger": {"botToken": "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "parseMode": "HTML"},
    "business-messaging": {
        "phoneNumberId": "106540352242922",
        "accessToken": "EAAJB-access-token",
        "webhookVerifyToken": "chosen-by-you",
        "appSecret": "app-secret",
        "apiVersion": "v21.0",
    },
    "linked-device-messaging": {"phoneNumber": "4915112345678", "allowedNumbers": "4917012345678"},
    "sms-provider": {
        "accountSid": "AC0123456789abcdef0123456789abcdef",
        "authToken": "auth-token",
        "providerPhoneNumber": "+14155550100",
    },
    "email": {
        "smtpHost": "smtp.example.com",
        "smtpPort": 587,
        "smtpSecure": False,
        "imapHost": "imap.example.com",
        "imapPort": 993,
        "imapSecure": True,
        "username": "support@example.com",
        "password": "app-password",
        "fromEmail": "support@example.com",
        "checkInterval": 5,
    },
    "mail-api": {
        "clientId": "1234.apps.googleusercontent.com",
        "clientSecret": "client-secret",
        "refreshToken": "1//refresh-token",
        "checkInterval": 5,
    },
    "http-webhook": {
        "webhookSecret": "s3cret",
        "messageField": "data.message",
        "sessionIdField": "data.session",
        "syncResponse": True,
    },
    "cron": {
        "cronSchedule": "0 9 * * 1-5",
        "message": "What happened since yesterday?",
        "timezone": "Europe/Berlin",
        "enabled": True,
    },
    "drive-folder": {
        "clientId": "1234.apps.googleusercontent.com",
        "clientSecret": "client-secret",
        "refreshToken": "1//refresh-token",
        "folderId": "1AbCdEfGhIjKlMnOpQrStUvWxYz",
        "fileTypes": "pdf,docx",
        "checkInterval": 10,
    },
    "erp-events": {
        "erpUrl": "https://odoo.example.com",
        "database": "production",
        "username": "agent@example.com",
        "password": "api-key",
        "models": "sale.order,res.partner",
        "events": "create,write",
        "checkInterval": 5,
    },
    "web-chat": {
        "allowedOrigins": "https://www.example.com",
        "title": "Help",
        "greeting": "How can we help?",
        "colour": "#0b5fff",
    },
    "chat-completions-api": {"apiKey": "sk-choose-a-long-random-one", "modelName": "desk"},
    "agent-protocol": {
        "apiKey": "sk-choose-a-long-random-one",
        "agentName": "Desk",
        "agentDescription": "Answers questions about orders.",
        "skills": "Orders: tells where an order is",
    },
}

CREATE: dict[str, Any] = {
    channel_id: {
        "summary": channel_id,
        "value": {
            "channelId": channel_id,
            "channelName": f"My {channel_id}",
            "config": config,
            "downStreamResourceId": "agent::echo",
        },
    }
    for channel_id, config in CONFIGS.items()
}
UPDATE: dict[str, Any] = {
    channel_id: {"summary": channel_id, "value": {"config": config, "channelName": f"My {channel_id}"}}
    for channel_id, config in CONFIGS.items()
}

SEND: dict[str, Any] = {
    "conversation": {
        "summary": "To a known conversation",
        "value": {"sessionId": "C0123456789", "text": "Your order **4711** is ready."},
    },
    "address": {
        "summary": "To an address, with a file and choices",
        "value": {
            "to": "C0123456789",
            "text": "Here is the report. Shall I order the spare part?",
            "files": [
                {
                    "name": "report.pdf",
                    "mimeType": "application/pdf",
                    "url": "https://files.example.com/report.pdf",
                },
                {"name": "note.txt", "mimeType": "text/plain", "dataBase64": "SGVsbG8="},
            ],
            "choices": [{"label": "Yes", "value": "order"}, {"label": "No", "value": "leave"}],
        },
    },
    "default": {"summary": "To the default channel", "value": {"text": "Good morning"}},
    "mail": {
        "summary": "As a mail",
        "value": {"to": "ann@example.com", "subject": "Your order", "text": "It is ready."},
    },
    "template": {
        "summary": "WhatsApp, after 24 hours without a message of the person",
        "value": {
            "to": "+4915112345678",
            "template": {"name": "order_ready", "language": "en_US", "parameters": ["4711"]},
        },
    },
}
