"""How often Telegram lets a bot write (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this)."""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_BOT = (Quota(30, 1.0, burst=6),)
OF_CHAT = (Quota(1, 1.0),)
OF_GROUP = (Quota(20, 60.0, burst=5), *OF_CHAT)


def limits(config: Config, target: Target) -> Limits:
    """Groups have negative ids (https://core.telegram.org/bots/api#chat); all topics of a group count together."""
    chat = text(target, "chat_id")
    return Limits(text(config, "botToken"), chat, OF_BOT, OF_GROUP if chat.startswith("-") else OF_CHAT)
