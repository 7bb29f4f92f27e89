"""The zulip channel."""

from __future__ import annotations

from ports.channels import Channel, ChannelDependencies
from zulip_channel import webhook
from zulip_channel.config import CONFIG, DEFINITION, TARGET, ZulipConfig, ZulipTarget
from zulip_channel.delivery import Delivery
from zulip_channel.opening import Opener


def build(dependencies: ChannelDependencies) -> Channel[ZulipConfig, ZulipTarget]:
    delivery = Delivery(dependencies.http)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        sender=delivery,
        opener=Opener(),
        limits=delivery,
    )
