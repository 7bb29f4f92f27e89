"""Slack's Web API for tests (https://docs.slack.dev/reference/methods): it checks what it is sent."""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from aiohttp import web

from tests.support.platforms.standin import Reply, Seen, StandIn, expect
from tests.support.platforms.websocket import Peers

TOKEN = "xoxb-test-token"
APP_TOKEN = "xapp-test-token"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
BOT = "U0BOT"
MEMBER_OF = ("C0ROOM", "D0ADA", "U0ADA")

_MESSAGE = {"channel", "text", "blocks", "thread_ts", "client_msg_id"}


class Slack(StandIn):
    """Keeps messages and files; the conversations in MEMBER_OF are those that the bot is in."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self.updates: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.deleted: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.responses: list[dict[str, Any]] = []
        self.whispers: list[dict[str, Any]] = []
        self.response_uses_left = 5
        self.sockets = Peers()
        self.uploads: dict[str, bytes] = {}
        self.files: list[dict[str, str]] = []
        self.threads: dict[str, list[dict[str, Any]]] = {}
        self.shared = {"/files-pri/F1/engine.png": b"\x89PNG picture", "/files-pri/F2/x": b"<!DOCTYPE html>"}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/link/":
            return await self.sockets.take(request, {"type": "hello", "num_connections": 1})
        return await super().handle(request)

    @property
    def response_url(self) -> str:
        return f"{self.url}/commands/T1/1/abc"

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/commands/T1/1/abc":
            return self._responded(seen)
        if seen.path.startswith("/upload/"):
            expect(seen.method == "POST", "an upload is a POST")
            self.uploads[seen.path.rsplit("/", 1)[-1]] = seen.body
            return Reply(body=b"OK - 10")
        if seen.path == "/api/apps.connections.open":
            if seen.headers.get("authorization") != f"Bearer {APP_TOKEN}":
                return refused("not_allowed_token_type")
            return Reply(json={"ok": True, "url": f"{self.url.replace('http', 'ws', 1)}/link/?ticket=secret"})
        if seen.headers.get("authorization") != f"Bearer {TOKEN}":
            return refused("invalid_auth")
        if seen.path in self.shared:
            return Reply(body=self.shared[seen.path])
        expect(seen.method == "POST", "methods are called with POST")
        name = seen.path.removeprefix("/api").removeprefix("/").replace(".", "_")
        handler: Callable[[dict[str, Any]], Reply] | None = getattr(self, f"_{name}", None)
        expect(handler, f"unknown method {seen.path}")
        assert handler
        kind = seen.headers.get("content-type", "")
        return handler(seen.json if kind.startswith("application/json") else seen.form)

    def _responded(self, seen: Seen) -> Reply:
        if self.response_uses_left == 0:
            return Reply(404, {"ok": False, "error": "used_url"})
        self.response_uses_left -= 1
        body = seen.json
        known = {"response_type", "replace_original", "text", "blocks"}
        expect(set(body) <= known, f"unknown {set(body) - known}")
        expect(body.get("response_type") in (None, "in_channel", "ephemeral"), "response_type")
        self.responses.append(body)
        return Reply(body=b"ok")

    def _auth_test(self, form: dict[str, Any]) -> Reply:
        return Reply(json={"ok": True, "user_id": BOT, "bot_id": "B0BOT", "team_id": "T1"})

    def _conversations_open(self, form: dict[str, Any]) -> Reply:
        expect(set(form) == {"users"}, f"fields {set(form)}")
        if form["users"] != "U0ADA":
            return refused("user_not_found")
        return Reply(json={"ok": True, "channel": {"id": "D0ADA"}})

    def _chat_postMessage(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        expect(set(body) <= _MESSAGE, f"unknown {set(body) - _MESSAGE}")
        if body["channel"] not in MEMBER_OF:
            return refused("not_in_channel")
        expect(body["text"].strip(), "no_text")
        expect(len(body["text"]) <= 4000, "msg_too_long")
        expect(UUID(body["client_msg_id"]), "client_msg_id")
        if "thread_ts" in body:
            expect(re.fullmatch(r"\d+\.\d{6}", body["thread_ts"]), "invalid_thread_ts")
        _check_blocks(body.get("blocks", []))
        twin = [each for each in self.messages if each["client_msg_id"] == body["client_msg_id"]]
        if not twin:
            self.messages.append(body)
        return Reply(
            json={"ok": True, "channel": body["channel"], "ts": f"1800000000.{len(self.messages):06d}"}
        )

    def _chat_update(self, body: dict[str, Any]) -> Reply:
        expect(set(body) - {"blocks"} == {"channel", "ts", "text"}, f"fields {set(body)}")
        expect(1 <= len(body["text"]) <= 4000, "msg_too_long")
        _check_blocks(body.get("blocks", []))
        if body["ts"] in self.gone:
            return refused("message_not_found")
        self.updates.append(body)
        number = int(body["ts"].partition(".")[2]) - 1
        if number < len(self.messages):
            changed = {name: value for name, value in body.items() if name != "ts"}
            kept = {name: value for name, value in self.messages[number].items() if name != "blocks"}
            self.messages[number] = {**kept, **changed}
        return Reply(json={"ok": True, "channel": body["channel"], "ts": body["ts"]})

    def _views_open(self, body: dict[str, Any]) -> Reply:
        expect(set(body) == {"trigger_id", "view"} and body["trigger_id"], f"fields {set(body)}")
        view = body["view"]
        expect(all(1 <= len(view[name]["text"]) <= 24 for name in ("title", "submit", "close")), "view")
        inputs = [block for block in view["blocks"] if block["type"] == "input"]
        names = {block["block_id"] for block in inputs}
        expect(len(names) == len(inputs) and all(block["element"]["type"] for block in inputs), "blocks")
        self.views.append(view)
        return Reply(json={"ok": True, "view": {"id": f"V{len(self.views)}"}})

    def _chat_postEphemeral(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        expect(set(body) - {"thread_ts"} == {"channel", "user", "text"}, f"fields {set(body)}")
        expect(body["user"].startswith("U") and body["text"].strip(), "user and text")
        if body["channel"] not in MEMBER_OF:
            return refused("not_in_channel")
        self.whispers.append(body)
        return Reply(json={"ok": True, "message_ts": "1800000000.999999"})

    def _assistant_threads_setStatus(self, body: dict[str, Any]) -> Reply:  # noqa: N802
        expect(set(body) == {"channel_id", "thread_ts", "status"}, f"fields {set(body)}")
        if body["channel_id"] not in MEMBER_OF:
            return refused("channel_not_found")
        self.statuses.append(body)
        return Reply(json={"ok": True})

    def _chat_delete(self, body: dict[str, Any]) -> Reply:
        expect(set(body) == {"channel", "ts"}, f"fields {set(body)}")
        if body["ts"] in self.gone:
            return refused("message_not_found")
        self.gone.add(body["ts"])
        self.deleted.append(body)
        return Reply(json={"ok": True, **body})

    def visible(self) -> dict[str, str]:
        stamps = {f"1800000000.{number:06d}": sent["text"] for number, sent in enumerate(self.messages, 1)}
        return {stamp: text for stamp, text in stamps.items() if stamp not in self.gone}

    def _files_getUploadURLExternal(self, form: dict[str, Any]) -> Reply:  # noqa: N802
        expect(set(form) == {"filename", "length"}, f"fields {set(form)}")
        if form["length"] == "0":
            return refused("invalid_arguments")
        file_id = f"F{len(self.uploads) + 1}"
        return Reply(json={"ok": True, "upload_url": f"{self.url}/upload/{file_id}", "file_id": file_id})

    def _files_completeUploadExternal(self, form: dict[str, Any]) -> Reply:  # noqa: N802
        expect(set(form) <= {"files", "channel_id", "thread_ts", "initial_comment"}, f"fields {set(form)}")
        if form["channel_id"] not in MEMBER_OF:
            return refused("not_in_channel")
        for each in json.loads(form["files"]):
            expect(each["id"] in self.uploads, "file_not_found")
            self.files.append({**form, **each})
        return Reply(json={"ok": True, "files": []})

    def _conversations_replies(self, form: dict[str, Any]) -> Reply:
        """A page of a thread, from its beginning; the cursor is the place of the next message."""
        expect({"channel", "ts", "limit"} <= set(form), f"fields {set(form)}")
        if form["ts"] not in self.threads:
            return refused("thread_not_found")
        first, *others = self.threads[form["ts"]]
        found = [first, *(each for each in others if each["ts"] < form.get("latest", "9"))]
        start, limit = int(form.get("cursor", "0")), int(form["limit"])
        more = {"next_cursor": str(start + limit)} if start + limit < len(found) else {}
        body = {"ok": True, "messages": found[start : start + limit], "response_metadata": more}
        return Reply(json=body)

    def _files_info(self, form: dict[str, Any]) -> Reply:
        address = f"{self.url}/files-pri/{form['file']}/engine.png"
        described = {"name": "engine.png", "mimetype": "image/png", "size": 12}
        return Reply(json={"ok": True, "file": {"id": form["file"], "url_private": address, **described}})


def refused(error: str) -> Reply:
    return Reply(json={"ok": False, "error": error})


def _check_blocks(blocks: list[dict[str, Any]]) -> None:
    for block in blocks:
        if block["type"] == "section":
            for shown in [block["text"]] if "text" in block else block["fields"]:
                expect(1 <= len(shown["text"]) <= 3000, "invalid_blocks: section")
            expect(len(block.get("fields", [])) <= 10, "invalid_blocks: fields")
        elif block["type"] == "image":
            expect(block["image_url"] and block["alt_text"], "invalid_blocks: image")
        elif block["type"] == "actions":
            expect(1 <= len(block["elements"]) <= 25, "invalid_blocks: actions")
            names = {each["action_id"] for each in block["elements"]}
            expect(len(names) == len(block["elements"]), "invalid_blocks: action_id is not unique")
            for each in block["elements"]:
                expect(each["type"] == "button", "invalid_blocks: element")
                expect(1 <= len(each["text"]["text"]) <= 75, "invalid_blocks: button text")
                expect(len(each.get("value", "")) <= 2000, "invalid_blocks: button value")
                expect(("value" in each) != ("url" in each), "invalid_blocks: button")
        else:
            expect(block["type"] == "context", f"invalid_blocks: {block['type']}")
