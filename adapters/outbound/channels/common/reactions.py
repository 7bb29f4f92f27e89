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


_FLAG = len("flag-de")
_TO_REGIONAL = 0x1F1E6 - ord("a")
_SKIN = {f"skin-tone-{tone}": chr(0x1F3FB + tone - 2) for tone in range(2, 7)}


def emoji_named(name: str) -> str:
    """The characters of an emoji by its name, such as `+1` or `wave::skin-tone-3`; `:name:` for one that a
    workspace made itself."""
    import emoji  # over 10 MB, for the few who have reactions handed on

    base, _, tone = name.strip(":").partition("::")
    if base.startswith("flag-") and len(base) == _FLAG:
        return "".join(chr(ord(letter) + _TO_REGIONAL) for letter in base[-2:])
    person, _, act = base.partition("-")
    names = (base, base.replace("-", "_"), f"{act}_{person}", f"{person}_{act}")
    candidates = (emoji.emojize(f":{each}:", language="alias") for each in names)
    found = next((found for found in candidates if not found.startswith(":")), f":{base}:")
    return f"{found}{_SKIN.get(tone, '')}"
