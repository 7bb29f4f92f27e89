"""A stand-in for a server that speaks Anthropic's Messages protocol, as far as the Claude Agent SDK needs it."""

import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web


class AnthropicServer:
    """Says `text` to whatever it is asked; remembers the requests for messages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[dict[str, Any]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/v1/messages/count_tokens":
            return web.json_response({"input_tokens": 5})
        if request.path != "/v1/messages":
            return web.json_response({"type": "error", "error": {"type": "not_found_error"}}, status=404)
        body = await request.json()
        self.asked.append(body)
        if not body.get("stream"):
            return web.json_response(self._message(body, [{"type": "text", "text": self.text}], "end_turn"))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in self._events(body):
            await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        return response

    def _message(self, body: dict[str, Any], content: list[Any], reason: str | None) -> dict[str, Any]:
        about = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        usage = {"input_tokens": 5, "output_tokens": 2}
        return {**about, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}

    def _events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "message_start", "message": self._message(body, [], None)}
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        for word in self.text.split(" "):
            piece = word if self.text.endswith(word) else f"{word} "
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
        yield {"type": "content_block_stop", "index": 0}
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 2}}
        yield {"type": "message_stop"}
