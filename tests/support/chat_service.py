"""The protocol of the web chat, spoken by a small service whose answers a test scripts, and a website beside it."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from aiohttp import web

from adapters.inbound.rest.web_chat_panel import panel_script

POLICY = "default-src 'none'; script-src {service}; connect-src {service}; img-src {service} data:"
"""As strict as a website may be that has the chat."""

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LIMITS = {"maxFileBytes": 1000, "maxTextLength": 200}


class ChatService:
    """Keeps one conversation for each visitor. `failing` answers come first, one for each call but the stream."""

    def __init__(self) -> None:
        self.events: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self.posted: list[dict[str, Any]] = []
        self.sessions: list[dict[str, Any]] = []
        self.failing: list[web.Response] = []
        self.away = False
        self.look: dict[str, Any] = {"title": "Harbour help", "greeting": "Hello! How can we help?"}
        self.changed = asyncio.Condition()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if self.away:
            assert request.transport is not None
            request.transport.abort()
        path = request.path.removeprefix("/api/agent/web-chat/public-1/")
        headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
        if request.path == "/web-chat.js":
            return web.Response(body=panel_script(), content_type="text/javascript")
        if request.path == "/file":
            return web.Response(body=PICTURE, content_type="image/png")
        if request.method == "OPTIONS":
            allowed = {"Access-Control-Allow-Headers": "authorization, content-type"}
            return web.Response(status=204, headers={**headers, **allowed})
        answer = await {"session": self._session, "messages": self._message, "stream": self._stream}[path](
            request
        )
        if not answer.prepared:
            answer.headers.update(headers)
        return answer

    async def _session(self, request: web.Request) -> web.StreamResponse:
        if self.failing:
            return self.failing.pop(0)
        asked = await request.json()
        self.sessions.append(asked)
        if asked["identity"] == "forged":
            return refusal(401, "the identity token is not signed with the secret of this chat")
        visitor = asked["identity"] or asked["visitor"] or str(uuid4())
        return web.json_response({"visitor": visitor, "colour": "", **LIMITS, **self.look})

    async def _message(self, request: web.Request) -> web.StreamResponse:
        message = await request.json()
        self.posted.append(message)
        if self.failing:
            return self.failing.pop(0)
        files = [{"name": file["name"], "size": 3, "url": "/file"} for file in message["files"]]
        visitor = visitor_of(request)
        if not any(told.get("id") == message["id"] for _, told in self.events.get(visitor, ())):
            content = [["p", {}, message["text"]]]
            await self.tell(visitor, id=message["id"], content=content, files=files, **{"from": "visitor"})
        return web.json_response({"id": message["id"]}, status=202)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        headers = {"Content-Type": "text/event-stream", "Access-Control-Allow-Origin": "*"}
        answer = web.StreamResponse(headers=headers)
        await answer.prepare(request)
        cursor, events = int(request.query["after"]), self.events.setdefault(visitor_of(request), [])
        await answer.write(b": here\n\n")
        async with self.changed:
            self.changed.notify_all()
        while not self.away:
            for kind, data in events[cursor:]:
                cursor += 1
                frame = f"id: {cursor}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"
                for part in (frame[:7], frame[7:]):  # cut anywhere
                    await answer.write(part.encode())
            async with self.changed:
                while not self.away and len(events) == cursor:
                    await self.changed.wait()
        return answer

    async def tell(self, visitor: str, kind: str = "message", **data: Any) -> None:
        """An event for a visitor; "": for the only one, who may be about to come."""
        if kind == "message":
            whole = {
                "from": "agent",
                "at": "2026-11-22T09:30:00Z",
                "files": [],
                "choices": [],
                "draft": False,
            }
            data = {**whole, **data}
        async with self.changed:
            await self.changed.wait_for(lambda: visitor or self.events)
            self.events.setdefault(visitor or next(iter(self.events)), []).append((kind, data))
            self.changed.notify_all()

    async def go(self, *, away: bool) -> None:
        self.away = away
        async with self.changed:
            self.changed.notify_all()


def visitor_of(request: web.Request) -> str:
    return request.headers["Authorization"].removeprefix("Bearer ")


def refusal(status: int, error: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response({"error": error}, status=status, headers=headers)


class Website:
    """A page of another origin with the chat's tag; `attributes` are those of the tag, `lead` is of the html."""

    def __init__(self, service: str, attributes: str = "", lead: str = 'lang="en"') -> None:
        self.service = service
        self.instance: str | None = "public-1"
        self.attributes = attributes
        self.lead = lead

    async def handle(self, _: web.Request) -> web.StreamResponse:
        script = f'src="{self.service}/web-chat.js" data-instance="{self.instance}" {self.attributes} async'
        tag = f"<script {script}></script>"
        html = (
            f"<!DOCTYPE html><html {self.lead}><head><title>Harbour</title>"
            '<meta name="viewport" content="width=device-width">'
            f'<link rel="icon" href="data:,">{tag}</head>'
            "<body><main><h1>Harbour</h1><p>Ships come and go.</p><div id=place></div></main></body></html>"
        )
        policy = POLICY.format(service=self.service)
        return web.Response(text=html, content_type="text/html", headers={"Content-Security-Policy": policy})
