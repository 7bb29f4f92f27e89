"""A Telegram Bot API server for tests (https://core.telegram.org/bots/api): it checks what it is sent."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

from aiohttp import web

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
    "getUpdates": (set(), {"offset", "timeout", "allowed_updates"}),
    "sendMessage": ({"chat_id", "text"}, _PLACE | {"parse_mode", "link_preview_options"}),
    "sendPhoto": ({"chat_id", "photo"}, _PLACE | {"caption", "parse_mode"}),
    "sendLocation": ({"chat_id", "latitude", "longitude"}, _PLACE),
    "sendVenue": ({"chat_id", "latitude", "longitude", "title", "address"}, _PLACE),
    "sendContact": ({"chat_id", "phone_number", "first_name"}, _PLACE),
    "sendDocument": ({"chat_id", "document"}, _PLACE | {"caption"}),
    "sendChatAction": ({"chat_id", "action"}, {"message_thread_id"}),
    "answerCallbackQuery": ({"callback_query_id"}, {"text", "show_alert"}),
    "editMessageReplyMarkup": ({"chat_id", "message_id"}, {"reply_markup"}),
    "editMessageText": (
        {"chat_id", "message_id", "text"},
        {"parse_mode", "reply_markup", "link_preview_options"},
    ),
    "deleteMessage": ({"chat_id", "message_id"}, set()),
    "getFile": ({"file_id"}, set()),
    "setMessageReaction": ({"chat_id", "message_id", "reaction"}, {"is_big"}),
}
"""Of each method: the fields that it needs, and those that it takes besides."""


class Telegram(StandIn):
    """Keeps what was asked in `calls`; `refuse` holds texts for methods that are to fail with 400.

    `pending` are the updates that nobody confirmed. A call of getUpdates waits while there are none; one that
    waits is ended by the next, and counts in `conflicts` if somebody still waited for its answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.files = {"AgFile1": b"\x89PNG picture"}
        self.webhook: dict[str, Any] = {"url": ""}
        self.refuse: dict[str, str] = {}
        self.pending: list[dict[str, Any]] = []
        self.conflicts = 0
        self.takes_any_address = False
        self._poll: tuple[asyncio.AbstractEventLoop, asyncio.Future[str]] | None = None

    def write(self, update: dict[str, Any]) -> None:
        """An update for who fetches them, from any thread."""
        self.pending.append(update)
        if self._poll:
            loop, poll = self._poll
            loop.call_soon_threadsafe(lambda: poll.done() or poll.set_result("news"))

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path == f"/bot{TOKEN}/getUpdates":
            ended = await self._long_poll(await request.json())
            if ended == "ended":
                self.conflicts += request.transport is not None and not request.transport.is_closing()
                words = "Conflict: terminated by other getUpdates request"
                return web.json_response({"ok": False, "error_code": 409, "description": words}, status=409)
        return await super().handle(request)

    async def _long_poll(self, payload: dict[str, Any]) -> str:
        """Waits for an update as long as the caller wants; how that ended."""
        if self._poll and not self._poll[1].done():
            self._poll[1].set_result("ended")
        self._confirm(payload)
        loop = asyncio.get_running_loop()
        self._poll = loop, loop.create_future()
        if self.pending or self.webhook["url"] or not payload.get("timeout"):
            self._poll[1].set_result("news")
        done, _ = await asyncio.wait([self._poll[1]], timeout=payload.get("timeout", 0))
        return next((poll.result() for poll in done), "nothing")

    def _confirm(self, payload: dict[str, Any]) -> None:
        offset = payload.get("offset", 0)
        self.pending = [update for update in self.pending if update["update_id"] >= offset]

    def _getUpdates(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if self.webhook["url"]:
            words = (
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete it first"
            )
            return refusal(409, f"Conflict: {words}")
        wanted = set(payload["allowed_updates"])
        return result([update for update in self.pending if wanted & set(update)][:100])

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
        if not self.takes_any_address and not payload["url"].startswith("https://"):
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
                if "url" in button:
                    expect(button["url"].startswith(("http://", "https://")), "BUTTON_URL_INVALID")
                    continue
                expect(1 <= len(button["callback_data"].encode()) <= 64, "BUTTON_DATA_INVALID")
        return self._taken(payload)

    def _editMessageText(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        expect(isinstance(payload["message_id"], int), "message_id")
        if str(payload["message_id"]) in self.gone:
            return refusal(400, "Bad Request: message to edit not found")
        return self._sendMessage(payload)

    def _deleteMessage(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if str(payload["message_id"]) in self.gone:
            return refusal(400, "Bad Request: message to delete not found")
        self.gone.add(str(payload["message_id"]))
        return result(True)

    def visible(self) -> dict[str, str]:
        texts: dict[str, str] = {}
        for number, (method, payload) in enumerate(self.calls, 501):
            if method == "sendMessage":
                texts[str(number)] = payload["text"]
            elif method == "editMessageText" and str(payload["message_id"]) in texts:
                texts[str(payload["message_id"])] = payload["text"]
        return {number: text for number, text in texts.items() if number not in self.gone}

    def _sendPhoto(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        return self._taken(payload)

    def _sendLocation(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        return self._taken(payload)

    _sendVenue = _sendContact = _sendLocation  # noqa: N815

    def _sendDocument(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if not payload["document"].content:
            return refusal(400, "Bad Request: file must be non-empty")
        return self._taken(payload)

    def _getFile(self, payload: dict[str, Any]) -> Reply:  # noqa: N802
        if payload["file_id"] not in self.files:
            return refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
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
