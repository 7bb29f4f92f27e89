"""A Telegram Bot API server for tests (https://core.telegram.org/bots/api): it checks what it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

from tests.support.platforms.forms import multipart
from tests.support.platforms.standin import Reply, Seen, StandIn, expect

TOKEN = "987654321:AAtest-token_of_a_bot"
USERNAME = "agent_bot"

_PLACE = {"chat_id", "message_thread_id", "reply_parameters", "reply_markup"}
_FIELDS: Mapping[str, tuple[set[str], set[str]]] = {
    "getMe": (set(), set()),
    "setWebhook": ({"url"}, {"secret_token", "allowed_updates", "max_connections", "drop_pending_updates"}),
    "deleteWebhook": (set(), {"drop_pending_updates"}),
    "getWebhookInfo": (set(), set()),
    "sendMessage": ({"chat_id", "text"}, _PLACE | {"parse_mode", "link_preview_options"}),
    "sendPhoto": ({"chat_id", "photo"}, _PLACE | {"caption"}),
    "sendDocument": ({"chat_id", "document"}, _PLACE | {"caption"}),
    "sendChatAction": ({"chat_id", "action"}, {"message_thread_id"}),
    "answerCallbackQuery": ({"callback_query_id"}, {"text", "show_alert"}),
    "editMessageReplyMarkup": ({"chat_id", "message_id"}, {"reply_markup"}),
    "editMessageText": (
        {"chat_id", "message_id", "text"},
        {"parse_mode", "reply_markup", "link_preview_options"},
    ),
    "getFile": ({"file_id"}, set()),
}
"""Of each method: the fields that it needs, and those that it takes besides."""


class Telegram(StandIn):
    """Keeps what was asked in `calls`; `refuse` holds texts for methods that are to fail with 400."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.files = {"AgFile1": b"\x89PNG picture"}
        self.webhook: dict[str, Any] = {"url": ""}
        self.refuse: dict[str, str] = {}

    def of(self, method: str) -> list[dict[str, Any]]:
        """The payloads of one method, in order."""
        return [payload for name, payload in self.calls if name == method]

    def answer(self, seen: Seen) -> Reply:
        if seen.path.startswith(f"/file/bot{TOKEN}/"):
            content = self.files.get(seen.path.rsplit("/", 1)[-1])
            return Reply(body=content) if content else refusal(404, "Not Found")
        found = re.fullmatch(r"/bot([^/]+)/(\w+)", seen.path)
        expect(found, "no method of the Bot API")
        assert found
        if found[1] != TOKEN:
            return refusal(401, "Unauthorized")
        return self._called(found[2], _payload(seen))

    def _called(self, method: str, payload: dict[str, Any]) -> Reply:
        expect(method in _FIELDS, f"unknown method {method}")
        needed, more = _FIELDS[method]
        expect(needed <= set(payload), f"{method} lacks {needed - set(payload)}")
        expect(set(payload) <= needed | more, f"{method} has unknown {set(payload) - needed - more}")
        self.calls.append((method, payload))
        if method in self.refuse:
            return refusal(400, f"Bad Request: {self.refuse[method]}")
        handler: Callable[[dict[str, Any]], Reply] = getattr(self, f"_{method}", _done)
        return handler(payload)

    def _getMe(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        return result({"id": 987654321, "is_bot": True, "first_name": "Agent", "username": USERNAME})

    def _setWebhook(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if not payload["url"].startswith("https://"):
            return refusal(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
        expect(re.fullmatch(r"[A-Za-z0-9_-]{1,256}", payload.get("secret_token", "x")), "secret_token")
        self.webhook = payload
        return result(True)

    def _deleteWebhook(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        self.webhook = {"url": ""}
        return result(True)

    def _getWebhookInfo(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        told = {name: self.webhook[name] for name in ("url", "allowed_updates") if name in self.webhook}
        return result({**told, "has_custom_certificate": False, "pending_update_count": 0})

    def _sendMessage(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        words, mode = payload["text"], payload.get("parse_mode")
        expect(mode in (None, "HTML", "Markdown", "MarkdownV2"), "parse_mode")
        if mode == "HTML":
            words, fault = _parsed(words)
            if fault:
                return refusal(400, f"Bad Request: can't parse entities: {fault}")
        if mode == "MarkdownV2" and (found := re.search(r"(?<!\\)[.!+=|{}-]", words)):
            return refusal(400, f"Bad Request: can't parse entities: Character '{found[0]}' is reserved")
        expect(words.strip(), "message text is empty")
        expect(len(words.encode("utf-16-le")) // 2 <= 4096, "message is too long")
        for row in payload.get("reply_markup", {}).get("inline_keyboard", []):
            for button in row:
                expect(1 <= len(button["callback_data"].encode()) <= 64, "BUTTON_DATA_INVALID")
        return self._taken(payload)

    def _editMessageText(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        expect(isinstance(payload["message_id"], int), "message_id")
        return self._sendMessage(payload)

    def _sendPhoto(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        return self._taken(payload)

    def _sendDocument(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if not payload["document"].content:
            return refusal(400, "Bad Request: file must be non-empty")
        return self._taken(payload)

    def _getFile(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if payload["file_id"] not in self.files:
            return refusal(400, "Bad Request: file is too big")
        return result({"file_id": payload["file_id"], "file_path": f"photos/{payload['file_id']}"})

    def _taken(self, payload: dict[str, Any]) -> Reply:
        expect(isinstance(payload["chat_id"], int | str), "chat_id")
        return result({"message_id": 500 + len(self.calls), "chat": {"id": payload["chat_id"]}, "date": 1})


def result(value: Any) -> Reply:
    return Reply(json={"ok": True, "result": value})


def refusal(status: int, description: str, **parameters: Any) -> Reply:
    more = {"parameters": parameters} if parameters else {}
    return Reply(status, {"ok": False, "error_code": status, "description": description, **more})


def _done(payload: dict[str, Any]) -> Reply:
    return result(True)


def _payload(seen: Seen) -> dict[str, Any]:
    if "multipart" not in seen.headers.get("content-type", ""):
        return dict(seen.json) if seen.body else {}
    parts = multipart(seen)
    fields = {name: _field(part.content.decode()) for name, part in parts.items() if not part.name}
    return fields | {name: part for name, part in parts.items() if part.name}


def _field(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


class _Html(HTMLParser):
    """The tags that Telegram knows, properly nested."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.open, self.fault = "", list[str](), ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("b", "i", "u", "s", "code", "pre", "a", "blockquote"):
            self.fault = f"Unsupported start tag '{tag}'"
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.fault = f"Unexpected end tag '{tag}'"

    def handle_data(self, data: str) -> None:
        self.words += data


def _parsed(text: str) -> tuple[str, str]:
    parser = _Html()
    parser.feed(text)
    parser.close()
    return parser.words, parser.fault or ("Can't find end tag" if parser.open else "")
