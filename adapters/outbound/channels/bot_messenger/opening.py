"""Opens chats for messages that answer none."""

import re
from dataclasses import dataclass, replace

from adapters.outbound.channels.common.addresses import no_address, read_address
from adapters.outbound.channels.common.bodies import at
from ports.capabilities import Opened, OpenRequest

from .api import BotApi
from .config import BotConfig, BotTarget
from .webhook import session_of

_ADDRESS = re.compile(r"(?:(-?[1-9][0-9]{0,15})|(@[A-Za-z][A-Za-z0-9_]{3,31}))(?::([1-9][0-9]{0,9}))?")


@dataclass(frozen=True, slots=True)
class Opener:
    """A bot may write to people who have started it, and to groups and channels of which it is a member
    (https://core.telegram.org/bots/faq#how-do-i-reach-users)."""

    api: BotApi
    address: str = (
        "a chat id such as 5550001 (-1001234567890 of a group) or @name of a public group or channel, in a forum"
        " with the topic behind it: -1001234567890:17"
    )

    def default_address(self, config: BotConfig) -> str:
        return ""

    def continued(self, target: BotTarget) -> BotTarget:
        """The message replies to none of the group's."""
        return replace(target, reply_to=None, callback_query_id="", prompt_id=None)

    async def open(self, config: BotConfig, request: OpenRequest) -> Opened[BotTarget]:
        number, name, topic = read_address(_ADDRESS, request.to, self.address).groups()
        chat = int(number) if number else await self._chat_of(config, name)
        thread = int(topic) if topic else None
        return Opened(session_of(str(chat), topic or ""), BotTarget(chat_id=chat, message_thread_id=thread))

    async def _chat_of(self, config: BotConfig, name: str) -> int:
        """The id of a public chat, by which the messages there name it. Raises `PlatformError`."""
        chat = at(await self.api.call(config.bot_token, "getChat", {"chat_id": name}), "id")
        if not isinstance(chat, int):
            raise no_address(f"{name} is no chat that Telegram gives an id for")
        return chat
