"""A stand-in for a server of models, which speaks chat completions and the Responses protocol. Its requests and
answers are checked against the types of OpenAI's own library."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from aiohttp import web
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)
from pydantic import TypeAdapter

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
USAGE = (9, 4)
"""Tokens that each reply takes."""


class Server:
    """A model and its tools: answers with what it was given, in turn, and remembers what it was asked. Replies are
    given as messages of chat completions, whichever protocol the request speaks."""

    def __init__(self, *replies: dict[str, Any] | web.StreamResponse, tells_usage: bool = False) -> None:
        self.replies = list(replies)
        self.tells_usage = tells_usage
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.tool_calls: list[tuple[str, Any, str | None]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/tools/"):
            key = request.headers.get("Idempotency-Key")
            self.tool_calls.append((request.path, await request.json(), key))
            return web.Response(text="the bell rang")
        assert request.path in (CHAT, RESPONSES)
        body = await request.json()
        check_request(request.path, body)
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        reply = self.replies.pop(0)
        if isinstance(reply, web.StreamResponse):
            return reply
        is_chat, is_streamed = request.path == CHAT, bool(body.get("stream"))
        if is_streamed:
            events = self._chunks(reply, body) if is_chat else self._events(reply)
            return await _streamed(request, events, is_done=is_chat)
        if is_chat:
            answer = _completion(reply, self._chat_usage())
            ChatCompletion.model_validate(answer)
        else:
            answer = _response(reply, self._usage())
            Response.model_validate(answer)
        return web.json_response(answer)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What the last request gave to the model, as messages of chat completions."""
        return messages_of(self.asked[-1])

    def _usage(self) -> dict[str, Any] | None:
        read, written = USAGE
        details = {"input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}}
        counts = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        more = {"output_tokens_details": {"reasoning_tokens": 0}}
        return {**counts, **details, **more} if self.tells_usage else None

    def _chat_usage(self) -> dict[str, Any] | None:
        read, written = USAGE
        counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return counts if self.tells_usage else None

    def _chunks(self, reply: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        deltas: list[dict[str, Any]] = [{"content": character} for character in reply.get("content") or ""]
        deltas += [
            {"tool_calls": [{"index": at, **call}]} for at, call in enumerate(reply.get("tool_calls", []))
        ]
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "small"}
        for delta in deltas:
            yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**chunk, "choices": [], "usage": self._chat_usage()}

    def _events(self, reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        whole = _response(reply, self._usage())
        yield {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
        for at, item in enumerate(whole["output"]):
            place = {"item_id": item["id"], "output_index": at}
            if item["type"] == "message":
                words, part = item["content"][0]["text"], {**place, "content_index": 0}
                yield _added(at, {**item, "status": "in_progress", "content": []})
                for letter in words:
                    delta = {"delta": letter, "logprobs": []}
                    yield {"type": "response.output_text.delta", **part, **delta}
                yield {"type": "response.output_text.done", **part, "text": words, "logprobs": []}
            elif item["type"] == "function_call":
                name, arguments = item["name"], item["arguments"]
                yield _added(at, {**item, "status": "in_progress", "arguments": ""})
                for piece in (arguments[:3], arguments[3:]):
                    yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
                done = {"name": name, "arguments": arguments}
                yield {"type": "response.function_call_arguments.done", **place, **done}
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        yield {"type": "response.completed", "response": whole}


def _added(at: int, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": at, "item": item}


async def _streamed(
    request: web.Request, events: Iterator[dict[str, Any]], *, is_done: bool
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number, event in enumerate(events):
        if is_done:
            ChatCompletionChunk.model_validate(event)
            head = b""
        else:
            event = {**event, "sequence_number": number}
            _adapter(ResponseStreamEvent).validate_python(event)
            head = f"event: {event['type']}\n".encode()
        await response.write(head + b"data: " + json.dumps(event).encode() + b"\n\n")
    if is_done:
        await response.write(b"data: [DONE]\n\n")
    return response


def _completion(reply: Mapping[str, Any], usage: Mapping[str, Any] | None) -> dict[str, Any]:
    choice = {"index": 0, "message": reply, "finish_reason": "stop", "logprobs": None}
    answer = {"id": "c1", "object": "chat.completion", "created": 0, "model": "small", "choices": [choice]}
    return {**answer, **({"usage": usage} if usage else {})}


def _response(reply: Mapping[str, Any], usage: Mapping[str, Any] | None) -> dict[str, Any]:
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if content := reply.get("content"):
        part = {"type": "output_text", "text": content, "annotations": []}
        about = {"id": "msg_1", "role": "assistant", "status": "completed"}
        output.append({"type": "message", **about, "content": [part]})
    output += [
        {"type": "function_call", "id": f"fc_{at}", "call_id": call["id"], "status": "completed"}
        | call["function"]
        for at, call in enumerate(reply.get("tool_calls", []))
    ]
    about = {"id": "resp_1", "object": "response", "created_at": 0, "model": "small", "status": "completed"}
    settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**about, **settings, "output": output, **({"usage": usage} if usage else {})}


def messages_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a request of either protocol gives to the model, as messages of chat completions."""
    if "messages" in body:
        return list(body["messages"])
    instructions = body.get("instructions")
    messages = [{"role": "system", "content": instructions}] if instructions else []
    for item in body["input"]:
        if item.get("type") == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif item.get("type") == "function_call_output":
            content = {"tool_call_id": item["call_id"], "content": item["output"]}
            messages.append({"role": "tool", **content})
        else:
            messages.append(item)
    return messages


def tools_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The functions that a request of either protocol offers to the model."""
    return [tool.get("function", tool) for tool in body.get("tools", [])]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def check_request(path: str, body: Mapping[str, Any]) -> None:
    """Fails for a request that OpenAI's library could not have made."""
    kinds: Any = {
        (CHAT, False): CompletionCreateParamsNonStreaming,
        (CHAT, True): CompletionCreateParamsStreaming,
        (RESPONSES, False): ResponseCreateParamsNonStreaming,
        (RESPONSES, True): ResponseCreateParamsStreaming,
    }
    validated = _adapter(kinds[path, bool(body.get("stream"))]).validate_python(body)
    assert _plain(validated) == body, "a field is not known to the protocol"


def _plain(value: Any) -> Any:
    """The value with lists in place of iterators, which are checked as they are read."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def text(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def calling(*names: str, content: str | None = None, arguments: str = '{"times": 12}') -> dict[str, Any]:
    calls = [
        {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name in names
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}
