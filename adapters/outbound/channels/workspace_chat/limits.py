"""How often Slack lets an app write: one message a second in a channel, short bursts allowed
(https://docs.slack.dev/apis/web-api/rate-limits/#rate-limits-for-posting-messages). The limit of a whole workspace
("several hundred a minute") has no number: Slack's answers say when it is reached.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_CHANNEL = (Quota(4, 4.0, burst=2),)


def limits(config: Config, target: Target) -> Limits:
    """All threads of a channel count together; what goes to a response_url alone counts by it."""
    place = text(target, "channel") or text(config, "defaultChannel") or text(target, "response_url")
    return Limits(text(config, "botToken"), place, of_place=OF_CHANNEL)
