"""Messages as Telegram takes them: where they go, their buttons, and other forms where one is rejected."""

from collections.abc import Mapping, Sequence
from typing import Any

from ports.http import FormFile

from .api import Attempt, BotApi, Rejection
from .config import GENERAL, BotConfig, BotTarget

_RETRIES = 4
"""How often one message is sent in another form, each time for another reason."""


async def send_in_any_form(
    api: BotApi,
    config: BotConfig,
    method: str,
    body: dict[str, Any],
    files: Sequence[FormFile] = (),
    plain: str = "",
) -> Attempt:
    """Sends a message; one that Telegram rejects for its form is sent again at once in another form."""
    for _ in range(_RETRIES):
        attempt = await api.send(config.bot_token, method, body, files)
        amended = _amended(body, attempt.rejection, plain) if attempt.rejection else None
        if amended is None:
            break
        body = amended
    return attempt


def _amended(body: dict[str, Any], rejection: Rejection, plain: str) -> dict[str, Any] | None:
    """The message in a form that Telegram may take after this rejection, None where there is none."""
    if rejection.migrated_to is not None and body["chat_id"] != rejection.migrated_to:
        return _without(body, "reply_parameters") | {"chat_id": rejection.migrated_to}
    if rejection.contains("can't parse entities") and "parse_mode" in body:
        return _without(body, "parse_mode") | {"text": plain}
    if rejection.contains("replied not found") and "reply_parameters" in body:
        return _without(body, "reply_parameters")
    if rejection.contains("thread not found") and "message_thread_id" in body:
        return _without(body, "message_thread_id")
    return None


def _without(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def text_body(config: BotConfig, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a text, wherever it is shown."""
    body = {"text": payload["text"], "parse_mode": payload.get("mode", config.mode), **link_preview(config)}
    if payload.get("choices"):
        buttons = [[{"text": label, "callback_data": value}] for label, value in payload["choices"]]
        body["reply_markup"] = {"inline_keyboard": buttons}
    return body


def link_preview(config: BotConfig) -> dict[str, Any]:
    return {"link_preview_options": {"is_disabled": True}} if config.disable_web_page_preview else {}


def address_of(target: BotTarget, *, reply: bool = False) -> dict[str, Any]:
    address: dict[str, Any] = {"chat_id": target.chat_id}
    if target.message_thread_id not in (None, GENERAL):
        address["message_thread_id"] = target.message_thread_id
    if reply and target.reply_to is not None:
        address["reply_parameters"] = {"message_id": target.reply_to, "allow_sending_without_reply": True}
    return address


def is_group(target: BotTarget) -> bool:
    """Groups have negative ids (https://core.telegram.org/bots/api#chat)."""
    return str(target.chat_id or "").startswith("-")
