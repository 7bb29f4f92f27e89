"""Examples of the OpenAPI description: one for each body, and one for each status of an error."""

from __future__ import annotations

from typing import Any

AT = "2026-03-01T09:30:00.000Z"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
CHUNK_ID = "1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"
REQUEST_ID = "6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"

_CONFIG = {"webhookSecret": "s3cret", "syncResponse": True}
_DEFINITION = {
    "id": "cron",
    "name": "Cron",
    "description": "Sends a message to the downstream resource on a schedule.",
    "configDefinition": (
        '[{"name":"cronSchedule","type":"string","description":"Five fields: minute hour day month weekday.",'
        '"required":true}]'
    ),
    "type": "cron",
    "setupInstructions": {
        "webhookRequired": False,
        "webhookPath": "webhook",
        "title": "Set up a schedule",
        "steps": ["Write the schedule as a cron expression.", "Write the message to send."],
        "docsUrl": "https://en.wikipedia.org/wiki/Cron",
    },
}
_INSTANCE = {
    "id": 1,
    "channelId": "http-webhook",
    "channelName": "Support",
    "downStreamResourceId": "agent::echo",
    "config": _CONFIG,
    "userId": "ann",
    "status": "active",
    "channelType": "HTTP webhook",
    "channelTypeName": "http-webhook",
}
_SAVED = {"success": True, "instanceId": 1, "microserviceConnected": True, "webhookError": None}
_ACTIVITY = {"healthy": True, "lastSuccess": AT, "lastError": None, "lastErrorAt": None}
_PAGINATION = {"currentPage": 1, "totalPages": 1, "totalCount": 1, "limit": 5, "offset": 0}
_DELIVERY = {
    "id": 7,
    "status": "dead",
    "attempts": 8,
    "lastError": "HTTP 503",
    "createdAt": AT,
    "nextAttemptAt": None,
}
_BASE = {
    "id": 1,
    "name": "Handbook",
    "description": "How we work",
    "created_by": "ann",
    "created_at": AT,
    "updated_at": AT,
}
_UPLOADED = {"fileId": HASH, "fileName": "pump.pdf", "fileSize": 48213, "mimeType": "application/pdf"}
_FILE = {
    "id": 3,
    "knowledge_base_id": 1,
    "file_name": "pump.pdf",
    "file_path": f"sha256/9f/{HASH}",
    "fileHash": HASH,
    "text": "ERR-4711: the pump runs dry.",
    "created_at": AT,
    "updated_at": AT,
    "status": "ready",
    "progress": 1.0,
    "error": None,
}
_CHUNK = {
    "chunkId": CHUNK_ID,
    "userId": "ann",
    "chunk": "ERR-4711: the pump runs dry.",
    "fileId": HASH,
    "metadata": '{"position": 0, "page": 3}',
    "createdAt": AT,
}
_RESULT = {name: _CHUNK[name] for name in ("chunk", "fileId", "metadata", "chunkId")} | {"similarity": 0.872}
_IDENTITY = {"field": "email", "value": "ann@example.com"}
_PROVIDERS = ("bot-messenger", "email", "workspace-chat", "gaming-chat", "community-chat")
_SOCKET = {
    "channelId": "linked-device-messaging",
    "channelName": "My phone",
    "status": "connected",
    "connectedSince": AT,
}

