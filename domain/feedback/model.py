"""Feedback on answers: thumbs that people press, and reactions that mean the same."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.channels.answers import Choice
from domain.channels.provenance import Citation
from domain.conversations.model import MessageId, MessageKind, parse_message_id
from domain.refusals import Fault, Invalid


class Rating(StrEnum):
    """A vote on an answer."""

    UP = "up"
    DOWN = "down"


EMOJI = {Rating.UP: "👍", Rating.DOWN: "👎"}
_VARIANTS = re.compile("[\U0001f3fb-\U0001f3ff\ufe0f]")
"""Tones of skin, and the sign that an emoji is shown in colour."""

PREFIX = "thumb:"
"""Beginning of the value of a thumb's button; at most 64 bytes in all."""
THANKS = "Thank you for your feedback."
GONE = "This answer is no longer known."


def rating_of(reaction: str) -> Rating | None:
    """The vote that a reaction stands for, or None."""
    emoji = _VARIANTS.sub("", reaction)
    return next((rating for rating, thumb in EMOJI.items() if thumb == emoji), None)


def vote_reference(message: MessageId, secret: str) -> str:
    """Names an answer in the values of its thumbs, so that nobody can guess it. `secret` is known to no sender, and
    the same when the answer is made again."""
    proof = hashlib.sha256(f"{PREFIX}{secret} {message}".encode()).hexdigest()[:16]
    return f"{message}:{proof}"


def thumbs(reference: str) -> tuple[Choice, ...]:
    """The buttons below an answer."""
    return tuple(Choice(emoji, f"{PREFIX}{reference}:{rating}") for rating, emoji in EMOJI.items())


def is_thumb(pressed: str) -> bool:
    return pressed.startswith(PREFIX)


@dataclass(frozen=True, slots=True)
class Press:
    """A pressed thumb: the event whose answer it is about, the reference to the answer, and the vote."""

    inbox_id: int
    reference: str
    rating: Rating


def read_press(pressed: str) -> Press | None:
    """Reads the value of a button. Returns None if it cannot be that of a thumb."""
    reference, _, rating = pressed.removeprefix(PREFIX).rpartition(":")
    id = parse_message_id(reference.partition(":")[0])
    if id is None or id.kind is not MessageKind.ANSWER or rating not in tuple(Rating):
        return None
    return Press(id.row, reference, Rating(rating))


@dataclass(frozen=True, slots=True)
class Voter:
    """A person who votes."""

    external_id: str
    display_name: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A vote with the question, the answer, the resource that made it, why that one was asked, and the passages that
    it stands on."""

    id: int
    instance_id: int
    channel_name: str
    session_id: str
    message_id: str
    rating: Rating
    sender: Voter
    at: datetime
    question: str
    answer: str
    resource: str | None = None
    route: str | None = None
    citations: Sequence[Citation] = ()


@dataclass(frozen=True, slots=True)
class FeedbackFilter:
    """`rating` None: both. `instance_ids`: of these instances, none: of all of the caller's."""

    rating: Rating | None = None
    instance_ids: tuple[int, ...] = ()


def parse_rating(word: str) -> Rating:
    """Raises `Invalid`."""
    if word not in tuple(Rating):
        raise Invalid.of([Fault("rating", "must be 'up' or 'down'")])
    return Rating(word)
