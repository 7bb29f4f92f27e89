"""Reads calls of A2A 1.0 over JSON-RPC: https://a2a-protocol.org/latest/specification/. Pure."""

import hashlib
import json
import re
import uuid
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common import programs
from adapters.outbound.channels.common.bodies import at, items, json_value, text
from adapters.outbound.channels.common.calls import json_answer
from adapters.version import VERSION
from domain.call_streams import CallNotFound
from domain.channels.messages import (
    Attachment,
    ChannelMetadata,
    Event,
    Inquiry,
    RawAnswer,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import Fault, Invalid, NotFound

from .config import CARD, TARGET, AgentConfig, AgentTarget

RPC = "rpc"
SEND, STREAM, GET, CANCEL, SUBSCRIBE = (
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "CancelTask",
    "SubscribeToTask",
)
UNSUPPORTED = {
    "ListTasks": (-32004, "tasks are not listed here"),
    "CreateTaskPushNotificationConfig": (-32003, "push notifications are not supported; use a stream"),
    "GetTaskPushNotificationConfig": (-32003, "push notifications are not supported; use a stream"),
    "ListTaskPushNotificationConfigs": (-32003, "push notifications are not supported; use a stream"),
    "DeleteTaskPushNotificationConfig": (-32003, "push notifications are not supported; use a stream"),
    "GetExtendedAgentCard": (-32007, "there is no other card than the public one"),
}
LONGEST_ID = 1000
LONGEST_SKILL = 60
MOST_SKILLS = 50
_TASK = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def receive(config: AgentConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    if call.callback == CARD:
        return Received(json_answer(card_of(config, call)), kind="card")
    if call.callback != RPC:
        raise NotFound(f"there is nothing at {call.callback[:100]}; the paths are {CARD} and {RPC}")
    programs.authorize(config.api_key, call)
    if call.method != "POST":
        return _refused(None, -32600, f"{call.method} is not allowed here; POST a request of JSON-RPC", 405)
    body = json_value(call.body)
    id = request_id(body)
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0" or not isinstance(body.get("method"), str):
        return _refused(id, -32600, "the body must be one request of JSON-RPC 2.0")
    version = call.headers.get("a2a-version", "1.0")
    if version.partition(".")[0] != "1":
        return _refused(id, -32009, f"version {version[:20]} of A2A is not supported; use 1.0")
    method, params = body["method"], body.get("params") or {}
    if method in (SEND, STREAM):
        return _message(call, params, stream=method == STREAM)
    if method in (GET, CANCEL, SUBSCRIBE):
        task = _task("id", text(params, "id"))
        return Received(streams=True, inquiry=Inquiry(task, withdraws=method == CANCEL), kind="task")
    code, reason = UNSUPPORTED.get(
        method, (-32601, f"there is no method {method[:100]}; A2A 1.0 is spoken here")
    )
    return _refused(id, code, reason)


def request_id(body: object) -> Any:
    """The id of a request, None if it has none that an answer can repeat."""
    id = at(body, "id")
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def error_of(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def _refused(id: Any, code: int, message: str, status: int = 200) -> Received:
    headers = {"allow": "POST"} if status == 405 else {}
    return Received(json_answer(error_of(id, code, message), status, **headers), kind="ignored:method")


def card_of(config: AgentConfig, call: RawCall) -> dict[str, Any]:
    """The agent card; whoever knows the address may read it."""
    base = call.url.partition("?")[0].rstrip("/").removesuffix(f"/{CARD}")
    name = config.agent_name or "Agent"
    description = config.agent_description or f"{name} answers messages."
    return {
        "name": name,
        "description": description,
        "version": VERSION,
        "supportedInterfaces": [
            {"url": f"{base}/{RPC}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "defaultInputModes": ["text/plain", "application/json", "application/octet-stream"],
        "defaultOutputModes": ["text/markdown", "application/octet-stream"],
        "skills": _skills(config.skills) or [_skill("answer", description)],
        "securitySchemes": {
            "bearer": {
                "httpAuthSecurityScheme": {"scheme": "Bearer", "description": "The apiKey of the instance."}
            }
        },
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}],
    }


def _skills(lines: str) -> list[dict[str, Any]]:
    entries = (line.partition(":") for line in lines.splitlines() if line.strip())
    named = [(name.strip(), description.strip()) for name, _, description in entries]
    return [_skill(name, description or name) for name, description in named[:MOST_SKILLS] if name]


def _skill(name: str, description: str) -> dict[str, Any]:
    id = re.sub(r"\W+", "-", name.lower()).strip("-")[:LONGEST_SKILL] or "skill"
    return {"id": id, "name": name, "description": description, "tags": [id]}


def _task(field: str, task: str) -> str:
    """Raises `Invalid` without an id, `CallNotFound` for one that no task here can have."""
    if not task:
        raise Invalid.of([Fault(field, "is required")])
    if not _TASK.fullmatch(task):
        raise CallNotFound(f"{field}: must be the id of a task of this agent")
    return task


def _message(call: RawCall, params: object, *, stream: bool) -> Received:
    """A message with a task id belongs to that task; another one begins a task. The same message again is the same
    event: its id counts together with its content, as ids that agents count up are soon repeated."""
    message = at(params, "message")
    own_id, parts = text(message, "messageId"), items(message, "parts")
    context, continued = text(message, "contextId"), text(message, "taskId")
    if not own_id:
        raise Invalid.of([Fault("message.messageId", "is required")])
    if max(map(len, (own_id, context))) > LONGEST_ID:
        raise Invalid(f"messageId and contextId must have at most {LONGEST_ID} characters")
    words, attachments = _content(parts)
    content = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    address = call.url.partition("?")[0]
    identity = json.dumps([address, context, continued, own_id, content])
    request = str(uuid.uuid5(uuid.NAMESPACE_URL, identity))
    task = _task("message.taskId", continued) if continued else request
    session = context or task
    key = f"{task}/{request}" if continued else task
    event = Event(
        key=key,
        session_id=session,
        sender=Sender(session),
        text=words,
        attachments=tuple(attachments),
        target=TARGET.dump(AgentTarget(task=task, stream=stream)),
        awaits_reply=True,
        request_id=request,
        message_id=key,
    )
    return Received(
        events=(event,), streams=True, inquiry=Inquiry(task, continued_by=key) if continued else None
    )


def _content(parts: list[Any]) -> tuple[str, list[Attachment]]:
    """The text, with data as JSON, and the files. Raises `Invalid`."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for place, part in enumerate(parts):
        field = f"message.parts[{place}]"
        name, kind = text(part, "filename"), text(part, "mediaType")
        if isinstance(at(part, "text"), str):
            texts.append(part["text"])
        elif at(part, "data") is not None:
            texts.append(f"```json\n{json.dumps(part['data'], ensure_ascii=False, indent=2)}\n```")
        elif url := text(part, "url"):
            attachments.append(programs.linked_file(f"{field}.url", url, name, kind))
        elif raw := text(part, "raw"):
            attachments.append(programs.inline_file(f"{field}.raw", raw, name, kind))
        else:
            raise Invalid.of([Fault(field, "must have text, data, url or raw")])
    programs.check_count(attachments)
    words = "\n\n".join(filter(None, texts))
    if not (words.strip() or attachments):
        raise Invalid.of([Fault("message.parts", "must not be empty")])
    return words, attachments


def refused_call(call: RawCall, code: int, message: str, status: int, headers: dict[str, str]) -> RawAnswer:
    """The error that answers a call, with the id of its request where that can be read."""
    try:
        id = request_id(json_value(call.body))
    except Invalid:
        id, code = None, -32700
    return json_answer(error_of(id, code, message), status, **headers)
