"""What each operation of the OpenAPI description does, for whom, and what it refuses."""

from __future__ import annotations

_START_OAUTH = (
    "Gives the address of the provider to open in a browser. The provider sends the browser back to"
    " `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up."
)
_CREATE = (
    "Checks the configuration against the channel's definition and stores it encrypted. Names of instances are unique"
    " for each user and channel (409). With `id` an instance of the caller is updated (200). A platform that refuses"
    " the webhook or the credentials fails nothing: its words are in `webhookError`."
)
_DELETE = (
    "Deletes the instance, its waiting messages and its replies on their way, and takes back the webhook that was"
    " registered for it. Only the owner may."
)
_CALLBACK = (
    "The platform's own webhook, with any method. The proof of origin is the platform's own: a signature or token."
    " The message is stored before it is acknowledged, and a redelivery is acknowledged and dropped."
)

DESCRIPTIONS: dict[str, str] = {
    "GET /healthz": "Answers as long as the process runs.",
    "GET /readyz": "Looks at the database, the job queue and the schema. The database and the schema are needed;"
    " the queue may be degraded.",
    "GET /metrics": "Counters and timings in the text format of Prometheus.",
    "GET /api/agent/channels": "All channel types with their configuration fields and set-up steps.",
    "POST /api/agent/channels": _CREATE + " The older path of POST /api/agent/channel-instances.",
    "GET /api/agent/channels/status": "The connections that are up, of the caller's instances; an admin sees all.",
    "GET /api/agent/channels/{type}": "One channel type with its configuration fields and set-up steps.",
    "DELETE /api/agent/channels/instance/{instanceId}": _DELETE
    + " The older path of DELETE /api/agent/channel-instances/{instanceId}.",
    "GET /api/agent/channels/{type}/{instanceId}/{callback}": _CALLBACK,
    "POST /api/agent/channels/{type}/{instanceId}/{callback}": _CALLBACK,
    "GET /api/agent/channel-instances": "The active instances of the caller, ordered by id.",
    "POST /api/agent/channel-instances": _CREATE,
    "GET /api/agent/channel-instances/{instanceId}": "One instance with its configuration as it was stored.",
    "PUT /api/agent/channel-instances/{instanceId}": "Replaces the configuration, and the name and resource where"
    " they are given. Only the owner may.",
    "DELETE /api/agent/channel-instances/{instanceId}": _DELETE,
    "POST /api/agent/channel-instances/{instanceId}/request-pairing": "Asks for a new pairing code of a linked"
    " device; waits for up to 20 seconds. A failure is an answer with `success` false. 400 where there is none.",
    "GET /api/agent/channel-instances/{instanceId}/health": "What worked last, what failed last, what waits, and what"
    " to mend.",
    "GET /api/agent/channel-instances/{instanceId}/deliveries": "The parts of replies, ordered by id: on their way,"
    " sent, or given up.",
    "POST /api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}/replay": "Sends a part again that was"
    " given up. 409 for one that was sent or is on its way.",
    "DELETE /api/agent/channel-instances/{instanceId}/deliveries/{deliveryId}": "Removes a part from the outbox.",
    "GET /api/agent/files/{token}/{name}": "A file of a message. The signed token in the path is the only key; it"
    " expires. 404 for a token that is wrong or expired.",
    "GET /api/agent/verification/providers": "Which ways of verification this server is set up for.",
    "GET /api/agent/verification/identities": "The verified identities of the caller.",
    "DELETE /api/agent/verification/identities/{field}/{value}": "Removes one of the caller's identities. The value"
    " may hold slashes.",
    "POST /api/agent/verification/start-email": "Sends a code of 6 digits that is valid for 600 seconds. At most five"
    " an hour for each address (429).",
    "POST /api/agent/verification/verify-email": "Verifies the address that the code was sent to. Five wrong tries"
    " void a code.",
    "POST /api/agent/verification/start-bot-messenger": "Gives a link to the verification bot that is valid for 300"
    " seconds.",
    "POST /api/agent/verification/bot-messenger-bot-webhook": "Called by Telegram for the verification bot, with the"
    " secret token that was registered (401 otherwise).",
    "POST /api/agent/verification/bot-messenger-callback": "Stores the three identities that a shared contact proves."
    " Needs the internal service key (403 otherwise); the token names the user.",
    "POST /api/agent/verification/start-workspace-chat": _START_OAUTH,
    "POST /api/agent/verification/start-gaming-chat": _START_OAUTH,
    "POST /api/agent/verification/start-community-chat": _START_OAUTH,
    "GET /api/agent/verification/callback/{provider}": "Reached by the browser from the provider, with `state` and"
    " `code`. Answers with a page that tells its opener the outcome and closes.",
    "GET /api/agent/kb": "The knowledge bases that the caller may access, with the caller's level on each.",
    "POST /api/agent/kb": "Creates a knowledge base of the caller, who gets level 3 (DELETE) on it.",
    "GET /api/agent/kb/{id}": "One knowledge base. Needs level 1 (READ).",
    "PUT /api/agent/kb/{id}": "Changes the name or the description. Needs level 2 (UPDATE).",
    "DELETE /api/agent/kb/{id}": "Deletes the knowledge base with its files and chunks. Needs level 3 (DELETE).",
    "GET /api/agent/kb/{id}/permissions": "Who may use the knowledge base, at which level. Needs level 3 (DELETE).",
    "PUT /api/agent/kb/{id}/permissions": "Gives a user a level, or takes it away with 0. Needs level 3 (DELETE).",
    "POST /api/agent/kb/{id}/uploadfile": "Stores, parses, chunks and embeds files: all of them, or none. Answers"
    " once they can be found, or at once with `Prefer: respond-async` (202). Needs level 2 (UPDATE).",
    "GET /api/agent/kb/{id}/files": "The records of the files, with their texts and states, ordered by id.",
    "GET /api/agent/kb/download/{fileId}": "The bytes of a file, as an attachment. Serves single ranges and"
    " `If-None-Match`.",
    "GET /api/agent/kb/file/{id}": "The record of a file, by its hash.",
    "POST /api/agent/kb/{id}/search": "Searches by text and by meaning and returns the ten best chunks.",
    "GET /api/agent/kb/chunk/{id}": "One chunk, by its id.",
    "GET /api/agent/kb/chunks/{id}": "The chunks of a file in the order of the document, by the file's hash.",
}

PARAMETERS: dict[str, tuple[str, object]] = {
    "type": ("Id of a channel.", "http-webhook"),
    "instanceId": ("Id of an instance.", "1"),
    "deliveryId": ("Id of a delivery.", "7"),
    "callback": ("Name of the callback: `webhook`, or what the channel's page names.", "webhook"),
    "field": ("Type of an identity.", "email"),
    "value": ("Value of an identity.", "ann@example.com"),
    "provider": ("workspace-chat, gaming-chat or community-chat.", "gaming-chat"),
    "token": ("Signed token of a file.", "c2lnbmVkLXRva2Vu"),
    "name": ("Name of a file.", "pump.pdf"),
    "fileId": ("Hash of a file.", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    "id": ("Id of a knowledge base.", "1"),
    "status": ("Only deliveries in this state.", "dead"),
    "limit": ("How many, 1 to 1000.", 5),
    "offset": ("How many to leave out at the beginning.", 0),
    "Prefer": ("respond-async: answer 202 before the files can be found.", "respond-async"),
}
"""Description and example of each parameter, by its name."""
