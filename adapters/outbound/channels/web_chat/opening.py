"""Opens conversations for messages that answer none: those of visitors whose session is known."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from ports.reply_capabilities import Opened, OpenRequest

from .config import WebChatConfig, WebChatTarget

_SEEN = r"[^\x00-\x20\x7f]"
_SESSION = re.compile(rf"v-[A-Za-z0-9_-]{{22}}|u-{_SEEN}(?:[^\x00-\x1f\x7f]*{_SEEN})?")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the session id of a visitor, or u- and the sub of a signed identity, such as u-42"

    def default_address(self, config: WebChatConfig) -> str:
        return ""

    async def open(self, config: WebChatConfig, request: OpenRequest) -> Opened[WebChatTarget]:
        session = read_address(_SESSION, request.to, self.address)[0]
        return Opened(session, WebChatTarget(instance=request.instance_id, session=session))
