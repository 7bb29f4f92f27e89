"""Reactions: config fields of channels that have them, and the characters behind the names of emoji."""

from typing import Any

from domain.channels.typed import setting


def ack_reaction(example: str) -> Any:
    """The field `ackReaction`; `example` is an emoji as the platform names it."""
    return setting(
        f"Emoji that is shown at a message while it is worked on, such as {example} (default none)."
    )


def reactions() -> Any:
    """The field `reactions`."""
    return setting(
        "Hand reactions of people on as messages with 'reaction' and without text (default false)."
    )
