"""Messages of a linked device as events. Pure."""

from __future__ import annotations

from domain.channels.linked_device import allowed
from domain.channels.messages import Attachment, Config, Event, Identity, Merge, Sender
from ports.linked_device import Incoming

STATUS_CHAT = "status@broadcast"
OLD_AFTER = 60.0
"""Seconds before the connection came up beyond which a message counts as old history."""


def ignored_for(config: Config, message: Incoming, connected_at: float) -> str | None:
    """Why a message is left alone, None when it is handed on."""
    if message.from_me:
        return "own"
    if message.chat == STATUS_CHAT or message.chat.endswith("@broadcast"):
        return "status"
    if message.chat.endswith("@newsletter"):
        return "newsletter"
    if message.at < connected_at - OLD_AFTER:
        return "old"
    if not message.text and not message.media:
        return "empty"
    if not allowed(str(config.get("allowedNumbers") or ""), message.sender_ids):
        return "not-allowed"
    return None


def event_of(instance_id: int, message: Incoming) -> Event:
    """The session is the sender's phone number, in a group together with the group."""
    sender = message.sender_ids[0] if message.sender_ids else message.chat
    is_number = sender.isascii() and sender.isdigit()
    return Event(
        key=f"{message.chat}:{message.id}",
        session_id=f"{message.chat}:{sender}" if message.is_group else sender,
        sender=Sender(
            external_id=sender,
            display_name=message.name,
            identities=(Identity("business-messaging", sender), Identity("phone", f"+{sender}"))
            if is_number
            else (),
        ),
        text=message.text,
        target={"instance": instance_id, "chat": message.chat},
        attachments=tuple(
            Attachment(
                each.name, each.mime_type, {"instance": instance_id, "message": dict(each.ref)}, each.size
            )
            for each in message.media
        ),
        ids=(message.id,),
        is_direct=not message.is_group,
        merge=Merge(f"{message.chat}:{message.album}") if message.album else None,
        raw={"id": message.id},
    )


def masked(number: str) -> str:
    """A number as it may stand in a log."""
    return f"…{number[-3:]}" if len(number) > 5 else "…"
