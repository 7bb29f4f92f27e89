"""The platforms and the resource of the soak: they answer as the real ones do, and fail now and then as those do."""

import asyncio
import json
import re
import time
from collections import Counter

from aiohttp import web

MESSAGE = re.compile(rb"soak(\d+)x")
REFUSE_EVERY, HANG_EVERY, FAIL_EVERY = 300, 1000, 200
"""Of so many calls one is refused with 429, of so many messages one finds a resource that hangs, or fails once."""
HANG_SECONDS = 5.0


class Stub:
    """`taken`: how often the platforms took the reply to each message; `latency`: seconds from its sending to the
    first time, with the time of that; `secrets`: what each webhook is called with."""

    def __init__(self) -> None:
        self.taken: Counter[int] = Counter()
        self.sent_at: dict[int, float] = {}
        self.latency: list[tuple[float, float]] = []
        self.secrets: dict[int, str] = {}
        self.refused = 0
        self._calls = 0
        self._failed: set[int] = set()
        self._numbers = 0
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """The address."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body, path = await request.read(), request.path
        if path == "/resource":
            return await self._resource(body)
        if path.endswith("setWebhook"):
            self._register(body)
        if path.endswith(("sendMessage", "chat.postMessage", "/answers")):
            return self._take(body)
        self._numbers += 1
        result = {"id": 1, "is_bot": True, "username": "soak_bot", "message_id": self._numbers}
        return web.json_response({"ok": True, "result": result, "user_id": "U0BOT", "url": ""})

    async def _resource(self, body: bytes) -> web.Response:
        number = _number(body)
        if number not in self._failed:
            self._failed.add(number)
            if number % FAIL_EVERY == 0:
                return web.Response(status=503)
            if number % HANG_EVERY == 1:
                await asyncio.sleep(HANG_SECONDS)
        return web.json_response({"text": f"answer to soak{number}x"})

    def _register(self, body: bytes) -> None:
        fields = json.loads(body)
        self.secrets[int(fields["url"].split("/")[-2])] = fields["secret_token"]

    def _take(self, body: bytes) -> web.Response:
        self._calls += 1
        if self._calls % REFUSE_EVERY == 0:
            self.refused += 1
            later = {"ok": False, "error_code": 429, "description": "later", "parameters": {"retry_after": 1}}
            return web.json_response(later, status=429, headers={"Retry-After": "1"})
        number, now = _number(body), time.monotonic()
        self.taken[number] += 1
        if self.taken[number] == 1 and number in self.sent_at:
            self.latency.append((now, now - self.sent_at[number]))
        ts = f"{now:.6f}"
        return web.json_response(
            {"ok": True, "result": {"message_id": self._calls}, "ts": ts, "channel": "D1"}
        )


def _number(body: bytes) -> int:
    """The message that a call is about, -1 for none."""
    found = MESSAGE.search(body)
    return int(found[1]) if found else -1
