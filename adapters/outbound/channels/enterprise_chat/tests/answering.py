"""What tests of answers through Teams share."""

import json
from typing import Any

from adapters.outbound.channels.tests.calls import ChannelCalls
from domain.channels.answers import Answer, Artifact, Choice
from domain.channels.messages import Sent
from tests.support.platforms.teams import APP_ID, PASSWORD, TENANT

BOT = {"appId": APP_ID, "appPassword": PASSWORD, "tenantId": TENANT}
CONVERSATION = "19:b3f0c1d2e4a5@thread.tacv2;messageid=1"
PICTURE = Artifact("plan.png", "image/png", "https://switchboard.example/files/1")
PDF = Artifact("plan.pdf", "application/pdf", "https://switchboard.example/files/2")
LEGACY = "https://workshop.webhook.office.com/webhookb2/1"
CHOICES = (Choice("Approve", "1:abc"), Choice("Approve for the session", "2:abc"), Choice("Reject", "3:abc"))


async def deliver(
    channel: ChannelCalls, config: dict[str, Any], target: dict[str, Any], answer: Answer
) -> list[Sent]:
    """Renders an answer and sends its parts, which can be stored in between."""
    parts = channel.render(config, target, answer)
    assert json.loads(json.dumps([dict(part.payload) for part in parts])) == [
        dict(part.payload) for part in parts
    ]
    return [await channel.send(config, target, part, f"key{index}") for index, part in enumerate(parts)]
