"""How often Gmail lets an account send: 250 quota units a second and user, of which a message takes 100
(https://developers.google.com/workspace/gmail/api/reference/quota). It limits the calls of a user at a time too, and
does not publish to how many; four is our choice.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_ACCOUNT = (Quota(150, 60.0, burst=10),)
MAX_CONCURRENCY = 4


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "refreshToken"), per_account=OF_ACCOUNT, max_concurrency=MAX_CONCURRENCY)
