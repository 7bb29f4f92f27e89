"""Who wrote on Discord, and in which conversation. Pure."""

from __future__ import annotations

from typing import Any

from adapters.outbound.channels.common.bodies import text
from domain.channels.messages import Identity, Sender


def sender_of(user: Any, member: Any) -> Sender | None:
    """The person; in a server by the nickname there."""
    user_id = text(user, "id")
    if not user_id:
        return None
    name = text(member, "nick") or text(user, "global_name") or text(user, "username")
    return Sender(user_id, name, (Identity("gaming-chat", user_id),))


def session_of(channel: str, sender: Sender) -> str:
    return f"{channel}:{sender.external_id}"
