"""How often Google Drive lets an account write: three files a second
(https://developers.google.com/workspace/drive/api/guides/limits). Calls at a time have no published limit; four is
our choice.
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_ACCOUNT = (Quota(3, 1.0),)
MAX_CONCURRENCY = 4


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "refreshToken"), per_account=OF_ACCOUNT, max_concurrency=MAX_CONCURRENCY)
