"""A Mattermost server, as far as the channel uses it: posts, files, users, channels, response addresses.

After https://developers.mattermost.com/api-documentation/ (posts, files) and the server's de-duplication of
posts by `pending_post_id`.
"""

import email
import json
import re
from collections.abc import Mapping
from email.message import Message
from mimetypes import guess_type
from typing import Any

from aiohttp import web

from tests.support.platforms.standin import Reply, Seen, StandIn, expect
from tests.support.platforms.websocket import Peer, Peers

TOKEN = "t0kenoftheapiq9m4w8d2hr6tb"
CHANNEL = "c4n8hq2xw7z1m5kfr9ty3bdjpa"
DIRECT = "c5n8hq2xw7z1m5kfr9ty3bdjpa"
"""The direct channel of the bot and a person."""
BOT = {"id": "b1r5xk8mz2d7f4qhw9tbnc3yja", "username": "kitchen", "is_bot": True}
OTHER_BOT = "k7r2xn9mz4d1f6qhw3tbc8yja5"
FIRST_POST_AT = 1_795_780_800_000
"""Milliseconds since 1970, where a test sets the clock."""
_POST_FIELDS = {"channel_id", "message", "root_id", "file_ids", "props", "pending_post_id"}
_ID = re.compile(r"[a-z0-9]{26}")


