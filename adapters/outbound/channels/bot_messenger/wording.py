"""What a person said to the bot: the text without the bot's name and without the command's name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_]{1,32})(?:@(?P<bot>[A-Za-z0-9_]+))?(?=\s|$)")
_ANY_BOT = re.compile(r"@[A-Za-z0-9_]{1,31}bot(?![A-Za-z0-9_])[,:]?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bot:
    """Our own bot; `username` is without the @, empty while it is not known."""

    id: str
    username: str


@dataclass(frozen=True, slots=True)
class Words:
    """`command` is the command's name without the slash, empty where there is none."""

    text: str
    command: str = ""
    spoken_to: bool = False
    for_other_bot: bool = False


def addressed(said: str, bot: Bot) -> Words:
    """Takes the bot's mention and the name of a leading command away."""
    text = _without_mention(said, bot)
    found = _COMMAND.match(text)
    if not found:
        return Words(text, spoken_to=text != said.strip())
    meant = found["bot"]
    if meant and bot.username and meant.lower() != bot.username.lower():
        return Words(text, for_other_bot=True)
    return Words(text[found.end() :].strip(), command=found["name"].lower(), spoken_to=True)


@lru_cache
def _mention(username: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/])@{re.escape(username)}(?!\w)[,:]?\s*", re.IGNORECASE)


def _without_mention(said: str, bot: Bot) -> str:
    if bot.username:
        return _mention(bot.username).sub("", said).strip() if "@" in said else said.strip()
    # Usernames of bots end in "bot": while ours is not known, a leading one is taken for it.
    return _ANY_BOT.sub("", said, count=1).strip() if _ANY_BOT.match(said) else said.strip()
