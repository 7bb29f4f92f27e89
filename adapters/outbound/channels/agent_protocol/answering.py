"""Writes tasks of A2A 1.0 and their events: https://a2a-protocol.org/latest/specification/. Pure."""

from typing import Any

import orjson

from adapters.outbound.channels.common import programs
from adapters.outbound.channels.common.bodies import at, json_value, text
from adapters.outbound.channels.common.calls import json_answer
from domain.call_streams import CallEnded, CallNotFound
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import CallOutcome, Event, RawAnswer, RawCall
from domain.refusals import Invalid, Refusal

from .config import TARGET, AgentConfig, AgentTarget
from .webhook import CANCEL, RPC, SEND, STREAM, SUBSCRIBE, error_of, refused_call, request_id

ANSWER = "answer"
"""The id of the artifact with the text."""
WORKING, DONE, FAILED, CANCELLED, ASKS = (
    f"TASK_STATE_{state}" for state in ("WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED")
)


class Streamer:
    kept_seconds = 24 * 3600.0

    def grows(self, config: AgentConfig, target: AgentTarget) -> bool:
        return target.stream

    def writer(self, config: AgentConfig, call: RawCall, event: Event) -> "TaskWriter":
        return TaskWriter(call, event)

    def refused(self, call: RawCall, refusal: Refusal) -> RawAnswer:
        status, headers = programs.status_of(refusal)
        if call.callback != RPC:
            return json_answer({"error": refusal.message}, status, **headers)
        if isinstance(refusal, CallNotFound):
            return refused_call(call, -32001, refusal.message, 200, headers)
        if isinstance(refusal, CallEnded):
            reason = "the task has ended, and takes no message; send it with the contextId alone"
            return refused_call(call, -32004, reason, 200, headers)
        if isinstance(refusal, Invalid):
            return refused_call(call, -32602, refusal.message, 200, headers)
        return refused_call(call, -32603, refusal.message, status, headers)


class TaskWriter:
    """`ports.capabilities.AnswerWriter`."""

    keep_alive = b": the answer is being made\n\n"

    def __init__(self, call: RawCall, event: Event) -> None:
        body = json_value(call.body)
        self._id, self._method = request_id(body), text(body, "method")
        self._task = TARGET.load(event.target).task or event.request_id
        self._context = event.session_id
        self._is_begun = False
        is_stream = self._method in (STREAM, SUBSCRIBE)
        self.head = programs.STREAM if is_stream else None
        waits = is_stream or self._method == SEND
        at_once = at(body, "params", "configuration", "returnImmediately") is True
        self.wait_seconds = programs.WAIT_SECONDS if waits and not at_once else 0.0

    def begin(self) -> bytes:
        return self._event({"task": self._whole_task(WORKING)})

    def grown(self, text: str) -> bytes:
        return self._text(text)

    def end(self, outcome: CallOutcome, answer: Answer | None, streamed: str) -> bytes:
        """An answer that does not begin with what was streamed replaces it. A stream without an answer ends with the
        task at work: the caller subscribes to it again."""
        state = _state(outcome, answer)
        if state == WORKING:
            return b""
        pieces = []
        if state == DONE:
            words = programs.text_of(answer)
            continues = words.startswith(streamed)
            if streamed or words:
                rest = words[len(streamed) :] if continues else words
                pieces.append(self._text(rest, append=bool(streamed) and continues, last=True))
            files = _files(answer)
            pieces += [
                self._artifact({"artifact": file, "append": False, "lastChunk": True}) for file in files
            ]
        status = {**self._place(), "status": self._status(state, answer)}
        return b"".join([*pieces, self._event({"statusUpdate": status})])

    def whole(self, outcome: CallOutcome, answer: Answer | None) -> RawAnswer:
        state = _state(outcome, answer)
        if self._method == CANCEL and state != CANCELLED:
            error = error_of(self._id, -32002, "the task cannot be cancelled: it was answered already")
            return json_answer(error)
        task = self._whole_task(state, answer)
        return json_answer(self._result({"task": task} if self._method == SEND else task))

    def _whole_task(self, state: str, answer: Answer | None = None) -> dict[str, Any]:
        task = {"id": self._task, "contextId": self._context, "status": self._status(state, answer)}
        if state != DONE:
            return task
        words = programs.text_of(answer)
        texts = [_artifact(ANSWER, ANSWER, _text_part(words))] if words else []
        return {**task, "artifacts": texts + _files(answer)}

    def _status(self, state: str, answer: Answer | None) -> dict[str, Any]:
        if state not in (ASKS, FAILED):
            return {"state": state}
        words = programs.text_of(answer) or "The message was not answered."
        message = {
            "messageId": f"{self._task}:{state}",
            "role": "ROLE_AGENT",
            "parts": [
                _text_part(words),
                *(_file_part(file) for file in (answer.artifacts if answer else ())),
            ],
            "taskId": self._task,
            "contextId": self._context,
        }
        return {"state": state, "message": message}

    def _text(self, words: str, *, append: bool | None = None, last: bool = False) -> bytes:
        append = self._is_begun if append is None else append
        self._is_begun = True
        artifact = _artifact(ANSWER, ANSWER, _text_part(words))
        return self._artifact({"artifact": artifact, "append": append, "lastChunk": last})

    def _artifact(self, update: dict[str, Any]) -> bytes:
        return self._event({"artifactUpdate": {**self._place(), **update}})

    def _place(self) -> dict[str, str]:
        return {"taskId": self._task, "contextId": self._context}

    def _result(self, result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self._id, "result": result}

    def _event(self, result: dict[str, Any]) -> bytes:
        return b"data: %s\n\n" % orjson.dumps(self._result(result))


def _state(outcome: CallOutcome, answer: Answer | None) -> str:
    match outcome:
        case CallOutcome.TIMEOUT:
            return WORKING
        case CallOutcome.FAILED:
            return FAILED
        case CallOutcome.WITHDRAWN:
            return CANCELLED
    return ASKS if answer is not None and answer.asks else DONE


def _text_part(words: str) -> dict[str, str]:
    return {"text": words, "mediaType": "text/markdown"}


def _file_part(file: Artifact) -> dict[str, str]:
    return {"url": file.url, "filename": file.name, "mediaType": file.mime_type}


def _artifact(id: str, name: str, part: dict[str, str]) -> dict[str, Any]:
    return {"artifactId": id, "name": name, "parts": [part]}


def _files(answer: Answer | None) -> list[dict[str, Any]]:
    files = answer.artifacts if answer else ()
    return [
        _artifact(f"file-{number}", file.name, _file_part(file)) for number, file in enumerate(files, start=1)
    ]
