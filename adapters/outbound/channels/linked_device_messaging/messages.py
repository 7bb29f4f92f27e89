"""Messages of a linked device as events. Pure."""

from collections.abc import Collection, Sequence

from adapters.outbound.channels.common.contents import unreadable
from domain.channels.answers import Author
from domain.channels.messages import Attachment, Event, Identity, Merge, Quoted, Sender
from domain.channels.refused import NUMBER

from .config import TARGET, DeviceConfig, DeviceTarget
from .device import Incoming, Media, Original

OLD_AFTER = 60.0
"""Seconds before the connection was established beyond which a message counts as history."""


def ignored_for(config: DeviceConfig, message: Incoming, connected_at: float) -> str | None:
    """Why a message is ignored, None when it is handed on."""
    reasons = {
        "own": message.from_me,
        "status": message.chat.endswith("@broadcast"),
        "newsletter": message.chat.endswith("@newsletter"),
        "old": message.at < connected_at - OLD_AFTER,
        "empty": not message.text and not message.media and (message.is_group or not message.unreadable),
        NUMBER: not is_allowed(config.allowed_numbers, message.sender_ids),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_allowed(numbers: str, sender_ids: Collection[str]) -> bool:
    """Whether one of a sender's ids (digits) is among the comma-separated `numbers`; empty allows all."""
    allowed = {_digits(number) for number in numbers.split(",")} - {""}
    return not allowed or bool(allowed & {_digits(sender_id) for sender_id in sender_ids})


def _digits(number: str) -> str:
    digits = "".join(character for character in number if character in "0123456789")
    return digits.removeprefix("00")


def event_of(instance_id: int, message: Incoming, own_number: str = "") -> Event:
    """The session is the sender's phone number, in a group together with the group. `own_number` is that of the
    device."""
    sender = message.sender_ids[0] if message.sender_ids else message.chat
    is_number = sender.isascii() and sender.isdigit()
    identities = (Identity("business-messaging", sender), Identity("phone", f"+{sender}"))
    is_empty = not message.text and not message.media
    return Event(
        key=f"{message.chat}:{message.id}",
        session_id=f"{message.chat}:{sender}" if message.is_group else sender,
        sender=Sender(sender, message.name, identities if is_number else ()),
        text=message.text,
        target=TARGET.dump(DeviceTarget(instance=instance_id, chat=message.chat)),
        attachments=_attachments(instance_id, message.media),
        canned_reply=unreadable(message.unreadable) if is_empty else None,
        ids=(message.id,),
        is_direct=not message.is_group,
        merge=Merge(f"{message.chat}:{message.album}") if message.album else None,
        quoted=_quoted(instance_id, message.original, own_number) if message.original else None,
        context={**message.context, **({"group": {"id": message.chat}} if message.is_group else {})},
        raw={"id": message.id},
    )


def _quoted(instance_id: int, original: Original, own_number: str) -> Quoted | None:
    is_own = _digits(original.author) == _digits(own_number)
    author = Author.RESOURCE if is_own else original.author
    quoted = Quoted(original.text, author, _attachments(instance_id, original.media))
    return quoted if quoted.is_given else None


def _attachments(instance_id: int, media: Sequence[Media]) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(
            file.name,
            file.mime_type,
            {"instance": instance_id, "message": dict(file.ref)},
            file.size,
            file.is_voice,
        )
        for file in media
    )


def masked(number: str) -> str:
    """A number as it may be logged."""
    return f"…{number[-3:]}" if len(number) > 5 else "…"
