"""A stand-in for a server that speaks the chat-completions protocol, and what it answers."""

import json
from typing import Any

from aiohttp import web


class Server:
    """A model and its tools: answers with what it was given, in turn, and remembers what it was asked."""

    def __init__(self, *replies: dict[str, Any] | web.StreamResponse) -> None:
        self.replies = list(replies)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.tool_calls: list[tuple[str, Any, str | None]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/tools/"):
            key = request.headers.get("Idempotency-Key")
            self.tool_calls.append((request.path, await request.json(), key))
            return web.Response(text="the bell rang")
        assert request.path == "/v1/chat/completions"
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        reply = self.replies.pop(0)
        if isinstance(reply, web.StreamResponse):
            return reply
        if self.asked[-1].get("stream"):
            return await _streamed(request, reply)
        return web.json_response({"choices": [{"message": reply, "finish_reason": "stop"}]})

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.asked[-1]["messages"]


async def _streamed(request: web.Request, reply: dict[str, Any]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    words = reply.get("content") or ""
    deltas: list[dict[str, Any]] = [{"content": character} for character in words]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(reply.get("tool_calls", []))]
    for delta in deltas:
        await response.write(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    return response


def text(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def calling(*names: str, content: str | None = None, arguments: str = '{"times": 12}') -> dict[str, Any]:
    calls = [
        {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name in names
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}
