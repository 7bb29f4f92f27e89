"""Telegram's Bot API, as far as the verification bot uses it (https://core.telegram.org/bots/api)."""

import re
from typing import Any

from tests.support.platforms.standin import Reply, Seen, StandIn, expect

BOT_TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"


class VerificationBotApi(StandIn):
    """Keeps what the bot said and its webhook."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[dict[str, Any]] = []
        self.webhook: dict[str, Any] = {}

    def answer(self, seen: Seen) -> Reply:
        prefix = f"/bot{BOT_TOKEN}/"
        if not seen.path.startswith(prefix):
            return Reply(401, {"ok": False, "error_code": 401, "description": "Unauthorized"})
        method = seen.path.removeprefix(prefix)
        if method == "setWebhook":
            secret = seen.json["secret_token"]
            expect(re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret), "secret_token")
            self.webhook = seen.json
            return Reply(json={"ok": True, "result": True})
        expect(method == "sendMessage", "no such method")
        expect(0 < len(seen.json["text"]) <= 4096, "text")
        self.said.append(seen.json)
        return Reply(json={"ok": True, "result": {"message_id": len(self.said)}})
