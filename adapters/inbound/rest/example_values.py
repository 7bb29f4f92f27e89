"""Values of the examples, by the name of a field where many models have it."""

from typing import Any

AT = "2026-03-01T09:30:00.000Z"
PUBLIC_ID = "12-4f2c9a1b7d3e5f60718a"
VISITOR = "9lXq0YfD1sU2n8Zb3KcVtQ"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
REQUEST_ID = "6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"
PAIRING_HINT = "On the phone open WhatsApp > Settings > Linked devices, and enter the code."
CONFIG_DEFINITION = (
    '[{"name":"cronSchedule","type":"string","description":"Five fields: minute hour day month weekday.",'
    '"required":true}]'
)
PROVIDERS = ("bot-messenger", "email", "workspace-chat", "gaming-chat", "community-chat")
DEEP_LINK_CODE = "uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R"
SOCKET = {
    "channelId": "linked-device-messaging",
    "channelName": "My phone",
    "status": "connected",
    "connectedSince": AT,
}
FIELDS: dict[str, Any] = {
    "authUrl": "https://discord.com/oauth2/authorize?client_id=1&state=mF2",
    "channelId": "http-webhook",
    "channelName": "Support",
    "channelType": "HTTP webhook",
    "channelTypeName": "http-webhook",
    "chunk": "ERR-4711: the pump runs dry.",
    "chunkId": "1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11",
    "config": {"webhookSecret": "s3cret", "syncResponse": True},
    "created_by": "ann",
    "deepLink": f"https://t.me/verify_bot?start={DEEP_LINK_CODE}",
    "description": "How we work",
    "downStreamResourceId": "agent::echo",
    "email": "ann@example.com",
    "expiresInSeconds": 600,
    "field": "email",
    "file_name": "pump.pdf",
    "file_path": f"sha256/9f/{HASH}",
    "fileHash": HASH,
    "fileId": HASH,
    "fileName": "pump.pdf",
    "fileSize": 48213,
    "lastSuccess": AT,
    "limit": 5,
    "metadata": '{"position": 0, "page": 3}',
    "mimeType": "application/pdf",
    "name": "Handbook",
    "offset": 0,
    "otp": "123456",
    "phone": "+4915112345678",
    "progress": 1.0,
    "providers": dict.fromkeys(PROVIDERS, True),
    "query": "What does error ERR-4711 mean?",
    "queue": {"waiting": 0, "pending": 0, "dead": 0},
    "similarity": 0.872,
    "text": "ERR-4711: the pump runs dry.",
    "token": DEEP_LINK_CODE,
    "userId": "ann",
    "value": "ann@example.com",
    "warnings": [],
    "notes": [],
}
"""By the name of a field. Others have an example that follows from their type."""
