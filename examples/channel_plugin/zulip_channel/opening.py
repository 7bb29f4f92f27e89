"""Opens direct conversations for messages that answer none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from ports.capabilities import Opened, OpenRequest
from zulip_channel.config import ZulipConfig, ZulipTarget
from zulip_channel.webhook import session_of

_USER = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the id of a Zulip user, such as 10"

    def default_address(self, config: ZulipConfig) -> str:
        return ""

    async def open(self, config: ZulipConfig, request: OpenRequest) -> Opened[ZulipTarget]:
        user = int(read_address(_USER, request.to, self.address)[0])
        target = ZulipTarget(to=user, direct=True)
        return Opened(session_of(target, user), target)
