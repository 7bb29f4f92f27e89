"""Reads calls of the chat-completions protocol: https://platform.openai.com/docs/api-reference/chat. Pure."""

import hashlib
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common import programs
from adapters.outbound.channels.common.bodies import at, clean, items, json_object, text
from adapters.outbound.channels.common.calls import json_answer
from domain.channels.messages import (
    LONGEST_QUOTED,
    Attachment,
    ChannelMetadata,
    Event,
    RawAnswer,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import Fault, Invalid, NotFound
from domain.routing.context import MOST_EARLIER

from .config import DEFAULT_MODEL, TARGET, CompletionsConfig, CompletionsTarget

COMPLETIONS = "v1/chat/completions"
MODELS = "v1/models"
EARLIER = "request"
"""`Event.thread_post` of a call with earlier messages."""
LONGEST_EARLIER = 40_000
"""Characters of the earlier messages together that are handed on, the latest ones."""
LONGEST_SESSION = 1000
INSTRUCTIONS = ("system", "developer")
AUTHORS = ("user", "assistant", *INSTRUCTIONS)


def model_of(config: CompletionsConfig) -> str:
    return config.model_name or DEFAULT_MODEL


def receive(config: CompletionsConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    programs.authorize(config.api_key, call)
    if call.callback == MODELS or call.callback.startswith(f"{MODELS}/"):
        return Received(_models(config, call.callback.removeprefix(MODELS).lstrip("/")), kind="models")
    if call.callback != COMPLETIONS:
        raise NotFound(f"there is nothing at {call.callback[:100]}; the paths are {COMPLETIONS} and {MODELS}")
    if call.method != "POST":
        error = error_body(f"{call.method} is not allowed here; POST a JSON body", "invalid_request_error")
        return Received(json_answer(error, 405, allow="POST"), kind="ignored:method")
    body = json_object(call.body)
    _check_options(body)
    return Received(events=(_event(call, body, now),), streams=True)


def _models(config: CompletionsConfig, name: str) -> RawAnswer:
    """The list of models, or the one of that name. Raises `NotFound`."""
    model = {"id": model_of(config), "object": "model", "created": 0, "owned_by": "switchboard"}
    if not name:
        return json_answer({"object": "list", "data": [model]})
    if name != model["id"]:
        raise NotFound(f"there is no model {name[:100]}; the only one is {model['id']}")
    return json_answer(model)


def _check_options(body: dict[str, Any]) -> None:
    """Raises `Invalid` for what would change the answer and is not supported. Other options are ignored."""
    tools = ("tools", "functions") if body.get("tool_choice") != "none" else ()
    no_tools = "are not supported; the resource has tools of its own"
    faults = [Fault(field, no_tools) for field in tools if body.get(field)]
    if body.get("n") not in (None, 1):
        faults.append(Fault("n", "must be 1; one answer is made"))
    if text(body, "response_format", "type") not in ("", "text"):
        faults.append(Fault("response_format", "must be text; other formats are not supported"))
    if body.get("stream") not in (None, True, False):
        faults.append(Fault("stream", "must be true or false"))
    if faults:
        raise Invalid.of(faults)


def _event(call: RawCall, body: dict[str, Any], now: datetime) -> Event:
    messages = _messages(body)
    last = max((at for at, message in enumerate(messages) if message["role"] not in INSTRUCTIONS), default=0)
    words, attachments = _asked(messages[last], f"messages[{last}].content")
    key, request_id = _key(call)
    user, session = text(body, "user"), _session(call, body) or request_id
    thread = _thread([message for at, message in enumerate(messages) if at != last])
    stream, created = body.get("stream") is True, int(now.timestamp())
    return Event(
        key=key,
        session_id=session,
        sender=Sender(user or session),
        text=words,
        attachments=tuple(attachments),
        target=TARGET.dump(CompletionsTarget(stream=stream, created=created, thread=tuple(thread))),
        awaits_reply=True,
        request_id=request_id,
        thread_post=EARLIER if thread else "",
    )


def _asked(message: dict[str, Any], field: str) -> tuple[str, list[Attachment]]:
    """The text and the files of the message that is to be answered. Raises `Invalid`."""
    if message["role"] != "user":
        raise Invalid.of([Fault("messages", "must end with a message of the role user")])
    words, attachments = _content(field, message.get("content"))
    if not (words.strip() or attachments):
        raise Invalid.of([Fault(field, "must not be empty")])
    return words, attachments


def _key(call: RawCall) -> tuple[str | None, str]:
    """The idempotency key, None if the call has none, and the request id."""
    key = call.headers.get("idempotency-key") or None
    if key is None:
        return None, call.id
    if len(key) > LONGEST_SESSION:  # hashed in full: two keys may begin alike
        key = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    return key, str(uuid.uuid5(uuid.NAMESPACE_URL, f"{call.url.partition('?')[0]}#{key}"))


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Raises `Invalid`."""
    messages = items(body, "messages")
    if not messages:
        raise Invalid.of([Fault("messages", "must be a list of at least one message")])
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Invalid.of([Fault(f"messages[{place}]", "must be an object with role and content")])
    return messages


def _session(call: RawCall, body: dict[str, Any]) -> str:
    """The id of the conversation, empty if the call names none."""
    named = (call.headers.get("x-session-id", ""), text(body, "metadata", "session_id"), text(body, "user"))
    session = clean(next(filter(None, named), ""))
    if len(session) > LONGEST_SESSION:
        raise Invalid(f"the id of the conversation must have at most {LONGEST_SESSION} characters")
    return session


def _content(field: str, content: object) -> tuple[str, list[Attachment]]:
    """The text and the files of a message. Raises `Invalid`."""
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        raise Invalid.of([Fault(field, "must be a string or a list of parts")])
    texts, attachments = [], []
    for place, part in enumerate(content):
        where = f"{field}[{place}]"
        if isinstance(part, dict) and part.get("type") in ("text", "refusal"):
            texts.append(text(part, "text") or text(part, "refusal"))
        else:
            attachments.append(_file(where, part))
    programs.check_count(attachments)
    return "\n\n".join(filter(None, texts)), attachments


def _file(where: str, part: object) -> Attachment:
    """Raises `Invalid`."""
    match at(part, "type"):
        case "image_url":
            image = at(part, "image_url")
            url = image if isinstance(image, str) else text(image, "url")
            return programs.linked_file(
                f"{where}.image_url.url", url, kind="" if url[:5].lower() == "data:" else "image/*"
            )
        case "file":
            data, name = text(part, "file", "file_data"), text(part, "file", "filename")
            if not data:
                raise Invalid.of(
                    [Fault(f"{where}.file.file_data", "is required; files by id are not supported")]
                )
            if data[:5].lower() == "data:":
                return programs.linked_file(f"{where}.file.file_data", data, name)
            return programs.inline_file(f"{where}.file.file_data", data, name)
        case "input_audio":
            data, kind = text(part, "input_audio", "data"), text(part, "input_audio", "format") or "wav"
            field = f"{where}.input_audio.data"
            return programs.inline_file(field, data, f"recording.{kind}", f"audio/{kind}", is_voice=True)
    raise Invalid.of([Fault(f"{where}.type", "must be text, image_url, file or input_audio")])


def _thread(messages: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The latest of the earlier messages that have a text, each as its role and its beginning."""
    thread: list[list[str]] = []
    size = 0
    for message in reversed(messages):
        words = _words(message.get("content"))[:LONGEST_QUOTED].strip()
        size += len(words)
        if len(thread) == MOST_EARLIER or size > LONGEST_EARLIER:
            break
        if words and message["role"] in AUTHORS:
            thread.append([message["role"], words])
    return thread[::-1]


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n\n".join(filter(None, (text(part, "text") for part in items({"parts": content}, "parts"))))


def error_body(message: str, kind: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
