"""The load of the soak: messages of three channels at a steady rate, and a knowledge base that is used beside."""

import asyncio
import hashlib
import hmac
import itertools
import json
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from bench.soak.stub import Stub

BOTS = 8
"""Instances of each platform: Telegram takes 30 messages a second of one bot."""
CHATS = 2000
SECRET = "soak-signing-secret"
MIX = ("bot-messenger", "workspace-chat", "bot-messenger", "workspace-chat", "http-webhook")
MOST_UNDER_WAY = 400
UPLOAD_SECONDS, SEARCH_SECONDS, FILES = 20.0, 2.0, 5


@dataclass
class Load:
    """`acknowledged` are the messages that were taken with 200; `answers` counts what was answered."""

    session: aiohttp.ClientSession
    base: str
    stub: Stub
    acknowledged: set[int] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    acks: list[tuple[float, float]] = field(default_factory=list)
    late: int = 0
    instances: dict[str, list[int]] = field(default_factory=dict)

    async def connect(self, address: str) -> None:
        for number in range(BOTS):
            configs: dict[str, dict[str, Any]] = {
                "bot-messenger": {"botToken": f"{1000 + number}:AA{'x' * 33}"},
                "workspace-chat": {"botToken": f"xoxb-{number}", "signingSecret": SECRET},
                "http-webhook": {"responseWebhookUrl": f"{address}/answers"},
            }
            for channel, config in configs.items():
                body = {"channelId": channel, "channelName": f"soak {number}", "config": config}
                created = await self._post(
                    "/api/agent/channel-instances", {**body, "downStreamResourceId": "agent::soak"}
                )
                self.instances.setdefault(channel, []).append(created["instanceId"])
        async with asyncio.timeout(60):
            while set(self.stub.secrets) < set(self.instances["bot-messenger"]):
                await asyncio.sleep(0.2)

    async def run(self, rate: float, seconds: float) -> None:
        """Open loop: what is late is sent at once, unless too many are under way."""
        began, under_way = time.monotonic(), set[asyncio.Task[None]]()
        for number in itertools.count():
            at = began + number / rate
            if at - began >= seconds:
                break
            await asyncio.sleep(max(0.0, at - time.monotonic()))
            if len(under_way) >= MOST_UNDER_WAY:
                self.late += 1
                await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            task = asyncio.create_task(self._send(number))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        await asyncio.gather(*under_way)

    async def _send(self, number: int) -> None:
        channel = MIX[number % len(MIX)]
        instance = self.instances[channel][number // len(MIX) % BOTS]
        body, headers = _call(channel, number, self.stub.secrets.get(instance, ""))
        address = f"{self.base}/api/agent/channels/{channel}/{instance}/webhook"
        self.stub.sent_at[number] = began = time.monotonic()
        try:
            async with self.session.post(address, data=body, headers=headers) as answer:
                await answer.read()
                self.answers[f"{channel} {answer.status}"] += 1
                if answer.status == 200:
                    self.acknowledged.add(number)
                    self.acks.append((began, time.monotonic() - began))
        except (aiohttp.ClientError, TimeoutError) as error:
            self.answers[f"{channel} {type(error).__name__}"] += 1

    async def use_knowledge(self, seconds: float) -> None:
        """Uploads, deletes and searches, until the time is over."""
        base = (await self._post("/api/agent/kb", {"name": "soak"}))["id"]
        end, next_upload, files = time.monotonic() + seconds, 0.0, deque[int]()
        for number in itertools.count():
            if time.monotonic() >= end:
                return
            if time.monotonic() >= next_upload:
                next_upload = time.monotonic() + UPLOAD_SECONDS
                await self._upload(base, number, files)
            async with self.session.post(
                f"{self.base}/api/agent/kb/{base}/search", json={"query": f"valve {number % 50}"}
            ) as answer:
                await answer.read()
                self.answers[f"search {answer.status}"] += 1
            await asyncio.sleep(SEARCH_SECONDS)

    async def _upload(self, base: int, number: int, files: deque[int]) -> None:
        form = aiohttp.FormData()
        text = "\n\n".join(
            f"Valve {line} of pump {number} is opened at {line * 3} degrees." for line in range(200)
        )
        form.add_field("files", text.encode(), filename=f"pump-{number}.txt", content_type="text/plain")
        async with self.session.post(f"{self.base}/api/agent/kb/{base}/uploadfile", data=form) as answer:
            self.answers[f"upload {answer.status}"] += 1
            records = (await answer.json())["files"] if answer.status == 201 else []
        files.extend(record["fileId"] for record in records)
        while len(files) > FILES:
            async with self.session.delete(
                f"{self.base}/api/agent/kb/{base}/files/{files.popleft()}"
            ) as answer:
                self.answers[f"delete {answer.status}"] += 1

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        async with self.session.post(f"{self.base}{path}", json=body) as answer:
            assert answer.status in (200, 201), await answer.text()
            return await answer.json()


def _call(channel: str, number: int, secret: str) -> tuple[bytes, dict[str, str]]:
    """A message as the platform delivers it: its body and headers."""
    text, chat = f"soak{number}x: " + "how do I change the address on my order? " * 5, number % CHATS
    headers = {"Content-Type": "application/json"}
    if channel == "http-webhook":
        return json.dumps({"message": text, "sessionId": f"s{chat}"}).encode(), headers
    if channel == "bot-messenger":
        person = {"id": 100000 + chat, "type": "private", "first_name": "Ada", "is_bot": False}
        message = {
            "message_id": number + 1,
            "date": int(time.time()),
            "chat": person,
            "from": person,
            "text": text,
        }
        headers["X-Telegram-Bot-Api-Secret-Token"] = secret
        return json.dumps({"update_id": number + 1, "message": message}).encode(), headers
    event = {"type": "message", "channel_type": "im", "channel": f"D{chat}", "user": f"U{chat}", "text": text}
    stamp = str(int(time.time()))
    body = json.dumps(
        {
            "team_id": "T1",
            "type": "event_callback",
            "event_id": f"Ev{number}",
            "event_time": int(stamp),
            "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
            "event": {**event, "ts": f"{stamp}.{number % 1000000:06d}"},
        }
    ).encode()
    digest = hmac.new(SECRET.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return body, {**headers, "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}
