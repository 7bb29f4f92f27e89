"""A stand-in for a chat-completions server, to try such a rule without a model.

    .venv/bin/python examples/chat_completions_standin.py  # listens on 127.0.0.1:8703
    RESOURCES_FILE=examples/resources.toml switchboard up

It tells how many messages of the conversation it has seen, and calls the tool `look_up` when it reads
"look up". It also serves that tool, at /tools/look_up.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from aiohttp import web


def reply(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant's message."""
    last = messages[-1]
    if last["role"] == "tool" and "It was not run." in last["content"]:
        return {"role": "assistant", "content": "Then I do not look it up."}
    if last["role"] == "tool":
        return {"role": "assistant", "content": f"I found: {last['content']}"}
    if "look up" in last["content"]:
        function = {"name": "look_up", "arguments": json.dumps({"query": last["content"]})}
        calls = [{"id": "call_1", "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    heard = sum(message["role"] == "user" for message in messages)
    return {"role": "assistant", "content": f"This is message {heard} of ours: {last['content']}"}


async def complete(request: web.Request) -> web.StreamResponse:
    """`POST /v1/chat/completions`, whole or streamed."""
    asked = await request.json()
    message = reply(asked["messages"])
    if not asked.get("stream"):
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for delta in deltas(message):
        event = {"choices": [{"delta": delta}]}
        await response.write(f"data: {json.dumps(event)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


def deltas(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message in pieces, as the protocol streams it."""
    words = (message["content"] or "").split(" ")
    texts: list[dict[str, Any]] = [{"content": f"{' ' if at else ''}{word}"} for at, word in enumerate(words)]
    calls = [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(message.get("tool_calls", []))]
    return texts + calls


async def look_up(request: web.Request) -> web.Response:
    """The tool: takes its parameters as JSON, answers with text."""
    parameters = await request.json()
    return web.Response(text=f"nothing about {parameters['query']!r}, this is a stand-in")


def application() -> web.Application:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_post("/tools/look_up", look_up)
    return app


if __name__ == "__main__":
    web.run_app(application(), host="127.0.0.1", port=int(sys.argv[1]) if len(sys.argv) > 1 else 8703)
