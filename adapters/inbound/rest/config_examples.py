"""A complete request to create an instance of each channel: named examples of the OpenAPI description."""

from typing import Any

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
