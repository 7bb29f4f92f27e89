"""How often Google Drive lets an account write: three files a second
(https://developers.google.com/workspace/drive/api/guides/limits).
"""

from __future__ import annotations

from adapters.outbound.channels.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

OF_ACCOUNT = (Quota(3, 1.0),)


def limits(config: Config, target: Target) -> Limits:
    return Limits(text(config, "refreshToken"), of_account=OF_ACCOUNT)