SCHEMAS: dict[str, Any] = {
    "Empty": {},
    "Alive": {"status": "ok"},
    "Ready": {
        "status": "ok",
        "checks": {"database": "ok", "queue": "degraded", "migrations": "ok"},
        "reasons": {"queue": "the job queue is away for the moment; try again shortly"},
    },
    "NotReady": {
        "error": "database: the database cannot be written: its disk is full",
        "status": "not ready",
        "checks": {
            "database": "the database cannot be written: its disk is full",
            "queue": "ok",
            "migrations": "ok",
        },
    },
    "ChannelDefinition": _DEFINITION,
    "ChannelStatus": {"success": True, "connectedChannels": {"4": _SOCKET}, "timestamp": AT},
    "ChannelInstance": _INSTANCE,
    "CreateInstance": {
        "channelId": "http-webhook",
        "channelName": "Support",
        "config": _CONFIG,
        "downStreamResourceId": "agent::echo",
    },
    "UpdateInstance": {"config": _CONFIG, "channelName": "Support"},
    "CreatedInstance": {**_SAVED, "message": "The instance was created.", "operation": "created"},
    "UpdatedInstance": {**_SAVED, "message": "The instance was updated."},
    "DeletedInstance": {"success": True, "message": "The instance was deleted.", "instanceId": "1"},
    "PairingAnswer": {
        "success": True,
        "pairingCode": "ABCD-1234",
        "message": "On the phone open WhatsApp > Settings > Linked devices, and enter the code.",
    },
    "InstanceHealth": {
        "instanceId": 1,
        "healthy": True,
        "warnings": [],
        "lastSuccess": AT,
        "lastError": None,
        "lastErrorAt": None,
        "nextRun": None,
        "queue": {"waiting": 0, "pending": 0, "dead": 0},
        "pairingCode": None,
        "breaker": "closed",
        "breakerUntil": None,
        "receiving": _ACTIVITY,
        "processing": _ACTIVITY,
        "sending": _ACTIVITY,
    },
    "DeliveryList": {"deliveries": [_DELIVERY], "pagination": _PAGINATION},
    "Accepted": {"success": True, "message": "It is sent again."},
    "VerificationProviders": {"success": True, "providers": dict.fromkeys(_PROVIDERS, True)},
    "VerifiedIdentities": {"success": True, "identities": [_IDENTITY]},
    "IdentityRemoved": {"success": True, "message": "The identity email ann@example.com is removed."},
    "StartEmail": {"email": "ann@example.com"},
    "CodeSent": {"success": True, "expiresInSeconds": 600, "message": "A code was sent to ann@example.com."},
    "VerifyEmail": {"otp": "123456"},
    "EmailVerified": {"success": True, "message": "It is verified.", "email": "ann@example.com"},
    "BotLinkAnswer": {
        "success": True,
        "deepLink": "https://t.me/verify_bot?start=uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R",
        "expiresInSeconds": 300,
        "message": "Open the link, press Start and share your contact.",
    },
    "BotCallback": {
        "token": "uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R",
        "bot_messenger_id": "77",
        "phone": "+4915112345678",
    },
    "BotVerified": {"success": True, "message": "The phone number is verified.", "userId": "ann"},
    "AuthUrl": {"success": True, "authUrl": "https://discord.com/oauth2/authorize?client_id=1&state=mF2"},
    "KnowledgeBaseList": {"knowledgeBases": [{**_BASE, "permission_level": 3}]},
    "KnowledgeBaseAnswer": {"knowledgeBase": _BASE},
    "CreateKnowledgeBase": {"name": "Handbook", "description": "How we work"},
    "CreatedKnowledgeBase": {
        "id": 1,
        "name": "Handbook",
        "description": "How we work",
        "type": "kb",
        "status": "published",
    },
    "UpdateKnowledgeBase": {"name": "Handbook"},
    "SetPermission": {"userId": "bob", "permission_level": 1},
    "PermissionList": {"permissions": [{"userId": "bob", "permission_level": 1}]},
    "UploadAnswer": {"message": "1 file was uploaded.", "files": [_UPLOADED], "fileHash": HASH, **_UPLOADED},
    "FileList": {"files": [_FILE]},
    "FileAnswer": {"file": _FILE},
    "SearchRequest": {"query": "What does error ERR-4711 mean?"},
    "SearchAnswer": {"results": [_RESULT]},
    "ChunkAnswer": {"chunk": _CHUNK},
    "ChunkList": {"chunks": [_CHUNK], "pagination": _PAGINATION},
}

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

FILE = "(the bytes of the file)"
TEXTS: dict[str, str] = {
    "application/octet-stream": FILE,
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
    },
}

CALLBACKS: dict[str, Any] = {
    "200": {"status": "accepted", "requestId": REQUEST_ID, "message": "The message was accepted."},
    "202": {"status": "accepted", "requestId": REQUEST_ID},
    "502": {"status": "error", "requestId": REQUEST_ID, "message": "The resource could not answer."},
    "504": {"status": "timeout", "requestId": REQUEST_ID, "message": "No answer within 30 seconds."},
}
