"""How often Discord lets a bot write: 50 requests a second in all; what a channel takes, Discord's answers tell, and
their numbers are not to be built in (https://docs.discord.com/developers/topics/rate-limits).
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_BOT = (Quota(50, 1.0, burst=10),)


def limits(config: Config, target: Target) -> Limits:
    place = text(target, "channel_id") or text(config, "defaultChannelId") or text(target, "token")
    return Limits(text(config, "botToken"), place, OF_BOT)
