"""How often the Cloud API lets a number write: 80 messages a second in all, and to one person one every six seconds
after a burst of 45 (https://developers.facebook.com/docs/whatsapp/cloud-api/overview#throughput).
"""

from __future__ import annotations

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Config, Target

from .api import PAIR_SECONDS

OF_NUMBER = (Quota(80, 1.0, burst=16),)
OF_PERSON = (Quota(45, PAIR_SECONDS, burst=45),)
"""The window in which 45 go at once is refilled by one message every six seconds."""


def limits(config: Config, target: Target) -> Limits:
    person = text(target, "to") or text(target, "recipient")
    return Limits(text(config, "phoneNumberId"), person, OF_NUMBER, OF_PERSON)
