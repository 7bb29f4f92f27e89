"""How often Teams lets itself be written to.

A bot: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit. An incoming webhook: four a second
(https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors).
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

from .delivery import BOT, way

OF_BOT = (Quota(50, 1.0, burst=10),)
OF_THREAD = (Quota(7, 1.0, burst=3), Quota(60, 30.0, burst=10), Quota(1800, 3600.0, burst=60))
OF_WEBHOOK = (Quota(4, 1.0, burst=2), Quota(60, 30.0, burst=10), Quota(100, 3600.0, burst=40))


def limits(config: Config, target: Target) -> Limits:
    """An incoming webhook writes to one place, so it is account and place in one."""
    if way(config, target) == BOT:
        account = f"{text(config, 'appId')} {text(config, 'tenantId')}"
        return Limits(account, text(target, "conversation"), OF_BOT, OF_THREAD)
    return Limits(text(config, "webhookUrl"), of_account=OF_WEBHOOK)
