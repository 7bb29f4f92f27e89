"""The ids of messages, as they are given to callers. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

_ID = re.compile(r"(in|out|send)-([1-9][0-9]{0,17})", re.ASCII)


class MessageKind(StrEnum):
    """A message of a sender, the answer to one, or a message that was sent first."""

    INBOUND = "in"
    ANSWER = "out"
    SENT_FIRST = "send"


@dataclass(frozen=True, slots=True)
class MessageId:
    """`row` is the id of the stored event, for its answer as well, or that of the message that was sent first."""

    kind: MessageKind
    row: int

    def __str__(self) -> str:
        return f"{self.kind}-{self.row}"


def answer_to(inbox_id: int) -> MessageId:
    return MessageId(MessageKind.ANSWER, inbox_id)


def parse_message_id(text: str) -> MessageId | None:
    """None for what cannot be an id."""
    match = _ID.fullmatch(text)
    return MessageId(MessageKind(match[1]), int(match[2])) if match else None
