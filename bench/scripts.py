"""wrk scripts that make each request a new event, signed as its platform signs."""

import hashlib
import hmac
import json
import random
import time
from pathlib import Path

TELEGRAM = """
local n = {start}
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["X-Telegram-Bot-Api-Secret-Token"] = "{token}"
request = function()
  n = n + 1
  local chat = 100000 + n % 2000
  return wrk.format(nil, nil, nil, string.format('{body}', n, n, chat, chat))
end
"""

SLACK = """
local bodies, signatures = {{}}, {{}}
local n = 0
for line in io.lines("{pool}") do
  local tab = string.find(line, "\\t", 1, true)
  signatures[#signatures + 1] = string.sub(line, 1, tab - 1)
  bodies[#bodies + 1] = string.sub(line, tab + 1)
end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["X-Slack-Request-Timestamp"] = "{stamp}"
request = function()
  n = n % #bodies + 1
  wrk.headers["X-Slack-Signature"] = signatures[n]
  return wrk.format(nil, nil, nil, bodies[n])
end
"""


TEXT = "How do I change the address on my order? " * 15


def telegram_update(number: int, chat: int, text: str = TEXT) -> dict[str, object]:
    """About 0.9 KB."""
    return {
        "update_id": number,
        "message": {
            "message_id": number,
            "date": 1763700000,
            "chat": {"id": chat, "type": "private", "first_name": "Ada"},
            "from": {"id": chat, "is_bot": False, "first_name": "Ada", "language_code": "en"},
            "text": text,
        },
    }


def telegram(path: Path, token: str) -> Path:
    """Updates with fresh ids from 2000 chats."""
    text = json.dumps(telegram_update(111, 333))
    body = text.replace("111", "%d").replace("333", "%d")
    path.write_text(TELEGRAM.format(start=random.randrange(10**9), token=token, body=body))
    return path


def slack(path: Path, secret: str, count: int) -> Path:
    """`count` signed message events of about 1 KB."""
    stamp = str(int(time.time()))
    pool = path.with_suffix(".pool")
    base = random.randrange(10**9)
    with pool.open("w") as file:
        for number in range(base, base + count):
            body = json.dumps(slack_event(number))
            file.write(f"{slack_signature(secret, stamp, body)}\t{body}\n")
    path.write_text(SLACK.format(pool=pool, stamp=stamp))
    return path


def slack_signature(secret: str, stamp: str, body: str) -> str:
    digest = hmac.new(secret.encode(), f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    return f"v0={digest}"


def slack_event(number: int, text: str = TEXT) -> dict[str, object]:
    return {
        "token": "verification",
        "team_id": "T1",
        "api_app_id": "A1",
        "type": "event_callback",
        "event_id": f"Ev{number}",
        "event_time": 1763700000,
        "authorizations": [{"team_id": "T1", "user_id": "U0BOT", "is_bot": True}],
        "event": {
            "type": "message",
            "channel_type": "im",
            "channel": f"D{number % 2000}",
            "user": f"U{number % 2000}",
            "ts": f"{1763700000 + number // 1000000}.{number % 1000000:06d}",
            "text": text,
        },
    }
