"""Writes answers of the chat-completions protocol, whole and as chunks. Pure.

https://platform.openai.com/docs/api-reference/chat/object and .../chat-streaming
"""

from typing import Any

import orjson

from adapters.outbound.channels.common import programs
from adapters.outbound.channels.common.bodies import at, json_object
from adapters.outbound.channels.common.calls import json_answer
from domain.channels.answers import Answer
from domain.channels.messages import CallOutcome, Event, RawAnswer, RawCall
from domain.refusals import Invalid, Refusal

from .config import TARGET, CompletionsConfig, CompletionsTarget
from .webhook import error_body, model_of

INVALID = "invalid_request_error"
SERVER = "server_error"
KINDS = {
    401: (INVALID, "invalid_api_key"),
    404: (INVALID, "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
"""The type and code of an error, by its status."""
REPLACED = "\n\n---\n\n"
"""Between what was shown and the whole answer that takes its place."""
NO_RETRY = {"x-should-retry": "false"}
"""OpenAI's clients call again after a 5xx otherwise, and the resource would be asked once more."""


class Streamer:
    kept_seconds = 2 * programs.WAIT_SECONDS

    def grows(self, config: CompletionsConfig, target: CompletionsTarget) -> bool:
        return target.stream

    def writer(self, config: CompletionsConfig, call: RawCall, event: Event) -> "CompletionWriter":
        return CompletionWriter(config, call, event)

    def refused(self, call: RawCall, refusal: Refusal) -> RawAnswer:
        status, headers = programs.status_of(refusal)
        kind, code = KINDS.get(status, (INVALID if status < 500 else SERVER, None))
        faults = refusal.faults if isinstance(refusal, Invalid) else ()
        body = error_body(refusal.message, kind, code, faults[0].field if faults else None)
        return json_answer(body, status, **headers)


class CompletionWriter:
    """`ports.capabilities.AnswerWriter`."""

    wait_seconds = programs.WAIT_SECONDS
    keep_alive = b": the answer is being made\n\n"

    def __init__(self, config: CompletionsConfig, call: RawCall, event: Event) -> None:
        target = TARGET.load(event.target)
        self.head = programs.STREAM if target.stream else None
        self._request_id = event.request_id
        self._tells_usage = at(json_object(call.body), "stream_options", "include_usage") is True
        self._same = {
            "id": f"chatcmpl-{event.request_id}",
            "object": "chat.completion.chunk" if target.stream else "chat.completion",
            "created": target.created,
            "model": model_of(config),
        }

    def begin(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def grown(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def end(self, outcome: CallOutcome, answer: Answer | None, streamed: str) -> bytes:
        if outcome is not CallOutcome.ANSWERED:
            return _event(_failure(outcome, answer, self._request_id))
        text = _text(answer)
        rest = text[len(streamed) :] if text.startswith(streamed) else f"{REPLACED}{text}"
        pieces = [self._chunk({"content": rest})] if rest else []
        pieces.append(self._chunk({}, "stop"))
        if self._tells_usage and (usage := _usage(answer)):
            pieces.append(_event({**self._same, "choices": [], "usage": usage}))
        return b"".join([*pieces, b"data: [DONE]\n\n"])

    def whole(self, outcome: CallOutcome, answer: Answer | None) -> RawAnswer:
        if outcome is not CallOutcome.ANSWERED:
            status = 504 if outcome is CallOutcome.TIMEOUT else 502
            return json_answer(_failure(outcome, answer, self._request_id), status, **NO_RETRY)
        message = {"role": "assistant", "content": _text(answer), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        usage = _usage(answer)
        return json_answer({**self._same, "choices": [choice], **({"usage": usage} if usage else {})})

    def _chunk(self, delta: dict[str, str], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _event({**self._same, "choices": [choice]})


def _text(answer: Answer | None) -> str:
    return "\n\n".join(filter(None, (programs.text_of(answer), programs.links_of(answer))))


def _failure(outcome: CallOutcome, answer: Answer | None, request_id: str) -> dict[str, Any]:
    if outcome is CallOutcome.TIMEOUT:
        message = f"no answer within {programs.WAIT_SECONDS:g} seconds"
        return error_body(f"{message} to the request {request_id}", SERVER, "timeout")
    message = answer.text if answer else "the message was not answered"
    return error_body(message, SERVER, "resource_failed")


def _usage(answer: Answer | None) -> dict[str, int] | None:
    usage = answer.usage if answer else None
    if usage is None:
        return None
    total = usage.input_tokens + usage.output_tokens
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": total,
    }


def _event(value: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % orjson.dumps(value)
