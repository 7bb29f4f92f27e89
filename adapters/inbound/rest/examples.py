"""Examples of the OpenAPI description: one for each body and parameter, and one for each status of an error."""

from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from adapters.inbound.rest.example_values import (
    AT,
    CONFIG_DEFINITION,
    FIELDS,
    HASH,
    PAIRING_HINT,
    REQUEST_ID,
    SOCKET,
    VISITOR,
)

MODELS: dict[str, dict[str, Any]] = {
    "Accepted": {"message": "It is sent again."},
    "AskAnswer": {"answer": "The pump runs dry [1]."},
    "AskRequest": {"question": "What does error ERR-4711 mean?"},
    "AskTurn": {"role": "user", "content": "Which errors are there?"},
    "Citation": {"index": 1, "page": 3, "quote": "ERR-4711: the pump runs dry."},
    "BotCallback": {"bot_messenger_id": "77"},
    "BotLinkAnswer": {
        "expiresInSeconds": 300,
        "message": "Open the link, press Start and share your contact.",
    },
    "BotVerified": {"message": "The phone number is verified."},
    "ChannelDefinition": {
        "id": "cron",
        "name": "Cron",
        "description": "Sends a message to the downstream resource on a schedule.",
        "configDefinition": CONFIG_DEFINITION,
        "type": "cron",
    },
    "ChannelStatus": {"connectedChannels": {"4": SOCKET}},
    "CodeSent": {"message": "A code was sent to ann@example.com."},
    "CreatedInstance": {"message": "The instance was created."},
    "CreateInstance": {"downStreamResourceId": "agent::echo"},
    "CreateKnowledgeBase": {"description": "How we work"},
    "ChoiceToSend": {"label": "Yes", "value": "order"},
    "Conversation": {
        "sessionId": "C0123456789",
        "lastText": "The pump runs dry.",
        "messages": 12,
        "handler": "person",
        "handlerUntil": AT,
        "handledBy": "ann",
        "pendingConfirmation": False,
    },
    "MessageTimeline": {"messageId": "send-7"},
    "TimelineStep": {
        "kind": "sent",
        "part": None,
        "attempts": 2,
        "reason": "HTTP 503",
        "tool": None,
        "decision": None,
        "decider": None,
        "nextAttemptAt": None,
        "platformId": "1760000000.000100",
    },
    "ConversationSender": {"externalId": "U0123456789", "displayName": "Ada"},
    "ResourceRule": {
        "match": "agent::support-*",
        "kind": "http",
        "target": "https://agents.example.com/ask",
        "seconds": 60.0,
        "line": 3,
        "model": "",
        "tools": [],
        "knowledge": [],
    },
    "ResourceRules": {"file": "/etc/switchboard/resources.toml", "fault": ""},
    "ResourceTrial": {"resource": "agent::support-de_0", "kind": "http", "rule": None},
    "TrialAnswer": {
        "files": [],
        "choices": [],
        "tool": "",
        "wantsPerson": False,
        "error": "",
        "seconds": 0.8,
    },
    "TryResource": {"text": "How late is it?", "ask": True},
    "Schedule": {
        "channelId": "cron",
        "channelName": "Morning report",
        "description": "At 09:00 on Monday through Friday",
        "expression": "0 9 * * 1-5",
        "timezone": "Europe/Berlin",
        "nextRun": AT,
        "following": ["2026-03-02T09:30:00.000Z"],
        "running": False,
        "failures": 0,
    },
    "SetHandler": {"handler": "person", "minutes": 60},
    "ConversationMessage": {
        "id": "send-7",
        "sessionId": "C0123456789",
        "direction": "out",
        "text": "Your order 4711 is ready.",
        "author": "person",
        "senderName": "",
        "status": "delivered",
        "error": None,
        "requestId": REQUEST_ID,
    },
    "ChangeSubscription": {"kinds": ["message.answered", "delivery.dead"]},
    "CreateSubscription": {"url": "https://events.example.com/switchboard"},
    "EventSubscription": {
        "id": 12,
        "url": "https://events.example.com/switchboard",
        "kinds": ["message.answered"],
        "reason": None,
    },
    "PushRecord": {"id": 7, "eventId": 42, "status": "sent", "error": None},
    "PushTestAnswer": {"error": None},
    "DeadLetterName": {"instanceId": 1, "messageId": "out-7"},
    "DeadLetterResult": {"instanceId": 1, "messageId": "out-7", "error": None},
    "DeadPart": {
        "deliveryId": 7,
        "attempts": 8,
        "error": "HTTP 503",
        "payload": '{"text":"Your order 4711 is ready."}',
    },
    "Backlog": {"waitingSeconds": 0.0, "pendingSeconds": 0.0},
    "Cooldown": {"seconds": 0.0, "conversations": 0},
    "Counts": {"received": 120, "answered": 118, "failed": 2, "p50Seconds": 1.4, "p95Seconds": 6.2},
    "FigureReport": {"stepSeconds": 60},
    "Finding": {
        "grade": "note",
        "subject": "AGENT_URL",
        "text": "is http://localhost:3011: set it to a public https address",
    },
    "SubscriptionAnswer": {"pending": 0, "dead": 0},
    "SubscriptionList": {"next": None},
    "PushList": {"next": None},
    "DeletedInstance": {"message": "The instance was deleted.", "instanceId": "1"},
    "InstanceHealth": {"unanswered": {"list": 2}},
    "UnansweredRecord": {
        "id": 12,
        "reason": "list",
        "sender": "news@shop.example",
        "senderName": "Shop",
        "subject": "News of the week",
        "text": "Three new kettles.",
    },
    "DeliveryRecord": {"id": 7, "status": "dead", "attempts": 8, "lastError": "HTTP 503"},
    "CreateKey": {"name": "Nightly export", "userId": None, "expiresInDays": 90},
    "CreatedKeyAnswer": {"token": "sb_Zp3vHkQ2mN8xR5tYwL1cD4fG7jK0bV6sA9eU2iO"},
    "KeyList": {"next": None},
    "KeyRecord": {
        "id": 3,
        "role": "user",
        "kind": "key",
        "name": "Nightly export",
        "prefix": "sb_Zp3vHkQ2",
        "live": True,
        "revokedAt": None,
        "parentId": None,
    },
    "EmailVerified": {"message": "It is verified."},
    "FileRecord": {"id": 3, "status": "ready", "warnings": [], "queuePosition": None},
    "FileFormat": {"format": "pdf", "how": "pypdf"},
    "FileState": {
        "id": 3,
        "status": "processing",
        "progress": 0.0,
        "step": "waiting",
        "queuePosition": 2,
        "warnings": [],
        "chunkCount": 0,
    },
    "FileStateList": {"next": None},
    "ChunkPlace": {"position": 0, "start": 0, "end": 28},
    "FileTextAnswer": {"start": 0, "length": 28},
    "QueryWord": {"word": "err", "similar": []},
    "ExplainedHit": {
        "textScore": 0.872,
        "vectorScore": 0.641,
        "textRank": 1,
        "vectorRank": 3,
        "highlights": [[0, 3], [4, 8]],
    },
    "Place": {
        "position": 0,
        "title": "The pump",
        "headingPath": ["Faults"],
        **dict.fromkeys(("pageEnd", "slide", "sheet", "rowStart", "rowEnd", "timeStart", "timeEnd")),
        "page": 3,
    },
    "AddPages": {"url": "https://docs.example.com/sitemap.xml", "every": 1440},
    "Source": {
        "id": 5,
        "address": "https://docs.example.com/sitemap.xml",
        "every": 1440,
        "createdBy": "ann",
        "state": "idle",
        "readAt": AT,
        "found": 120,
        "read": 118,
        "failed": 2,
        "waiting": 0,
    },
    "SourcePage": {
        "id": 9,
        "address": "https://docs.example.com/pumps",
        "name": "Pumps",
        "status": "read",
        "readAt": AT,
    },
    "SearchRequest": {
        "topK": 10,
        "minSimilarity": 0.3,
        "fileIds": [HASH],
        "perFile": 2,
        "mode": "hybrid",
        "highlight": True,
    },
    "SearchResult": {
        "url": "https://agents.example.com/api/agent/files/mF2/pump.pdf",
        "textScore": 0.872,
        "vectorScore": 0.641,
        "highlights": [[0, 3], [4, 8]],
    },
    "UploadRules": {"maxFileBytes": 104857600, "maxFiles": 20},
    "IdentityRemoved": {"message": "The identity email ann@example.com is removed."},
    "ListedKnowledgeBase": {"permission_level": 3},
    "FileToSend": {
        "name": "report.pdf",
        "mimeType": "application/pdf",
        "url": "https://files.example.com/report.pdf",
    },
    "MessageFile": {"name": "report.pdf", "size": 48213, "url": "https://files.example.com/report.pdf"},
    "MessageQueued": {"messageId": "send-7", "sessionId": "C0123456789", "status": "queued"},
    "NotReady": {
        "error": "database: the database cannot be written: its disk is full",
        "checks": {
            "database": "the database cannot be written: its disk is full",
            "queue": "ok",
            "migrations": "ok",
        },
    },
    "ChatMessageTaken": {"id": REQUEST_ID},
    "ChatSession": {"visitor": VISITOR, "title": "Help", "greeting": "How can we help?", "colour": "#0b5fff"},
    "FileOfVisitor": {"name": "plan.txt", "mimeType": "text/plain", "dataBase64": "SGVsbG8="},
    "OpenChat": {"visitor": "", "identity": ""},
    "PostChatMessage": {"id": REQUEST_ID, "text": "How late is it?"},
    "PairingAnswer": {"pairingCode": "ABCD-1234", "message": PAIRING_HINT},
    "Permission": {"userId": "bob"},
    "Ready": {
        "checks": {"database": "ok", "queue": "degraded", "migrations": "ok"},
        "reasons": {"queue": "the job queue is away for the moment; try again shortly"},
    },
    "SendMessage": {"sessionId": "C0123456789", "text": "Your order 4711 is ready."},
    "SetPermission": {"userId": "bob"},
    "Socket": SOCKET,
    "SetupInstructions": {
        "webhookRequired": False,
        "webhookPath": "webhook",
        "title": "Set up a schedule",
        "steps": ["Write the schedule as a cron expression.", "Write the message to send."],
        "docsUrl": "https://en.wikipedia.org/wiki/Cron",
    },
    "TemplateToSend": {"name": "order_ready", "language": "en_US", "parameters": ["4711"]},
    "UpdatedInstance": {"message": "The instance was updated."},
    "UpdateInstance": {"channelName": "Support"},
    "UpdateKnowledgeBase": {"name": "Handbook"},
    "UploadAnswer": {
        "message": "1 file was uploaded.",
        **{name: FIELDS[name] for name in ("fileId", "fileHash", "fileName", "fileSize", "mimeType")},
    },
}
"""What differs from `FIELDS`, by the name of a model; and its optional fields, which are left out otherwise."""


def example_of(model: type[BaseModel]) -> dict[str, Any]:
    own = MODELS.get(model.__name__, {})
    return {
        name: own[name] if name in own else _value(name, field.annotation)
        for name, field in model.model_fields.items()
        if name in own or name == "success" or field.is_required()
    }


def _value(name: str, annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return example_of(annotation)
    if name in FIELDS:
        return FIELDS[name]
    if get_origin(annotation) is Literal:
        return get_args(annotation)[0]
    if get_origin(annotation) is list:
        return [_value("", get_args(annotation)[0])]
    if NoneType in get_args(annotation):
        return None
    return {int: 1, str: AT, bool: True}[annotation]
