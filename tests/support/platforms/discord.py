"""Discord's HTTP API and gateway for tests (https://docs.discord.com/developers): it checks what it is sent."""

import asyncio
import json
import re
from typing import Any

from aiohttp import WSMsgType, web

from tests.support.platforms.forms import multipart
from tests.support.platforms.standin import Reply, Seen, StandIn, expect

TOKEN = "MTA.bot.token"
APPLICATION = "845027738276462632"
INTERACTION = "interaction-token"
GUILD = "900000000000000001"
OWN_ROLE, OTHER_ROLE = "900000000000000101", "900000000000000102"
"""Roles of the server: the one that Discord made for the bot, and one of people."""
CHANNELS = ("772908445358620702", "645027906669510667")
INTERVAL = 60.0
"""Seconds between two beats that the gateway asks for."""

_MESSAGE = {
    "content",
    "allowed_mentions",
    "components",
    "attachments",
    "nonce",
    "enforce_nonce",
    "message_reference",
    "flags",
    "embeds",
}
_TOKEN = rf"{re.escape(INTERACTION)}(?:-\d+)?"
"""Of an interaction: the one of the samples, or one with a number behind it."""


class Discord(StandIn):
    """Keeps messages by the way they took; `gateway` is what the bot's connection says and hears."""

    def __init__(self) -> None:
        super().__init__()
        self.originals: list[dict[str, Any]] = []
        self.follow_ups: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.edits: list[tuple[str, dict[str, Any]]] = []
        self.callbacks: list[dict[str, Any]] = []
        self.answered: set[str] = set()
        self.typing: list[str] = []
        self.withdrawn = 0
        self.whispers: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.token_gone = False
        self.closed_to_strangers = False
        self.original_gone = False
        self.shared = {"/attachments/1/engine.png": b"\x89PNG picture"}
        self.gateway = GatewayStandIn()
        self.flags = 0
        self.threads: dict[str, str] = {}
        self.may_begin_threads = True
        self.history: list[dict[str, Any]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path in ("/gateway/", "/resume/"):
            return await self.gateway.serve(request, self.url)
        return await super().handle(request)

    def answer(self, seen: Seen) -> Reply:
        if seen.path in self.shared:
            return Reply(body=self.shared[seen.path])
        path = seen.path.removeprefix("/api/v10")
        if path.startswith(("/webhooks/", "/interactions/")):
            return self._by_token(seen, path)
        if seen.headers.get("authorization") != f"Bot {TOKEN}":
            return refusal(401, 0, "401: Unauthorized")
        if seen.method == "GET":
            return self._get(seen, path)
        if path == "/users/@me/channels":
            return self._direct(seen)
        if found := re.fullmatch(r"/channels/(\d+)/messages/(\d+)/threads", path):
            return self._begin_thread(seen, found[1], found[2])
        return self._in_channel(seen, path)

    def _get(self, seen: Seen, path: str) -> Reply:
        known = {
            "/users/@me": {"id": APPLICATION, "username": "agent", "bot": True},
            "/gateway/bot": {"url": self.url.replace("http", "ws", 1) + "/gateway", "shards": 1},
            "/applications/@me": {"id": APPLICATION, "flags": self.flags},
            f"/guilds/{GUILD}/roles": [
                {"id": OWN_ROLE, "name": "agent", "managed": True, "tags": {"bot_id": APPLICATION}},
                {"id": OTHER_ROLE, "name": "crew", "managed": False},
            ],
            **{f"/channels/{channel}": {"id": channel, "type": 0} for channel in CHANNELS},
            **{
                f"/channels/{thread}": {"id": thread, "type": 11, "parent_id": parent}
                for thread, parent in self.threads.items()
            },
        }
        if path in known:
            return Reply(json=known[path])
        found = re.fullmatch(r"/channels/(\d+)/messages", path)
        if found is None or found[1] not in self.threads:
            return refusal(404, 10003, "Unknown Channel")
        before, limit = int(seen.query["before"]), int(seen.query["limit"])
        latest = [message for message in self.history if int(message["id"]) < before][-limit:]
        return Reply(json=latest[::-1])

    def _begin_thread(self, seen: Seen, channel: str, message: str) -> Reply:
        expect(channel in CHANNELS and 1 <= len(seen.json["name"]) <= 100, "50035 name")
        if not self.may_begin_threads:
            return refusal(403, 50013, "Missing Permissions")
        if message in self.threads:
            return refusal(400, 160004, "A thread has already been created for this message")
        self.threads[message] = channel
        return Reply(201, {"id": message, "type": 11, "parent_id": channel})

    def _direct(self, seen: Seen) -> Reply:
        expect(set(seen.json) == {"recipient_id"}, f"fields {set(seen.json)}")
        if self.closed_to_strangers:
            return refusal(403, 50007, "Cannot send messages to this user")
        person = {"id": seen.json["recipient_id"], "username": "ada"}
        return Reply(json={"id": CHANNELS[1], "type": 1, "recipients": [person]})

    def _by_token(self, seen: Seen, path: str) -> Reply:
        if path.endswith("/callback"):
            expect(re.fullmatch(rf"/interactions/\d+/{_TOKEN}/callback", path), path)
            _check_modal(seen.json)
            self.callbacks.append(seen.json)
            return Reply(204)
        named = re.match(rf"/webhooks/{APPLICATION}/{_TOKEN}", path)
        base = named[0] if named else f"/webhooks/{APPLICATION}/{INTERACTION}"
        if self.token_gone:
            return refusal(401, 50027, "Invalid Webhook Token")
        if (seen.method, path) == ("DELETE", f"{base}/messages/@original"):
            if self.original_gone or base in self.answered:
                return refusal(404, 10008, "Unknown Message")
            self.withdrawn += 1
            return Reply(204)
        body = self._checked_message(seen)
        if (seen.method, path) == ("PATCH", f"{base}/messages/@original"):
            if self.original_gone:
                return refusal(404, 10008, "Unknown Message")
            self.originals.append(body)
            self.answered.add(base)
        elif found := re.fullmatch(rf"PATCH {re.escape(base)}/messages/(\d+)", f"{seen.method} {path}"):
            self.edits.append((found[1], body))
        else:
            expect((seen.method, path) == ("POST", base), f"{seen.method} {path}")
            (self.whispers if body.get("flags") == 64 else self.follow_ups).append(body)
        return Reply(json={"id": "9001"})

    def _in_channel(self, seen: Seen, path: str) -> Reply:
        found = re.fullmatch(r"/channels/(\d+)/(typing|messages(?:/\d+)?)", path)
        expect(found, f"{seen.method} {path}")
        assert found
        if found[1] not in (*CHANNELS, *self.threads):
            return refusal(404, 10003, "Unknown Channel")
        if found[2] == "typing":
            self.typing.append(found[1])
            return Reply(204)
        number = found[2].partition("/")[2]
        if number and number in self.gone:
            return refusal(404, 10008, "Unknown Message")
        if seen.method == "DELETE":
            self.gone.add(number)
            return Reply(204)
        body = self._checked_message(seen)
        if seen.method == "PATCH":
            self.edits.append((found[2].partition("/")[2], body))
            return Reply(json={"id": number})
        expect(seen.method == "POST" and found[2] == "messages", f"{seen.method} {path}")
        expect(body["enforce_nonce"] is True and 1 <= len(body["nonce"]) <= 25, "nonce")
        if body["nonce"] not in [each["nonce"] for each in self.messages]:
            self.messages.append({**body, "channel": found[1]})
        return Reply(json={"id": f"{8000 + len(self.messages)}"})

    def visible(self) -> dict[str, str]:
        texts = {str(number): sent["content"] for number, sent in enumerate(self.messages, 8001)}
        texts.update((number, body["content"]) for number, body in self.edits if number in texts)
        return {number: text for number, text in texts.items() if number not in self.gone}

    def _checked_message(self, seen: Seen) -> dict[str, Any]:
        form = multipart(seen)
        body = json.loads(form["payload_json"].content) if form else seen.json
        expect(seen.headers.get("user-agent", "").startswith("DiscordBot ("), "user agent")
        expect(set(body) <= _MESSAGE, f"unknown {set(body) - _MESSAGE}")
        expect(body["allowed_mentions"] == {"parse": []}, "allowed_mentions")
        expect(len(body.get("content", "")) <= 2000, "50035 content")
        is_empty = not (body.get("content") or body.get("attachments") or body.get("embeds"))
        expect(not is_empty or "components" in body, "50006 empty message")
        for embed in body.get("embeds", []):
            _check_embed(embed)
        expect(len(body.get("components", [])) <= 5, "50035 components")
        for row in body.get("components", []):
            expect(row["type"] == 1 and 1 <= len(row["components"]) <= 5, "50035 components")
            for button in row["components"]:
                value = "url" if button["style"] == 5 else "custom_id"
                expect(set(button) == {"type", "style", "label", value}, "50035 button")
                longest = 512 if value == "url" else 100
                expect(len(button["label"]) <= 80 and len(button[value]) <= longest, "50035 button")
        for each in body.get("attachments", []):
            expect(isinstance(each["id"], str), "50035 attachments: id is a snowflake")
            file = form[f"files[{each['id']}]"]
            expect(file.name == each["filename"], "attachments")
            self.files[file.name] = file.content
        return body


def _check_embed(embed: dict[str, Any]) -> None:
    expect(set(embed) <= {"title", "description", "fields", "image"}, f"embed {set(embed)}")
    expect(1 <= len(embed["title"]) <= 256 and len(embed.get("description", "")) <= 4096, "50035 embed")
    fields = embed.get("fields", [])
    expect(len(fields) <= 25, "50035 fields")
    expect(all(1 <= len(each["name"]) <= 256 and 1 <= len(each["value"]) <= 1024 for each in fields), "field")


def _check_modal(answer: dict[str, Any]) -> None:
    if answer["type"] != 9:
        return
    data = answer["data"]
    expect(len(data["custom_id"]) <= 100 and 1 <= len(data["title"]) <= 45, "50035 modal")
    expect(1 <= len(data["components"]) <= 5, "50035 modal")
    for label in data["components"]:
        expect(label["type"] == 18 and 1 <= len(label["label"]) <= 45, "50035 label")
        field = label["component"]
        expect(field["type"] in (3, 4) and 1 <= len(field["custom_id"]) <= 100, "50035 component")


class GatewayStandIn:
    """A scripted gateway: it says what is put into `frames`, and keeps what it heard in `heard`.

    A frame is a dictionary, or a number with which the connection is closed.
    """

    def __init__(self) -> None:
        self.frames: asyncio.Queue[dict[str, Any] | int] = asyncio.Queue()
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.paths: list[str] = []
        self.answers_beats = True
        self.beats: asyncio.Queue[Any] = asyncio.Queue()

    def dispatch(self, name: str, data: Any, sequence: int) -> None:
        self.frames.put_nowait({"op": 0, "t": name, "s": sequence, "d": data})

    async def serve(self, request: web.Request, url: str) -> web.WebSocketResponse:
        self.paths.append(request.path)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": INTERVAL * 1000}})
        talking = asyncio.create_task(self._talk(socket, url.replace("http", "ws", 1)))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._hear(socket, message.json())
        finally:
            talking.cancel()
        return socket

    async def _talk(self, socket: web.WebSocketResponse, url: str) -> None:
        while True:
            frame = await self.frames.get()
            if isinstance(frame, int):
                await socket.close(code=frame)
                return
            if frame.get("t") == "READY":
                frame["d"]["resume_gateway_url"] = f"{url}/resume"
            await socket.send_json(frame)

    async def _hear(self, socket: web.WebSocketResponse, frame: dict[str, Any]) -> None:
        if frame["op"] != 1:
            self.heard.put_nowait(frame)
            return
        self.beats.put_nowait(frame["d"])
        if self.answers_beats:
            await socket.send_json({"op": 11})


def refusal(status: int, code: int, message: str, **more: Any) -> Reply:
    return Reply(status, {"code": code, "message": message, **more})
