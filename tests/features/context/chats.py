"""The platforms of the features on context: what each posts when people reply to each other."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.bot_messenger.tests import samples as telegram
from domain.channels.messages import RawCall
from tests.support.platforms.standin import StandIn
from tests.support.platforms.telegram import Telegram

PEOPLE = {"Ada": 5550001, "Bob": 5550002, "the bot": 987654321}
PICTURE = b"\x89PNG engine"


@dataclass(frozen=True)
class Original:
    """A message that is replied to. `marked`: the words of it that the person marked."""

    author: str
    text: str = ""
    marked: str = ""
    picture: bool = False


class ChatPlatform(ABC):
    """What a platform posts; `setting` is that of its address."""

    channel_id: str
    setting: str
    config: Mapping[str, Any]
    api = ""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.platform = self.standin()

    @abstractmethod
    def standin(self) -> StandIn: ...

    @abstractmethod
    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        """A message of a person, which may reply to another."""

    def lose_files(self) -> None:
        raise NotImplementedError


class TelegramChat(ChatPlatform):
    channel_id = "bot-messenger"
    setting = telegram.SETTING
    config = telegram.CONFIG

    def standin(self) -> StandIn:
        self.telegram = Telegram()
        self.telegram.files = {"engine": PICTURE}
        return self.telegram

    def post(self, who: str, text: str, original: Original | None, at: datetime) -> RawCall:
        message = self._message(who) | {"text": text}
        if original:
            message["reply_to_message"] = self._original(original)
            if original.marked:
                message["quote"] = {"text": original.marked, "position": 0, "is_manual": True}
        return telegram.posted({"update_id": next(self.numbers), "message": message})

    def _original(self, original: Original) -> dict[str, Any]:
        content: dict[str, Any] = {"text": original.text}
        if original.picture:
            content = {"photo": [{"file_id": "engine", "file_unique_id": "u", "width": 9, "height": 9}]}
        return self._message(original.author) | content

    def _message(self, who: str) -> dict[str, Any]:
        return {
            "message_id": 1000 + next(self.numbers),
            "from": {"id": PEOPLE[who], "is_bot": who == "the bot", "first_name": who},
            "chat": {"id": PEOPLE["Ada"], "type": "private"},
            "date": 1780000015,
        }

    def lose_files(self) -> None:
        self.telegram.files = {}


PLATFORMS: Mapping[str, type[ChatPlatform]] = {"Telegram": TelegramChat}
