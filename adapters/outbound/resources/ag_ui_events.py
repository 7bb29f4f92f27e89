"""Reads the events of one run of an AG-UI agent: its texts, messages, tool calls, state and outcome.

https://docs.ag-ui.com/concepts/events
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ag_ui.core import (
    BaseEvent,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    TextMessageChunkEvent,
    TextMessageContentEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallChunkEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from pydantic import ValidationError

from adapters.outbound.resources.ag_ui_interrupts import ON_INTERRUPT
from adapters.outbound.resources.ag_ui_state import SharedState
from adapters.outbound.resources.messages import MAX_TEXT, BadAnswer
from domain.json_text import loads
from domain.routing.model import Progress

_ASSISTANT = "assistant"
Message = dict[str, Any]


class RunReader:
    """`ended` is the event that ends the run. Events that bear a `subagentRunId` are the work of another agent, and
    left out; so are thoughts, activities, steps, and events of other types. `custom_interrupt` is the value of the
    first event `ON_INTERRUPT`."""

    def __init__(self, sent: Sequence[Message], state: Any, progress: Progress | None) -> None:
        self.messages: list[Message] = list(sent)
        self.state = SharedState(state)
        self._assistants = _assistants(self.messages)
        self.ended: RunFinishedEvent | RunErrorEvent | None = None
        self.custom_interrupt: Any = None
        self._progress = progress
        self._texts: dict[str, list[str]] = {}
        self._roles: dict[str, str] = {}
        self._calls: dict[str, tuple[str, list[str]]] = {}
        self._streamed = ""
        self._called = ""
        self._size = 0
        self._events: Mapping[str, tuple[type[BaseEvent], Callable[[Any], None]]] = {
            "TEXT_MESSAGE_START": (TextMessageStartEvent, self._start_text),
            "TEXT_MESSAGE_CONTENT": (TextMessageContentEvent, self._add_text),
            "TEXT_MESSAGE_CHUNK": (TextMessageChunkEvent, self._chunk_text),
            "TOOL_CALL_START": (ToolCallStartEvent, self._start_call),
            "TOOL_CALL_ARGS": (ToolCallArgsEvent, self._add_arguments),
            "TOOL_CALL_CHUNK": (ToolCallChunkEvent, self._chunk_call),
            "TOOL_CALL_RESULT": (ToolCallResultEvent, self._end_call),
            "STATE_SNAPSHOT": (StateSnapshotEvent, lambda event: self.state.replace(event.snapshot)),
            "STATE_DELTA": (StateDeltaEvent, lambda event: self.state.patch(_operations(event))),
            "MESSAGES_SNAPSHOT": (MessagesSnapshotEvent, self._replace_messages),
            "RUN_FINISHED": (RunFinishedEvent, self._end),
            "RUN_ERROR": (RunErrorEvent, self._end),
        }

    def feed(self, events: Iterable[bytes]) -> None:
        """Reads the data of events, up to the one that ends the run. Raises `BadAnswer`."""
        size = self._size
        for data in events:
            if self.ended is None:
                self._take(data)
        if self._progress and self._size > size:
            self._progress(self.text)

    def text(self) -> str:
        """The texts that the agent has streamed, each message a paragraph."""
        return "\n\n".join(filter(None, (text.strip() for text in map("".join, self._texts.values()))))

    def answer(self) -> str:
        """The streamed texts; of an agent that does not stream, those of its last messages, or its result."""
        if text := self.text():
            return text
        last_user = max(
            (at for at, message in enumerate(self.messages) if message["role"] == "user"), default=-1
        )
        texts = [
            message["content"]
            for message in self.messages[last_user + 1 :]
            if message["role"] == _ASSISTANT and isinstance(message.get("content"), str)
        ]
        result = self.ended.result if isinstance(self.ended, RunFinishedEvent) else None
        return "\n\n".join(filter(None, texts)) or (result if isinstance(result, str) else "")

    def calls(self) -> dict[str, tuple[str, str]]:
        """Tool and arguments of each tool call of the conversation by its id."""
        calls = {id: (name, "".join(arguments)) for id, (name, arguments) in self._calls.items()}
        for message in self.messages:
            for call in filter(_is_complete, message.get("toolCalls") or ()):
                calls.setdefault(call["id"], (call["function"]["name"], call["function"]["arguments"]))
        return calls

    def history(self) -> list[Message]:
        """The messages of the conversation after the run, with the texts and tool calls that were streamed."""
        return [self._completed(message) for message in self.messages]

    def _take(self, data: bytes) -> None:
        try:
            value = loads(data)
        except ValueError:
            raise BadAnswer("an event of the stream is not JSON, or nested too deeply") from None
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            raise BadAnswer("an event of the stream has no type")
        if value["type"] == "CUSTOM" and value.get("name") == ON_INTERRUPT and self.custom_interrupt is None:
            self.custom_interrupt = value.get("value")
        if value["type"] not in self._events or value.get("subagentRunId"):
            return
        model, take = self._events[value["type"]]
        try:
            event = model.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, fault["loc"]))[:100]
            raise BadAnswer(f"{place} of an event {value['type']}: {fault['msg'][:200]}") from None
        take(event)

    def _end(self, event: Any) -> None:
        self.ended = event

    def _start_text(self, event: Any) -> None:
        id = event.message_id
        self._roles[id] = event.role or _ASSISTANT
        if self._roles[id] == _ASSISTANT:
            self._texts.setdefault(id, [])
            self._assistant(id)

    def _add_text(self, event: Any) -> None:
        if event.message_id not in self._roles:
            raise BadAnswer("a TEXT_MESSAGE_CONTENT comes before its TEXT_MESSAGE_START")
        if self._roles[event.message_id] != _ASSISTANT:
            return
        self._texts[event.message_id].append(event.delta)
        self._size += len(event.delta)
        if self._size > MAX_TEXT:
            raise BadAnswer(f"text has over {MAX_TEXT} characters")

    def _chunk_text(self, event: Any) -> None:
        """A chunk without an id goes on with the message of the chunk before it."""
        event.message_id = self._streamed = event.message_id or self._streamed
        if event.message_id not in self._roles:
            self._start_text(event)
        if event.delta:
            self._add_text(event)

    def _start_call(self, event: Any) -> None:
        self._calls[event.tool_call_id] = (event.tool_call_name, [])
        message = self._assistant(event.parent_message_id or event.tool_call_id)
        message.setdefault("toolCalls", []).append({"id": event.tool_call_id, "type": "function"})

    def _add_arguments(self, event: Any) -> None:
        if event.tool_call_id not in self._calls:
            raise BadAnswer("a TOOL_CALL_ARGS comes before its TOOL_CALL_START")
        self._calls[event.tool_call_id][1].append(event.delta)

    def _chunk_call(self, event: Any) -> None:
        event.tool_call_id = self._called = event.tool_call_id or self._called
        if event.tool_call_id not in self._calls:
            if not event.tool_call_name:
                raise BadAnswer("the first TOOL_CALL_CHUNK of a tool call has no toolCallName")
            self._start_call(event)
        if event.delta:
            self._add_arguments(event)

    def _end_call(self, event: Any) -> None:
        self.messages.append({
            "id": event.message_id,
            "role": "tool",
            "toolCallId": event.tool_call_id,
            "content": event.content if isinstance(event.content, str) else _joined(event.content),
        })  # fmt: skip

    def _replace_messages(self, event: Any) -> None:
        self.messages = [message.model_dump(mode="json", by_alias=True) for message in event.messages]
        self._assistants = _assistants(self.messages)

    def _assistant(self, id: str) -> Message:
        """The assistant's message with an id, which is added to the conversation unless it is there."""
        message = self._assistants.get(id)
        if message is None:
            message = self._assistants[id] = {"id": id, "role": _ASSISTANT}
            self.messages.append(message)
        return message

    def _completed(self, message: Message) -> Message:
        if texts := self._texts.get(message["id"]):
            message = {**message, "content": "".join(texts)}
        calls = [self._with_function(call) for call in message.get("toolCalls") or ()]
        return {**message, "toolCalls": calls} if calls else message

    def _with_function(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        if _is_complete(call):
            return call
        name, arguments = self._calls[call["id"]]
        return {**call, "function": {"name": name, "arguments": "".join(arguments)}}


def _is_complete(call: Mapping[str, Any]) -> bool:
    """Return False for a call that was streamed, whose name and arguments are not put together yet."""
    return "function" in call


def _assistants(messages: Sequence[Message]) -> dict[str, Message]:
    return {message["id"]: message for message in messages if message["role"] == _ASSISTANT}


def _operations(event: Any) -> list[Any]:
    return [operation.model_dump(mode="json", by_alias=True) for operation in event.delta]


def _joined(parts: Sequence[Any]) -> str:
    return "".join(getattr(part, "text", "") for part in parts)