class Mattermost(StandIn):
    """Keeps the posts, the uploaded files and what came to response addresses. `began_at`: milliseconds since 1970 a
    second before its first post."""

    def __init__(self, began_at: int = FIRST_POST_AT) -> None:
        super().__init__()
        self.began_at = began_at
        self.posts: list[dict[str, Any]] = []
        self.changed: dict[int, dict[str, Any]] = {}
        self.files: dict[str, tuple[str, bytes]] = {}
        self.responses: list[dict[str, Any]] = []
        self.typing: list[dict[str, Any]] = []
        self.bots = {BOT["id"], OTHER_BOT}
        self.member = True
        self.roles = "system_user"
        self.archived_at = 0
        self.sockets = Peers()
        self.channels: dict[str, dict[str, Any]] = {}
        self.history: list[dict[str, Any]] = []
        self._sequences: dict[Peer, int] = {}

    def write(self, user: str, text: str, channel: str, kind: str = "O", **more: Any) -> dict[str, Any]:
        """A post of a user in a channel of a kind, which all connections are told of."""
        post = self.record(user, text, channel, kind, **more)
        for peer in self.sockets.open:
            self.tell(peer, post)
        return post

    def record(self, user: str, text: str, channel: str, kind: str = "O", **more: Any) -> dict[str, Any]:
        """The same, that no connection is told of."""
        number = len(self.history) + 1
        post = {
            "id": f"p{number:025d}",
            "create_at": self.began_at + number * 1000,
            "user_id": user,
            "channel_id": channel,
            "message": text,
            "type": "",
            **more,
        }
        name = f"{BOT['id']}__{user}" if kind == "D" else "a-channel"
        self.channels[channel] = {
            "id": channel,
            "name": name,
            "type": kind,
            "last_post_at": post["create_at"],
        }
        self.history.append(post)
        return post

    def tell(self, peer: Peer, post: dict[str, Any]) -> None:
        channel = self.channels[post["channel_id"]]
        data = {
            "post": json.dumps(post),
            "channel_name": channel["name"],
            "channel_type": channel["type"],
            "sender_name": "@ann",
        }
        self._say(peer, "posted", data)

    def change(self, kind: str, post: dict[str, Any], **changed: Any) -> None:
        """A 'post_edited' or 'post_deleted', which all connections are told of."""
        for peer in self.sockets.open:
            self._say(peer, kind, {"post": json.dumps({**post, **changed})})

    def _say(self, peer: Peer, event: str, data: dict[str, Any]) -> None:
        sequence = self._sequences.get(peer, 0)
        self._sequences[peer] = sequence + 1
        peer.say({"event": event, "data": data, "broadcast": {}, "seq": sequence})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/api/v4/websocket":
            return await self.sockets.take(request, react=self._heard)
        return await super().handle(request)

    def _heard(self, peer: Peer, frame: dict[str, Any]) -> None:
        if frame == {"seq": 1, "action": "authentication_challenge", "data": {"token": TOKEN}}:
            peer.say({"status": "OK", "seq_reply": 1})
            self._say(peer, "hello", {"connection_id": "c1", "server_version": "10.5.0"})
        else:
            peer.say({"status": "FAIL", "seq_reply": 1, "error": {"message": "Invalid session token"}})
            peer.say(1000)

    def answer(self, seen: Seen) -> Reply:
        if seen.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.refusal(401, "Invalid or expired session, please login again.")
        if seen.path.startswith("/hooks/commands/"):
            self.responses.append(seen.json)
            return Reply(body=b"ok")
        expect(seen.path.startswith("/api/v4/"), "not the API")
        path = seen.path.removeprefix("/api/v4")
        if seen.method == "GET":
            return self._get(path, seen.query)
        if found := re.fullmatch(r"/posts/(post(\d+))(?:/patch)?", path):
            return self._of_post(seen, found[1], int(found[2]) - 1)
        expect(seen.method == "POST", "method")
        if path == "/users/me/typing":
            self.typing.append(seen.json)
            return Reply(json={"status": "OK"})
        if path == "/files":
            return self._upload(seen)
        if path == "/users/ids":
            return Reply(json=[{"id": user, "username": f"name-of-{user[:2]}"} for user in seen.json])
        if path == "/channels/direct":
            expect(seen.json[0] == BOT["id"] and _ID.fullmatch(seen.json[1]), "the bot and a user")
            return Reply(201, {"id": DIRECT, "type": "D", "name": f"{BOT['id']}__{seen.json[1]}"})
        expect(path == "/posts", "no such resource")
        return self._post(seen.json)

    @staticmethod
    def refusal(status: int, message: str) -> Reply:
        return Reply(status, {"id": "api.error", "message": message, "status_code": status})

    def _get(self, path: str, query: Mapping[str, str]) -> Reply:
        if path == "/users/me/channels":
            return Reply(json=list(self.channels.values()))
        if found := re.fullmatch(r"/channels/(\w+)/posts", path):
            since = int(query["since"])
            posts = [post for post in self.history if post["channel_id"] == found[1]]
            new = {post["id"]: post for post in posts if post["create_at"] >= since}
            return Reply(json={"order": list(new)[::-1], "posts": new})
        if found := re.fullmatch(r"/posts/(\w+)/thread", path):
            posts = [post for post in self.history if found[1] in (post["id"], post.get("root_id"))]
            return Reply(json={"order": [], "posts": {post["id"]: post for post in posts}})
        if path == "/users/me":
            return Reply(json={**BOT, "roles": self.roles})
        if path.startswith("/users/"):
            user = path.removeprefix("/users/")
            return Reply(json={"id": user, "username": "x", "is_bot": user in self.bots})
        if path == f"/channels/{CHANNEL}":
            return Reply(json={"id": CHANNEL, "name": "town-square", "delete_at": self.archived_at})
        if path == f"/channels/{CHANNEL}/members/me":
            missing = {"id": "app.channel.get_member.missing.app_error", "message": "No channel member found"}
            return Reply(json={"channel_id": CHANNEL}) if self.member else Reply(404, missing)
        file_id = path.removeprefix("/files/")
        if file_id.endswith("/info") and file_id.removesuffix("/info") in self.files:
            name, content = self.files[file_id.removesuffix("/info")]
            mime_type = f"{guess_type(name)[0]}; charset=utf-8"
            return Reply(json={"id": file_id, "name": name, "mime_type": mime_type, "size": len(content)})
        if file_id in self.files:
            return Reply(body=self.files[file_id][1])
        return self.refusal(404, "Sorry, we could not find it.")

    def _of_post(self, seen: Seen, number: str, position: int) -> Reply:
        expect((seen.method, seen.path.endswith("/patch")) in (("PUT", True), ("DELETE", False)), "method")
        if number in self.gone:
            return self.refusal(404, "Unable to get the post.")
        if seen.method == "PUT":
            return self._change(position, seen.json)
        self.gone.add(number)
        return Reply(json={"status": "OK"})

    def _change(self, position: int, fields: dict[str, Any]) -> Reply:
        """The posts as they were made stay in `posts`; `changed` has what they read by now."""
        expect(set(fields) <= {"message", "props"}, "fields of a change")
        _check_buttons(fields)
        self.changed[position] = {**self.changed.get(position, self.posts[position]), **fields}
        return Reply(json=self.changed[position])

    def visible(self) -> dict[str, str]:
        """What each post reads by now, by its id."""
        posts = {f"post{n + 1:022d}": self.changed.get(n, post) for n, post in enumerate(self.posts)}
        return {number: post["message"] for number, post in posts.items() if number not in self.gone}

    def _post(self, post: dict[str, Any]) -> Reply:
        expect(set(post) <= _POST_FIELDS, f"unknown fields {set(post) - _POST_FIELDS}")
        expect(_ID.fullmatch(post.get("channel_id", "")), "channel_id")
        expect(len(post["message"]) <= 16_383, "message too long")
        _check_buttons(post)
        expect(post["message"] or post.get("file_ids"), "empty post")
        expect(all(each in self.files for each in post.get("file_ids", [])), "unknown file")
        pending = post.get("pending_post_id", "")
        earlier = [each for each in self.posts if pending and each.get("pending_post_id") == pending]
        if not earlier:
            self.posts.append(post)
        number = self.posts.index(earlier[0] if earlier else post) + 1
        return Reply(201, {**post, "id": f"post{number:022d}", "user_id": BOT["id"]})

    def _upload(self, seen: Seen) -> Reply:
        head = b"Content-Type: " + seen.headers["content-type"].encode() + b"\r\n\r\n"
        message = email.message_from_bytes(head + seen.body)
        parts: dict[str, Message] = {
            str(part.get_param("name", header="content-disposition")): part
            for part in message.get_payload()  # type: ignore[union-attr]
        }
        expect(set(parts) == {"channel_id", "files"}, f"fields {set(parts)}")
        file_id = f"file{len(self.files):022d}"
        content = parts["files"].get_payload(decode=True)
        self.files[file_id] = (str(parts["files"].get_filename()), content)  # type: ignore[assignment]
        return Reply(201, {"file_infos": [{"id": file_id}], "client_ids": []})


def buttons_of(post: Mapping[str, Any]) -> list[dict[str, Any]]:
    attachments = post.get("props", {}).get("attachments", [])
    return [action for attachment in attachments for action in attachment.get("actions", [])]


def _check_buttons(post: Mapping[str, Any]) -> None:
    for action in buttons_of(post):
        expect(re.fullmatch(r"[A-Za-z0-9]+", action["id"]) and action["type"] == "button", "action")
        expect(action["name"] and action["integration"]["url"].startswith("http"), "integration")
