"""What the contract suite of channels needs of Slack."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from adapters.outbound.channels.common.bodies import at
from adapters.outbound.channels.tests.sample import Opening, Reply, Sample
from adapters.outbound.channels.tests.support import NOW, call, refusal
from adapters.outbound.channels.workspace_chat.config import CONFIG as CONFIG_MODEL
from adapters.outbound.channels.workspace_chat.webhook import receive, sign
from domain.channels.messages import Event, RawCall
from ports.http import HttpAnswer, HttpRequest
from tests.support.platforms.slack import SECRET, TOKEN

FIXTURES = Path(__file__).parent.parent / "fixtures"
CONFIG: dict[str, Any] = {"botToken": TOKEN, "signingSecret": SECRET}
SETTING = "WORKSPACE_CHAT_API_URL"
TARGET = {"channel": "C0ROOM"}
_FORMS = {"slash_command": False, "block_actions": True, "shortcut": True, "message_action": True}
"""Fixtures that Slack posts as forms; true: as JSON in the form's field 'payload'."""


def fixture(name: str) -> Any:
    """A recorded body."""
    return json.loads((FIXTURES / f"{name}.json").read_text())


def recorded(name: str, at: datetime = NOW) -> RawCall:
    """A recorded body as Slack posts it."""
    return as_posted(name, fixture(name), at)


def as_posted(name: str, body: Any, at: datetime = NOW) -> RawCall:
    """Any body in the form in which Slack posts the fixture of that name."""
    if name not in _FORMS:
        return signed(json.dumps(body).encode(), at=at)
    form = {"payload": json.dumps(body)} if _FORMS[name] else body
    return signed(urlencode(form).encode(), "application/x-www-form-urlencoded", at)


def signed(body: bytes, content_type: str = "application/json", at: datetime = NOW) -> RawCall:
    """A body with Slack's signature of that moment."""
    stamp = str(int(at.timestamp()))
    headers = {
        "Content-Type": content_type,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": sign(SECRET, stamp, body),
    }
    return call(body=body, headers=headers)


def tampered() -> list[RawCall]:
    """Calls whose proof of origin is wrong."""
    first = recorded("app_mention")

    def with_headers(**changed: str) -> RawCall:
        names = {name.replace("_", "-"): value for name, value in changed.items()}
        return call(body=first.body, headers={**first.headers, **names})

    stamp = int(first.headers["x-slack-request-timestamp"])
    old, early = str(stamp - 301), str(stamp + 301)
    return [
        call(body=first.body + b" ", headers=first.headers),
        call(body=first.body, headers={"content-type": "application/json"}),
        with_headers(x_slack_signature="v0=" + "0" * 64),
        with_headers(x_slack_signature="v0=ü"),
        with_headers(x_slack_request_timestamp="soon"),
        with_headers(x_slack_request_timestamp="٣"),
        with_headers(x_slack_request_timestamp="9" * 400),
        with_headers(x_slack_request_timestamp=str(stamp + 1)),
        with_headers(x_slack_request_timestamp=old, x_slack_signature=sign(SECRET, old, first.body)),
        with_headers(x_slack_request_timestamp=early, x_slack_signature=sign(SECRET, early, first.body)),
    ]


DIRECT = HttpAnswer(200, {}, b'{"ok": true, "channel": {"id": "D0ADA"}}')


def event(name: str) -> Event:
    """The event of a recorded call."""
    return receive(CONFIG_MODEL.load(CONFIG), recorded(name), {"user_id": "U0BOT"}, NOW).events[0]


def refused(name: str, **config: str) -> Event:
    """The event of a recorded call that is refused."""
    return receive(CONFIG_MODEL.load({**CONFIG, **config}), recorded(name), {"user_id": "U0BOT"}, NOW).events[
        0
    ]


def posts_to(channel: str, thread: str | None = None) -> Callable[[HttpRequest], bool]:
    """Whether a request posts in a channel, and in a thread of it."""
    return lambda request: (at(request.json, "channel"), at(request.json, "thread_ts")) == (channel, thread)


def replied() -> Event:
    """The event of a mention in a thread."""
    call = recorded("app_mention_in_thread")
    return receive(CONFIG_MODEL.load(CONFIG), call, {"user_id": "U0BOT"}, NOW).events[0]


THREAD = {"ok": True, "messages": [{"user": "U0BOB", "text": "It is hot.", "ts": "1800000001.000100"}]}


SAMPLE = Sample(
    fields=(
        "botToken string R, signingSecret string R, defaultChannel string, appToken string, appId string, "
        "ackReaction string, reactions boolean, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean, requireMention boolean, allowedChannels string, "
        "followThreads boolean, replyInThread boolean"
    ),
    config=CONFIG,
    genuine={
        name: recorded(name)
        for name in (
            "app_mention",
            "message_mention",
            "app_mention_in_thread",
            "message_im",
            "message_im_files",
            "slash_command",
            "block_actions",
            "shortcut",
            "message_action",
        )
    },
    forged={str(number): each for number, each in enumerate(tampered())},
    metadata={"user_id": "U0BOT"},
    reacted_to="C0ROOM:1800000001.000100",
    target={**TARGET, "thread_ts": "1800000001.000100"},
    typing_shown_seconds=120.0,
    addresses={SETTING: "https://slack.com/api"},
    shown=lambda part: str(part.payload["text"]),
    openings=(
        Opening("C0ROOM1", "C0ROOM1", posts_to("C0ROOM1"), config={"defaultChannel": "C0ROOM1"}),
        Opening(
            "C0ROOM1:1800000001.000100",
            "C0ROOM1:1800000001.000100",
            posts_to("C0ROOM1", "1800000001.000100"),
        ),
        Opening("U0ADA1", "D0ADA", posts_to("D0ADA"), asked=[DIRECT], answered=lambda: event("message_im")),
    ),
    no_addresses=(
        "#general",
        "c0room1",
        "C0ROOM1:",
        "C0ROOM1:18",
        "U0ADA1:1800000001.000100",
        "@ada",
        "+491511234567",
    ),
    replies=(
        Reply(replied, "It is hot.", "U0BOB", asked=[HttpAnswer(200, {}, json.dumps(THREAD).encode())]),
    ),
    refused={
        "channel": lambda: refused("app_mention", allowedChannels="C0OTHER"),
        "bot": lambda: refused("message_from_bot"),
    },
    of_recipient=[
        refusal(200, ok=False, error=error)
        for error in ("user_not_found", "user_disabled", "channel_not_found", "not_in_channel", "is_archived")
    ],
)
